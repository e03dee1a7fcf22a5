"""Several samples: the overall test, comparisons, and what adjusts their p-values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import nosplit
from nosplit import Exact, InputError, k_sample_test
from nosplit._old.designs.several.closed import closed
from nosplit.inference.rank import holm

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 40, 2))
QUICK = {"kernels": "paper2", "calibration": Exact(99), "workers": 1}


def test_which_samples_differ():
    res = k_sample_test({"a": A, "b": B, "c": C + 1.0})
    assert res.reject(0.01)
    assert sorted(res.differing(0.05)) == [("a", "c"), ("b", "c")]
    assert res.adjustment == "closed testing"
    assert res.overall.how.design.words == "rows are permuted among 3 samples"
    assert res.overall.columns.differing(0.05)  # columns, from the same draws
    statistic, pvalue = res
    assert (statistic, pvalue) == (res.statistic, res.pvalue)
    text = str(res)
    assert text.startswith("The samples differ (p = 0.0010, level 0.05)\n")
    assert "a (40), b (40), c (40)" in text
    assert "2 of 3 comparisons differ, adjusted for all by closed testing" in text
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


def test_level_of_the_overall_test():
    hits = 0
    for trial in range(200):
        rng = np.random.default_rng([1, trial])
        samples = [rng.exponential(size=(n, 1)) for n in (8, 12, 20)]
        hits += k_sample_test(samples, follow_up=False, rng=trial, **QUICK).reject(0.05)
    low, high = binom.ppf([5e-5, 1 - 5e-5], 200, 0.05)
    assert low <= hits <= high


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
    assert closed((0, 1), 4, None, p.__getitem__) == 0.02
    assert closed((1, 3), 4, None, p.__getitem__) == 0.015
    assert closed((2, 3), 4, None, p.__getitem__) == 0.3
    # With a control: all sets that have both.
    assert closed((0, 1), 4, 0, p.__getitem__) == 0.02
    assert closed((0, 2), 4, 0, p.__getitem__) == 0.3


# Refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "labels", "options", "match"),
    [
        ([A], None, {}, "`samples` must be at least 2, got 1"),
        (A, None, {}, "`samples` must be a list of samples"),
        ([A, B[:, :1]], None, {}, "same number of columns, got 2 in '0' and 1 in '1'"),
        ([A, B[:1]], None, {}, "at least 2 rows"),
        (A, np.zeros(40), {}, "`labels` must name at least 2 samples, got only '0.0'"),
        (A, np.arange(40) % 2 == 0, {"control": "no"}, "`control` must be"),
        (A, [0, 1], {}, "`labels` must have a label for each of the 40 rows of `rows`, got 2"),
        (A, "arm", {}, "`labels` names a column, 'arm', but `rows` is no table"),
        (A, [None] + [0] * 19 + [1] * 20, {}, "`labels` has 1 missing labels"),
        (A, [2] + [0] * 19 + [1] * 20, {}, "at least 2 rows each, got 1 in '2'"),
        ([A, B, C], None, {"pairs": "linear"}, "`pairs` with k_sample_test must be"),
        ([A, B, C], None, {"calibration": "asymptotic"}, "must be exact"),
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
    assert (len(res.names), res.comparisons) == (100, ())
    assert nosplit.plan(n=600, test="k_sample", samples=100).n_units == 600
