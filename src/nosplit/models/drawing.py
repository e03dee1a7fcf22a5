"""Rows drawn from whatever can be drawn from: a model, a distribution of SciPy, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nosplit._checks import check_sample
from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["drawing_from"]


def drawing_from(model: Any) -> Callable[[int, np.random.Generator], Array]:
    """A function that draws n rows, (n, p).

    Examples
    --------
    >>> from scipy import stats
    >>> drawing_from(stats.poisson(3.0))(5, np.random.default_rng(0)).shape
    (5, 1)
    """
    draw = _draw(model)

    def rows(n: int, rng: np.random.Generator) -> Array:
        drawn = check_sample(draw(n, rng), "model", smallest=1).astype(np.float64, copy=False)
        if len(drawn) != n:
            raise InputError(f"`model` must draw as many rows as asked for, {n}, got {len(drawn)}.")
        return drawn

    return rows


def _draw(model: Any) -> Callable[[int, np.random.Generator], Any]:
    if isinstance(model, type):
        raise InputError(f"`model` must be a model, got the class {model.__name__}. Call it.")
    if hasattr(model, "freeze"):  # a law of scipy.stats whose parameters are not set
        name = getattr(model, "name", type(model).__name__)
        raise InputError(f"`model` must have its parameters set, as in `scipy.stats.{name}(...)`.")
    if hasattr(model, "rvs"):
        return lambda n, rng: model.rvs(size=n, random_state=rng)
    if hasattr(model, "icdf") and hasattr(model, "sample"):  # a random variable of SciPy
        return lambda n, rng: model.sample(n, rng=rng)
    if callable(getattr(model, "sample", None)):
        return lambda n, rng: model.sample(n, rng)
    if callable(model) and not hasattr(model, "score"):
        return lambda n, rng: model(n, rng)
    raise InputError(
        "`model` must be one that can be drawn from: a model with `sample(n, rng)`, a distribution "
        f"of scipy.stats, or a function of n and a Generator, got {type(model).__name__}."
    )
