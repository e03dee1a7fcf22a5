"""Verdicts: "differ", "no evidence", or "too little data"; and no columns without a difference."""

from __future__ import annotations

import numpy as np
import pytest

import nosplit
from nosplit import (
    Exact,
    InputError,
    classifier_test,
    column_tests,
    independence_test,
    joint_normal_test,
    k_sample_test,
    mean_test,
    two_sample_test,
)

TOO_LITTLE = "Too little data to tell (p ≥ "


def apart(n, m, seed=0):
    """Two samples that no permutation but the observed one, or its mirror image, separates."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + 50.0


# The smallest p-value -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "m", "smallest"),
    [
        (2, 2, 1 / 3),
        (2, 3, 1 / 10),
        (3, 3, 1 / 10),
        (3, 4, 1 / 35),
        (4, 4, 1 / 35),
        (5, 2, 1 / 21),
        (5, 5, 1 / 126),
    ],
)
def test_smallest_pvalue_is_that_of_separated_samples(n, m, smallest):
    for seed in range(4):
        for res in (
            two_sample_test(*apart(n, m, seed), rng=seed),
            k_sample_test(list(apart(n, m, seed)), rng=seed).overall,
        ):
            assert res.how.smallest_pvalue == pytest.approx(smallest)
            assert res.pvalue == pytest.approx(smallest)
            assert res.verdict() == ("differ" if smallest <= 0.05 else "too little data")


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_smallest_pvalue_of_pairs(n):
    """Mirrored signs tie: 2^n / 2 remain."""
    for seed in range(4):
        res = two_sample_test(*apart(n, n, seed), paired=True, rng=seed)
        assert res.pvalue == res.how.smallest_pvalue == 2.0 / 2**n
        assert res.verdict() == ("differ" if n >= 6 else "too little data")


def test_smallest_pvalue_of_signs():
    for n in (3, 4, 5, 6):
        h = 5.0 + np.random.default_rng(n).normal(size=(n, 1))
        res = mean_test(h, symmetric=True)
        assert res.pvalue == res.how.smallest_pvalue == 2.0**-n
        assert res.verdict() == ("differ" if n >= 5 else "too little data")


def test_smallest_pvalue_of_groups_is_that_of_their_number():
    """20 rows in 6 groups of each size: 3 groups of each sample, whatever their rows."""
    ids = np.repeat(np.arange(3), 20)
    x, y = apart(60, 60)
    res = two_sample_test(x, y, groups=(ids, ids + 3))
    assert res.pvalue == res.how.smallest_pvalue == 0.1
    assert res.verdict() == "too little data"
    within = two_sample_test(x, y, groups=(ids, ids))
    assert within.pvalue == within.how.smallest_pvalue == 0.25


def test_smallest_pvalue_of_strata():
    """Two strata of 2 + 2 rows: 36 labellings, of which mirrored ones tie."""
    ids = np.repeat([0, 1], 2)
    res = two_sample_test(*apart(4, 4), strata=(ids, ids))
    assert res.pvalue == res.how.smallest_pvalue == pytest.approx(1 / 18)
    assert res.verdict() == "too little data"
    assert res.verdict(0.1) == "differ"


@pytest.mark.parametrize("design", [{"series": True}, {"groups": (np.zeros(300), np.ones(300))}])
def test_one_unit_of_each_sample_is_too_little_data(design):
    """A trend has no block that is longer than the dependence; and a group is one unit."""
    x, y = np.sort(np.random.default_rng(0).normal(size=(2, 300, 2)), axis=1)
    res = two_sample_test(x, y, **design)
    assert res.pvalue == res.how.smallest_pvalue == 1.0
    assert res.verdict() == "too little data"


@pytest.mark.parametrize(("n", "m"), [(700, 700), (700, 800), (60, 2000)])
def test_many_rows_have_no_smallest_pvalue(n, m):
    """The number of labellings is larger than any float."""
    x, y = np.random.default_rng(0).normal(size=(n, 1)), np.zeros((m, 1)) + np.arange(m)[:, None]
    options = {"kernels": [nosplit.kernels.Gaussian(1.0)], "calibration": Exact(99)}
    assert two_sample_test(x, y, **options).how.smallest_pvalue < 1e-9
    assert column_tests(x, y, n_resamples=99).how.smallest_pvalue < 1e-9


# The same three words everywhere ------------------------------------------------------------------


def results(x, y):
    """All functions that return a result, on two samples."""
    both = min(len(x), len(y))
    yield two_sample_test(x, y)
    yield two_sample_test(x[:both], y[:both], paired=True)
    yield column_tests(x, y)
    yield k_sample_test([x, y])
    yield independence_test(x[:both, :1], y[:both, :1])
    yield mean_test(x, symmetric=True)


def test_all_results_give_a_verdict():
    x, y = np.random.default_rng(0).normal(size=(2, 40, 2))
    larger = [*results(x, y + 5.0), joint_normal_test([9.0], [[1.0]])]
    assert [res.verdict() for res in larger[:4]] == ["differ"] * 4
    assert larger[-1].verdict() == "differ"
    for res in (*results(x, y), *larger):
        assert res.verdict() in ("differ", "no evidence")
        assert res.to_dict()["verdict"] == res.verdict()
        assert TOO_LITTLE not in str(res)


def test_few_rows_are_too_little_data():
    x, y = apart(3, 3)
    few = [
        two_sample_test(x, y),
        two_sample_test(x, y, paired=True),
        column_tests(x, y),
        k_sample_test([x, y]),
        mean_test(x, symmetric=True),
    ]
    for res in few:
        assert res.verdict() == "too little data"
        assert res.to_dict()["verdict"] == "too little data"
        assert str(res).startswith(TOO_LITTLE)
        assert "whatever the data, level 0.05)" in str(res).splitlines()[0]
    assert few[0].verdict(0.2) == "differ"
    assert str(few[0]).splitlines()[0] == f"{TOO_LITTLE}0.10 whatever the data, level 0.05)"


def test_a_classifier_gives_a_verdict(scikit_learn):
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    assert classifier_test(x, y).verdict() == "no evidence"
    res = classifier_test(x, y + 3.0)
    assert res.verdict() == res.to_dict()["verdict"] == "differ"


def test_levels_of_verdicts_iv():
    with pytest.raises(InputError, match="`alpha`"):
        two_sample_test(*apart(3, 3)).verdict(0.0)


# No contradiction ---------------------------------------------------------------------------------


def check_columns(res):
    """Without a difference as a whole, no column and no pair of columns is named."""
    if res.reject(0.05):
        return
    assert res.columns.differing(0.05) == ()
    assert res.together(0.05) == ()
    for word in ("  changed  ", "  together  ", "largest separation"):
        assert word not in str(res)


def test_no_column_is_named_unless_the_test_rejects():
    """Among 20 columns one has a small p-value now and then."""
    rng, small = np.random.default_rng(5), 0
    for seed in range(60):
        res = two_sample_test(*rng.normal(size=(2, 25, 20)), rng=seed)
        check_columns(res)
        small += not res.reject(0.05) and min(c.adjusted for c in res.columns.rows) <= 0.05
    assert small  # it happens
