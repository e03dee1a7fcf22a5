"""Paired rows, strata and groups: exact, at their level, refused where they cannot be served."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import nosplit
from benchmarks.common.grouped_problems import CORRELATIONS, SIZES, samples_in_groups
from nosplit import Exact, InputError, independence_test, two_sample_test
from nosplit.errors import DroppedKernelWarning
from nosplit.kernels import Gaussian, Linear

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(size=(50, 2))
SX, SY = np.arange(40) % 3, np.arange(50) % 3
KERNELS = [Gaussian(1.0), Linear()]
QUICK = {"kernels": KERNELS, "calibration": Exact(99), "method": "best", "workers": 1}


def within(level, trials, rate):
    """Between bounds that a test of this level leaves once in 10,000 times."""
    low, high = binom.ppf([5e-5, 1 - 5e-5], trials, level)
    return low <= rate * trials <= high


def at_most(level, trials, rate):
    """Below a bound that a test of this level exceeds once in 10,000 times."""
    return rate * trials <= binom.ppf(1 - 1e-4, trials, level)


# Exact --------------------------------------------------------------------------------------------


def every_pvalue(design, units, choices):
    """p-values of all ways in which the design lets labels change places."""
    found = []
    for chosen in choices:
        x, y = units[chosen], units[~chosen]
        found.append(two_sample_test(x, y, **QUICK | {"calibration": Exact(999)}, **design(chosen)))
    return np.array([res.pvalue for res in found])


def test_strata_are_exact_over_all_labellings():
    """Strata of 2 + 2 and 1 + 3 rows: 24 labellings, all of them drawn, each p-value its rank."""
    rows = np.random.default_rng(1).normal(size=(8, 1)) + np.repeat([0.0, 5.0], 4)[:, None]
    stratum = np.repeat([0, 1], 4)
    choices = [
        np.isin(np.arange(8), [i, j, k])
        for i in range(4)
        for j in range(i + 1, 4)
        for k in range(4, 8)
    ]
    p = every_pvalue(lambda c: {"strata": (stratum[c], stratum[~c])}, rows, choices)
    assert len(p) == 24
    assert np.array_equal(np.sort(p), np.arange(1, 25) / 24)


def test_groups_are_exact_over_all_labellings():
    """Three groups of two rows, one of them x, and three of three, two of them x: 9 labellings."""
    ids = np.repeat(np.arange(6), [2, 2, 2, 3, 3, 3])
    rows = np.random.default_rng(2).normal(size=(15, 2))
    choices = [np.isin(ids, [one, *two]) for one in range(3) for two in ((3, 4), (3, 5), (4, 5))]
    p = every_pvalue(lambda c: {"groups": (ids[c], ids[~c])}, rows, choices)
    np.testing.assert_allclose(np.sort(p), np.arange(1, 10) / 9)


def test_groups_of_one_size_are_exact_over_all_labellings():
    """Six groups of four rows, three of them x: 20 labellings, of which mirrored ones tie."""
    ids = np.repeat(np.arange(6), 4)
    rows = np.random.default_rng(2).normal(size=(24, 2))
    triples = [{a, b, c} for a in range(6) for b in range(a + 1, 6) for c in range(b + 1, 6)]
    choices = [np.isin(ids, list(t)) for t in triples]
    p = every_pvalue(lambda c: {"groups": (ids[c], ids[~c])}, rows, choices)
    assert np.array_equal(np.sort(p), np.repeat(np.arange(1, 11) / 10, 2))


def test_shared_groups_are_exact_over_all_swaps():
    """Three groups of two rows of each sample: 8 ways to swap, of which mirrored ones tie."""
    ids, of_x = np.repeat(np.arange(3), 4), np.tile([True, True, False, False], 3)
    rows = np.random.default_rng(4).normal(size=(12, 2))
    choices = [of_x ^ np.array(swap)[ids] for swap in np.ndindex(2, 2, 2)]
    choices = [c.astype(bool) for c in choices]
    p = every_pvalue(lambda c: {"groups": (ids[c], ids[~c])}, rows, choices)
    assert np.array_equal(np.sort(p), np.repeat(np.arange(1, 5) / 4, 2))


def test_pairs_against_groups_of_two():
    """A pair is a group of one row of each sample, swapped inside."""
    x, y = X[:8], X[:8] + 0.3 * Y[:8]
    ids = np.arange(8)
    options = {"kernels": KERNELS, "method": "wald", "pairs": "complete"}
    paired = two_sample_test(x, y, paired=True, **options)
    grouped = two_sample_test(x, y, groups=(ids, ids), **options)
    one, other = (r.selection.tau / np.sqrt(np.diag(r.selection.cov)) for r in (paired, grouped))
    np.testing.assert_allclose(one, other, rtol=1e-9)
    assert paired.pvalue == grouped.pvalue
    assert paired.how.design.words == "x and y are swapped inside 8 pairs"
    assert grouped.how.design.words == "x and y are swapped inside 8 groups"


def test_order_of_pairs_does_not_matter_to_their_statistics():
    again = np.random.default_rng(3).permutation(40)
    first = two_sample_test(X, Y[:40], paired=True, kernels=KERNELS)
    other = two_sample_test(X[again], Y[:40][again], paired=True, kernels=KERNELS)
    np.testing.assert_allclose(first.selection.tau, other.selection.tau, rtol=1e-8)


# Level and power ----------------------------------------------------------------------------------


def test_level_where_strata_explain_a_difference():
    hits, naive = 0, 0
    for trial in range(200):
        rng = np.random.default_rng([1, trial])
        s, t = np.repeat([0, 1], [30, 10]), np.repeat([0, 1], [12, 33])
        x, y = rng.normal(size=(40, 2)) + 2.0 * s[:, None], rng.normal(size=(45, 2))
        y += 2.0 * t[:, None]
        hits += two_sample_test(x, y, strata=(s, t), rng=trial, **QUICK).reject(0.05)
        naive += two_sample_test(x, y, rng=trial, **QUICK).reject(0.05) if trial < 20 else 0
    assert within(0.05, 200, hits / 200)
    assert naive >= 18


def test_level_of_clusters():
    """Clusters of 20 rows, intraclass correlation .5: ignoring them rejects most of the time."""
    hits, naive = 0, 0
    for trial in range(200):
        rng = np.random.default_rng([2, trial])
        ids = np.repeat(np.arange(8), 20)
        x, y = (rng.normal(size=(8, 1))[ids] + rng.normal(size=(160, 1)) for _ in range(2))
        hits += two_sample_test(x, y, groups=(ids, ids + 8), rng=trial, **QUICK).reject(0.05)
        naive += two_sample_test(x, y, rng=trial, **QUICK).reject(0.05) if trial < 20 else 0
    assert within(0.05, 200, hits / 200)
    assert naive > 10


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("sizes", SIZES)
def test_level_of_groups_of_different_sizes(sizes, correlation):
    """100 groups against 30, and groups of both samples."""
    hits = 0
    for trial in range(100):
        x, y, groups = samples_in_groups(sizes, correlation, np.random.default_rng([7, trial]))
        options = QUICK | {"calibration": Exact(199)}
        hits += two_sample_test(x, y, groups=groups, rng=trial, **options).reject(0.05)
    assert at_most(0.05, 100, hits / 100)


@pytest.mark.parametrize("sizes", ["6 v 3", "10 v 1"])
def test_level_of_groups_of_different_sizes_by_all_evidence(sizes):
    """Columns see that the means of fewer rows vary more, if groups of all sizes are mixed."""
    hits = 0
    for trial in range(50):
        x, y, groups = samples_in_groups(sizes, 0.0, np.random.default_rng([8, trial]))
        res = two_sample_test(x, y, groups=groups, rng=trial, calibration=Exact(199))
        hits += res.reject(0.05)
    assert at_most(0.05, 50, hits / 50)


def test_power_of_groups_of_different_sizes():
    x, y, groups = samples_in_groups("6 v 3", 0.3, np.random.default_rng(0))
    assert two_sample_test(x, y + 1.0, groups=groups).pvalue <= 0.01


def test_level_and_power_of_pairs():
    hits, found, unpaired = 0, 0, 0
    for trial in range(100):
        rng = np.random.default_rng([3, trial])
        x = rng.normal(size=(40, 1))
        y = x + 0.3 * rng.normal(size=(40, 1))
        x = x + 0.3 * rng.normal(size=(40, 1))
        hits += two_sample_test(x, y, paired=True, rng=trial, **QUICK).reject(0.05)
        found += two_sample_test(x, y + 0.3, paired=True, rng=trial, **QUICK).reject(0.05)
        unpaired += two_sample_test(x, y + 0.3, rng=trial, **QUICK).reject(0.05)
    assert at_most(0.05, 100, hits / 100)
    assert found > 85
    assert unpaired < 50


@pytest.mark.parametrize("options", [{"paired": True}, {"strata": (range(20), range(20))}])
def test_identical_pairs_do_not_differ(options):
    x = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(DroppedKernelWarning, match="No permutation changes any statistic"):
        assert two_sample_test(x, x, **options).pvalue == 1.0


def test_level_of_independence_given_a_stratum():
    hits, naive = 0, 0
    for trial in range(150):
        rng = np.random.default_rng([4, trial])
        s = rng.integers(0, 3, 90)
        x, y = s + rng.normal(size=(2, 90))
        options = {"calibration": Exact(99), "rng": trial, "workers": 1, "method": "best"}
        hits += independence_test(x, y, strata=s, **options).reject(0.05)
        naive += independence_test(x, y, **options).reject(0.05) if trial < 20 else 0
    assert within(0.05, 150, hits / 150)
    assert naive > 15


@pytest.mark.parametrize("pairs", ["complete", "sketch"])
def test_a_difference_inside_strata_is_found_in_its_column(pairs):
    rng = np.random.default_rng(5)
    s, t = rng.integers(0, 4, 600), rng.integers(0, 4, 700)
    x, y = rng.normal(size=(600, 3)), rng.normal(size=(700, 3))
    y[:, 1] += 0.5
    res = two_sample_test(x + s[:, None], y + t[:, None], strata=(s, t), pairs=pairs)
    assert res.reject(0.01)
    assert res.columns.differing(0.01) == ("1",)
    assert res.how.pairs == pairs
    assert res.how.design.kind == "strata"


def test_many_small_strata_by_a_sketch():
    """More units than places: sets of rows are put together, and few are left over."""
    rng = np.random.default_rng(6)
    s, t = rng.integers(0, 800, 3000), rng.integers(0, 800, 3500)
    centre = 3.0 * rng.normal(size=800)
    x, y = centre[s] + rng.normal(size=3000), centre[t] + rng.normal(size=3500)
    options = {"strata": (s, t), "pairs": nosplit.Sketch(cells=250), "calibration": Exact(499)}
    res = two_sample_test(x, y, **options)
    assert res.pvalue > 0.01
    assert res.how.n_units < 1500
    assert res.how.n_left_out < 650
    assert two_sample_test(x, y + 0.3, **options).pvalue == 1 / 500


def test_large_pairs_by_a_sketch():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(2000, 2))
    y = x + 0.1 * rng.normal(size=x.shape)
    x = x + 0.1 * rng.normal(size=x.shape)
    options = {"pairs": "sketch", "calibration": Exact(499)}
    res = two_sample_test(x, y + 0.02, paired=True, **options)
    assert res.reject(0.01)
    assert res.how.design.kind == "pairs"
    assert not two_sample_test(x, y + 0.02, **options).reject(0.05)
    assert not two_sample_test(x, y, paired=True, **options).reject(0.01)


# Tables -------------------------------------------------------------------------------------------


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "south"], n)
    return pd.DataFrame(
        {"v": rng.normal(size=n) + 2.0 * (site == "south"), "site": site, "id": np.arange(n) // 4}
    )


def test_columns_of_tables_hold_labels_and_are_not_compared():
    a, b = table(60), table(60, 1)
    by_name = two_sample_test(a, b, strata="site", exclude="id")
    by_hand = two_sample_test(a[["v"]], b[["v"]], strata=(a["site"], b["site"]))
    assert by_name.columns.names == ("v",)
    assert by_name.pvalue == by_hand.pvalue
    grouped = two_sample_test(a, b, groups="id", exclude="site")
    assert grouped.columns.names == ("v",)
    assert grouped.how.design.words == "x and y are swapped inside 15 groups"


def test_strata_of_independence_are_a_column_of_either_table():
    a = table(80)
    y = a["v"] + np.random.default_rng(0).normal(size=80)
    first = independence_test(a[["v", "site"]], y, strata="site")
    other = independence_test(a["v"], y, strata=a["site"])
    assert first.how.encoding[0].names == ("v",)
    assert first.how.n_used == other.how.n_used == 80
    with pytest.raises(InputError, match="`strata` must name a column of `x` or `y`, which have"):
        independence_test(a[["v", "site"]], y, strata="sites")


def test_labels_of_any_kind():
    """Numbers, text, mixed objects and missing ones; equal labels are one label."""
    few = {"kernels": KERNELS, "calibration": Exact(99)}
    x, y = X[:6], Y[:6]
    first = two_sample_test(x, y, strata=([0, 0, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1]), **few)
    other = two_sample_test(
        x, y, strata=(np.array([0, 0, 1, 1, 1, 0.0]), ["a"[:0] or 0, 1, 0, 1, 0, 1]), **few
    )
    assert first.pvalue == other.pvalue
    named = two_sample_test(x, y, strata=(list("aabbba"), list("ababab")), **few)
    assert named.pvalue == first.pvalue


def test_rows_without_a_label():
    s = [None if i % 10 == 0 else i % 3 for i in range(40)]
    options = {"kernels": KERNELS, "calibration": Exact(99)}
    with pytest.raises(InputError, match=r"`strata` has 4 missing labels\. Use nan_policy='omit'"):
        two_sample_test(X, Y, strata=(s, SY), **options)
    omitted = two_sample_test(X, Y, strata=(s, SY), nan_policy="omit", **options)
    assert omitted.how.n_left_out == 4
    shown = two_sample_test(X, Y, strata=(s, SY), nan_policy="indicate", **options)
    # What is missing is a stratum of x only.
    assert shown.how.n_left_out == 4
    assert "1 stratum of one sample only left out, 4 rows: 'missing'" in shown.how.design.words


def test_pairs_of_which_a_row_is_missing():
    a, b = table(40)[["v"]], table(40, 1)[["v"]]
    a.loc[3, "v"] = b.loc[7, "v"] = np.nan
    with pytest.raises(InputError, match="Values are missing"):
        two_sample_test(a, b, paired=True, nan_policy="raise")
    omitted = two_sample_test(a, b, paired=True, nan_policy="omit")
    assert (omitted.how.n_used, omitted.how.n_left_out) == (76, 4)
    both = ~(a["v"].isna() | b["v"].isna())
    by_hand = two_sample_test(a[both], b[both], paired=True)
    assert omitted.pvalue == by_hand.pvalue
    assert two_sample_test(a, b, paired=True, nan_policy="indicate").how.n_used == 80
    sketched = two_sample_test(a, b, paired=True, nan_policy="omit", pairs="sketch")
    assert sketched.how.n_used + sketched.how.n_left_out == 80


# Refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"paired": True}, "`paired` rows belong together.* got 40 and 50"),
        ({"strata": (SX[:39], SY)}, "`strata` must have a label for each of the 40 rows of `x`"),
        ({"groups": (SX, SY[:5])}, "`groups` must have a label for each of the 50 rows of `y`"),
        ({"strata": SX}, "`strata` must be the name of a column of both tables, or two sequences"),
        ({"strata": "site"}, "`strata` names a column, 'site', but `x` is no table"),
        ({"strata": (np.zeros(40), np.ones(50))}, "`strata` must have rows of both samples"),
        ({"strata": (SX, SY), "paired": True}, "`paired` rows are compared inside pairs"),
        ({"strata": (SX, SY), "pairs": "linear"}, "`strata`, `groups` and `series` permute"),
        ({"strata": (SX, SY), "calibration": "asymptotic"}, "the closed forms of the paper do not"),
        ({"strata": (SX, SY), "method": "split"}, 'another method than .* "split"'),
        ({"strata": (SX[:, None], SY)}, r"must be one label for each row, got shape \(40, 1\)"),
        ({"strata": ([None] * 40, [None] * 50), "nan_policy": "omit"}, "no label of any row"),
        ({"paired": 1}, "`paired` must be True or False"),
    ],
)
def test_bad_designs_iv(options, match):
    with pytest.raises(InputError, match=match):
        two_sample_test(X, Y, **options)


def test_unknown_columns_iv():
    with pytest.raises(InputError, match=r"`groups` must name a column of `x`.*mean 'id'"):
        two_sample_test(table(20), table(20), groups="ids")
    with pytest.raises(InputError, match="`strata` must name a column of `y`"):
        two_sample_test(table(20), table(20)[["v", "id"]], strata="site")


def test_independence_with_bad_strata_iv():
    with pytest.raises(InputError, match="a label for each of the 40 rows of `x`, got 39"):
        independence_test(X[:, 0], X[:, 1], strata=SX[:39])
    with pytest.raises(InputError, match="several observations in at least one stratum, got 40"):
        independence_test(X[:, 0], X[:, 1], strata=np.arange(40))


def test_profiles_and_large_files_have_no_labels_iv(tmp_path, monkeypatch):
    made = nosplit.profile(np.random.default_rng(0).normal(size=(4000, 2)), rows=500)
    with pytest.raises(InputError, match="do not go with a profile"):
        two_sample_test(made, Y, paired=True)
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", Y[:40])
    files = str(tmp_path / "a.npy"), str(tmp_path / "b.npy")
    whole = two_sample_test(*files, paired=True, kernels=KERNELS)
    assert whole.pvalue == two_sample_test(X, Y[:40], paired=True, kernels=KERNELS).pvalue
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 10)
    with pytest.raises(InputError, match="do not go with files that are not read whole"):
        two_sample_test(*files, strata=(SX, SX))
    large = two_sample_test(*files, paired=True, pairs="sketch", calibration=Exact(99))
    assert large.how.design.kind == "pairs"
    with pytest.raises(InputError, match="`nan_policy` with paired=True must not be 'omit'"):
        two_sample_test(*files, paired=True, pairs="sketch", nan_policy="omit")
    with pytest.raises(InputError, match='`pairs` with paired=True must be "sketch"'):
        two_sample_test(*files, paired=True, pairs="adjacent")
    np.save(tmp_path / "b.npy", Y)
    with pytest.raises(InputError, match="`paired` rows belong together"):
        two_sample_test(*files, paired=True, pairs="sketch")
    with pytest.raises(InputError, match="need all rows"):
        nosplit.power.calibration_check(*files, paired=True)
