"""Scores from whatever a caller has: a model, a function of NumPy, torch or JAX, or an array."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_finite, numeric
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.models.ends import Ends
from nosplit.models.laws import Model
from nosplit.models.scipy import from_scipy

__all__ = ["OnSupport", "Score", "as_model", "check_scores", "scores_of"]

# Scores whose products have squares that can be added up.
LARGEST_SCORE = 1e75

Score = Model | Callable[[Any], Any] | ArrayLike


def as_model(score: Any) -> Any:
    """A model of a distribution of `scipy.stats`; anything else as it is.

    Examples
    --------
    >>> from scipy import stats
    >>> as_model(stats.norm(1.0, 2.0)).score([[3.0]]).round(9)
    array([[-0.5]])
    """
    if callable(getattr(score, "logpmf", None)):
        raise InputError(
            "`score` must be a law with a density, and counts have none. Compare with a sample of "
            "it: `two_sample_test(x, law.rvs(n))`."
        )
    if isinstance(score, str) and "." not in score and "/" not in score:
        raise InputError(
            f"`score` must be a model, a function, an array or the name of a file, got {score!r}. "
            "Models are in `nosplit.models`, as in `models.Normal()`; `scipy.stats` has more."
        )
    if isinstance(score, Model | type) or not callable(getattr(score, "logpdf", None)):
        return score
    if hasattr(score, "freeze"):  # calling it would set its parameters, to the rows
        name = getattr(score, "name", type(score).__name__)
        raise InputError(f"`score` must have its parameters set, as in `scipy.stats.{name}(...)`.")
    return score if callable(score) else from_scipy(score)


def scores_of(score: Score, x: Array) -> Array:
    """∇ log q at the rows of x, (n, p), checked.

    A function is called with the NumPy array x; if it turns that down and torch is loaded, with a
    tensor of the same rows.
    """
    if isinstance(score, type):
        raise InputError(
            f"`score` must be a model, a function or an array, got the class {score.__name__}. "
            f"Call it: `{score.__name__}(...)`."
        )
    if isinstance(score, Model):
        given = score.score(x)
    elif callable(score):
        given = _call(score, x)
    else:
        given = score
    scores = np.ascontiguousarray(_score_array(given), dtype=np.float64)
    if scores.ndim == 1 and x.shape[1] == 1:
        scores = scores[:, None]
    check_scores(scores, x.shape)
    check_finite(scores, "score")
    return scores


@dataclass(frozen=True, eq=False)
class OnSupport:
    """A score that was given without a model, with the declared ends of the support."""

    given: Any
    ends: Ends

    def score(self, x: Array, /) -> Array:
        """∇ log q at the rows of x."""
        return scores_of(self.given, self.ends.inside(self.ends.checked(x)))


def check_scores(scores: Any, shape: tuple[int, ...]) -> None:
    """Check that scores have the shape of the rows, and can be multiplied."""
    if tuple(scores.shape) != shape:
        raise InputError(
            f"`score` must give one row of {shape[1]} for each of the {shape[0]} rows of x, "
            f"got shape {tuple(scores.shape)}. It is the gradient of the log density, not the "
            "density."
        )
    size = float(abs(scores).max()) if len(scores) else 0.0
    if LARGEST_SCORE < size < np.inf:
        raise InputError(
            f"`score` must be below {LARGEST_SCORE:.0e} in size, as products of two are squared, "
            f"got {size:.1e}. Rescale x and the model, or leave far rows out."
        )


def _call(score: Callable[[Any], Any], x: Array) -> Any:
    check_arguments(score)
    try:
        return score(x)
    except (TypeError, AttributeError):
        torch = sys.modules.get("torch")
        if torch is None:
            raise
        return score(torch.as_tensor(x))


def check_arguments(score: Callable[[Any], Any]) -> None:
    """Check that a function can be called with rows alone."""
    try:
        inspect.signature(score).bind(None)
    except TypeError:
        raise InputError(
            "`score` must be a function of the rows alone, the gradient of the log density, got "
            f"one with the signature {inspect.signature(score)}. To compare with a sampler, use "
            "`two_sample_test(x, sampler(n, rng))` or `nosplit.testing.assert_fits(x, sampler)`."
        ) from None
    except ValueError:  # compiled functions may have no signature
        return


def _score_array(value: Any) -> NDArray[Any]:
    """A NumPy array from an array-like; a torch tensor may be on a device or carry gradients."""
    for name in ("detach", "cpu"):
        method = getattr(value, name, None)
        value = method() if callable(method) else value
    return numeric(value, "score")
