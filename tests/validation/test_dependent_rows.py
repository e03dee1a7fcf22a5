"""Rows that depend on those before them, in memory: never called exact, and the level holds.

Bounds are binomial quantiles at .05 with a false alarm rate of 1e-3 each. Single rows were
exchanged before: nearly all of the series with φ = .9 were rejected.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import ndtr
from scipy.stats import binom

import nosplit
from nosplit import DependentRowsWarning, Exact, independence_test, mean_test, two_sample_test
from nosplit.api.means import _block_means
from nosplit.data.likeness import Likeness, doubt_of, likeness_of
from nosplit.designs.labels import RowLabels
from nosplit.designs.two_sample import _runs_in_cells, about_strata

pytestmark = pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")


def series(rng, n, phi=0.9, p=1):
    noise = rng.normal(size=(n, p)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def hours(rng, n):
    return 3.0 * np.sin(2.0 * np.pi * np.arange(n)[:, None] / 24.0) + rng.normal(size=(n, 1))


def random_hours(rng, n):
    return rng.permutation(hours(rng, n))


PAIRS = {
    "both series": (lambda rng: (series(rng, 200), series(rng, 200)), 40),
    "a series and none": (lambda rng: (series(rng, 400), rng.normal(size=(400, 1))), 25),
    "more of one": (lambda rng: (series(rng, 150), series(rng, 400)), 25),
    "hours in order and random hours": (lambda rng: (hours(rng, 400), random_hours(rng, 400)), 25),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_samples(name):
    draw, trials = PAIRS[name]
    hits = 0
    for trial in range(trials):
        found = two_sample_test(*draw(np.random.default_rng(trial)), calibration=Exact(99))
        assert found.calibration == "blocks"
        assert any("blocks of" in text for text in found.warnings)
        hits += found.reject()
    assert hits <= binom.isf(1e-3, trials, 0.05)


def test_a_shift_is_still_found():
    rng = np.random.default_rng(0)
    x, y = series(rng, 1500, 0.5), 0.5 + series(rng, 1500, 0.5)
    found = two_sample_test(x, y, calibration=Exact(99))
    assert (found.calibration, found.reject()) == ("blocks", True)


def test_closed_forms_are_warned_of():
    rng = np.random.default_rng(0)
    with pytest.warns(DependentRowsWarning, match="too small"):
        two_sample_test(series(rng, 4000), series(rng, 4000), calibration="asymptotic", pairs=2)


def test_two_variables():
    """Two series that have nothing to do with each other were found to depend in 25 of 30."""
    trials, hits = 40, 0
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        found = independence_test(series(rng, 400), series(rng, 400), calibration=Exact(99))
        assert found.calibration == "thinned"
        assert found.n_used + found.n_left_out == 400
        hits += found.reject()
    assert hits <= binom.isf(1e-3, trials, 0.05)


def test_one_series_of_two_variables_is_harmless():
    """If y does not depend on its past, it may be permuted, whatever x does."""
    rng = np.random.default_rng(2)
    found = independence_test(series(rng, 400), rng.normal(size=400), calibration=Exact(99))
    assert (found.calibration, found.warnings) == ("exact", ())


@pytest.mark.parametrize("n", [30, 400, 6000])
def test_a_series_and_time(n):
    """Stationary series were all found to depend on time, and called exact."""
    hits, trials = 0, 20
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        time = np.arange(n, dtype=float)
        time[7] = 3.0 if trial % 2 else 7.0  # a few rows may come late
        found = independence_test(time, series(rng, n), calibration=Exact(99))
        assert found.calibration == ("approximate" if n == 30 else "thinned")
        hits += found.reject()
    assert hits <= binom.isf(1e-3, trials, 0.05)


@pytest.mark.parametrize("n", [30, 400])
def test_rows_that_are_sorted_by_a_variable(n):
    """Dependence on it is found, but for few rows, which may be a series, as is said."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=n))
    for y in (x**2 + 0.3 * rng.normal(size=n), x + 0.5 * rng.normal(size=n)):
        found = independence_test(x, y)
        assert found.pvalue_if_independent <= 0.01
        assert found.reject() == (n == 400)
        assert (found.calibration == "exact") == (n == 400)
        assert any("shuffle them" in text for text in found.warnings) == (n == 30)
        mixed = rng.permutation(n)
        assert independence_test(x[mixed], y[mixed]).reject()
    found = [independence_test(x, rng.normal(size=n), calibration=Exact(99)) for _ in range(20)]
    assert sum(own.reject() for own in found) <= binom.isf(1e-3, 20, 0.05)


def test_rows_of_values():
    """Half of them were rejected, with a warning."""
    trials = 40
    found = [
        mean_test(series(np.random.default_rng(t), 400), symmetric=True) for t in range(trials)
    ]
    assert all(own.calibration == "blocks" and own.n_used == 400 for own in found)
    assert sum(own.reject() for own in found) <= binom.isf(1e-3, trials, 0.05)


# Short series ----------------------------------------------------------------------------------


def likely(likeness):
    """Whether a series is likelier than before rows were looked at."""
    doubt = doubt_of(likeness)
    return doubt is not None and doubt.likely


@pytest.mark.parametrize(
    ("n", "p", "phi", "doubted", "suspected"),
    [
        (20, 1, 0.9, 0.95, 0.85),
        (40, 1, 0.5, 0.85, 0.7),
        (60, 1, 0.3, 0.82, 0.5),
        (60, 3, 0.3, 0.97, 0.85),
    ],
)
def test_short_series_look_alike(n, p, phi, doubted, suspected):
    """Of 60 rows with φ = .3 half were suspected, and below 48 rows nothing was looked for."""
    rng, trials = np.random.default_rng(3), 100
    found = [likeness_of(*(series(rng, n, phi, p) for _ in range(2))) for _ in range(trials)]
    assert sum(likely(own) for own in found) >= doubted * trials
    assert sum(own.suspected for own in found) >= suspected * trials


LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "heavy": lambda rng, size: rng.standard_cauchy(size),
    "ties": lambda rng, size: rng.integers(3, size=size),
    "rare": lambda rng, size: (rng.random(size) < 0.05) * 1.0,
    "alike": lambda rng, size: rng.normal(size=size) + 3.0 * rng.normal(size=(*size[:-1], 1)),
}


@pytest.mark.parametrize(("n", "p"), [(12, 1), (20, 1), (30, 3), (200, 8)])
@pytest.mark.parametrize("law", LAWS)
def test_independent_rows_seldom_do(law, n, p):
    rng, trials = np.random.default_rng(4), 120
    found = [likeness_of(*LAWS[law](rng, (2, n, p))) for _ in range(trials)]
    assert sum(likely(own) for own in found) <= binom.isf(1e-4, trials, 0.2)
    # Of fewer than 40 rows in all, those that look much alike are suspected sooner.
    seldom = 0.01 if n >= 20 else 0.1
    assert sum(own.suspected for own in found) <= binom.isf(1e-4, trials, seldom)


@pytest.mark.parametrize("n", [120, 200])
def test_columns_of_slow_series(n):
    """Blocks as long as the longest lag that can be seen were too short: .13 to .19 rejected."""
    rng, trials = np.random.default_rng(7), 100
    found = [nosplit.column_tests(series(rng, n), series(rng, n), rng=i) for i in range(trials)]
    assert sum(bool(own.differing()) for own in found) <= binom.isf(1e-3, trials, 0.05)


@pytest.mark.parametrize("test", ["pairs", "strata", "means", "a model"])
def test_twenty_rows_of_a_slow_series_are_seldom_rejected(test):
    """Nothing differs. With φ = .9 .11 to .24 were rejected: a fourth of single series was not
    suspected, and blocks were too short where rows were only doubted."""
    rng, trials = np.random.default_rng(6), 100
    halves = np.arange(20) // 10
    calls = {
        "pairs": lambda x, y: nosplit.two_sample_test(x, y, paired=True),
        "strata": lambda x, y: nosplit.two_sample_test(x, y, strata=(halves, halves)),
        "means": lambda x, _: nosplit.mean_test(x, symmetric=True),
        "a model": lambda x, _: nosplit.goodness_of_fit_test(x, lambda z: -z),
    }
    found = [calls[test](*(series(rng, 20) for _ in range(2))) for _ in range(trials)]
    warned = sum(any("DependentRows" in text for text in own.warnings) for own in found)
    assert warned >= 0.8 * trials
    assert sum(own.reject() for own in found) <= binom.isf(1e-3, trials, 0.05)


@pytest.mark.parametrize("n", [16, 40, 80])
def test_sorted_rows_do_not_look_alike(n):
    rng = np.random.default_rng(5)
    for _ in range(100):
        by_size = np.sort(rng.normal(size=(n, 1)), axis=0)
        assert likeness_of(by_size, by_size[::-1]).chance == 1.0


def test_columns_that_go_along_with_a_sorted_one():
    rng, found = np.random.default_rng(6), 0
    for _ in range(100):
        first = np.sort(rng.normal(size=(2, 60, 1)), axis=1)
        both = first + np.array([0.0, 0.7]) * rng.normal(size=(2, 60, 2))
        found += likely(likeness_of(*both))
    assert found <= 15


def short(rng, n, phi, m=None):
    return series(rng, n, phi), series(rng, m or n, phi)


SHORT = {
    "two samples": (lambda rng: two_sample_test(*short(rng, 40, 0.9), calibration=Exact(99)), 20),
    "that forget fast": (lambda rng: two_sample_test(*short(rng, 60, 0.3)), 40),
    "of different sizes": (lambda rng: two_sample_test(*short(rng, 30, 0.9, 50)), 20),
    "in pairs": (lambda rng: two_sample_test(*short(rng, 40, 0.9), paired=True), 20),
    "in strata": (
        lambda rng: two_sample_test(
            *short(rng, 40, 0.9), strata=(np.repeat([0, 1], 20), np.repeat([0, 1], 20))
        ),
        20,
    ),
    "two variables": (lambda rng: independence_test(*short(rng, 40, 0.9)), 20),
    "means": (lambda rng: mean_test(series(rng, 40, 0.9), symmetric=True), 20),
}


@pytest.mark.parametrize("name", SHORT)
def test_short_series_keep_the_level(name):
    """Seven to nine in ten were rejected with φ = .9, and called exact; one in seven with .3."""
    test, trials = SHORT[name]
    found = [test(np.random.default_rng(trial)) for trial in range(trials)]
    assert sum(own.reject() for own in found) <= binom.isf(1e-3, trials, 0.05)
    exact = [own for own in found if own.calibration == "exact"]
    assert len(exact) <= binom.isf(1e-3, trials, 0.1)
    assert sum(own.reject() for own in exact) <= 1


@pytest.mark.parametrize(("n", "phi"), [(40, 0.9), (200, 0.9)])
def test_several_series(n, phi):
    """57 of 60 of 40 rows were rejected, and 59 of 200: p allows for it, or few rows are left."""
    hits = refused = 0
    for trial in range(30):
        rng = np.random.default_rng(trial)
        samples = [series(rng, n, phi) for _ in range(3)]
        try:
            found = nosplit.k_sample_test(samples, follow_up=False, calibration=Exact(99))
        except nosplit.InputError:
            refused += 1
            continue
        assert found.overall.calibration == ("approximate" if n == 40 else "thinned")
        assert found.overall.n_used + found.overall.n_left_out == 3 * n
        hits += found.reject()
    assert hits <= binom.isf(1e-3, 30, 0.05)
    assert refused == 0


def test_a_long_series_beside_few_rows():
    rng = np.random.default_rng(0)
    x, y = series(rng, 3000), rng.normal(size=(30, 1))
    with pytest.raises(nosplit.InputError, match="of the 30 of the smallest that leaves one"):
        nosplit.k_sample_test([x, y])
    assert nosplit.column_tests(x[:150], y, draws=99).n_used < 40


class Means:
    """A classifier that takes no time."""

    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)

    def predict(self, rows):
        return rows @ self.w


def test_series_before_a_witness():
    """34 of 60 were rejected, without a word."""
    hits = 0
    for trial in range(25):
        both = short(np.random.default_rng(trial), 800, 0.8)
        found = nosplit.witness_test(*both, estimator=Means(), flips=99)
        assert found.n_used < 400
        assert any("DependentRows" in text for text in found.warnings)
        hits += found.reject()
    assert hits <= binom.isf(1e-3, 25, 0.05)


def test_a_witness_refuses_short_series():
    with pytest.raises(nosplit.InputError, match="too few for a witness"):
        nosplit.witness_test(*short(np.random.default_rng(0), 60, 0.9), estimator=Means())


def test_columns_of_short_series():
    """69 of 100 samples had a column that differed."""
    hits = 0
    for trial in range(30):
        found = nosplit.column_tests(*short(np.random.default_rng(trial), 40, 0.9))
        assert found.calibration == "approximate"
        assert found.n_used == 80
        hits += len(found.differing()) > 0
    assert hits <= binom.isf(1e-3, 30, 0.05)


# What is done about them -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "own", "how", "warned"),
    [
        (80, Likeness(0.005, 0.4, 0.1), "approximate", True),
        (200, Likeness(0.05, 0.4, 0.1), "approximate", False),
        (80, Likeness(0.6, 0.0, 0.1), "exact", False),
    ],
)
def test_p_values_allow_for_what_rows_may_be(monkeypatch, m, own, how, warned):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(80, 1)), rng.normal(0.5, 1.0, size=(m, 1))
    where = "nosplit.api.ways.pairs.likeness_of"
    monkeypatch.setattr(where, lambda *_, **__: Likeness())
    alone = two_sample_test(x, y, calibration=Exact(199))
    assert (alone.doubt, alone.pvalue_if_independent) == (None, alone.pvalue)
    monkeypatch.setattr(where, lambda *_, **__: own)
    found = two_sample_test(x, y, calibration=Exact(199))
    assert found.calibration == how
    assert any("look alike" in text for text in found.warnings) == warned
    assert found.pvalue_if_independent == pytest.approx(alone.pvalue)
    assert found.pvalue == found.doubt.pvalues(alone.pvalue, 200) >= alone.pvalue
    assert (found.pvalue > alone.pvalue) == (how == "approximate")
    for before, after in zip(alone.by_column, found.by_column, strict=True):
        assert after.pvalue == found.doubt.pvalues(before.pvalue, 200)
        assert after.adjusted == found.doubt.pvalues(before.adjusted, 200)
    for alpha in (0.005, 0.01, 0.05, 0.2, 0.6):
        assert found.reject(alpha) == (found.statistic >= found.threshold(alpha))
    assert found.to_dict()["series"] == found.doubt.series
    if how == "approximate":
        assert f"({alone.pvalue:.4f} if they are independent)" in " ".join(str(found).split())


def test_few_draws_are_followed_by_more():
    """P could not be less than .05; with the outcome that more draws would have had."""
    x, y = np.random.default_rng(10).normal(size=(2, 20, 1))
    y += 3.0
    calls = {
        "two samples": lambda **how: two_sample_test(x, y, **how),
        "of a small budget": lambda **how: two_sample_test(x, y, budget=0.02, **how),
    }
    for name, call in calls.items():
        found = call()
        assert found.flips == 9999, name
        more = call(calibration=Exact(9999), pairs="complete")
        assert (found.pvalue, found.pairs) == (more.pvalue, more.pairs), name
        assert len(found.by_column) == len(more.by_column)
        assert call(calibration=Exact(999)).flips == 999
    assert nosplit.k_sample_test([x, y, x + 0.1], follow_up=False).overall.flips == 9999
    # A single series stays on one side more often than two stay apart.
    assert two_sample_test(x, y, paired=True).flips == 999
    assert mean_test(y - x, symmetric=True).flips == 999


def test_a_witness_and_rows_that_are_independent():
    both = short(np.random.default_rng(1), 40, 0.6)
    with pytest.warns(DependentRowsWarning) as said:
        found = two_sample_test(*both, witness=Means())
    assert len({str(w.message) for w in said}) == len(said)
    alone = two_sample_test(*both, calibration=Exact(found.flips)).pvalue_if_independent
    told = float(ndtr(-found.witness.statistic))
    assert found.pvalue_if_independent == pytest.approx(min(1.0, 2.0 * min(alone, told)))
    assert found.pvalue > found.pvalue_if_independent
    assert "p allows for rows that are a series" in str(found)


def test_sketches_of_few_rows():
    """They were called exact, without a word."""
    x, y = short(np.random.default_rng(0), 200, 0.25)
    pairs, cells = (two_sample_test(x, y, pairs=how) for how in ("complete", "sketch"))
    assert pairs.doubt == cells.doubt
    assert cells.calibration == pairs.calibration == "approximate"
    paired = [two_sample_test(x, y, pairs=how, paired=True) for how in ("complete", "sketch")]
    assert paired[0].doubt == paired[1].doubt


def test_strata_of_long_samples_do_not_count():
    """Means were taken out of rows that were not looked at."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 1)), rng.normal(size=(3000, 1))
    strata = np.arange(40) // 20, np.arange(3000) // 60 % 50
    found = two_sample_test(x, y, strata=strata, calibration=Exact(99))
    own = likeness_of(about_strata(x, strata[0]), means=2)
    assert found.doubt == doubt_of(own)


def test_a_series_that_cannot_be_thinned_is_not_called_exact():
    rng = np.random.default_rng(4)
    samples = [rng.normal(size=(3, 1)), series(rng, 200), series(rng, 200)]
    found = nosplit.k_sample_test(samples, follow_up=False, calibration=Exact(99)).overall
    assert found.calibration == "approximate"
    assert any("DependentRows" in text for text in found.warnings)


def test_strata_that_are_too_small_for_blocks():
    """Two warnings contradicted each other: that p is too small, and that it allows for that."""
    rng = np.random.default_rng(5)
    x, y = short(rng, 120, 0.8)
    strata = np.repeat([0, 1], [119, 1]), np.repeat([0, 1], [60, 60])
    found = two_sample_test(x, y, strata=strata, calibration=Exact(99))
    assert found.calibration == "approximate"
    assert found.doubt is not None
    assert [text for text in found.warnings if "too small" in text] == []
    long = two_sample_test(
        *short(rng, 1200, 0.8), strata=(np.arange(1200) // 1199, np.arange(1200) // 600)
    )
    assert long.doubt is None
    assert any("too small" in text for text in long.warnings)


def test_closed_forms_of_few_rows_are_those_of_the_paper(monkeypatch):
    """They are warned of, and means of any law allow for a series where they are."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 300, 1))
    closed = {"pairs": "linear", "calibration": "asymptotic"}
    ways = {
        "nosplit.api.ways.pairs": lambda: two_sample_test(x, y, **closed),
        "nosplit.api.means": lambda: mean_test(x, calibration="asymptotic"),
    }
    for where, test in ways.items():
        alone = test().pvalue
        for own in (Likeness(0.05, 0.3, 0.1), Likeness(0.005, 0.3, 0.1)):
            monkeypatch.setattr(f"{where}.likeness_of", lambda *_, own=own, **__: own)
            found = test()
            assert any("look alike" in text for text in found.warnings) == own.suspected
            larger = own.suspected and where.endswith("means")
            assert (found.pvalue > alone) == larger
            if larger:
                assert found.pvalue == pytest.approx(found.doubt.pvalues(alone))


def test_lengths_of_blocks():
    """3.5 times the rows that are as good as one, and more of series that have many of these."""
    for n, lengths in ((20, [7, 11, 20]), (60, [10, 13, 60]), (1000, [29, 39, 116])):
        assert [Likeness(0.0, r, 0.1).block_in((n, 2 * n)) for r in (0.3, 0.5, 0.9)] == lengths
    assert Likeness().block_in((5000, 5000)) == 1


def test_rows_of_values_in_blocks():
    values = np.arange(11.0)[:, None]
    assert np.array_equal(_block_means(values, 1), values)
    assert np.array_equal(_block_means(values, 4)[:, 0], [1.5, 7.0])
    assert np.array_equal(_block_means(values, 99)[:, 0], [2.0, 7.5])


def test_runs_of_rows_in_strata():
    cell = np.array([0, 2, 0, 0, 2, 0, 0, 2, 1, 1, 1, 3, -2])
    strata = RowLabels(cell // 2, ["north", "south"])
    groups = _runs_in_cells(cell, strata, 2)
    codes = groups.codes
    assert codes[-1] == -1
    assert [np.flatnonzero(codes == g).tolist() for g in np.unique(codes[:-1])] == [
        [0, 2],
        [3, 5, 6],
        [8, 9, 10],
        [1, 4, 7],
        [11],
    ]


# Swaps of blocks --------------------------------------------------------------------------------


def test_signs_of_blocks_against_their_definition():
    from nosplit.pairs.draws import Signs

    signs = Signs(11, 99, np.random.default_rng(0), block=3)
    every = signs.columns(range(11))
    assert signs.n_signs == 3  # the last two units go with the third block
    assert np.array_equal(every, every[:, [0, 0, 0, 3, 3, 3, 6, 6, 6, 6, 6]])
    assert (len(every), len(np.unique(every, axis=0))) == (4, 4)
    assert np.array_equal(signs.columns(range(9, 13)), every[:, [9, 10, 0, 1]])
    assert np.array_equal(signs.of(range(4, 11)).columns(range(0, 7, 2)), every[:, [4, 6, 8, 10]])


# So little data that nothing is rejected --------------------------------------------------------


def test_tiny_samples_of_equal_sizes():
    """Five pairs that are swapped have 16 patterns: p was .06 for twenty standard deviations."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=4), rng.normal(size=4) + 20.0
    assert two_sample_test(x, y).pvalue <= 2 / 70 + 1e-12


def test_level_of_tiny_samples():
    """All 70 ways to call four of eight rows x: at most k of them have p ≤ k / 70."""
    from itertools import combinations

    rows = np.random.default_rng(3).normal(size=(8, 2))
    found = []
    for chosen in combinations(range(8), 4):
        mask = np.isin(np.arange(8), chosen)
        found.append(two_sample_test(rows[mask], rows[~mask]).pvalue)
    p = np.sort(found)
    assert np.all(np.searchsorted(p, p + 1e-9, side="right") <= 70 * p + 1e-6)


@pytest.mark.parametrize("n", [3, 4])
def test_a_test_that_cannot_reject_says_so(n):
    x, y = np.random.default_rng(0).normal(size=(2, n))
    with pytest.warns(nosplit.PowerlessWarning, match="not rejected at .05"):
        two_sample_test(x, y, kernels=[nosplit.Gaussian(1.0)])


@pytest.mark.parametrize("phi", [0.0, 0.3])
def test_streams_of_different_sizes(phi):
    """Three rows of y in a row beside one of x: 7 of 40 rejected without a word at φ = .3."""
    rng = np.random.default_rng(11)
    stream = nosplit.TwoSampleAccumulator(ratio=(1, 3), rng=1)
    stream.update(series(rng, 1000, phi), series(rng, 3000, phi))
    if not phi:
        assert stream.result(flips=199).calibration == "exact"
        return
    with pytest.warns(nosplit.DependentRowsWarning, match="came shortly before"):
        assert stream.result(flips=199).calibration == "blocks"
