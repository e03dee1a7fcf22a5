"""Estimators with the interface of scikit-learn: fit which rows are of x, and score rows.

Nothing is imported: an estimator needs `fit` or `partial_fit`, and `predict_proba`,
`decision_function` or `predict`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["check_estimator", "learned_from", "row_scores"]

# Probabilities are kept this far from 0 and 1.
SMALLEST_PROBABILITY = 1e-6


def check_estimator(estimator: Any, name: str = "estimator") -> Any:
    """Check that an object can be fitted and can score rows."""
    fits = any(callable(getattr(estimator, m, None)) for m in ("fit", "partial_fit"))
    scores = any(hasattr(estimator, m) for m in ("predict_proba", "decision_function", "predict"))
    if isinstance(estimator, type) or not (fits and scores):
        raise InputError(
            f"`{name}` must have `fit` or `partial_fit`, and `predict_proba`, `decision_function` "
            f"or `predict`, as estimators of scikit-learn have, got {estimator!r}."
        )
    return estimator


def learned_from(estimator: Any, rows: Any, is_x: Any, method: str = "fit") -> Any:
    """Fit a copy of an estimator to which rows are of x; `partial_fit` updates the estimator.

    Classifiers are given the classes 1 and 0, regressors the numbers 1 and -1.
    """
    classifies = hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")
    learned = estimator if method == "partial_fit" else deepcopy(estimator)
    labels = np.where(is_x, 1, 0) if classifies else np.where(is_x, 1.0, -1.0)
    if method == "partial_fit" and classifies:
        learned.partial_fit(rows, labels, classes=np.array([0, 1]))
    else:
        getattr(learned, method)(rows, labels)
    return learned


def row_scores(estimator: Any, rows: Any) -> Array:
    """Score rows, higher for x than for y: half the log odds, or the value of a regressor."""
    if hasattr(estimator, "predict_proba"):
        p = np.asarray(estimator.predict_proba(rows))[:, 1]
        p = np.clip(p, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
        scores = 0.5 * (np.log(p) - np.log1p(-p))
    elif hasattr(estimator, "decision_function"):
        scores = 0.5 * np.asarray(estimator.decision_function(rows), dtype=np.float64)
    else:
        scores = np.asarray(estimator.predict(rows), dtype=np.float64)
    if scores.shape != (len(rows),) or not np.isfinite(scores).all():
        raise InputError(
            f"`estimator` must give one finite score for each row, got scores of shape "
            f"{scores.shape} from {type(estimator).__name__} for {len(rows)} rows."
        )
    return np.asarray(scores)
