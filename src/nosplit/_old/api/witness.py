"""Classifiers without a split: learned on the folds before, tested on the next."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import Seed, check_int, check_rng, seed_of
from nosplit._lazy import extra, special
from nosplit._old._support.estimators import check_estimator, learned_from, row_scores
from nosplit._old.api.ways.witness_result import ClassifierResult, WitnessFold
from nosplit._old.data.files.whole import read_if_path
from nosplit._types import Array, Index
from nosplit.data.options import Options, by_policy
from nosplit.data.samples import Samples, two_samples
from nosplit.data.series import check_rows
from nosplit.errors import InputError

__all__ = ["classifier_test"]

# Rows of a sample in a fold, at the least.
FEWEST = 4
# Numbers drawn at once.
DRAWN = 1 << 22
# Categories of a column that gradient boosting can tell apart.
MOST_CATEGORIES = 255


def classifier_test(
    x: Any,
    y: Any,
    *,
    estimator: Any = None,
    folds: int = 5,
    n_resamples: int = 999,
    rng: Seed = 0,
    nan_policy: str = "auto",
    columns: Any = None,
    exclude: Any = None,
) -> ClassifierResult:
    """Test whether two samples have the same law, by whether a classifier tells them apart.

    Rows are dealt to folds at random. For each fold but the first an estimator is learned on all
    folds before it, and scores the rows of the fold; labels inside the fold are then permuted, so
    that its p-value is exact over the permutations, given the folds before, if rows are independent
    and those of x and of y may change places under H₀. Each p-value is uniform given those before,
    so that they combine to one exact p-value. With five folds four fifths of the rows are tested,
    and the last estimator learns from four fifths; a split into halves learns from one and tests
    the other.

    Parameters
    ----------
    x, y : array_like, tables or files
        The samples, one observation a row.
    estimator : classifier or regressor, optional
        Of scikit-learn or alike, pipelines included; copies are learned. It sees rows as they came
        if those are arrays or data frames of pandas, and else numbers, categories as codes. By
        default gradient boosting of scikit-learn.
    folds : int
        At least 2.
    n_resamples : int
        Number of permutations of the labels of each fold.
    rng : int, Generator or None
        Source of the folds and the permutations.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        As in `two_sample_test`; an estimator that is given data frames sees what is missing.
    columns, exclude : names of columns, optional
        Compare these only, or all but these; positions for arrays.

    Returns
    -------
    ClassifierResult

    Examples
    --------
    >>> import numpy as np
    >>> class Means:
    ...     def fit(self, rows, labels):
    ...         self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
    ...
    ...     def predict(self, rows):
    ...         return rows @ self.w
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(300, 5)), rng.normal(0.2, 1.0, size=(300, 5))
    >>> res = classifier_test(x, y, estimator=Means())
    >>> res.reject(0.05), len(res.folds)
    (True, 4)
    """
    folds, n_resamples = (
        check_int(folds, "folds", least=2),
        check_int(n_resamples, "n_resamples", least=1),
    )
    generator = check_rng(rng)
    x, y = read_if_path(x), read_if_path(y)

    def attempt(policy: str) -> Samples:
        return two_samples(x, y, Options.of("none", columns, exclude, policy)).checked()

    data = by_policy(nan_policy, attempt)
    if estimator is None:
        rows, estimator = _boosting(data)
    else:
        check_estimator(estimator)
        rows = _as_given(x, y, data, columns is None and exclude is None)
    n, m = data.shape[:2]
    caveats = check_rows(*data.rows)
    dealt = [
        _rows_of_folds(np.arange(size), folds, name, generator)
        for size, name in ((n, "x"), (m, "y"))
    ]
    parts = [(a, n + b) for a, b in zip(*dealt, strict=True)]
    tested = [
        _test_fold(estimator, rows, parts, k, n_resamples, generator) for k in range(1, folds)
    ]
    statistic = sum(-f.weight * float(special.ndtri(f.pvalue)) for f in tested)
    return ClassifierResult(
        statistic,
        float(special.log_ndtr(-statistic)),
        tuple(tested),
        type(estimator).__name__,
        sum(len(part) for both in dealt for part in both),
        tuple(f"{category.__name__}: {text}" for category, text in caveats),
        seed_of(rng, generator),
    )


def _rows_of_folds(rows: Index, folds: int, name: str, rng: np.random.Generator) -> list[Index]:
    """Numbers of the rows of each fold."""
    if len(rows) < FEWEST * folds:
        raise InputError(
            f"`{name}` must have at least {FEWEST * folds} rows for {folds} folds, got {len(rows)}."
        )
    return np.array_split(rng.permutation(rows), folds)


def _test_fold(
    estimator: Any,
    rows: Any,
    parts: list[tuple[Index, Index]],
    k: int,
    n_resamples: int,
    rng: np.random.Generator,
) -> WitnessFold:
    """Learn on the folds before fold k, and test it."""
    x, y = (np.concatenate([part[side] for part in parts[:k]]) for side in (0, 1))
    past = np.concatenate([x, y])
    learned = learned_from(estimator, _taken(rows, past), past < _first_of_y(parts))
    here = np.concatenate(parts[k])
    ranks = _midranks(row_scores(learned, _taken(rows, here)))
    n, m = (len(side) for side in parts[k])
    observed, drawn = ranks[:n].sum(), _drawn_sums(ranks, n, n_resamples, rng)
    greater, ties = np.count_nonzero(drawn > observed), np.count_nonzero(drawn == observed)
    uniform = 1.0 - rng.random()
    pvalue = (greater + uniform * (1 + ties)) / (n_resamples + 1)
    auc = (observed / 2.0 - n * (n - 1) / 2.0) / (n * m)
    weight = math.sqrt(k / sum(range(len(parts))))
    # Rounding must not make it one: its score would be infinite.
    return WitnessFold(len(past), n + m, float(auc), min(pvalue, 1.0 - 1e-16), weight)


def _first_of_y(parts: list[tuple[Index, Index]]) -> int:
    return min(int(y.min()) for _, y in parts)


def _taken(rows: Any, places: Index) -> Any:
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def _midranks(scores: Array) -> Index:
    """Twice the ranks from 0, ties by their mean: whole numbers, so that sums are exact."""
    ordered = np.sort(scores)
    low, high = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return low + high - 1


def _drawn_sums(ranks: Index, n: int, n_resamples: int, rng: np.random.Generator) -> Index:
    """Sums over n ranks picked at random, for each draw."""
    found = []
    step = max(1, DRAWN // len(ranks))
    for start in range(0, n_resamples, step):
        count = min(step, n_resamples - start)
        places = np.argpartition(rng.random((count, len(ranks)), dtype=np.float32), n - 1, axis=1)
        found.append(ranks[places[:, :n]].sum(axis=1))
    return np.concatenate(found)


def _as_given(x: Any, y: Any, data: Samples, whole: bool) -> Any:
    """The pooled rows as an estimator sees them: x first, then y."""
    kinds = {type(value).__module__.partition(".")[0] for value in (x, y)}
    if whole and kinds == {"pandas"} and x.ndim == y.ndim == 2 and not data.left_out:
        import pandas

        return pandas.concat([x, y[list(x.columns)]], ignore_index=True)
    return _numbered_rows(data)


def _numbered_rows(data: Samples) -> NDArray[Any]:
    """The pooled rows, categories as codes from 0."""
    rows = np.concatenate([data.x, data.y]).astype(np.float64)
    for j in data.encoding.categorical if data.encoding is not None else ():
        rows[:, j] = np.unique(rows[:, j], return_inverse=True)[1]
    return rows


def _boosting(data: Samples) -> tuple[NDArray[Any], Any]:
    """The pooled rows, and the estimator that is learned where none is given."""
    ensemble = extra("sklearn.ensemble", "learn")
    rows = _numbered_rows(data)
    categorical = data.encoding.categorical if data.encoding is not None else ()
    few = [j for j in categorical if rows[:, j].max() < MOST_CATEGORIES]
    return rows, ensemble.HistGradientBoostingClassifier(
        categorical_features=few or None, early_stopping=False, random_state=0
    )
