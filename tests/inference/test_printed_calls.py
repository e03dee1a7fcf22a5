"""What public calls print, on simulated data."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from nosplit import (
    classifier_test,
    column_tests,
    joint_normal_test,
    mean_test,
    two_sample_test,
)


def matches(result, expected):
    """Check printed lines: # stands for a number, and two spaces or more for any number of them."""
    lines, expected = str(result).splitlines(), expected.strip("\n").splitlines()
    for line, words in zip(lines, expected, strict=False):
        pattern = re.sub(r"(?<=\S) {2,}", " +", re.sub(r"([^\w\s#])", r"\\\1", words))
        assert re.fullmatch(pattern.replace("#", r"[+−]?[\d,]*\.?\d+(?:e-\d\d)?"), line), str(
            result
        )
    assert len(lines) == len(expected), str(result)
    assert all(len(line) <= 80 for line in lines)
    assert repr(result) == lines[0]


def table(**columns):
    return pd.DataFrame(columns)


def price(rng):
    return [table(price=rng.normal(mean, 10, 1000)) for mean in (50, 53)]


def voltage(rng):
    return [table(voltage=rng.normal(230, sd, 1000)) for sd in (2, 2.6)]


def converted(rng):
    return [table(converted=(rng.random(1000) < rate).astype(int)) for rate in (0.12, 0.19)]


def visits(rng):
    return [table(visits=rng.poisson(mean, 1000)) for mean in (3.5, 3.0)]


def spend(rng):
    return [
        table(spend=np.where(rng.random(1000) < rate, rng.gamma(2.0, 18.0, 1000).round(2), 0.0))
        for rate in (0.1, 0.2)
    ]


def stars(rng):
    return [
        table(stars=rng.choice(np.arange(1, 6), 1000, p=p))
        for p in ((0.05, 0.05, 0.1, 0.3, 0.5), (0.08, 0.09, 0.15, 0.33, 0.35))
    ]


ONE_COLUMN = {
    price: "price   mean # → # (#)",
    voltage: "voltage   sd # → # (× #)",
    converted: "converted   rate # → # % (× #)",
    visits: "visits   mean # → # (# %)",
    spend: "spend   zeros # → # %, mean # → #",
    stars: "stars   mean # → #, 5s: # → # %",
}


@pytest.mark.parametrize("make", ONE_COLUMN, ids=lambda make: make.__name__)
def test_one_column(make):
    x, y = make(np.random.default_rng(0))
    matches(
        two_sample_test(x, y),
        f"""
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): {make.__name__}; 50 % = chance
  changed  {ONE_COLUMN[make]}   # % (#–#)   p = #
  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations
""",
    )


def test_a_pair_of_columns():
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame(
            np.column_stack(
                [rng.multivariate_normal([0, 0], [[1, r], [r, 1]], 1000), rng.normal(size=1000)]
            ),
            columns=["height", "weight", "age"],
        )
        for r in (0.6, 0.1)
    )
    matches(
        two_sample_test(x, y),
        """
The samples differ (p = 0.0010, level 0.05)
  size     no single column; guessed # % (#–#) from height with weight
  together height with weight   correlation # → #   p = #
  tested   1,000 v 1,000 rows, 3 columns; exact, 999 permutations
""",
    )


def test_distances_from_the_middle():
    x, y = np.random.default_rng(1).normal(size=(2, 200, 100))
    matches(
        two_sample_test(x, 1.05 * y),
        """
The samples differ (p = #, level 0.05)
  size     no single column or pair
  together rows lie farther from the middle: median distance × #  p = #
  tested   200 v 200 rows, 100 columns; exact, 999 permutations
""",
    )


def test_rows_like_a_time_series():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, 600))
    load = np.zeros((2, 600))
    for t in range(1, 600):
        load[:, t] = 0.85 * load[:, t - 1] + noise[:, t]
    matches(
        two_sample_test(table(load=load[0] + 0.5), table(load=load[1] - 0.5)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): load; 50 % = chance
  changed  load   mean # → # (#)   # % (#–#)   p = #
  tested   600 v 600 rows, 1 column; exact for independent rows, 999
           permutations
  warning  Neighbouring rows are alike (autocorrelation #), as in a time
           series; then p is too small. If rows are in time order, use
           series=True; if they come in groups, groups=. If they are only
           sorted, ignore this.
""",
    )


def test_pairs():
    rng = np.random.default_rng(0)
    before = rng.normal(140, 15, 60)
    after = before + rng.normal(-4, 7, 60)
    names = ("before", "after")
    matches(
        two_sample_test(table(pressure=before), table(pressure=after), paired=True, names=names),
        """
The samples differ (p = #, level 0.05)
  size     after is lower in # % of pairs (50 % = chance)
  changed  pressure   mean of differences # (# to #)   p = #
  tested   60 pairs, 1 column; exact, 999 permutations inside pairs
""",
    )


def test_strata():
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({"site": site, "yield": 2.0 * site + rng.normal(mean, 1, 400)})
        for site, mean in ((rng.integers(0, 8, 400), 0.0), (rng.integers(0, 8, 400), 0.5))
    )
    matches(
        two_sample_test(x, y, strata="site"),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation inside strata # % (#–#): yield; 50 % = chance
  changed  yield   mean inside strata #   # % (#–#)   p = #
  tested   400 v 400 rows, 1 column, 8 strata (site); exact, 999
           permutations inside strata
""",
    )


def test_column_tests():
    rng = np.random.default_rng(0)
    x, y = (table(price=rng.normal(mean, 10, 300), age=rng.normal(40, 9, 300)) for mean in (50, 56))
    matches(
        column_tests(x, y),
        """
1 of 2 columns differs (level 0.05 for all together)
  column  p       adjusted  separation    what changed
  price   #  #    # % (#–#)  mean # → # (#)
  age     #  #    # % (#–#)
  tested   300 v 300 rows, 2 columns; exact, 1,999 permutations
""",
    )


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
@pytest.mark.parametrize(
    ("options", "tested"),
    [
        ({"symmetric": True}, "80 rows, 3 columns; exact, 999 permutations of signs"),
        (
            {"symmetric": True, "series": 9},
            """8 blocks of 9 rows (8 rows left out), 3 columns; exact for
           independent blocks, 255 permutations of signs""",
        ),
        ({"calibration": "asymptotic"}, "80 rows, 3 columns; ost, asymptotic"),
        (
            {"calibration": "bootstrap"},
            "80 rows, 3 columns; bootstrap, 999 resamples (approximate)",
        ),
    ],
)
def test_means(options, tested):
    few = """
  warning  80 rows are few for a test of 3 means (at least 300 are safe): a
           long tail may have been missed, and p may then be far too small.
           Use more rows, or symmetric=True if rows are symmetric about zero
           under the null hypothesis."""
    h = np.random.default_rng(0).normal(0.3, 1.0, size=(80, 3))
    matches(
        mean_test(h, **options),
        f"""
Some mean is not zero (p = #, level 0.05)
  tested   {tested}{few if "calibration" in options else ""}
""",
    )


def test_too_few_signs():
    matches(
        mean_test(np.ones((3, 2)) * [[1.0], [2.0], [3.0]], symmetric=True),
        """
Too little data to tell (p ≥ 0.13 whatever the data, level 0.05)
  tested   3 rows, 2 columns; 8 permutations are possible
""",
    )


def test_given_statistics():
    matches(
        joint_normal_test([3.0, 4.0], np.eye(2)),
        """
Some mean is not zero (p = #, level 0.05)
  tested   2 given statistics; ost, asymptotic
""",
    )


class Sum:
    """Score rows by their sum: those of x lie higher."""

    def fit(self, rows, labels):
        pass

    def predict(self, rows):
        return rows.sum(axis=1)


@pytest.mark.parametrize(
    ("options", "tested"),
    [
        ({}, "200 v 200 rows, 3 columns; exact, 999 permutations in each fold"),
        (
            {"paired": True},
            "200 pairs, 3 columns; exact, 999 permutations inside pairs in\n           each fold",
        ),
        (
            {"series": 6},
            """198 v 198 rows (4 left out), 3 columns; exact for independent
           blocks, 999 permutations of blocks of 6 rows in each fold""",
        ),
    ],
)
def test_classifiers(options, tested):
    x, y = np.random.default_rng(0).normal(size=(2, 200, 3))
    matches(
        classifier_test(x + 0.4, y, estimator=Sum(), **options),
        f"""
The samples differ (p = #, level 0.05)
  size     AUC # % (#–#) by Sum; 50 % = chance
  tested   {tested}
""",
    )
