"""What public calls print, on simulated data."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from nosplit import (
    Exact,
    classifier_test,
    column_tests,
    goodness_of_fit_test,
    independence_test,
    joint_normal_test,
    k_sample_test,
    mean_test,
    models,
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


def test_categories_with_many_levels():
    rng = np.random.default_rng(0)
    names = np.array([f"SKU{j:03d}" for j in range(150)])
    odd = np.where(np.arange(150) < 3, 5.0, 1.0)
    x, y = (table(product=rng.choice(names, 4000, p=p / p.sum())) for p in (np.ones(150), odd))
    matches(
        two_sample_test(x, y),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): product; 50 % = chance
  changed  product   SKU00#: # → # %   # % (#–#)   p = #
                     SKU00#: # → # %
                     SKU00#: # → # %
  tested   4,000 v 4,000 rows, 1 column; exact, 999 permutations
""",
    )


def test_missing_values():
    rng = np.random.default_rng(0)
    x, y = (table(temp=rng.normal(20, 3, 1000)) for _ in range(2))
    y.loc[rng.random(1000) < 0.08, "temp"] = np.nan
    lines = str(two_sample_test(x, y)).splitlines()
    assert re.fullmatch(r"  changed  temp   missing 0 → [\d.]+ % +\d\d % .*", lines[2])
    assert lines[3] == "  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations"
    assert lines[4].startswith("  note     ")
    assert "compared as a value of their own (nan_policy=" in " ".join(" ".join(lines[4:]).split())


def test_heavy_tail():
    rng = np.random.default_rng(0)
    slow = rng.random(1000) < 0.06
    x = rng.normal(20, 4, 1000)
    y = np.where(slow, 62 + 60 * rng.pareto(1.2, 1000), rng.normal(20.7, 4, 1000))
    matches(
        two_sample_test(table(latency=x), table(latency=y)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): latency; 50 % = chance
  changed  latency   above #: # → # %   # % (#–#)   p = #
                     mean # → #, median # → #
  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations
""",
    )


def test_dates():
    rng = np.random.default_rng(0)
    x, y = (
        table(ordered=np.datetime64("2026-09-01") + rng.integers(0, days, 1000))
        for days in (30, 33)
    )
    matches(
        two_sample_test(x, y),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): ordered; 50 % = chance
  changed  ordered   after 30 Sep 2026: 0 → # %   # % (#–#)   p = #
                     median # Sep → # Sep 2026
  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations
""",
    )


def test_several_columns():
    rng = np.random.default_rng(0)
    x, y = (
        pd.DataFrame({f"c{j}": rng.normal(0.6 * side * (j < 12), 1, 400) for j in range(14)})
        for side in (0, 1)
    )
    rows = ["           c#   mean # → # (#)   # % (#–#)   p = #"] * 10
    matches(
        two_sample_test(x, y, pairs="complete"),
        "\n".join(
            [
                "The samples differ (p = 0.0010, level 0.05)",
                "  size     largest separation # % (#–#): c#",
                "  changed  12 of 14 columns differ",
                *rows,
                "           and 2 more: res.columns",
                "  tested   400 v 400 rows, 14 columns; exact, 999 permutations",
            ]
        ),
    )


def test_all_columns_together():
    x, y = np.random.default_rng(1).normal(size=(2, 1000, 3))
    # The sign of a product of three numbers: no pair of them shows it.
    y[:, 2] = np.abs(y[:, 2]) * np.sign(y[:, 0] * y[:, 1])
    matches(
        two_sample_test(*(pd.DataFrame(rows, columns=list("abc")) for rows in (x, y))),
        """
The samples differ (p = #, level 0.05)
  size     no single column or pair
  together jointly in a, b and c: nosplit.explain shows where
  tested   1,000 v 1,000 rows, 3 columns; exact, 999 permutations
""",
    )


def test_no_evidence():
    x, y = np.random.default_rng(1).normal(size=(2, 172, 8))
    matches(
        two_sample_test(x, y),
        """
No evidence of a difference (p = #, level 0.05)
  size     separation of each column at most # % (upper end); 50 % = chance
  tested   172 v 172 rows, 8 columns; exact, 999 permutations
""",
    )


def test_too_little_data():
    rows = np.random.default_rng(0).normal(size=(5, 6))
    matches(
        two_sample_test(rows[:3], rows[3:]),
        """
Too little data to tell (p ≥ 0.10 whatever the data, level 0.05)
  tested   3 v 2 rows, 6 columns; 10 permutations are possible
  note     4 v 4 rows can give p = 0.029; nosplit.sample_size says how many
           rows find the difference that matters to you
""",
    )


def test_a_column_that_defines_the_samples():
    rng = np.random.default_rng(0)
    x, y = (
        table(month=rng.integers(first, first + 12, 1000), value=rng.normal(size=1000))
        for first in (1, 13)
    )
    matches(
        two_sample_test(x, y),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 100 % (#–100): month; 50 % = chance
  changed  month   median # → #   100 % (#–100)   p = #
                   mean # → # (# %)
  tested   1,000 v 1,000 rows, 2 columns; exact, 999 permutations
  warning  month separates the samples completely. If it defines them, it
           hides all else: exclude=["month"].
""",
    )


def test_groups():
    rng = np.random.default_rng(0)

    def users(first, mean):
        user = first + np.repeat(np.arange(150), rng.integers(2, 6, 150))
        own = rng.normal(0, 1, 150)[user - first]
        return table(user=user, spend=mean + own + rng.normal(0, 1, len(user)))

    text = str(two_sample_test(users(0, 0.0), users(1000, 0.6), groups="user"))
    said = re.sub(r"\s+", " ", text)
    pattern = (
        r"tested [\d,]+ of [\d,]+ rows in 300 groups \(user\), 1 column; exact, 999 permutations "
        r"of groups of the same size$"
    )
    assert re.search(pattern, said), text


def doses(rng):
    return [
        table(dose=rng.normal(5.5 if k == 3 else 5.0, 1.0, 150), age=rng.normal(40, 9, 150))
        for k in range(4)
    ]


def test_several_samples():
    matches(
        k_sample_test(doses(np.random.default_rng(2))),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): dose, 3 against the others
  changed  dose   mean #, #, #, #   p = 0.0010
  pairs    # v 3  p = #    # v 3  p = #    # v 3  p = #
           3 of 6 pairs differ (adjusted for all 6)
  tested   4 samples of 150 rows, 2 columns; exact, 999 permutations
""",
    )


def test_categories_of_several_samples():
    rng = np.random.default_rng(3)
    shares = {"a": (0.5, 0.3, 0.2), "b": (0.5, 0.3, 0.2), "c": (0.2, 0.3, 0.5)}
    samples = {
        name: table(city=rng.choice(["Bonn", "Oslo", "Rome"], 150, p=p), age=rng.normal(size=150))
        for name, p in shares.items()
    }
    matches(
        k_sample_test(samples, control="a"),
        """
The samples differ (p = #, level 0.05)
  size     largest separation # % (#–#): city, c against the others
  changed  city   Rome: #, #, # %   p = #
                  Bonn: #, #, # %
  pairs    a v c  p = #
           1 of 2 pairs differs (adjusted for all 2)
  tested   3 samples of 150 rows, 2 columns; exact, 999 permutations
""",
    )


def test_many_samples():
    """Of more than six samples the smallest and the largest number is said."""
    rng = np.random.default_rng(4)
    samples = {f"s{k}": table(load=rng.normal(0.9 * (k == 7), 1, 90 + k)) for k in range(8)}
    matches(
        k_sample_test(samples, follow_up=False),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation # % (#–#): load, s7 against the others
  changed  load   mean # (s#) to # (s7)   p = 0.0010
  tested   8 samples of 90 to 97 rows, 1 column; exact, 999 permutations
""",
    )


def test_several_samples_in_strata():
    rng, strata = np.random.default_rng(5), [np.repeat(["n", "s"], own) for own in ((60, 20),) * 3]
    samples = [
        table(load=rng.normal(size=80) + 3.0 * (own == "s") + (k == 1), site=own)
        for k, own in enumerate(strata)
    ]
    matches(
        k_sample_test(samples, strata="site"),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation inside strata # % (#–#): load, 1 against
           the others
  changed  load   mean inside strata #, #, #   p = 0.0010
  pairs    0 v 1  p = 0.0010    1 v 2  p = 0.0010
           2 of 3 pairs differ (adjusted for all 3)
  tested   3 samples of 80 rows, 1 column, 2 strata (site); exact, 999
           permutations inside strata
""",
    )


def test_several_samples_without_evidence():
    rng = np.random.default_rng(6)
    matches(
        k_sample_test(
            [table(load=rng.normal(size=n), age=rng.normal(size=n)) for n in (50, 60, 40)]
        ),
        """
No evidence of a difference (p = #, level 0.05)
  size     separation of each column at most # % (upper end); 50 % = chance
  tested   3 samples of 50, 60 and 40 rows, 2 columns; exact, 999 permutations
""",
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda rng, k: rng.normal(0, 2.0 if k == 2 else 1.0, 200), "sd #, #, #"),
        (lambda rng, k: (rng.random(200) < (0.5 if k == 2 else 0.2)).astype(int), "rate #, #, # %"),
        (lambda rng, k: rng.random(200) < (0.5 if k == 2 else 0.2), "rate #, #, # %"),
        (lambda rng, k: np.where(rng.random(200) < 0.2 * k, np.nan, 1.5), "missing #, #, # %"),
        (
            lambda rng, k: rng.choice([2, 7], 200, p=[1 - 0.2 * k - 0.1, 0.2 * k + 0.1]),
            "7: #, #, # %",
        ),
        (
            lambda rng, k: np.datetime64("2026-09-01") + rng.integers(0, 20 + 9 * (k == 2), 200),
            "(mean|median) \\d+ Sep 2026, \\d+ Sep 2026, \\d+ Sep 2026|sd #, #, # days",
        ),
        (
            lambda rng, k: np.where(
                rng.random(200) < 0.9 - 0.3 * (k == 2), 0.0, rng.gamma(2, 9, 200)
            ),
            "(zeros|median|mean|sd) #, #, #( %)?",
        ),
    ],
)
def test_what_changed_in_several_samples(make, words):
    rng = np.random.default_rng(7)
    res = k_sample_test([table(v=make(rng, k)) for k in range(3)], follow_up=False)
    number = r"[+−]?[\d,]*\.?\d+"
    assert re.fullmatch(words.replace("#", number), res.columns["v"].change.words)


def test_fit_to_a_model():
    x = np.random.default_rng(1).standard_t(2, 400)
    matches(
        goodness_of_fit_test(table(x=x), models.Normal(0.0, 1.0), calibration="simulate"),
        """
The sample does not fit the model (p = 0.0010, level 0.05)
  size     separation # % (#–#) from the model; 50 % = chance
  changed  x   outside # to #: # (model) → # %, sd # → # (×
               #)
  tested   400 rows, 1 column; exact, 999 samples of the model
""",
    )


def test_fit_of_one_column_of_three():
    x = np.random.default_rng(3).normal(size=(150, 3)) * [1.0, 1.5, 1.0]
    model = models.Normal(np.zeros(3), np.ones(3))
    matches(
        goodness_of_fit_test(x, model, calibration=Exact(199)),
        """
The sample does not fit the model (p = 0.0050, level 0.05)
  size     largest separation # % (#–#) from the model: column 1; 50 % =
           chance
  changed  column 1   sd # (model) → # (×        # % (#–#)  p = 0.0050
                      #)
  tested   150 rows, 3 columns; exact, 199 samples of the model
""",
    )


def test_fit_of_columns_that_only_go_together():
    x = np.random.default_rng(1).normal(size=(150, 2))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    model = models.Normal(np.zeros(2), np.ones(2))
    matches(
        goodness_of_fit_test(x, model, calibration=Exact(199)),
        """
The sample does not fit the model (p = 0.0050, level 0.05)
  size     no single column
  together jointly in column 0 and column 1
  tested   150 rows, 2 columns; exact, 199 samples of the model
""",
    )


def test_fit_without_evidence():
    x = np.random.default_rng(2).normal(size=100)
    matches(
        goodness_of_fit_test(x, models.Normal(0.0, 1.0), calibration=Exact(199)),
        """
No evidence against the model (p = #, level 0.05)
  size     separation from the model at most # % (upper end); 50 % = chance
  tested   100 rows, 1 column; exact, 199 samples of the model
""",
    )


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_fit_to_a_score():
    x = np.random.default_rng(1).standard_t(2, 400)
    matches(
        goodness_of_fit_test(x, lambda x: -x),
        """
The sample does not fit the model (p = #, level 0.05)
  tested   400 rows, 1 column; wild bootstrap, 999 resamples (approximate)
  warning  # of 400 rows carry the statistic, so p is uncertain. A model
           that can be sampled gives an exact test.
""",
    )


@pytest.mark.parametrize(
    ("design", "tested"),
    [
        ({"groups": np.arange(400) // 10}, "400 rows in 40 groups, 1 column; wild bootstrap, 999"),
        ({"series": 9}, "396 rows (4 left out), 1 column; wild bootstrap, 999 resamples of blocks"),
    ],
)
def test_fit_of_designs(design, tested):
    x = np.random.default_rng(2).normal(size=400)
    text = re.sub(r"\s+", " ", str(goodness_of_fit_test(x, lambda x: -x, **design)))
    assert f"tested {tested}" in text
    assert text.endswith("(approximate)")


# -- independence ----------------------------------------------------------------------------------


def weather(n, seed=1):
    rng = np.random.default_rng(seed)
    return table(visibility=rng.normal(size=n), wind=rng.normal(size=n)), rng.normal(size=n)


def test_dependence():
    x, noise = weather(600)
    matches(
        independence_test(x, table(delay=0.25 * x["visibility"] + noise)),
        """
The variables depend on each other (p = 0.0010, level 0.05)
  size     largest rank correlation # (#–#): visibility with delay
  tested   600 rows, 2 with 1 columns; exact, 999 permutations
""",
    )


def test_dependence_of_several_pairs():
    x, noise = weather(600)
    matches(
        independence_test(x, table(delay=0.25 * x["visibility"] - 0.5 * x["wind"] + noise)),
        """
The variables depend on each other (p = 0.0010, level 0.05)
  size     largest rank correlation # (# to #): wind with delay
  pairs    wind with delay         correlation #   p = #
           visibility with delay   correlation #   p = #
  tested   600 rows, 2 with 1 columns; exact, 999 permutations
""",
    )


def test_dependence_that_is_not_monotone():
    x, noise = weather(200, 2)
    matches(
        independence_test(x["wind"].to_numpy(), x["wind"].to_numpy() ** 2 + noise),
        """
The variables depend on each other (p = 0.0010, level 0.05)
  size     no rank correlation: the relation of x with y is not monotone
  tested   200 rows, 1 with 1 columns; exact, 999 permutations
""",
    )


def test_no_evidence_of_dependence():
    x, noise = weather(100)
    x["site"] = np.repeat(["a", "b", "c", "d"], 25)
    matches(
        independence_test(x, table(delay=noise), strata="site"),
        """
No evidence of dependence (p = #, level 0.05)
  size     rank correlation of each pair at most # in size (upper end)
  tested   100 rows, 2 with 1 columns, 4 strata (site); exact, 999
           permutations inside strata
""",
    )
