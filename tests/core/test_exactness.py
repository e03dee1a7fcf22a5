"""The default test is exact: every permutation of tiny data is tested, and all p-values counted.

Given the data without its labels, all permutations of the design are equally likely, so that the
p-values of all of them must not exceed uniform ones: P(p ≤ t) ≤ t for every t.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from nosplit.data.labels import RowLabels
from nosplit.families.design import design_of, paired_design, plain_design, series_design
from nosplit.families.two_sample import Effort, PooledRows, compare_columns, compare_samples
from nosplit.kernels.recipes import as_recipe

EFFORT = Effort(999)


def laws(n, p, seed):
    rng = np.random.default_rng(seed)
    ties = np.rint(rng.normal(size=(n, p)))
    return {"normal": rng.normal(size=(n, p)), "ties": ties, "tails": rng.standard_cauchy((n, p))}


def pvalues(rows, of_y, design, categorical=()):
    """P-values of the default test, and the smallest of the columns."""
    pooled = PooledRows(rows, of_y, categorical, range(rows.shape[1]))
    rng = np.random.default_rng(0)
    joint = compare_samples(pooled, design, as_recipe(None), EFFORT, rng).finding
    alone = compare_columns(pooled, design, 999, rng).finding
    return joint.pvalue, alone.columns.adjusted.min()


def assert_uniform_at_most(found):
    """No p-value comes too often."""
    for values in np.transpose(found):
        share = np.mean(values[:, None] <= values + 1e-12, axis=0)
        assert np.all(share <= values + 1e-12)
        assert values.min() < 0.5  # something is tested


def labellings(n, k):
    """All ways to give n rows to y, k at a time."""
    for chosen in combinations(range(n), k):
        of_y = np.zeros(n, bool)
        of_y[list(chosen)] = True
        yield of_y


def in_order(rows, of_y):
    """Rows of x first, as tests are given them."""
    order = np.argsort(of_y, kind="stable")
    return rows[order], of_y[order], order


@pytest.mark.parametrize("law", ["normal", "ties", "tails"])
@pytest.mark.parametrize(("n", "k"), [(7, 3), (8, 4)])
def test_labels(law, n, k):
    rows = laws(n, 3, 5)[law]
    found = []
    for of_y in labellings(n, k):
        own, label, _ = in_order(rows, of_y)
        found.append(pvalues(own, label, plain_design(n - k, k, np.random.default_rng(0))))
    assert_uniform_at_most(found)


def test_labels_of_tables():
    rows = np.column_stack([laws(8, 2, 6)["normal"], [0, 1, 2, 0, 1, 0, 2, 2]])
    found = []
    for of_y in labellings(8, 3):
        own, label, _ = in_order(rows, of_y)
        found.append(pvalues(own, label, plain_design(5, 3, np.random.default_rng(0)), (2,)))
    assert_uniform_at_most(found)


@pytest.mark.parametrize("law", ["normal", "ties"])
def test_swaps_of_pairs(law):
    x, y = np.split(laws(14, 2, 7)[law], 2)
    found = []
    for swap in product([False, True], repeat=7):
        s = np.array(swap)[:, None]
        rows = np.concatenate([np.where(s, y, x), np.where(s, x, y)])
        of_y = np.arange(14) >= 7
        found.append(pvalues(rows, of_y, paired_design(7)))
    assert_uniform_at_most(found)


def test_strata():
    rows, stratum = laws(7, 2, 8)["normal"], np.array([0, 0, 0, 0, 1, 1, 1])
    found = []
    for first in combinations(range(4), 2):
        for second in combinations(range(4, 7), 1):
            of_y = np.isin(np.arange(7), [*first, *second])
            own, label, order = in_order(rows, of_y)
            strata = RowLabels(stratum[order], ("a", "b"))
            n = int(np.count_nonzero(~of_y))
            design = design_of(n, 7 - n, strata, None, np.random.default_rng(0))
            found.append(pvalues(own, label, design))
    assert_uniform_at_most(found)


def test_groups():
    """Six groups of three rows; three of them belong to y."""
    rows, group = laws(18, 2, 9)["normal"], np.repeat(np.arange(6), 3)
    rows += np.random.default_rng(1).normal(size=(6, 2))[group]
    found = []
    for chosen in combinations(range(6), 3):
        own, label, order = in_order(rows, np.isin(group, chosen))
        labels = RowLabels(group[order], tuple("abcdef"))
        design = design_of(9, 9, None, labels, np.random.default_rng(0))
        found.append(pvalues(own, label, design))
    assert_uniform_at_most(found)


def test_blocks_of_series():
    """Seven blocks of two rows; three of them belong to y."""
    rows = laws(14, 2, 10)["normal"].reshape(7, 2, 2)
    found = []
    for of_y in labellings(7, 3):
        own = np.concatenate([rows[~of_y].reshape(-1, 2), rows[of_y].reshape(-1, 2)])
        found.append(pvalues(own, np.arange(14) >= 8, series_design(8, 6, 2)))
    assert_uniform_at_most(found)
