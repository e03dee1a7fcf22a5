"""Kinds of evidence: what each is for, and how they are joined."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.choices import hedges
from nosplit._old.inference.calibrating.evidence import POWER, WEIGHTS, kinds_of, rank_all
from nosplit._old.pairs.statistics import (
    CUMULATIVE,
    FINE,
    PLACE,
    SMOOTH,
    SPREAD,
    ColumnDraws,
    DrawnStatistics,
)
from nosplit.methods import Adaptive


def drawn_of(shows, columns, *, flips=400, seed=0, n_units=200):
    """Noise in place of statistics: d = 3 kernels, two flattened ones, and some of columns."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(flips, len(shows)))
    own = ColumnDraws(values, np.full(len(shows), 4.0), np.array(columns), np.array(shows))
    return DrawnStatistics(
        tau=rng.normal(size=(flips, 3)),
        cov=np.eye(3),
        n_units=n_units,
        n_pairs=n_units * (n_units - 1) // 2,
        flat_tau=rng.normal(size=(flips, 2)),
        flat_cov=np.eye(2),
        columns=own,
        distances=rng.normal(size=flips) if len(set(columns)) > 1 and shows[0] else None,
    )


NUMBER = (CUMULATIVE, FINE, "", PLACE, SPREAD)
ALONE = (*NUMBER, SMOOTH)


def test_kinds_of_arrays_and_of_a_single_column():
    several = kinds_of(Adaptive(), drawn_of(NUMBER * 2, [0] * 5 + [1] * 5))
    assert set(several) == set(WEIGHTS) - {"largest pair", "smooth"}
    single = kinds_of(Adaptive(), drawn_of(ALONE, [0] * 6))
    assert set(single) == {"learned", "largest, flattened", "broad", "place", "spread", "smooth"}
    category = kinds_of(Adaptive(), drawn_of((FINE,), [0]))
    assert set(category) == {"learned", "largest, flattened", "largest column"}
    unknown = kinds_of(Adaptive(), drawn_of(("", ""), [0, 1]))
    assert "place" not in unknown


def test_the_weights_that_were_measured_are_those_of_the_test():
    names = [{"column": "largest column"}.get(kind, kind) for kind in hedges.KINDS]
    assert hedges.WEIGHTS[:, 0].tolist() == [WEIGHTS[name] for name in names]
    assert hedges.POWER == POWER


@pytest.mark.parametrize("n_units", [20, 200, 100_000])
@pytest.mark.parametrize(
    ("shows", "columns"),
    [
        (ALONE, [0] * 6),
        (NUMBER * 2, [0] * 5 + [1] * 5),
        ((*NUMBER, FINE), [0] * 5 + [1]),
        (("", ""), [0, 1]),
    ],
)
def test_any_draw_may_have_been_the_data(shows, columns, n_units):
    """P-values of all draws in the place of the data are at most uniform."""
    drawn = drawn_of(shows, columns, seed=1, n_units=n_units)
    own = np.exp(-rank_all(Adaptive(), drawn).values)
    assert np.all(np.sort(own) >= np.arange(1, 401) / 400 - 1e-12)
    # And a draw has the same p-value wherever it stands.
    turned = np.r_[7, 0:7, 8:400]
    other = replace(
        drawn,
        tau=drawn.tau[turned],
        flat_tau=drawn.flat_tau[turned],
        columns=replace(drawn.columns, values=drawn.columns.values[turned]),
        distances=None if drawn.distances is None else drawn.distances[turned],
    )
    np.testing.assert_array_equal(np.exp(-rank_all(Adaptive(), other).values), own[turned])
