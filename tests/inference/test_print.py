"""Printed results, line by line, on results that are made by hand."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from scipy.special import ndtri

from nosplit.errors import InputError
from nosplit.inference.change import Change, Distance
from nosplit.inference.columns import ColumnTable, ColumnTest, ColumnTests, PairTable, PairTest
from nosplit.inference.effect import Separation
from nosplit.inference.print import answer_of, format_p, said_p
from nosplit.inference.questions import (
    GOODNESS,
    INDEPENDENCE,
    MEAN,
    TOO_LITTLE_DATA,
    TWO_SAMPLE,
    Exchanged,
)
from nosplit.inference.result import How, KernelSelection, TestResult
from nosplit.methods.laws import Chi

DEPENDENT = (
    "DependentRowsWarning: Neighbouring rows are alike (autocorrelation 0.87), as in a time "
    "series; then p is too small. If rows are in time order, use series=True; if they come in "
    "groups, groups=. If they are only sorted, ignore this."
)


def separation(low, value, high, margin=None, **options):
    """Make a separation that is printed with these percentages."""
    value = min(max((low + high) / 2.0, value - 0.49), value + 0.49)
    error = (margin or (high - low) / 2.0) / -ndtri(0.025)
    return Separation(value / 100.0, error / 100.0, **options)


def column(name, words="", size=None, p=0.001, more=(), own=None):
    change = Change(words, tuple(more)) if words else None
    return ColumnTest(name, 9.0, own or p, p, p, p, change, size)


def pair(first, second, words="", p=0.001, accuracy=None):
    return PairTest((first, second), p, p, Change(words) if words else None, accuracy)


def how_of(*sizes, n_resamples=999, **options):
    known = {
        "method": "adaptive",
        "pairs": "complete",
        "calibration": "exact",
        "n_resamples": n_resamples,
        "smallest_pvalue": 0.0,
        "seed": 0,
        "n_units": sum(sizes),
        "n_pairs": 100,
        "n_used": sum(sizes),
        "n_left_out": 0,
        "sizes": sizes,
    }
    return How(**{**known, **options})


def result_of(p, columns=(), how=None, pairs=(), question=TWO_SAMPLE, **options):
    selection = KernelSelection(("a",), np.ones(1), np.eye(1), np.ones(1), (0,), 1, None)
    known = {
        "statistic": 1.0,
        "log_pvalue": math.log(p),
        "null": Chi(1),
        "question": question,
        "columns": ColumnTable(tuple(columns), joint=p),
        "pairs": PairTable(tuple(pairs), joint=p),
        "distance": None,
        "selection": selection,
        "how": how or how_of(1000, 1000),
    }
    return TestResult(**{**known, **options})


def check(printed, expected):
    expected = expected.strip("\n")
    assert str(printed) == expected
    assert all(len(line) <= 80 for line in str(printed).splitlines())
    if isinstance(printed, TestResult):
        assert repr(printed) == expected.splitlines()[0]


# -- two samples -----------------------------------------------------------------------------------

# A column, and what is printed between the verdict and the procedure.
ONE_COLUMN = {
    "numeric shift": (
        column("price", "mean 50.4 → 53.2 (+2.8)", separation(54, 56, 59)),
        """
  size     largest separation 56 % (54–59): price; 50 % = chance
  changed  price   mean 50.4 → 53.2 (+2.8)            56 % (54–59)  p = 0.0010
""",
    ),
    "heavy tail": (
        column(
            "latency",
            "above 60: 0 → 5.4 %",
            separation(53, 55, 57),
            more=["mean 20.8 → 29.6, median 20.0 → 20.7"],
        ),
        """
  size     largest separation 55 % (53–57): latency; 50 % = chance
  changed  latency   above 60: 0 → 5.4 %              55 % (53–57)  p = 0.0010
                     mean 20.8 → 29.6, median 20.0 → 20.7
""",
    ),
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_one_column(name):
    own, expected = ONE_COLUMN[name]
    head = "The samples differ (p = 0.0010, level 0.05)"
    procedure = "  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations"
    check(result_of(0.001, [own]), f"{head}{expected}{procedure}")


def test_categories_with_many_levels():
    more = ["SKU011: 0.6 → 1.6 %", "SKU000: 0.8 → 1.7 %"]
    own = column("product", "SKU006: 0.7 → 2.3 %", separation(50, 51, 52), more=more)
    check(
        result_of(0.001, [own], how_of(4000, 4000)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 51 % (50–52): product; 50 % = chance
  changed  product   SKU006: 0.7 → 2.3 %              51 % (50–52)  p = 0.0010
                     SKU011: 0.6 → 1.6 %
                     SKU000: 0.8 → 1.7 %
  tested   4,000 v 4,000 rows, 1 column; exact, 999 permutations
""",
    )


def test_missing_values():
    own = column("temp", "missing 0 → 7.9 %", separation(53, 54, 55))
    note = 'missing values are compared as a value of their own (nan_policy="indicate")'
    check(
        result_of(0.001, [own], notes=(note,)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 54 % (53–55): temp; 50 % = chance
  changed  temp   missing 0 → 7.9 %                   54 % (53–55)  p = 0.0010
  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations
  note     missing values are compared as a value of their own
           (nan_policy="indicate")
""",
    )


def test_several_columns():
    most, less = separation(59, 60, 61, 0.6), separation(55, 56, 57)
    columns = [
        column("air_time", "above 340: 7.2 → 2.0 %", most, 0.0001, ["mean 152 → 145"]),
        column("flight", "4370 to 6177: 15 → 10 %", most, 0.0001),
        column("tailnum", "N730MQ: 0.4 → 0 %", separation(56, 57, 58), 0.0001),
        column("dep_delay", "mean 9.6 → 21.5 (+11.9)", less, 0.0001, ["above 100: 3.0 → 7.2 %"]),
        column("minute", "mean 24.8 → 27.5 (+2.6)", less, 0.0001),
        column("arr_delay", "mean 5.6 → 16.7 (+11.2)", less, 0.0001, ["missing 2.2 → 3.7 %"]),
    ]
    columns += [column(f"c{j}", "mean 1.0 → 1.1", separation(50, 51, 52), 0.01) for j in range(7)]
    columns += [column(f"d{j}", "", separation(50, 50, 51), 0.9) for j in range(2)]
    pairs = [
        pair("air_time", "distance", p=0.0001, accuracy=separation(66, 68, 70)),
        pair("carrier", "origin", p=0.0002),
        *[pair("air_time", f"c{j}", p=0.01) for j in range(39)],
    ]
    how = how_of(5000, 5000, n_resamples=9999)
    note = 'flight and tailnum look like identifiers: exclude=["flight", "tailnum"] leaves them out'
    check(
        result_of(0.0001, columns, how, pairs, notes=(note,)),
        """
The samples differ (p = 0.0001, level 0.05)
  size     largest separation 60 % (59–61): air_time
  changed  13 of 15 columns differ
           air_time    above 340: 7.2 → 2.0 %         60 % (59–61)  p = 0.0001
                       mean 152 → 145
           flight      4370 to 6177: 15 → 10 %        60 % (59–61)  p = 0.0001
           tailnum     N730MQ: 0.4 → 0 %              57 % (56–58)  p = 0.0001
           dep_delay   mean 9.6 → 21.5 (+11.9)        56 % (55–57)  p = 0.0001
                       above 100: 3.0 → 7.2 %
           minute      mean 24.8 → 27.5 (+2.6)        56 % (55–57)  p = 0.0001
           arr_delay   mean 5.6 → 16.7 (+11.2)        56 % (55–57)  p = 0.0001
                       missing 2.2 → 3.7 %
           c0          mean 1.0 → 1.1                 51 % (50–52)  p = 0.010
           c1          mean 1.0 → 1.1                 51 % (50–52)  p = 0.010
           c2          mean 1.0 → 1.1                 51 % (50–52)  p = 0.010
           c3          mean 1.0 → 1.1                 51 % (50–52)  p = 0.010
           and 3 more: res.columns
  together air_time with distance (68 %), carrier with origin, 39 more
  tested   5,000 v 5,000 rows, 15 columns; exact, 9,999 permutations
  note     flight and tailnum look like identifiers: exclude=["flight",
           "tailnum"] leaves them out
""",
    )


def test_a_pair_of_columns():
    columns = [column(name, p=0.6) for name in ("height", "weight", "age")]
    both = pair("height", "weight", "correlation 0.62 → 0.08", accuracy=separation(58, 60, 63))
    check(
        result_of(0.001, columns, pairs=[both]),
        """
The samples differ (p = 0.0010, level 0.05)
  size     no single column; guessed 60 % (58–63) from height with weight
  together height with weight   correlation 0.62 → 0.08             p = 0.0010
  tested   1,000 v 1,000 rows, 3 columns; exact, 999 permutations
""",
    )


def test_all_columns_together():
    columns = [column(name, p=0.6) for name in "abc"]
    check(
        result_of(0.001, columns),
        """
The samples differ (p = 0.0010, level 0.05)
  size     no single column or pair
  together jointly in a, b and c: nosplit.explain shows where
  tested   1,000 v 1,000 rows, 3 columns; exact, 999 permutations
""",
    )


def test_distances_from_the_middle():
    columns = [column(name, p=0.6) for name in "abcdef"]
    words = "rows lie farther from the middle: median distance × 1.26"
    check(
        result_of(0.001, columns, distance=Distance(0.001, 1.26, words)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     no single column or pair
  together rows lie farther from the middle: median distance × 1.26 p = 0.0010
  tested   1,000 v 1,000 rows, 6 columns; exact, 999 permutations
""",
    )


def test_no_evidence():
    columns = [column(f"c{j}", "mean 1 → 2", separation(50, 50, 52, 0.1), 0.9) for j in range(7)]
    columns.append(column("c7", "mean 1 → 2", separation(43, 51, 59, 5.6), 0.9))
    check(
        result_of(0.947, columns, how_of(172, 172)),
        """
No evidence of a difference (p = 0.95, level 0.05)
  size     separation of each column at most 59 % (upper end); 50 % = chance
  tested   172 v 172 rows, 8 columns; exact, 999 permutations
""",
    )


def test_too_little_data():
    how = how_of(3, 2, n_resamples=9, smallest_pvalue=0.1)
    columns = [column(f"c{j}", p=0.4) for j in range(6)]
    check(
        result_of(0.4, columns, how),
        """
Too little data to tell (p ≥ 0.10 whatever the data, level 0.05)
  tested   3 v 2 rows, 6 columns; 10 permutations are possible
  note     4 v 4 rows can give p = 0.029; nosplit.sample_size says how many
           rows find the difference that matters to you
""",
    )


def test_rows_like_a_time_series():
    own = column("load", "mean 0.39 → −0.40 (−0.79)", separation(57, 60, 62))
    check(
        result_of(0.001, [own], how_of(600, 600), warnings=(DEPENDENT,)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 60 % (57–62): load; 50 % = chance
  changed  load   mean 0.39 → −0.40 (−0.79)           60 % (57–62)  p = 0.0010
  tested   600 v 600 rows, 1 column; exact for independent rows, 999
           permutations
  warning  Neighbouring rows are alike (autocorrelation 0.87), as in a time
           series; then p is too small. If rows are in time order, use
           series=True; if they come in groups, groups=. If they are only
           sorted, ignore this.
""",
    )


def test_a_column_that_defines_the_samples():
    columns = [column("month", "median 2 → 5", separation(99, 100, 101)), column("value", p=0.4)]
    check(
        result_of(0.001, columns),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 100 % (99–100): month; 50 % = chance
  changed  month   median 2 → 5                      100 % (99–100) p = 0.0010
  tested   1,000 v 1,000 rows, 2 columns; exact, 999 permutations
  warning  month separates the samples completely. If it defines them, it
           hides all else: exclude=["month"].
""",
    )


# -- designs ---------------------------------------------------------------------------------------


def test_pairs():
    size = separation(25, 37, 49, paired=True)
    own = column("pressure", "mean of differences −3.3 (−5.2 to −1.4)", size, 0.007)
    design = Exchanged("pairs", "x and y are swapped inside 60 pairs", "pairs", 60)
    how = how_of(60, 60, design=design, names=("before", "after"))
    check(
        result_of(0.002, [own], how),
        """
The samples differ (p = 0.0020, level 0.05)
  size     after is lower in 63 % of pairs (50 % = chance)
  changed  pressure   mean of differences −3.3 (−5.2 to −1.4)       p = 0.0070
  tested   60 pairs, 1 column; exact, 999 permutations inside pairs
""",
    )


def test_strata():
    own = column("yield", "mean inside strata +0.46", separation(55, 59, 62))
    design = Exchanged("strata", "rows are permuted inside 8 strata", "rows", 8, "site")
    check(
        result_of(0.001, [own], how_of(400, 400, design=design)),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation inside strata 59 % (55–62): yield; 50 % = chance
  changed  yield   mean inside strata +0.46           59 % (55–62)  p = 0.0010
  tested   400 v 400 rows, 1 column, 8 strata (site); exact, 999
           permutations inside strata
""",
    )


def test_groups():
    columns = [column("spend", "mean 21.0 → 24.3 (+3.3)", separation(51, 55, 58), 0.002)]
    columns += [column(f"c{j}", p=0.6) for j in range(8)]
    design = Exchanged("groups", "groups of the same size", "groups", 2643, "user")
    how = how_of(6000, 5020, n_left_out=1417, design=design)
    check(
        result_of(0.002, columns, how),
        """
The samples differ (p = 0.0020, level 0.05)
  size     largest separation 55 % (51–58): spend; 50 % = chance
  changed  spend   mean 21.0 → 24.3 (+3.3)            55 % (51–58)  p = 0.0020
  tested   11,020 of 12,437 rows in 2,643 groups (user), 9 columns; exact,
           999 permutations of groups of the same size
""",
    )


def _tested(how, p=0.5, warnings=()):
    """Return what is printed of the procedure of a test without columns, in one line."""
    _, text = str(result_of(p, how=how, warnings=warnings)).split("  tested   ", 1)
    return " ".join(text.split("  warning", 1)[0].split())


PROCEDURES = {
    "2 pairs (4 left out); exact, 999 permutations inside pairs": how_of(
        2, 2, n_left_out=4, design=Exchanged("pairs", "", "pairs", 2)
    ),
    "60 v 60 rows; exact, 999 permutations inside pairs": how_of(
        60, 60, design=Exchanged("pairs", "", "pairs")
    ),
    "80 v 90 rows (30 left out), strata; exact, 999 permutations inside strata": how_of(
        80, 90, n_left_out=30, design=Exchanged("strata", "")
    ),
    "170 rows in groups, 1 stratum; exact, 999 permutations of groups of the same size inside "
    "strata": how_of(80, 90, design=Exchanged("strata", "", "groups", 1)),
    "80 v 90 rows; exact for independent blocks, 999 permutations of blocks of 10 rows": how_of(
        80, 90, calibration="series", design=Exchanged("series", "", "blocks", 10)
    ),
    "80 v 90 rows; exact for independent blocks, 999 permutations of blocks of rows": how_of(
        80, 90, calibration="series", design=Exchanged("series", "", "blocks")
    ),
    "4,000 rows; exact, 999 permutations": how_of(sizes=(), n_used=4000),
    "4 samples of 150 rows; exact, 999 permutations": how_of(
        150, 150, 150, 150, design=Exchanged("samples", "")
    ),
    "3 samples of 10, 1,200 and 30 rows; exact, 999 permutations": how_of(10, 1200, 30),
    "80 v 90 rows, compared with last week; exact, 999 permutations of 50 cells of rows (sketch)": (
        how_of(80, 90, reference="last week", pairs="sketch", n_units=50)
    ),
    "80 v 80 rows; ost, asymptotic, 40 pairs (linear)": how_of(
        80,
        80,
        n_resamples=None,
        method="ost",
        calibration="asymptotic",
        pairs="linear",
        n_pairs=40,
    ),
    "400 rows; wild bootstrap, 999 resamples (approximate)": how_of(400, calibration="wild"),
    "400 rows; bootstrap, 999 resamples (approximate)": how_of(400, calibration="bootstrap"),
    "400 rows; exact, 999 samples of the model": how_of(400, calibration="simulate"),
    "400 rows, 1 column; ost, asymptotic": how_of(
        400, sizes=(), method="ost", n_resamples=None, calibration="asymptotic", pairs="rows"
    ),
    "1 given statistic; wald, asymptotic": how_of(
        1, method="wald", n_resamples=None, calibration="asymptotic", pairs="given"
    ),
}


@pytest.mark.parametrize("expected", PROCEDURES)
def test_procedures(expected):
    assert _tested(PROCEDURES[expected]) == expected


def test_p_is_exact_for_independent_units_if_rows_are_alike():
    design = Exchanged("strata", "", "groups", 3, "site")
    said = _tested(how_of(80, 90, design=design), warnings=(DEPENDENT,))
    assert "; exact for independent groups, 999 permutations of groups" in said


def test_too_little_data_in_time_order():
    words = "blocks of 30 rows are permuted between the samples (2 and 2)"
    design = Exchanged("series", words, "blocks", 30)
    how = how_of(60, 60, calibration="series", design=design, smallest_pvalue=1 / 3)
    res = result_of(1.0, how=how)
    assert repr(res) == "Too little data to tell (p ≥ 0.33 whatever the data, level 0.05)"
    assert _tested(how) == f"60 v 60 rows; {words}; 3 permutations are possible"


@pytest.mark.parametrize(("alpha", "n", "p"), [(0.05, 4, "0.029"), (0.01, 5, "0.0079")])
def test_sizes_that_can_reach_the_level_against_enumeration(alpha, n, p):
    res = result_of(1.0, how=how_of(2, 2, n_resamples=5, smallest_pvalue=1 / 3))
    assert res.verdict(alpha) == TOO_LITTLE_DATA
    assert f"  note     {n} v {n} rows can give p = {p}; nosplit" in res.summary(alpha)
    assert 2 / math.comb(2 * n, n) <= alpha < 2 / math.comb(2 * n - 2, n - 1)


def test_permutations_that_cannot_reach_the_level():
    text = result_of(0.02, how=how_of(50, 50, n_resamples=49)).summary(0.01)
    assert "  note     49 permutations cannot give p ≤ 0.01: use 99 or more" in text
    assert "cannot give" not in result_of(0.02, how=how_of(50, 50, n_resamples=99)).summary(0.01)


# -- parts of the grammar --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (1.0, "1.0"),
        (0.9471, "0.95"),
        (0.1, "0.10"),
        (0.0995, "0.10"),
        (2 / 70, "0.029"),
        (0.05, "0.050"),
        (0.007, "0.0070"),
        (1 / 1000, "0.0010"),
        (1 / 10000, "0.0001"),
        (4.1e-8, "4.1e-08"),
        (9.99e-8, "1.0e-07"),
        (math.nan, "nan"),
    ],
)
def test_p_values(p, said):
    assert format_p(math.log(p)) == said
    assert said_p(math.log(p)) == f"p = {said}"


def test_tiny_p_values():
    assert said_p(-1e300) == "p < 1e-16"
    assert said_p(-math.inf, "pvalue", "") == "pvalue<1e-16"
    assert repr(result_of(1e-18)) == "The samples differ (p < 1e-16, level 0.05)"


def test_a_p_value_above_the_level_never_reads_as_the_level():
    res = result_of(504 / 10000, how=how_of(50, 50, n_resamples=9999))
    assert repr(res) == "No evidence of a difference (p = 0.0504, level 0.05)"


def test_another_level():
    own = column("price", "mean 50.4 → 53.2 (+2.8)", separation(54, 56, 59), 0.02)
    res = result_of(0.02, [own])
    assert "price" in res.summary(0.05)
    assert res.summary(0.01).splitlines() == [
        "No evidence of a difference (p = 0.020, level 0.01)",
        "  size     separation at most 59 % (upper end); 50 % = chance",
        "  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations",
    ]


@pytest.mark.parametrize(
    ("question", "p", "said"),
    [
        (GOODNESS, 0.001, "The sample does not fit the model"),
        (GOODNESS, 0.5, "No evidence against the model"),
        (INDEPENDENCE, 0.001, "The variables depend on each other"),
        (INDEPENDENCE, 0.5, "No evidence of dependence"),
        (MEAN, 0.001, "Some mean is not zero"),
    ],
)
def test_other_questions_replace_the_noun(question, p, said):
    text = str(result_of(p, how=how_of(400), question=question))
    assert text.splitlines()[0] == f"{said} (p = {format_p(math.log(p))}, level 0.05)"


def test_pairs_of_two_variables_have_no_single_columns():
    pairs = [pair(f"x{j}", "y", "correlation 0.00 → 0.21", 0.001 + j / 1000) for j in range(12)]
    lines = str(result_of(0.001, pairs=pairs, question=INDEPENDENCE)).splitlines()
    assert lines[1].startswith("  together x0 with y   correlation 0.00 → 0.21    ")
    assert lines[1].index("p = 0.0010") == 68
    assert lines[11:] == [
        "           and 2 more: res.pairs",
        "  tested   1,000 v 1,000 rows; exact, 999 permutations",
    ]


def test_pairs_of_columns_that_do_not_differ_by_themselves():
    columns = [column("a"), column("b", p=0.6), column("c", p=0.6)]
    res = result_of(0.001, columns, pairs=[pair("a", "b"), pair("b", "c"), pair("a", "c", p=0.2)])
    assert res.together() == (("b", "c"),)
    assert res.pairs.differing() == (("a", "b"), ("b", "c"))


def test_no_pair_of_two_variables():
    pairs = [pair("x0", "y", p=0.07)]
    lines = str(result_of(0.04, pairs=pairs, question=INDEPENDENCE)).splitlines()
    assert lines[1:-1] == ["  size     no single pair of columns"]


def test_one_of_several_samples():
    size = separation(58, 62, 66, sample="3")
    columns = [column("dose", "mean 5.0, 4.9, 5.0, 5.5", size), column("age", p=0.5)]
    text = str(result_of(0.001, columns, how_of(150, 150, 150, 150)))
    assert "  size     largest separation 62 % (58–66): dose, 3 against the others\n" in text


def test_several_columns_of_pairs():
    sizes = [separation(60, 70, 80, paired=True), separation(30, 45, 60, paired=True)]
    columns = [column("a", "mean of differences +1.0 (+0.5 to +1.5)", sizes[0])]
    columns.append(column("b", p=0.7, size=sizes[1]))
    how = how_of(60, 60, design=Exchanged("pairs", "", "pairs", 60))
    assert "  size     y is higher in 70 % of pairs: a; 50 % = chance\n" in str(
        result_of(0.001, columns, how)
    )
    kept = str(result_of(0.5, columns, how))
    assert "  size     y is higher or lower in at most 81 % of pairs (upper end); 50 % =" in kept


def test_one_column_that_shows_the_difference_by_none_of_its_statistics():
    lines = str(result_of(0.04, [column("a", p=0.06)])).splitlines()
    assert lines[1:-1] == ["  changed  a: nosplit.explain shows where"]


def test_all_of_many_columns_together():
    columns = [column(str(j), p=0.6) for j in range(40)]
    text = " ".join(str(result_of(0.001, columns)).split())
    assert "together jointly in column 0, column 1, column 2," in text
    assert "column 9 and 30 more: nosplit.explain" in text


def test_columns_of_arrays_have_numbers():
    check(
        result_of(0.001, [column("0", "mean 1.0 → 2.0", separation(99, 100, 101))]),
        """
The samples differ (p = 0.0010, level 0.05)
  size     largest separation 100 % (99–100): column 0; 50 % = chance
  changed  column 0   mean 1.0 → 2.0                 100 % (99–100) p = 0.0010
  tested   1,000 v 1,000 rows, 1 column; exact, 999 permutations
  warning  column 0 separates the samples completely. If it defines them, it
           hides all else: exclude=[0].
""",
    )


def test_several_columns_that_define_the_samples():
    columns = [column(n, "median 2 → 5", separation(99, 100, 101)) for n in ('a "b"', "day")]
    text = " ".join(str(result_of(0.001, columns)).split())
    assert (
        'warning a "b" and day separate the samples completely. If they define them, they hide '
        'all else: exclude=["a \\"b\\"", "day"].'
    ) in text


def test_notes_for_a_command_line():
    own = column("month", "median 2 → 5", separation(99, 100, 101))
    res = result_of(0.001, [own], notes=("Use strata=a.",))
    lines = answer_of(res, 0.05, lambda text: text.replace("=", " ")).splitlines()
    assert lines[-2:] == [
        '           hides all else: exclude ["month"].',
        "  note     Use strata a.",
    ]


def test_warnings_stand_before_notes_and_have_no_category():
    warnings = ("UnsafeAsymptoticsWarning: Use more rows.", "Look: here.")
    lines = str(result_of(0.5, notes=("A note.",), warnings=warnings)).splitlines()
    assert lines[-3:] == [
        "  warning  Use more rows.",
        "  warning  Look: here.",
        "  note     A note.",
    ]


def test_long_names_have_lines_of_their_own():
    name = "customer_lifetime_value"
    columns = [
        column(name, "mean 50.4 → 53.2 (+2.8)", separation(54, 56, 59), more=["missing 0 → 1 %"]),
        column("age", "mean 40 → 41 (+1.0)", separation(54, 55, 57)),
    ]
    lines = str(result_of(0.001, columns)).splitlines()
    assert lines[3:7] == [
        "           customer_lifetime_value",
        "                 mean 50.4 → 53.2 (+2.8)              56 % (54–59)  p = 0.0010",
        "                 missing 0 → 1 %",
        "           age   mean 40 → 41 (+1.0)                  55 % (54–57)  p = 0.0010",
    ]


def test_no_line_is_longer_than_80_columns_properties():
    rng = np.random.default_rng(0)

    def text(longest):
        letters = rng.choice(list("abcdefg -_%→–é\n\x1b"), int(rng.integers(1, longest)))
        return "".join(letters).strip() or "a"

    for _ in range(300):
        columns = [
            column(
                f"{text(60)}{j}",
                text(120),
                separation(*rng.choice([(54, 56, 58), (100, 100, 100)])),
                10.0 ** -rng.uniform(2, 20),
                [text(200)],
            )
            for j in range(int(rng.integers(0, 15)))
        ]
        pairs = [pair(text(60), text(60), text(90)) for _ in range(int(rng.integers(0, 15)))]
        how = how_of(10**7, 10**7, design=Exchanged("strata", "", "rows", 9, text(20)))
        p = 10.0 ** -rng.uniform(0, 20)
        res = result_of(p, columns, how, pairs, notes=(text(300),), warnings=(text(300),))
        tests = ColumnTests(tuple(columns), how=how)
        for line in [*str(res).splitlines(), *str(tests).splitlines()]:
            assert len(line) <= 80
            assert line.isprintable()


# -- tables, kernels, notebooks --------------------------------------------------------------------


def table_of(alike=3, **options):
    first = column("air_time", "above 340: 7.2 → 2.0 %", separation(59, 60, 61), 0.002, own=0.001)
    second = column("minute", "mean 24.8 → 27.5 (+2.6)", None, 0.03, ["missing 0 → 1 %"], own=0.01)
    rest = (separation(49, 51, 53), 0.9, (), 0.3)
    columns = (first, second, *(column(f"c{j}", "mean 1 → 2", *rest) for j in range(alike)))
    return ColumnTests(columns, how=how_of(5000, 5000), **options)


def test_column_tests():
    check(
        table_of(notes=("A note.",), warnings=("SomeWarning: A warning.",)),
        """
2 of 5 columns differ (level 0.05 for all together)
  column    p       adjusted  separation    what changed
  air_time  0.0010  0.0020    60 % (59–61)  above 340: 7.2 → 2.0 %
  minute    0.010   0.030                   mean 24.8 → 27.5 (+2.6)
                                            missing 0 → 1 %
  c0        0.30    0.90      51 % (50–53)
  c1        0.30    0.90      51 % (50–53)
  c2        0.30    0.90      51 % (50–53)
  tested   5,000 v 5,000 rows, 5 columns; exact, 999 permutations
  warning  A warning.
  note     A note.
""",
    )


def test_column_tests_at_other_levels():
    tests = table_of(40)
    assert repr(tests) == "2 of 42 columns differ (level 0.05 for all together)"
    assert "\n  and 12 more: to_frame() has all\n" in str(tests)
    heads = [tests.summary(0.01, how).splitlines()[0] for how in ("max-T", "holm", "bh")]
    assert heads == [
        "1 of 42 columns differs (level 0.01 for all together)",
        "1 of 42 columns differs (level 0.01 for all together, Holm)",
        "1 of 42 columns differs (level 0.01 of false discoveries)",
    ]
    none = tests.summary(0.001)
    assert none.startswith("No evidence that a column differs (level 0.001)\n")
    assert "→" not in none
    with pytest.raises(InputError, match="`adjustment` must be one of"):
        tests.summary(0.05, "hlom")


def test_column_tests_with_too_little_data():
    how = how_of(3, 2, smallest_pvalue=0.1)
    tests = ColumnTests((column("a", p=0.5),), how=how)
    assert repr(tests) == "Too little data to tell (p ≥ 0.10 whatever the data, level 0.05)"
    assert "1 column; 10 permutations are possible\n  note     4 v 4 rows can give" in str(tests)


def test_what_changed_has_lines_of_its_own_beside_long_names():
    own = column(
        "customer_lifetime_value_in_eur", "mean 50.4 → 53.2 (+2.8)", separation(54, 56, 59)
    )
    table = ColumnTable((own,), joint=0.001)
    assert str(table).splitlines()[1:] == [
        "  column                          p       adjusted  separation",
        "      what changed",
        "  customer_lifetime_value_in_eur  0.0010  0.0010    56 % (54–59)",
        "      mean 50.4 → 53.2 (+2.8)",
    ]


def test_columns_of_a_result_without_evidence():
    table = ColumnTable((column("a", "mean 1 → 2", p=0.01),), joint=0.2)
    assert str(table).startswith("No evidence that a column differs (level 0.05)\n")
    assert "mean" not in str(table)


def test_kernels():
    weights = np.array([0.2, -1.0, *[0.01] * 12])
    kernels = ("Gaussian(bandwidth=1.2345)", "Linear()", *[f"k{j}" for j in range(12)])
    cov = np.eye(14)
    res = KernelSelection(kernels, np.arange(14.0), cov, weights, (0, 1), 2, None)
    assert str(res).splitlines()[:4] == [
        "2 of 14 kernels active (*)",
        "  weight      alone  kernel",
        "  -1.00*      1.00  Linear()",
        "  +0.20*      0.00  Gaussian(1.23)",
    ]
    assert str(res).splitlines()[-1] == "  and 2 of smaller weight"
    assert len(str(res).splitlines()) == 15


def test_notebooks():
    html = result_of(0.001, [column("<b>", "mean 1 → 2", separation(54, 56, 59))])._repr_html_()
    assert html.startswith("<div><strong>The samples differ (p = 0.0010, level 0.05)</strong><pre>")
    assert html.endswith("999 permutations</pre></div>")
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_frames():
    pd = pytest.importorskip("pandas")
    tests = table_of()
    frame = tests.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["column"].tolist() == list(tests.names)
    assert tests.how.to_frame().loc[0, "n_used"] == 10_000


def test_frames_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        InputError, match=r"`pandas` is needed .* Install it with: pip install pandas$"
    ):
        table_of().to_frame()


def test_results_are_neither_true_nor_false_iv():
    with pytest.raises(ValueError, match=r"neither true nor false. Ask `res.reject\(alpha\)`"):
        bool(result_of(0.001))
