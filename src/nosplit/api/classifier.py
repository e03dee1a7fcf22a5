"""Tests by a classifier without a split: fitted on the folds before, tested on the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import Seed, check_int, new_key
from nosplit._lazy import extra, special
from nosplit._types import Index
from nosplit.api import _elsewhere
from nosplit.api._request import LabelsOfRows, NanPolicy, Request, Sample
from nosplit.api._run import remarks
from nosplit.api.two_sample import TwoSamples
from nosplit.core.exchange import labels
from nosplit.data.samples import Samples
from nosplit.data.series import about_strata
from nosplit.errors import InputError
from nosplit.families.design import Design
from nosplit.inference.calibrations import EXACT, SERIES
from nosplit.inference.classifier import ClassifierFold, ClassifierResult
from nosplit.inference.effect import Separation, folds_of_units
from nosplit.inference.estimators import check_estimator, learned_from, row_scores
from nosplit.inference.result import How

__all__ = ["classifier_test"]

# Categories of a column that gradient boosting can split on.
MAX_CATEGORIES = 255


def classifier_test(
    x: Sample,
    y: Sample,
    *,
    estimator: Any = None,
    paired: bool = False,
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    folds: int = 5,
    n_resamples: int = 999,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    nan_policy: NanPolicy = "auto",
    names: Sequence[str] | None = None,
    rng: Seed = 0,
) -> ClassifierResult:
    """Test whether two samples come from the same distribution, by a classifier.

    Units are dealt to folds at random: rows, pairs, groups, or blocks of a series. For each fold
    but the first, an estimator is fitted on all folds before it and scores the rows of the fold.
    Permutations of the labels of units inside the fold give its p-value, which is exact given the
    folds before, so the p-values of all folds combine to one exact p-value. With five folds, four
    fifths of the rows are tested, and the last estimator is fitted on four fifths.

    Parameters
    ----------
    x, y : array, data frame or path
        The samples, one observation per row.
    estimator : classifier or regressor, optional
        An estimator with the interface of scikit-learn, such as a pipeline; copies are fitted. It
        is given data frames of pandas as they are, and otherwise numbers, with codes of
        categories. Default: gradient boosting of scikit-learn.
    paired, strata, groups, series
        As in `two_sample_test`. Pairs, groups and blocks are dealt to folds as a whole, and blocks
        in time order. Scores are compared about their mean in the pair, stratum or group.
    folds : int, default 5
        Number of folds, at least 2.
    n_resamples : int, default 999
        Number of permutations in each fold.
    columns, exclude, nan_policy, names
        As in `two_sample_test`. An estimator that is given data frames sees missing values.
    rng : int, Generator or None, default 0
        The seed of folds and permutations, as in `two_sample_test`.

    Returns
    -------
    ClassifierResult
        `pvalue`, `statistic`, `verdict(alpha)`, and `auc`, the area under the ROC curve.

    Notes
    -----
    P-values of folds are randomised among ties, so that they are uniform under the null
    hypothesis however few permutations a fold has.

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
    folds = check_int(folds, "folds", least=2)
    n_resamples = check_int(n_resamples, "n_resamples", least=1)
    request = Request.of(
        _elsewhere.in_memory(x), _elsewhere.in_memory(y), paired=paired, strata=strata,
        groups=groups, series=series, columns=columns, exclude=exclude, scale="none",
        nan_policy=nan_policy, names=names, rng=rng,
    )  # fmt: skip
    data = _InUnits.of(request)
    if estimator is None:
        rows, estimator = _boosting(data.samples)
    else:
        check_estimator(estimator)
        rows = _rows_given(request, data.samples)
    fold = data.folds(folds)
    tested = [
        _test_fold(k, fold, data, estimator, rows, n_resamples, request.rng)
        for k in range(1, folds)
    ]
    parts = tuple(part for part, _, _ in tested)
    statistic = sum(-part.weight * float(special.ndtri(part.pvalue)) for part in parts)
    error = math.sqrt(sum(variance for _, variance, _ in tested)) / len(parts)
    freedom = sum(own for _, _, own in tested)
    auc = Separation(float(np.mean([part.auc for part in parts])), error, freedom)
    return ClassifierResult(
        statistic, float(special.log_ndtr(-statistic)), auc, parts, type(estimator).__name__,
        data.names, data.how(fold, n_resamples), *remarks(data, ()),
    )  # fmt: skip


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _InUnits(TwoSamples):
    """Two samples, whose units are dealt to folds."""

    @cached_property
    def design(self) -> Design:
        """The units, and the blocks inside which they are permuted."""
        if self.request.designed:
            return super().design
        n, m = len(self.x), len(self.y)
        return Design(np.arange(n + m), np.array([0, n + m]), np.array([[n, m]]), False, None)

    @cached_property
    def block(self) -> Index:
        """Block of each row."""
        return np.searchsorted(self.design.starts, self.design.unit, side="right") - 1

    @cached_property
    def of_y(self) -> NDArray[np.bool_]:
        """Whether each row is of y."""
        return np.asarray(self.pooled.label == 1)

    def folds(self, folds: int) -> Index:
        """Deal the units to folds; the fold of rows that are left out is -1."""
        there, fold = self.design.dealt, np.full(len(self.of_y), -1)
        key = None if self.request.series is not False else new_key(self.request.rng)
        own = self.of_y[there], self.design.unit[there], self.block[there]
        fold[there] = folds_of_units(*own, folds, key)
        if len(np.unique(fold[there])) < folds:
            said = "" if self.design.said is None else f": {self.design.said}"
            raise InputError(
                f"`folds` must leave something to permute in each, and {folds} folds are too many "
                f"for {self.design.n_units:,} units{said}. Use fewer folds, or more data."
            )
        return fold

    def how(self, fold: Index, n_resamples: int) -> How:
        """Describe the procedure."""
        request = self.request
        sizes = [int(np.count_nonzero((fold >= 0) & side)) for side in (~self.of_y, self.of_y)]
        n, m = (np.bincount(fold[(fold > 0) & side]) for side in (~self.of_y, self.of_y))
        return How(
            "classifier", "folds", EXACT if request.series is False else SERIES, n_resamples, 0.0,
            request.seed, self.design.n_units, int(n @ m), sum(sizes), self.n_rows - sum(sizes),
            tuple(sizes), self.exchanged, names=request.names, encoding=self.encoding,
        )  # fmt: skip


def _rows_given(request: Request, data: Samples) -> Any:
    """The pooled rows as a given estimator sees them: x first, then y."""
    x, y, options = request.x, request.y, request.options
    kinds = {type(value).__module__.partition(".")[0] for value in (x, y)}
    whole = options.columns is None and options.exclude is None and not data.left_out
    if whole and kinds == {"pandas"} and x.ndim == y.ndim == 2:
        names = [name for name in x.columns if str(name) not in request.labelled]
        return extra("pandas").concat([x[names], y[names]], ignore_index=True)
    return _numbered_rows(data)


def _numbered_rows(data: Samples) -> NDArray[Any]:
    """The pooled rows, with codes of categories from 0."""
    rows = np.concatenate([data.x, data.y]).astype(np.float64)
    for j in data.encoding.categorical if data.encoding is not None else ():
        rows[:, j] = np.unique(rows[:, j], return_inverse=True)[1]
    return rows


def _boosting(data: Samples) -> tuple[NDArray[Any], Any]:
    """The pooled rows, and the default estimator."""
    ensemble = extra("sklearn.ensemble", "learn")
    rows = _numbered_rows(data)
    categorical = data.encoding.categorical if data.encoding is not None else ()
    few = [j for j in categorical if rows[:, j].max() < MAX_CATEGORIES]
    return rows, ensemble.HistGradientBoostingClassifier(
        categorical_features=few or None, early_stopping=False, random_state=0
    )


# -- folds -----------------------------------------------------------------------------------------


def _test_fold(
    k: int,
    fold: Index,
    data: _InUnits,
    estimator: Any,
    rows: Any,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[ClassifierFold, float, float]:
    """Fit on the folds before fold k, and test it; also return what `_auc` says of its error."""
    (past,), (here,) = np.nonzero((fold >= 0) & (fold < k)), np.nonzero(fold == k)
    learned = learned_from(estimator, _taken(rows, past), ~data.of_y[past])
    scores = row_scores(learned, _taken(rows, here))
    unit, block, y = data.design.unit[here], data.block[here], data.of_y[here]
    if block.min() < block.max():
        scores = about_strata(scores[:, None], block)[:, 0]
    ranks = _midranks(scores)
    _, first, place = np.unique(unit, return_index=True, return_inverse=True)
    exchange = labels(y[first].astype(np.int64), block[first], n_resamples, new_key(rng))
    sums = np.bincount(place, ranks)  # whole numbers, so that draws that tie, tie exactly
    drawn = np.concatenate([weights[:, 0] @ sums for weights in exchange.drawn()])
    greater, ties = np.count_nonzero(drawn > drawn[0]), np.count_nonzero(drawn == drawn[0])
    # A p-value that rounds to 1 would have an infinite score.
    pvalue = float(min((greater + (1.0 - rng.random()) * ties) / len(drawn), 1.0 - 1e-16))
    # Two units that are swapped depend on each other.
    starts = data.design.starts
    auc, variance, freedom = _auc(
        ranks, y, np.where(np.diff(starts)[block] == 2, starts[block], unit)
    )
    weight = math.sqrt(2.0 * k / (fold.max() * (fold.max() + 1)))
    return ClassifierFold(len(past), len(here), auc, pvalue, weight), variance, freedom


def _taken(rows: Any, places: Index) -> Any:
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def _midranks(scores: NDArray[Any]) -> Index:
    """Twice the ranks from 0, ties by their mean: whole numbers."""
    ordered = np.sort(scores)
    low, high = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return low + high - 1


def _auc(ranks: Index, y: NDArray[np.bool_], cluster: Index) -> tuple[float, float, float]:
    """Area under the ROC curve, its variance by placements (DeLong), and degrees of freedom.

    The placement of a row is the share of rows of the other sample that are on its right side.
    Placements are summed by cluster.
    """
    own, others = np.empty(len(y)), np.where(y, np.count_nonzero(~y), np.count_nonzero(y))
    for side in (y, ~y):
        own[side] = _midranks(ranks[side])
    placement = (ranks - own) / (2.0 * others)
    placement = np.where(y, 1.0 - placement, placement)
    auc, variance = float(placement[y].mean()), 0.0
    for values in (placement[y], placement[~y]):
        # Laplace's rule, so that the variance is not 0 if the AUC is 1.
        n = len(values)
        mean, square = (n * auc + 1.0) / (n + 2.0), (values @ values + 1.0) / (n + 2.0)
        variance += float(square - mean**2) / n
    place = np.unique(cluster, return_inverse=True)[1]
    sums = np.bincount(place, (placement - auc) / (len(y) - others))
    freedom = max(len(sums) - 2.0, 1.0)
    return auc, max(variance, float(sums @ sums) * len(sums) / freedom), freedom
