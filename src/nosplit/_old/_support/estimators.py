"""Estimators as scikit-learn has them: told which rows are of x, they score rows.

Nothing is imported: whatever has `fit` or `partial_fit`, and then `predict_proba`,
`decision_function` or `predict`, will do.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["check_estimator", "learned_from", "row_scores"]

# Probabilities nearer than this to 0 or 1 count as this near.
NEAREST = 1e-6


def check_estimator(estimator: Any, name: str = "estimator") -> Any:
    """Check that something can learn and score; a copy is learned, never the thing itself."""
    learns = any(callable(getattr(estimator, m, None)) for m in ("fit", "partial_fit"))
    says = any(hasattr(estimator, m) for m in ("predict_proba", "decision_function", "predict"))
    if isinstance(estimator, type) or not (learns and says):
        raise InputError(
            f"`{name}` must have `fit` or `partial_fit`, and `predict_proba`, `decision_function` "
            f"or `predict`, as estimators of scikit-learn have, got {estimator!r}."
        )
    return estimator


def _classifies(estimator: Any) -> bool:
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def learned_from(estimator: Any, rows: Any, is_x: Any, method: str = "fit") -> Any:
    """A copy of an estimator that has learned which rows are of x; `partial_fit` goes on.

    Classifiers learn the classes 1 and 0, regressors the numbers 1 and -1.
    """
    classifies = _classifies(estimator)
    learned = estimator if method == "partial_fit" else deepcopy(estimator)
    labels = np.where(is_x, 1, 0) if classifies else np.where(is_x, 1.0, -1.0)
    if method == "partial_fit" and classifies:
        learned.partial_fit(rows, labels, classes=np.array([0, 1]))
    else:
        getattr(learned, method)(rows, labels)
    return learned


def row_scores(estimator: Any, rows: Any) -> Array:
    """Score rows by how much they look like x: half log odds, or a regressor's value."""
    if hasattr(estimator, "predict_proba"):
        p = np.clip(np.asarray(estimator.predict_proba(rows))[:, 1], NEAREST, 1.0 - NEAREST)
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
