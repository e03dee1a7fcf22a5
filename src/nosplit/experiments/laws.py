"""The two symmetric densities of the experiment with polynomial kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["LAWS"]

Array = NDArray[np.float64]


def _uniform(x: Array) -> Array:
    return np.where(np.abs(x) <= math.sqrt(3.0), 0.5 / math.sqrt(3.0), 0.0)


def _laplace(x: Array) -> Array:
    return np.asarray(np.exp(-math.sqrt(2.0) * np.abs(x)) / math.sqrt(2.0))


# As drawn by `nosplit.datasets.SymmetricPair`.
LAWS: Mapping[str, Callable[[Array], Array]] = {
    "P: uniform": _uniform,
    "Q: Laplace": _laplace,
}
