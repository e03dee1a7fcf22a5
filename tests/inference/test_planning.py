"""What plans foretell: costs that were measured, in their order, and choices by what can be chosen.

Ratios are of seconds of one core that were measured: .8 s for 500 rows against 20,000 of two
columns and .56 s for 50,000 of each; 2.1 s for 50,000 rows of twenty columns; .95 s for strata of
1,000 rows of each sample and .21 s for as many in groups of four.
"""

from __future__ import annotations

import pytest

from nosplit import plan
from nosplit.inference.planning.costs import FEW_OBSERVATIONS, HsicSizes
from nosplit.pairs.pairing import Complete, Sketch, Window


@pytest.mark.parametrize(
    ("longer", "shorter", "measured"),
    [
        ({"n": 500, "m": 20_000, "p": 2}, {"n": 50_000, "p": 2}, 1.4),
        ({"n": 50_000, "p": 20}, {"n": 50_000, "p": 2}, 3.8),
        ({"n": 1000, "strata": 5}, {"n": 1000, "groups": 500}, 4.5),
        ({"n": 500, "p": 2, "test": "independence"}, {"n": 200, "p": 2, "test": "independence"}, 7),
    ],
)
def test_costs_are_in_the_ratios_that_were_measured(longer, shorter, measured):
    ratio = plan(**longer).nominal_seconds / plan(**shorter).nominal_seconds
    assert measured / 2 <= ratio <= measured * 2


def test_looking_at_columns_does_not_choose_frequencies():
    """All columns are looked at, however few frequencies there are."""
    ten = plan(n=50_000, p=10)
    assert ten.sketch.frequencies == 64
    assert ten.nominal_seconds > 1.0 > ten.sizes.seconds(ten.pairing, ten.flips)
    many = plan(n=50_000, p=30)
    assert many.sketch.frequencies == 16


def test_observations_that_are_permuted():
    few = HsicSizes(20, 20, 2, 10, 2, 8.0, 8, default=True)
    assert few.permutes(Complete(), 99)
    assert not few.permutes(Complete(), 0)
    assert not few.permutes(Sketch(), 99)
    assert not few.permutes(Window(3), 99)
    assert [own.permutes(Complete(), 99) for own in few.ways] == [True, False]
    many = HsicSizes(FEW_OBSERVATIONS, FEW_OBSERVATIONS, 2, 10, 2, 8.0, 8, default=True)
    assert not many.permutes(Complete(), 99)
