"""Several samples: the overall test, designs, comparisons, and what adjusts their p-values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import nosplit
from benchmarks.level import nulls
from nosplit import Exact, InputError, k_sample_test
from nosplit.families.design import plain_design
from nosplit.families.k_sample import closed_testing
from nosplit.inference.rank import holm

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 40, 2))
QUICK = {"kernels": "paper2", "calibration": Exact(99), "workers": 1}


def test_which_samples_differ():
    res = k_sample_test({"a": A, "b": B, "c": C + 1.0})
    assert res.reject(0.01)
    assert sorted(res.differing(0.05)) == [("a", "c"), ("b", "c")]
    assert res.adjustment == "closed testing"
    assert res.overall.how.design is None
    assert set(res.columns.differing(0.05)) == {"0", "1"}
    assert res.columns["0"].separation.sample == "c"
    assert res.columns["0"].change.what in ("mean", "median")
    statistic, pvalue = res
    assert (statistic, pvalue) == (res.statistic, res.pvalue)
    assert list(res.to_frame()["adjusted"]) == [c.adjusted for c in res.comparisons]
    told = json.loads(json.dumps(res.to_dict()))
    assert [c["second"] for c in told["comparisons"]] == ["b", "c", "c"]
    with pytest.raises(InputError, match="neither true nor false"):
        bool(res)


def test_rows_with_labels_are_the_samples():
    rows, labels = np.concatenate([A, B, C]), np.repeat(["a", "b", "c"], 40)
    one = k_sample_test({"a": A, "b": B, "c": C}, **QUICK)
    other = k_sample_test(rows, labels, **QUICK)
    assert one.to_dict() == other.to_dict()
    frame = pd.DataFrame(rows, columns=["u", "v"]).assign(arm=labels)
    table = k_sample_test(frame, "arm", control="b", **QUICK | {"kernels": None})
    assert table.overall.columns.names == ("u", "v")
    assert [(c.first, c.second) for c in table.comparisons] == [("b", "a"), ("b", "c")]
    tables = {name: part.drop(columns="arm") for name, part in frame.groupby("arm")}
    again = k_sample_test(tables, control="b", **QUICK | {"kernels": None})
    assert again.pvalue == table.pvalue


def test_comparisons_exchange_only_their_two_samples():
    """A sample that is far off changes no comparison of two others."""
    near = k_sample_test([A, B, C, A + 0.1], **QUICK, pairs="complete")
    far = k_sample_test([A, B, C, A + 100.0], **QUICK, pairs="complete")
    assert near.comparisons[0].pvalue == far.comparisons[0].pvalue


def test_large_samples_are_sketched():
    rng = np.random.default_rng(1)
    samples = [rng.normal(size=(3000, 2)) for _ in range(3)]
    samples[2][:, 0] *= 1.2
    options = {"pairs": "sketch", "calibration": Exact(299)}
    res = k_sample_test(samples, follow_up=False, **options)
    assert res.pvalue == 1 / 300
    assert res.overall.columns.differing(0.05) == ("0",)
    assert res.overall.how.pairs == "sketch"
    same = k_sample_test([s[:, 1:] for s in samples], follow_up=False, **options)
    assert same.pvalue > 0.01


# Designs ------------------------------------------------------------------------------------------


def plain(rng):
    return [rng.exponential(size=(n, 2)) for n in (8, 12, 10)], {}


def in_strata(rng):
    """Strata three standard deviations apart, in other proportions in each sample."""
    sizes = (8, 2), (5, 5), (2, 8)
    strata = [np.repeat([0, 1], own) for own in sizes]
    return [rng.normal(size=(10, 2)) + 3.0 * own[:, None] for own in strata], {"strata": strata}


def in_groups(rng):
    """Groups of two to three rows that have half of their variance in common."""
    samples, groups = [], []
    for k in range(3):
        own = np.repeat(np.arange(4), rng.integers(2, 4, 4))
        samples.append(rng.normal(size=(len(own), 2)) + rng.normal(size=(4, 2))[own])
        groups.append(own + 4 * k)
    return samples, {"groups": groups}


def in_shared_groups(rng):
    groups = [rng.integers(0, 4, 10) for _ in range(3)]
    apart = 3.0 * rng.normal(size=(4, 2))
    return [rng.normal(size=(10, 2)) + apart[own] for own in groups], {"groups": groups}


def in_time(rng):
    return [nulls.ar1(rng, 10, 2, 0.3) for _ in range(3)], {"series": 2}


DESIGNS = [plain, in_strata, in_groups, in_shared_groups, in_time]


@pytest.mark.parametrize("make", DESIGNS, ids=lambda make: make.__name__)
def test_level(make):
    """A test of level .05 rejects more often than this once in 1,000 times."""
    hits = 0
    for trial in range(100):
        samples, design = make(np.random.default_rng([1, trial]))
        hits += k_sample_test(
            samples, follow_up=False, rng=trial, calibration=Exact(199), **design
        ).reject(0.05)
    assert hits <= binom.isf(1e-3, 100, 0.05)


def test_a_difference_inside_strata_is_found_and_between_them_is_none():
    rng = np.random.default_rng(5)
    strata = [np.repeat(["a", "b"], own) for own in ((50, 10), (30, 30), (10, 50))]
    samples = [rng.normal(size=(60, 1)) + 3.0 * (own == "b")[:, None] for own in strata]
    assert k_sample_test(samples).reject(0.01)
    assert not k_sample_test(samples, strata=strata).reject(0.05)
    samples[2] += 1.0
    res = k_sample_test(samples, strata=strata)
    assert sorted(res.differing()) == [("0", "2"), ("1", "2")]
    assert res.overall.how.design.kind == "strata"
    frame = pd.DataFrame(np.concatenate(samples), columns=["v"])
    frame = frame.assign(sample=np.repeat([0, 1, 2], 60), site=np.concatenate(strata))
    named = k_sample_test(frame.sample(frac=1.0, random_state=0), "sample", strata="site")
    assert named.overall.how.design.name == "site"
    assert sorted(map(sorted, named.differing())) == [["0", "2"], ["1", "2"]]
    rows = k_sample_test(frame["v"].to_numpy(), frame["sample"], strata=frame["site"])
    assert rows.to_dict() == res.to_dict()


def test_samples_without_a_common_stratum_are_not_compared():
    strata = [[0] * 40, [0, 1] * 20, [1] * 40]
    res = k_sample_test([A, B, C + 2.0], strata=strata)
    first, second, third = res.comparisons
    assert (second.first, second.second, second.result, second.adjusted) == ("0", "2", None, 1.0)
    assert third.adjusted <= 0.05 < first.adjusted
    assert res.to_dict()["comparisons"][1]["columns"] == []
    with pytest.raises(InputError, match="share a stratum with another sample, but '2' does not"):
        k_sample_test([A, B, C], strata=[[0] * 40, [0] * 40, [1] * 40])


def test_words_of_designs_of_several_samples():
    samples, design = in_groups(np.random.default_rng(0))
    words = k_sample_test(samples, **design, **QUICK).overall.how.design.words
    assert words.startswith("12 groups of the same size are permuted (4, 4 and 4)")
    samples, design = in_shared_groups(np.random.default_rng(0))
    words = k_sample_test(samples, **design, **QUICK).overall.how.design.words
    assert words.startswith("the means of samples are permuted inside ")
    words = k_sample_test([A[:15], B[:10], C], series=5, **QUICK).overall.how.design.words
    assert words == "blocks of 5 rows are permuted between the samples (3, 2 and 8)"


def test_many_rows_of_larger_samples_are_left_out():
    design = plain_design((100, 5_000, 30_000), None, 20_000)
    assert design.counts.tolist() == [[100, 5_000, 14_900]]
    sizes = 300, 15_000, 15_000
    assert plain_design(sizes, None, 20_000).counts.tolist() == [[300, 9_850, 9_850]]


# Comparisons --------------------------------------------------------------------------------------


def test_no_two_samples_that_are_alike_are_named():
    """Two kinds of samples, alike inside: any false name, at most one time in twenty."""
    false, found = 0, 0
    for trial in range(60):
        rng = np.random.default_rng([2, trial])
        samples = [rng.normal(size=(15, 1)) + 3.0 * (k > 1) for k in range(4)]
        res = k_sample_test(samples, rng=trial, **QUICK)
        named = set(res.differing(0.05))
        false += bool(named & {("0", "1"), ("2", "3")})
        found += len(named - {("0", "1"), ("2", "3")}) == 4
    assert false <= binom.ppf(1 - 1e-4, 60, 0.05)
    assert found > 40


def test_more_draws_where_a_comparison_may_hold():
    rng = np.random.default_rng(1)
    samples = [A[:25], *(rng.normal(2.0 * (k == 3), size=(25, A.shape[1])) for k in range(7))]
    res = k_sample_test(samples, control=0, kernels="paper2")
    assert res.adjustment == "Holm"
    flips = {c.second: c.result.how.n_resamples for c in res.comparisons}
    assert flips.pop("4") >= 400 * 7 - 1
    assert set(flips.values()) == {999}
    assert res.differing(0.05) == (("0", "4"),)


# Adjusted p-values --------------------------------------------------------------------------------


def test_holm_against_its_definition():
    p = np.random.default_rng(0).random(9)
    order = np.argsort(p)
    expected = np.empty(9)
    for rank, i in enumerate(order):
        expected[i] = min(1.0, max((9 - r) * p[order[r]] for r in range(rank + 1)))
    np.testing.assert_allclose(holm(p), expected)


def test_closed_testing_against_its_definition():
    p = {
        (0, 1): 0.01, (0, 2): 0.2, (1, 2): 0.03, (0, 1, 2): 0.02, (0, 3): 0.5, (1, 3): 0.001,
        (2, 3): 0.04, (0, 1, 3): 0.015, (0, 2, 3): 0.3, (1, 2, 3): 0.002, (0, 1, 2, 3): 0.012,
    }  # fmt: skip
    # {0,1} alone, with 2, with 3, with both, and beside {2,3}: 2 · min(.01, .04).
    assert closed_testing((0, 1), 4, None, p.__getitem__) == 0.02
    assert closed_testing((1, 3), 4, None, p.__getitem__) == 0.015
    assert closed_testing((2, 3), 4, None, p.__getitem__) == 0.3
    # With a control: all sets that have both.
    assert closed_testing((0, 1), 4, 0, p.__getitem__) == 0.02
    assert closed_testing((0, 2), 4, 0, p.__getitem__) == 0.3


# Refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "labels", "options", "match"),
    [
        ([A], None, {}, "`samples` must be at least 2, got 1"),
        (A, None, {}, "`samples` must be a list of samples"),
        (
            [A, B[:, :1]],
            None,
            {},
            "same number of columns, got 2 in `sample 0` and 1 in `sample 1`",
        ),
        ([A, B[:1]], None, {}, "at least 2 rows"),
        (A, np.zeros(40), {}, "`labels` must name at least 2 samples, got only '0.0'"),
        (A, np.arange(40) % 2 == 0, {"control": "no"}, "`control` must be"),
        (A, [0, 1], {}, "`labels` must have a label for each of the 40 rows of `rows`, got 2"),
        (A, "arm", {}, "`labels` names a column, 'arm', but `rows` is no table"),
        (A, [None] + [0] * 19 + [1] * 20, {}, "`labels` has 1 missing labels"),
        (A, [2] + [0] * 19 + [1] * 20, {}, "at least 2 rows each, got 1 in '2'"),
        ([A, B, C], None, {"pairs": "linear"}, "`pairs` with k_sample_test must be"),
        ([A, B, C], None, {"pairs": "sketch", "series": True}, "has no `strata`, `groups` or"),
        ([A, B, C], None, {"strata": [[0] * 40] * 2}, "or a list of 3 sequences of labels"),
        ([A, B, C], None, {"strata": [[0] * 40, [1] * 40, [2] * 40]}, "of two samples or more in"),
        (
            [A, B, C],
            None,
            {"strata": [[0] * 40, [1] * 40, [2] * 40], "groups": [[0] * 40, [1] * 40, [2] * 40]},
            "`groups` must be in several",
        ),
        ([A, B, C], None, {"series": 50}, "at most the rows of any sample, got blocks of 50"),
        ([A, B, C], None, {"strata": "s"}, "`strata` names a column, 's', but `sample 0`"),
        ([A, B, C], None, {"calibration": "asymptotic"}, "`calibration` exact"),
        ([A, B, C], None, {"method": "split"}, "`method` neither Split nor Naive"),
        ([A] * 30, None, {}, "435 pairs to compare"),
    ],
)
def test_bad_samples_iv(samples, labels, options, match):
    with pytest.raises(InputError, match=match):
        k_sample_test(samples, labels, **options)


def test_unknown_column_iv():
    frame = pd.DataFrame({"v": A[:, 0], "arm": np.repeat(["a", "b"], 20)})
    with pytest.raises(InputError, match="Did you mean 'arm'"):
        k_sample_test(frame, "arms")


def test_a_hundred_samples_have_an_overall_test():
    samples = list(np.random.default_rng(3).normal(size=(100, 6, 1)))
    res = k_sample_test(samples, follow_up=False, **QUICK)
    assert (len(res.overall.how.sizes), res.comparisons) == (100, ())
    assert nosplit.plan(n=600, test="k_sample", samples=100).n_units == 600
