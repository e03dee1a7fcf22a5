"""Kinds of evidence: what each is for, and how they are joined."""

from dataclasses import replace

import numpy as np
import pytest

import nosplit
from benchmarks.choices import hedges
from nosplit.inference.calibrating.evidence import POWER, WEIGHTS, joining_of, kinds_of, rank_all
from nosplit.methods import Adaptive
from nosplit.pairs.statistics import (
    CUMULATIVE,
    FINE,
    PLACE,
    SMOOTH,
    SPREAD,
    ColumnDraws,
    DrawnStatistics,
)


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


def p_values(change, *, n, p, trials, seed):
    rng, found = np.random.default_rng(seed), []
    for trial in range(trials):
        x, y = rng.normal(size=(2, n, p))
        found.append(nosplit.two_sample_test(x, change(y), rng=trial).pvalue)
    return np.array(found)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("place", lambda y: y + 0.2),
        ("spread", lambda y: y * ([1.2, 1.0 / 1.2] * 5)),
        ("distance", lambda y: y * 1.15),
        ("distance", lambda y: y * np.random.default_rng(0).choice([0.8, 1.2], (len(y), 1))),
    ],
)
def test_what_is_a_little_everywhere_shows_in_its_kind(kind, change, monkeypatch):
    """The same samples and draws, with the kind of evidence and without it."""
    how = {"n": 80, "p": 10, "trials": 16, "seed": 3}
    with_it = p_values(change, **how)
    monkeypatch.setitem(WEIGHTS, kind, 0.0)
    without = p_values(change, **how)
    assert np.mean(np.log(with_it)) < np.mean(np.log(without))


def test_a_dependence_of_two_of_ten_columns_is_found(monkeypatch):
    """Columns are as they were, and kernels of all ten see little of it."""

    def change(y):
        y[:, 4] = 0.6 * y[:, 2] + 0.8 * y[:, 4]
        return y

    how = {"n": 150, "p": 10, "trials": 12, "seed": 4}
    assert np.count_nonzero(p_values(change, **how) <= 0.05) >= 10
    monkeypatch.setitem(WEIGHTS, "largest pair", 0.0)
    assert np.count_nonzero(p_values(change, **how) <= 0.05) <= 5


def test_modes_far_apart_do_not_hide_what_is_inside_them():
    """One of four modes is wider. Kernels at the distance between modes found 3 of these 10."""
    rng, count = np.random.default_rng(5), 0
    for trial in range(10):
        mode = rng.integers(0, 2, (2, 250, 2))
        x, y = rng.normal(size=(2, 250, 2))
        y[mode[1].all(axis=1)] *= 1.8
        x, y = 4000.0 * mode + [x, y]
        count += nosplit.two_sample_test(x, y, method="ost", rng=trial).reject(0.05)
    assert count >= 8
