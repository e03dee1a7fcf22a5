"""Kinds of evidence: what each is for, and how they are joined."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.choices import hedges
from nosplit._old.inference.calibrating.evidence import (
    POWER,
    WEIGHTS,
    joining_of,
    kinds_of,
    rank_all,
)
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


def test_place_and_spread_are_means_over_columns_of_numbers():
    drawn = drawn_of((*NUMBER, FINE, *NUMBER), [0] * 5 + [1] + [2] * 5)
    kinds, values = kinds_of(Adaptive(), drawn), drawn.columns.values
    np.testing.assert_allclose(kinds["place"], (values[:, 3] + values[:, 9]) / 2)
    np.testing.assert_allclose(kinds["spread"], (values[:, 4] + values[:, 10]) / 2)


def test_weights_by_size_and_by_categories():
    numbers = drawn_of(NUMBER * 2, [0] * 5 + [1] * 5)
    kinds = list(kinds_of(Adaptive(), numbers))

    def weights(drawn, n_units):
        return dict(zip(kinds, joining_of(kinds, drawn, n_units).weights.tolist(), strict=True))

    at_200 = weights(numbers, 200)
    # What one of two columns shows counts a third of what one of six does.
    few = {"largest column": 1.0 / 3.0, "spread": 0.5}  # distances show spreads, too
    assert at_200 == {kind: WEIGHTS[kind] * few.get(kind, 1.0) for kind in kinds}
    sizes = {
        10: {"place": 3.0, "spread": 3.0, "learned": 20**0.25, "broad": 20**0.25},
        50: {"place": 3.0, "spread": 8**0.5, "learned": 2**0.5, "broad": 2**0.5},
        400: dict.fromkeys(("broad", "place", "spread", "distance"), 0.5),
        10**6: dict.fromkeys(("broad", "place", "spread", "distance"), 0.3),
    }
    for n, times in sizes.items():
        other = weights(numbers, n)
        for kind in kinds:
            assert other[kind] == pytest.approx(times.get(kind, 1.0) * at_200[kind])
    assert joining_of(["largest pair"], numbers, 50).weights == [0.5 * WEIGHTS["largest pair"]]
    table = drawn_of((*NUMBER, FINE), [0] * 5 + [1])
    assert weights(table, 200)["largest column"] > at_200["largest column"]
    # A column in which nothing varies is no category.
    table.columns.values[:, 5] = 0.0
    assert weights(table, 200) == at_200 | {"largest column": at_200["largest column"] / 2.0}
    # Of tests of fit it is not known what columns show: all kinds count alike.
    unknown = joining_of(kinds, drawn_of(("", ""), [0, 1]), 200)
    assert unknown.power == 1.0
    assert np.all(unknown.weights == 1.0)


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
