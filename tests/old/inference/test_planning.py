"""What plans foretell: costs that were measured, in their order, and choices by what can be chosen.

Ratios are of seconds of one core that were measured: .8 s for 500 rows against 20,000 of two
columns and .56 s for 50,000 of each; 2.1 s for 50,000 rows of twenty columns; .95 s for strata of
1,000 rows of each sample and .21 s for as many in groups of four; .092, .017 and .24 s for samples
of a model, of 200 and 50 rows of one column and of 100 rows of twenty.
"""

from __future__ import annotations

import numpy as np
import pytest

from nosplit import Exact, goodness_of_fit_test, independence_test, plan
from nosplit._old.inference.planning.costs import HsicSizes
from nosplit.core.pairings import Window
from nosplit.models import Laplace

MODEL = {"test": "goodness_of_fit", "sampling": True}
PAIRS = {"test": "independence"}


@pytest.mark.parametrize(
    ("longer", "shorter", "measured"),
    [
        ({"n": 500, "m": 20_000, "p": 2}, {"n": 50_000, "p": 2}, 1.4),
        ({"n": 50_000, "p": 20}, {"n": 50_000, "p": 2}, 3.8),
        ({"n": 1000, "strata": 5}, {"n": 1000, "groups": 500}, 4.5),
        ({"n": 400, "p": 2, **PAIRS}, {"n": 100, "p": 2, **PAIRS}, 12),
        ({"n": 200, **MODEL}, {"n": 50, **MODEL}, 5.5),
        ({"n": 100, "p": 20, **MODEL}, {"n": 200, **MODEL}, 2.5),
    ],
)
def test_costs_are_in_the_ratios_that_were_measured(longer, shorter, measured):
    ratio = plan(**longer).nominal_seconds / plan(**shorter).nominal_seconds
    assert measured / 2 <= ratio <= measured * 2


def test_looking_at_columns_does_not_choose_frequencies():
    """All columns are looked at, however few frequencies there are."""
    ten = plan(n=50_000, p=10)
    assert ten.sketch.frequencies == 64
    assert ten.nominal_seconds > 1.0 > ten.sizes.seconds(ten.pairing, ten.n_resamples)
    many = plan(n=50_000, p=30)
    assert many.sketch.frequencies == 16


def test_observations_that_are_permuted():
    """All of y up to 400 rows, units of eight up to 2,000, cells of units beyond."""
    for n, units in ((400, 400), (401, 50), (2_000, 250)):
        found = plan(n=n, p=2, test="independence")
        assert (found.pairs, found.n_units) == ("complete", units)
        x, y = np.random.default_rng(n).normal(size=(2, n))
        res = independence_test(x, y, calibration=Exact(19))
        assert (res.how.pairs, res.how.n_units, res.how.n_used) == ("complete", units, n)
    assert plan(n=2_010, p=2, test="independence").pairs == "sketch"
    assert HsicSizes(50, 50, 2, 10, 2, 8.0, 8).rows_or_units(Window(3), 0) == 50


@pytest.mark.parametrize("n", [50, 200, 300, 20_000])
def test_fits_are_planned_as_they_are_tested(n):
    """Few rows are simulated if the model can sample; nothing else is."""
    model = Laplace()
    x = model.sample(n, np.random.default_rng(1))
    for score, sampling in ((model, True), (model.score, False)):
        res = goodness_of_fit_test(x, score, workers=1)
        foretold = plan(n=n, test="goodness_of_fit", sampling=sampling)
        assert (foretold.pairs, foretold.sizes.draws_are) == (res.how.pairs, res.how.calibration)
        assert (res.how.calibration == "simulate") == (sampling and n <= 300)
