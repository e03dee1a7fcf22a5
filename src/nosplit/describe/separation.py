"""Separation of two samples: how well the best rule that was found tells their rows apart.

A rule gives every row a score. It is learned on some rows and judged by others: how often a row of
x has a higher score than a row of y (the area under the curve of a classifier). No rule can do
better than the two populations allow, so what a rule does on rows that it has not seen is a lower
bound for how large their difference is, whichever rule it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.lazy import special
from nosplit._support.types import Array, Index

__all__ = [
    "FOLDS",
    "Rule",
    "auc",
    "column_rules",
    "lower_bound",
    "model_rules",
    "rule_of_counts",
    "surest",
]

# Rows of a sample that rules are learned on and judged by, and numbers in them.
MOST_ROWS, MOST_NUMBERS = 20_000, 1 << 22
# Folds, categories that are told from others, and what is added to the counts of each.
FOLDS, MOST_CATEGORIES, PRIOR = 5, 4096, 1.0
# Bins of a column of numbers: the most, the fewest, and rows of both samples for each.
BINS, FEWEST_BINS, ROWS_A_BIN = 24, 4, 50
# Rows of a sample that a classifier learns from, and its rounds.
MOST_TRAINED, ROUNDS = 5_000, 60
# How much larger errors are than those of independent folds: rows that are judged in one fold teach
# the others (1.2 to 1.5 were seen without a difference, less with one).
DEPENDENT = 1.5
# How often the true value may lie below the lower bound.
MISSED = 0.025

TOGETHER, BOOSTED = "all columns, each for itself", "gradient boosting"


class Rule(NamedTuple):
    """Share of pairs in which a rule ranks a row of x above a row of y, and its standard error."""

    name: str
    auc: float
    error: float


def surest(rules: Sequence[Rule]) -> Rule:
    """The rule that reaches most at the least: rules may be judged by more rows or by fewer."""
    z = float(special.ndtri(1.0 - MISSED / len(rules)))
    return max(rules, key=lambda rule: rule.auc - z * rule.error)


def lower_bound(rules: Sequence[Rule]) -> float:
    """Lower bound for the best of several rules, whichever was picked."""
    z = float(special.ndtri(1.0 - MISSED / len(rules)))
    return max(0.5, *(rule.auc - z * rule.error for rule in rules))


def auc(f_x: Array, f_y: Array) -> tuple[float, float]:
    """P(f(X) > f(Y)), ties counted half, and its squared standard error (DeLong et al. 1988).

    One row more could be on the wrong side: rows that are all told apart are not known to be
    always, and the error is not 0.
    """
    below, above = _share_below(f_x, f_y), 1.0 - _share_below(f_y, f_x)
    square = below.var() / len(below) + above.var() / len(above)
    return float(below.mean()), float(square + 1.0 / min(len(f_x), len(f_y)) ** 2)


def _share_below(values: Array, others: Array) -> Array:
    ordered = np.sort(others)
    left, right = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray((left + right) / (2.0 * len(ordered)))


# -- single columns, and all of them -----------------------------------------------------------


def column_rules(
    x: NDArray[Any],
    y: NDArray[Any],
    groups: Mapping[str, Sequence[int]],
    categorical: frozenset[int] = frozenset(),
    most: int = MOST_ROWS,
) -> list[Rule]:
    """A rule for each named column, and with several columns one that adds up what each says.

    Parameters
    ----------
    x, y : array, shape (n, width) and (m, width)
        Rows in random order.
    groups : mapping
        Which columns of the rows belong to a named one.
    categorical : frozenset of int
        Columns of the rows that hold categories.
    most : int
        Rows of either sample that are looked at.
    """
    x, y = (_first_rows(rows, most) for rows in (x, y))
    folds = [np.arange(len(rows)) % FOLDS for rows in (x, y)]
    rules, total = [], [np.zeros(len(rows)) for rows in (x, y)]
    for name, columns in groups.items():
        places, n_bins = _joint_bins(np.concatenate([x, y]), columns, categorical)
        parts = places[: len(x)], places[len(x) :]
        counts = np.stack(
            [_counts_of_folds(p, f, n_bins) for p, f in zip(parts, folds, strict=True)]
        )
        scores = _log_ratios(counts)
        rules.append(_judged(name, [_auc_of_bins(scores[k], counts[:, k]) for k in range(FOLDS)]))
        for sums, place, fold in zip(total, parts, folds, strict=True):
            sums += scores[fold, place]
    if len(groups) == 1:
        return rules
    judged = [auc(total[0][folds[0] == k], total[1][folds[1] == k]) for k in range(FOLDS)]
    return [*rules, _judged(TOGETHER, judged)]


def rule_of_counts(name: str, counts: NDArray[np.float64]) -> Rule:
    """A rule that knows rows by their bins, whose counts are those of x and y, (2, folds, bins)."""
    scores = _log_ratios(counts)
    return _judged(name, [_auc_of_bins(scores[k], counts[:, k]) for k in range(FOLDS)])


def _first_rows(rows: NDArray[Any], most: int) -> NDArray[Any]:
    return rows[: min(most, max(1000, MOST_NUMBERS // rows.shape[1]))]


def _joint_bins(pooled: NDArray[Any], columns: Sequence[int], categorical: frozenset[int]) -> Any:
    """The bin of each row, of all columns that belong together, and the number of bins."""
    place = np.zeros(len(pooled), dtype=np.int64)
    for column in columns:
        values = pooled[:, column]
        if column in categorical:
            found, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
            rank = np.empty(len(found), dtype=np.int64)
            rank[np.argsort(-sizes, kind="stable")] = np.arange(len(found))
            own = np.minimum(rank[codes], MOST_CATEGORIES)
        else:
            n_bins = max(FEWEST_BINS, min(len(values) // ROWS_A_BIN, BINS))
            edges = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins))
            # Of a value that many rows have, the bin is its own.
            own = np.searchsorted(edges, values, side="left") + np.isin(values, edges) * (BINS + 1)
        place = place * (own.max() + 1) + own
        place = np.unique(place, return_inverse=True)[1]
    return place, int(place.max()) + 1


def _counts_of_folds(places: Index, folds: Index, n_bins: int) -> NDArray[np.float64]:
    """Rows in every bin of each fold, (folds, bins)."""
    found = np.bincount(folds * n_bins + places, minlength=FOLDS * n_bins)
    return found.reshape(FOLDS, n_bins).astype(np.float64)


def _log_ratios(counts: NDArray[np.float64]) -> Array:
    """Logarithms of ratios of densities, from the folds but one, (folds, bins).

    They are shrunk by the share of χ² that chance explains, so that columns without a difference
    say little in a sum over columns.
    """
    learned = counts.sum(axis=1, keepdims=True) - counts
    sizes = learned.sum(axis=2, keepdims=True)
    n_bins = counts.shape[2]
    shares = (learned + PRIOR) / (sizes + PRIOR * n_bins)
    ratio = np.log(shares[0]) - np.log(shares[1])
    difference = learned[0] / sizes[0] - learned[1] / sizes[1]
    variance = np.maximum(learned.sum(axis=0) / sizes.sum(axis=0), 1e-300)
    chi2 = (difference**2 / variance).sum(axis=1) / (1.0 / sizes[:, :, 0]).sum(axis=0)
    kept = np.maximum(0.0, 1.0 - (n_bins - 1) / np.maximum(chi2, 1e-300))
    # Where nothing is kept the order stays, for the column's own sake.
    return np.asarray(ratio * np.maximum(kept, 1e-6)[:, None])


def _auc_of_bins(scores: Array, held_out: NDArray[np.float64]) -> tuple[float, float]:
    order = np.argsort(scores, kind="stable")
    x, y = held_out[:, order]
    below = (np.cumsum(y) - y / 2.0) / y.sum()
    above = 1.0 - (np.cumsum(x) - x / 2.0) / x.sum()
    means = [float(s @ v / s.sum()) for s, v in ((x, below), (y, above))]
    squares = [
        float(s @ (v - m) ** 2 / s.sum() ** 2)
        for s, v, m in zip((x, y), (below, above), means, strict=True)
    ]
    return means[0], sum(squares) + 1.0 / min(x.sum(), y.sum()) ** 2


def _judged(name: str, folds: Sequence[tuple[float, float]]) -> Rule:
    """The mean over folds, with a standard error that allows for folds that learn from others."""
    means, squares = np.array(folds).T
    error = DEPENDENT * np.sqrt(squares.sum()) / len(squares)
    return Rule(name, float(means.mean()), float(error))


# -- a classifier --------------------------------------------------------------------------------


def model_rules(x: NDArray[Any], y: NDArray[Any], categorical: frozenset[int]) -> list[Rule]:
    """Gradient boosting, where scikit-learn is installed and there is more than one column."""
    if x.shape[1] < 2 or min(len(x), len(y)) < 10 * FOLDS or find_spec("sklearn") is None:
        return []
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    most = min(MOST_TRAINED, max(200, MOST_NUMBERS // (4 * x.shape[1])))
    x, y = x[:most], y[:most]
    pooled = np.concatenate([x, y]).astype(np.float64)
    for column in categorical:
        pooled[:, column] = np.unique(pooled[:, column], return_inverse=True)[1]
    labels = np.repeat([1, 0], [len(x), len(y)])
    folds = np.concatenate([np.arange(len(x)) % FOLDS, np.arange(len(y)) % FOLDS])
    choices: Any = {"max_iter": ROUNDS, "early_stopping": False, "random_state": 0}
    judged = []
    # Of so few rows, threads would mostly wait for one another, and for those of other processes.
    with threadpool_limits(1, "openmp"):
        for k in range(FOLDS):
            model = HistGradientBoostingClassifier(**choices)
            model.fit(pooled[folds != k], labels[folds != k])
            scores = model.predict_proba(pooled[folds == k])[:, 1]
            held = labels[folds == k]
            judged.append(auc(scores[held == 1], scores[held == 0]))
    return [_judged(BOOSTED, judged)]
