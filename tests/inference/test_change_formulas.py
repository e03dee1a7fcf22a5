"""Figures of what changed, against scipy and enumeration, and how numbers are written."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from test_change import numbers_in

from nosplit.inference import change
from nosplit.inference.change import (
    Change,
    Counts,
    bound_of,
    change_inside_strata,
    change_of_distances,
    change_of_pair,
    describe,
    mean_of_differences,
    permutation_z,
)

N, M = 180, 120


def figures(text):
    """Numbers of a text, with their signs."""
    return numbers_in(f"{text} →")


def laws(rng):
    """Two samples of numbers each, none of few values."""
    ties = np.round(rng.normal(size=(2, N)), 1)
    return {
        "normal": (rng.normal(3.0, 2.0, N), rng.normal(3.5, 3.0, M)),
        "tails": (rng.standard_cauchy(N), 2.0 * rng.standard_cauchy(M)),
        "counts": (rng.poisson(9.0, N).astype(float), rng.poisson(8.0, M).astype(float)),
        "zeros": (ties[0] * (rng.random(N) < 0.4), ties[1, :M] * (rng.random(M) < 0.6)),
        "floor": (np.maximum(rng.normal(size=N), -0.5), np.maximum(rng.normal(size=M), -0.5)),
    }


def z_by_correlation(x, y):
    """√(N - 1) times the correlation of a score with the label: 0 if the score is constant."""
    both = np.concatenate([x, y]).astype(float)
    if np.ptp(both) == 0.0:
        return 0.0
    return stats.pearsonr(both, np.arange(len(both)) >= len(x)).statistic * np.sqrt(len(both) - 1)


@pytest.mark.parametrize("law", laws(np.random.default_rng(0)))
def test_candidates_by_correlation(law):
    """Their evidence, limits and shares: scores of rows, made one by one from their words."""
    x, y = laws(np.random.default_rng(0))[law]
    pooled = np.concatenate([x, y])
    middle = np.quantile(pooled, 0.5, method="inverted_cdf")
    facts = change._Numbers(Counts.of((x, y), "numbers").present()).facts()
    tails = [fact for fact in facts if fact.what in ("tail", "tails")]
    limits = [figures(fact.words.partition(":")[0]) for fact in tails]
    for share, (high, *rest) in zip((0.01, 0.05), chunks(tails), strict=True):
        (limit,) = limits[tails.index(high)]
        # To two digits of the distance from the middle, and to the ties there are.
        near = np.abs(np.mean(pooled[:, None] > np.unique(pooled), axis=0) - share).min()
        assert abs(np.mean(pooled > limit) - share) <= near + 0.02
        assert len(rest) == (0 if law == "floor" else 2)  # no lower tail at the smallest value
    expected = {"mean": (x, y), "zeros": (x == 0.0, y == 0.0), "median": (x > middle, y > middle)}
    expected["sd"] = np.abs(x - np.median(x)), np.abs(y - np.median(y))
    names = [fact.what for fact in facts]
    # A median that ties hold in its place is told as the share above it.
    moved = ["median"] if np.median(x) != np.median(y) else ["tail"]
    zeros = ["zeros"] if np.any(pooled == 0.0) else []
    assert names[: 3 + len(zeros)] == ["mean", *zeros, *moved, "sd"]
    for fact in facts:
        if fact.what in ("tail", "tails"):
            low, *high = figures(fact.words.partition(":")[0])
            kind = fact.words.split()[0]
            score = {
                "above": lambda v, low=low: v > low,
                "up": lambda v, low=low: v <= low,
                "outside": lambda v, low=low, high=high: (v <= low) | (v > high[0]),
            }[kind]
            parts = score(x), score(y)
        else:
            parts = expected[fact.what]
        assert fact.z == pytest.approx(z_by_correlation(*parts), abs=1e-9), fact
        if fact.what in ("tail", "tails", "zeros"):
            shares = numbers_in(fact.words.rpartition(":")[2])
            assert shares == pytest.approx([100.0 * part.mean() for part in parts], abs=0.51)


def chunks(tails):
    """The tails of 1 %, then those of 5 %: each begins with an upper one."""
    at = [i for i, fact in enumerate(tails) if fact.words.startswith("above")][-2:]
    return tails[at[0] : at[1]], tails[at[1] :]


def test_limits_of_dates_are_whole_days():
    """A tail begins or ends with a day, unless all is within a few days; medians in quartiles."""
    rng = np.random.default_rng(7)
    x, y = 20_000.0 + 90.0 * rng.random((2, 200))
    facts = change._Numbers(Counts.of((x, y), "dates").present()).facts()
    tails = [fact for fact in facts if fact.what == "tail"]
    assert len(tails) == 4
    clocks = change._Numbers(Counts.of((x % 1.0, y % 1.0), "times of day").present()).facts()
    assert facts[0].what == clocks[0].what == "mean"
    assert facts[0].aside == clocks[0].aside == ""  # a difference of dates is said by the dates
    for fact in tails:
        side, date = fact.words.partition(":")[0].split(" ", 1)
        day = (datetime.strptime(date, "%d %b %Y") - datetime(1970, 1, 1)).days
        shares = [np.mean(v >= day + 1 if side == "after" else v < day + 1) for v in (x, y)]
        assert figures(fact.words.partition(":")[2]) == pytest.approx(
            np.multiply(100, shares), abs=0.51
        )
        # The end of the day at the quantile: no more than a day's share of the rows from it.
        beyond = np.mean(shares)
        assert min(abs(beyond - share) for share in (0.01, 0.05)) < 1.3 / 90.0
    median = next(fact for fact in facts if fact.what == "median")
    low, high = np.quantile(np.concatenate([x, y]), [0.25, 0.75], method="inverted_cdf")
    moved = (np.median(y) - np.median(x)) / (high - low)
    assert figures(median.discreet.replace("+", " ")) == [pytest.approx(moved, abs=0.006)]
    hours = change._Numbers(Counts.of((x / 90.0, y / 90.0), "dates").present()).facts()
    assert all(re.search(r" \d\d:\d\d: ", fact.words) for fact in hours if fact.what == "tail")


@pytest.mark.parametrize("law", laws(np.random.default_rng(0)))
def test_figures_against_numpy(law):
    rng = np.random.default_rng(1)
    x, y = laws(rng)[law]
    for kind in ("numbers", "dates", "durations"):
        told = describe(Counts.of((np.append(x, np.nan), y), kind))
        assert told.mean == pytest.approx((x.mean(), y.mean()))
        assert told.median == pytest.approx((np.median(x), np.median(y)))
        assert told.sd == pytest.approx((x.std(ddof=1), y.std(ddof=1)))
        assert told.missing == (1 / (N + 1), 0.0)
        assert told.to_dict()["mean"] == list(told.mean)
    for scale in (1e-300, 1e300):  # squares neither overflow nor vanish
        far = describe(Counts.of((scale * x, scale * y), "numbers"))
        plain = describe(Counts.of((x, y), "numbers"))
        assert far.what == plain.what
        assert far.sd == pytest.approx(scale * np.array(plain.sd))


def test_z_by_all_permutations():
    """The standard deviation of a difference of means over all divisions of nine rows."""
    rng, n = np.random.default_rng(2), 4
    scores = np.stack([rng.exponential(size=9), rng.random(9) < 0.3, np.ones(9)])
    of_x = np.array([np.isin(np.arange(9), own) for own in combinations(range(9), n)])
    gaps = scores @ ~of_x.T / (9 - n) - scores @ of_x.T / n
    sums = np.stack([scores[:, :n].sum(axis=1), scores[:, n:].sum(axis=1)])
    z = permutation_z(sums, (scores**2).sum(axis=1), np.array([n, 9 - n]))
    np.testing.assert_allclose(z[:2], gaps[:2, 0] / gaps[:2].std(axis=1))
    assert z[2] == 0.0


@pytest.mark.parametrize("rows", [12, 40, 1000, 10**6])
@pytest.mark.parametrize("candidates", [1, 5, 30])
def test_bound_against_students_law(rows, candidates):
    """The correlation that Student's test finds at .05 over all candidates, times √(N - 1)."""
    t = stats.t.isf(0.025 / candidates, rows - 2)
    expected = np.sqrt(rows - 1) * t / np.sqrt(t**2 + rows - 2)
    assert bound_of(candidates, rows) == pytest.approx(expected, rel=0.03)


def test_evidence_inside_strata_by_all_permutations():
    """Weights nm/(n + m); a stratum without rows of both samples has none."""
    rng = np.random.default_rng(3)
    stratum = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    y = np.array([0, 0, 1, 1, 0, 1, 1, 1, 1, 1], bool)
    score = rng.normal(size=10) + stratum

    def gap(label):
        own = [(score[label & (stratum == s)], score[~label & (stratum == s)]) for s in (0, 1)]
        weights = [len(a) * len(b) / (len(a) + len(b)) for a, b in own]
        gaps = [a.mean() - b.mean() for a, b in own]
        return weights @ np.array(gaps), np.average(gaps, weights=weights)

    every = []
    for first, second in product(combinations(range(4), 2), combinations(range(4, 7), 2)):
        every.append(gap(np.isin(np.arange(10), [*first, *second, 7, 8, 9]))[0])
    (fact,) = change._strata_facts("mean", {"mean": score}, 2 * stratum + y)
    assert fact.z == pytest.approx(gap(y)[0] / np.std(every))
    assert figures(fact.words.replace("+", " ")) == [pytest.approx(gap(y)[1], abs=0.051)]
    alone = change._strata_facts("mean", {"mean": score[7:]}, 2 * stratum[7:] + y[7:])
    assert alone[0].z == 0.0


def test_what_changed_inside_strata():
    rng = np.random.default_rng(4)
    stratum = np.tile(np.repeat([0, 1], 200), 2)
    y = np.repeat([0.0, 1.0], 400)
    base = 5.0 * stratum + rng.normal(size=800)
    moved = change_inside_strata(base + 0.5 * y, (400, 400), stratum, None)
    assert re.match(r"mean inside strata \+0\.\d+$", moved.words)
    gone = np.where(rng.random(800) < 0.1 + 0.2 * y, np.nan, base)
    assert change_inside_strata(gone, (400, 400), stratum, None).what == "missing"
    level = (rng.random(800) < 0.3 + 0.3 * y).astype(float)
    told = change_inside_strata(level, (400, 400), stratum, lambda v: "ab"[int(v)])
    gap = 100.0 * (level[400:].mean() - level[:400].mean())
    assert re.match(r"[ab] inside strata [+−]\d+(\.\d)? points$", told.words)
    gap = gap if told.words[0] == "b" else -gap
    assert figures(told.words.replace("+", " "))[0] == pytest.approx(gap, abs=0.1)
    assert told.discreet.startswith("a value inside strata")
    nothing = change_inside_strata(base, (400, 400), stratum, None)
    assert (nothing.what, nothing.words) == (None, change.SHAPE)


@pytest.mark.parametrize("n", [2, 9, 200])
def test_mean_of_differences_against_scipy(n):
    rng = np.random.default_rng(5)
    x = rng.normal(size=n)
    for shift in (-4.0, 4.0, 0.0):
        y = x + shift + 0.1 * rng.normal(size=n)
        said = mean_of_differences(np.append(x, [np.nan, 1.0]), np.append(y, [2.0, np.inf]))
        low, high = stats.ttest_rel(y, x).confidence_interval()
        if low <= 0.0 <= high:
            assert said is None
            continue
        found = figures(said.replace("+", " "))
        error = 10.0 ** (np.floor(np.log10((high - low) / 2.0)) - 1.0) / 2.0
        assert found == pytest.approx([np.mean(y - x), low, high], abs=1.01 * error)
        assert ("+" in said) == (shift > 0)
    assert mean_of_differences(x[:1], x[:1] + 1.0) is None
    assert mean_of_differences(x, x) is None


@pytest.mark.parametrize(("n", "m"), [(50, 50), (30, 900)])
def test_correlations_that_differ_by_more_than_chance(n, m):
    """Fisher: arctanh r is normal with variance 1 / (n - 3)."""
    error = np.sqrt(1 / (n - 3) + 1 / (m - 3))
    for first in (-0.6, 0.0, 0.4):
        for times, said in ((1.9, False), (2.02, True), (-1.9, False), (-2.02, True)):
            second = float(np.tanh(np.arctanh(first) + times * error))
            told = change_of_pair((first, second), (n, m))
            assert (told.words != change.TOGETHER) == said
            assert told.dependence == (first, second)
    assert change_of_pair((1.0, -1.0), (9, 9)).words == "correlation 1.00 → −1.00"
    assert change_of_pair(None) == Change(words=change.TOGETHER, discreet=change.TOGETHER)


def test_distances_from_the_middle():
    rng = np.random.default_rng(6)
    x = rng.chisquare(5, 400)
    for times, where in (
        (1.5, "farther from the middle: median distance × 1.50"),
        (0.5, "nearer to the middle: median distance × 0.500"),
    ):
        told = change_of_distances(0.01, x, times * x)
        assert told.words == f"rows lie {where}"
        assert told.ratio == pytest.approx(times)
        assert told.direction == where.split()[0]
    wide = change_of_distances(0.01, 9 + 0.1 * (x - 5), 9 + 0.3 * (x - 5))
    assert wide.words.startswith("distances from the middle vary more: sd × 3.00")
    less = change_of_distances(0.01, 9 + 0.3 * (x - 5), 9 + 0.1 * (x - 5))
    assert less.words.startswith("distances from the middle vary less: sd × 0.333")
    same = change_of_distances(0.01, x, x[::-1])
    assert (same.ratio, same.direction) == (None, None)


def test_counts():
    counts = Counts.of((np.array([2.0, 1.0, 2.0, np.nan]), np.array([3.0, 2.0])), "numbers")
    assert counts.values.tolist() == [1.0, 2.0, 3.0]
    assert counts.counts.tolist() == [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]
    assert counts.missing.tolist() == [1.0, 0.0]
    single = np.array([True, False, True])
    bins = Counts(
        counts.values, counts.counts * [1, 0, 1], counts.missing, "numbers", single, single
    )
    assert bins.present().values.tolist() == [1.0, 3.0]
    assert bins.present().single is None  # the bins that are left hold one value each
    assert describe(Counts.of((np.array([np.nan] * 4), np.ones(4)), "numbers")).missing == (
        1.0,
        0.0,
    )


# Levels -------------------------------------------------------------------------------------------


def told_levels(x, y, kind="text", names="abcdefgh"):
    counts = np.array([x, y], float)
    column = Counts(np.arange(len(x)), counts, np.zeros(2), kind)
    return describe(column, lambda j: names[j])


def test_levels_beyond_chance_with_most_evidence_first():
    told = told_levels([100, 300, 300, 300], [400, 300, 180, 120])
    assert told.words == "a: 10 → 40 %"
    assert told.more == ("d: 30 → 12 %", "c: 30 → 18 %")
    assert [(c.name, c.x, c.y) for c in told.categories] == [
        ("a", 0.1, 0.4),
        ("d", 0.3, 0.12),
        ("c", 0.3, 0.18),
    ]
    assert told.discreet == "a category 10 → 40 %"
    assert told_levels([500, 500], [300, 700]).words == "a: 50 → 30 %"
    assert told_levels([500, 500], [300, 700]).more == ()  # the other says the same
    assert told_levels([500, 500], [510, 490]).words == change.SHAPE


@pytest.mark.parametrize(
    ("names", "words"), [(("False", "True"), "50 → 70"), (("True", "False"), "50 → 30")]
)
def test_booleans_by_the_rate_of_true(names, words):
    told = told_levels([500, 500], [300, 700], "booleans", names)
    times = {"50 → 70": "1.40", "50 → 30": "0.600"}[words]
    assert told.words == f"rate {words} % (× {times})"
    assert told.what == "rate"
    never = told_levels([1000, 0], [900, 100], "booleans", ("False", "True"))
    assert never.words == "rate 0 → 10 %"


# Numbers as text ----------------------------------------------------------------------------------

SAID = """
_said_pair(9.6412, 21.513): 9.6 → 21.5
_said_pair(1.0, 1.004): 1.000 → 1.004
_said_pair(1e-5, 2e-5): 1e−05 → 2e−05
_said_pair(1e-4, 3e-4): 0.000100 → 0.000300
_said_pair(27550.4, -3.0): 27,550 → −3
_said_pair(9999.4, 10000.6): 9999 → 10,001
_said_pair(2008.02, 2008.31, 3.0): 2008.0 → 2008.3
_said_pair(2008.02, 2008.31, 300.0): 2008 → 2008
_said_pair(0.0, 0.0): 0.00 → 0.00
_said_pair(1e9, 2e9): 1e+09 → 2e+09
_said_pair(999_999_999.0, 5.0): 999,999,999 → 5
_said_pair(-0.001, 5.0): 0.00 → 5.00
_said_pair(3.0, 3.04, 1e999): 3.00 → 3.04
_said_pair(1e12, 1e12 + 1): 1000000000000 → 1000000000001
_shares(0.0, 0.079): 0 → 7.9 %
_shares(0.5, 0.5): 50.0 → 50.0 %
_shares(0.1, 0.2): 10 → 20 %
_shares(0.123, 0.1289): 12.30 → 12.89 %
_shares(1.0, 0.987): 100 → 98.7 %
_shares(0.5, 0.500001): 50.0000 → 50.0001 %
percent(0.0123): 1.2 %
percent(0.3712): 37.1 %
percent(1.0): 100 %
_said(3.0): 3
_said(2.5): 2.5
_said(1234567.0): 1,234,567
_said(0.33333): 0.3333
_said(12345.678): 12,346
_said(1e9): 1e+09
_said(1e-5): 1e−05
_said(100.04): 100
_digits(1.0): 1.00
_digits(123.4): 123
_digits(0.0456): 0.0456
_signed(1.234): +1.2
_signed(12.34): +12.3
_signed(-0.0456): −0.046
_signed(0.0): +0.0
_signed(10.0): +10.0
_signed(10.26, 2): +10
_duration(1.0): (' days', 1.0)
_duration(0.99): (' h', 24.0)
_duration(1 / 24): (' h', 24.0)
_duration(0.03): (' min', 1440.0)
_duration(0.0006): (' s', 86400.0)
_duration(0.0): (' ms', 86400000.0)
_clock(0.75): 18:00
_clock(0.5 + 1.4 / 1440): 12:01
_said_dates(20000.0, 20030.0): 4 Oct → 3 Nov 2024
_said_dates(20000.5, 20001.0): 4 Oct 2024 12:00 → 5 Oct 2024 00:00
_said_dates(20000.0, 20001.0): 4 Oct → 5 Oct 2024
_said_dates(20000.0, 20400.0): 4 Oct 2024 → 8 Nov 2025
_said_dates(20000.25, 20002.25): 4 Oct → 6 Oct 2024
_said_dates(-1.0, 0.5): 31 Dec 1969 00:00 → 1 Jan 1970 12:00
_said_dates(4e6, 4e6 + 9): 12921-08-18 → 12921-08-27
"""


@pytest.mark.parametrize("line", SAID.strip().splitlines())
def test_numbers_as_text(line):
    call, _, text = line.partition(": ")
    assert str(eval(call, vars(change))) == text
