"""The default test is exact: every permutation of tiny data is tested, and all p-values counted.

Given the data without its labels, all permutations of the design are equally likely, so that the
p-values of all of them must not exceed uniform ones: P(p ≤ t) ≤ t for every t.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

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
    pooled = PooledRows(rows, np.asarray(of_y, np.int64), categorical, range(rows.shape[1]))
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


def in_order(rows, label):
    """Rows of the first sample first, as tests are given them."""
    order = np.argsort(label, kind="stable")
    return rows[order], label[order], order


def orders(labels):
    """All different orders of some labels."""
    return [np.array(own) for own in sorted(set(permutations(labels)))]


@pytest.mark.parametrize("law", ["normal", "ties", "tails"])
@pytest.mark.parametrize(("n", "k"), [(7, 3), (8, 4)])
def test_labels(law, n, k):
    rows = laws(n, 3, 5)[law]
    found = []
    for of_y in labellings(n, k):
        own, label, _ = in_order(rows, of_y)
        found.append(pvalues(own, label, plain_design((n - k, k), np.random.default_rng(0))))
    assert_uniform_at_most(found)


def test_labels_of_tables():
    rows = np.column_stack([laws(8, 2, 6)["normal"], [0, 1, 2, 0, 1, 0, 2, 2]])
    found = []
    for of_y in labellings(8, 3):
        own, label, _ = in_order(rows, of_y)
        found.append(pvalues(own, label, plain_design((5, 3), np.random.default_rng(0)), (2,)))
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
            design = design_of((n, 7 - n), strata, None, np.random.default_rng(0))
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
        design = design_of((9, 9), None, labels, np.random.default_rng(0))
        found.append(pvalues(own, label, design))
    assert_uniform_at_most(found)


def test_blocks_of_series():
    """Seven blocks of two rows; three of them belong to y."""
    rows = laws(14, 2, 10)["normal"].reshape(7, 2, 2)
    found = []
    for of_y in labellings(7, 3):
        own = np.concatenate([rows[~of_y].reshape(-1, 2), rows[of_y].reshape(-1, 2)])
        found.append(pvalues(own, np.arange(14) >= 8, series_design((8, 6), 2)))
    assert_uniform_at_most(found)


# Several samples ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "sizes"), [("normal", (2, 2, 2)), ("ties", (2, 2, 2)), ("tails", (2, 1, 4))]
)
def test_several_labels(law, sizes):
    rows = laws(sum(sizes), 3, 11)[law]
    found = []
    for label in orders(np.repeat([0, 1, 2], sizes)):
        own, label, _ = in_order(rows, label)
        found.append(pvalues(own, label, plain_design(sizes, np.random.default_rng(0))))
    assert len(found) in (90, 105)
    assert_uniform_at_most(found)


def test_several_labels_in_strata():
    """Three rows of three samples, and four of them."""
    rows, stratum, found = laws(7, 2, 12)["normal"], np.repeat([0, 1], [3, 4]), []
    rows[3:] += 4.0
    for first, second in product(orders([0, 1, 2]), orders([0, 0, 1, 2])):
        own, label, order = in_order(rows, np.concatenate([first, second]))
        strata = RowLabels(stratum[order], ("a", "b"))
        design = design_of((3, 2, 2), strata, None, np.random.default_rng(0))
        found.append(pvalues(own, label, design))
    assert len(found) == 72
    assert_uniform_at_most(found)


def test_several_labels_of_groups():
    """Six groups of two rows, of three samples; and three groups of one row of each sample."""
    rows, group = laws(12, 2, 13)["normal"], np.repeat(np.arange(6), 2)
    rows += np.random.default_rng(1).normal(size=(6, 2))[group]
    found = []
    for label in orders([0, 0, 1, 1, 2, 2]):
        own, label, order = in_order(rows, label[group])
        labels = RowLabels(group[order], tuple("abcdef"))
        design = design_of((4, 4, 4), None, labels, np.random.default_rng(0))
        found.append(pvalues(own, label, design))
    assert_uniform_at_most(found)


def test_several_labels_inside_groups():
    rows, group, found = laws(9, 2, 14)["normal"], np.repeat(np.arange(3), 3), []
    for each in product(orders([0, 1, 2]), repeat=3):
        own, label, order = in_order(rows, np.concatenate(each))
        labels = RowLabels(group[order], tuple("abc"))
        design = design_of((3, 3, 3), None, labels, np.random.default_rng(0))
        found.append(pvalues(own, label, design))
    assert_uniform_at_most(found)


def test_several_labels_of_blocks_of_series():
    """Six blocks of two rows, of three samples."""
    rows, found = laws(12, 2, 15)["normal"].reshape(6, 2, 2), []
    for label in orders([0, 0, 1, 1, 2, 2]):
        own = rows[np.argsort(label, kind="stable")].reshape(-1, 2)
        found.append(pvalues(own, np.repeat([0, 1, 2], 4), series_design((4, 4, 4), 2)))
    assert_uniform_at_most(found)
