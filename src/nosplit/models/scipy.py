"""Models from distributions of `scipy.stats`, by differentiating their logpdf."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import check_sample
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.models.ends import Ends

__all__ = ["ScipyModel", "from_scipy"]

# Fourth-order differences: truncation (step)⁴ and rounding 1e-16 / step meet near here.
_STEP = 1e-3
_COMPLEX_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class ScipyModel:
    """A distribution of `scipy.stats`; made by `from_scipy`."""

    dist: Any

    @cached_property
    def ends(self) -> Ends | None:
        """The ends of the support; None if there are none, or several columns."""
        if not _finite_ends(self.dist):
            return None
        low, high = np.ravel(np.asarray(self.dist.support(), dtype=np.float64))
        middle = float(self.dist.ppf(0.5))
        scale = min(v for v in (middle - low, high - middle) if np.isfinite(v))
        return Ends(*(np.array([float(v)]) for v in (low, high, scale)))

    def score(self, x: ArrayLike, /) -> Array:
        """∇ log q at the rows of x."""
        x = check_sample(x, "x", smallest=1).astype(np.float64, copy=False)
        self._check_inside(x)
        if self.ends is not None:  # at an end there is no derivative
            x = self.ends.inside(x)
        columns = [self._complex(x, j) for j in range(x.shape[1])]
        if any(c is None for c in columns):
            columns = [self._differences(x, j) for j in range(x.shape[1])]
        return np.stack([c for c in columns if c is not None], axis=1)

    def logpdf(self, x: ArrayLike, /) -> Array:
        """Logarithm of the density at the rows of x."""
        return np.asarray(self._logpdf(np.asarray(x)), dtype=np.float64)

    def sample(self, n: int, rng: np.random.Generator, /) -> Array:
        """Draw n independent rows."""
        if hasattr(self.dist, "rvs"):
            drawn = self.dist.rvs(size=n, random_state=rng)
        else:
            drawn = self.dist.sample(n, rng=rng)
        return np.asarray(drawn, dtype=np.float64).reshape(n, -1)

    def _logpdf(self, x: NDArray[Any]) -> NDArray[Any]:
        rows = x[:, 0] if x.shape[1] == 1 else x
        with np.errstate(all="ignore"):
            if not np.iscomplexobj(rows):
                return np.reshape(self.dist.logpdf(rows), len(x))
            # Complex input that is cast to real ones is found out by `_complex`.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                return np.reshape(self.dist.logpdf(rows), len(x))

    def _check_inside(self, x: Array) -> None:
        outside = ~np.isfinite(self._logpdf(x))
        if outside.any():
            raise InputError(
                f"`x` has rows where the model's density is zero or not finite ({outside.sum()} "
                f"of them, the first is row {int(np.argmax(outside))}): such rows refute the "
                "model without a test."
            )

    def _complex(self, x: Array, j: int) -> Array | None:
        """Derivative in column j, to rounding; None if `logpdf` is not made for complex numbers."""
        moved = x.astype(np.complex128)
        moved[:, j] += 1j * _COMPLEX_STEP
        try:
            value = self._logpdf(moved)
        except (TypeError, ValueError, IndexError):
            return None
        if not np.iscomplexobj(value) or not np.isfinite(value).all():
            return None
        slope = np.asarray(value.imag / _COMPLEX_STEP)
        # A logpdf that drops the imaginary part, or bends it, gives itself away.
        check = self._differences(x[:64], j)
        size = 1e-6 * (1.0 + np.abs(check))
        return slope if np.all(np.abs(slope[:64] - check) <= size) else None

    def _differences(self, x: Array, j: int) -> Array:
        """Derivative in column j by a stencil of four points, near one step from each row."""
        scale = np.median(np.abs(x[:, j] - np.median(x[:, j]))) or 1.0
        step, values = self._stencil(x, j, np.full(len(x), _STEP * scale))
        first = step
        for _ in range(40):
            outside = ~np.isfinite(values).all(axis=0)
            if not np.any(outside):
                break
            step, values = self._stencil(x, j, np.where(outside, step / 4.0, step))
        if np.any(step < first):
            # An end of the support is near: stay far closer to the row than to that end.
            step, values = self._stencil(x, j, np.where(step < first, step / 64.0, step))
        slope = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
        return np.asarray(slope)

    def _stencil(self, x: Array, j: int, step: Array) -> tuple[Array, Array]:
        """Steps as floating point really adds them; the logpdf at ±1 and ±2 of them, (4, n)."""
        step = (x[:, j] + step) - x[:, j]
        return step, np.stack([self._logpdf(_moved(x, j, k * step)) for k in (-2, -1, 1, 2)])


def _moved(x: Array, j: int, by: Array) -> Array:
    moved = x.copy()
    moved[:, j] += by
    return moved


def from_scipy(dist: Any) -> ScipyModel:
    """A model from a distribution of `scipy.stats` with its parameters set.

    The score is the derivative of `logpdf`: by a complex step, exact to rounding, where `logpdf`
    takes complex numbers; else by a fourth-order difference with a step of 1e-3 of the data's
    spread, good to about 1e-11 of ``1 + |score|`` (1e-7 next to an end of the support). Neither
    touches `scipy.stats` itself, so any object with `logpdf(x)` and `rvs(size=, random_state=)`
    will do.

    Parameters
    ----------
    dist : frozen distribution
        For example `scipy.stats.t(df=5)` or `scipy.stats.multivariate_t(loc, shape, df)`. Where
        its support ends, the functions that are tested vanish, so that its density need not: see
        `nosplit.models.Ends`.

    Returns
    -------
    ScipyModel

    Examples
    --------
    >>> from scipy import stats
    >>> from_scipy(stats.norm(1.0, 2.0)).score([[3.0]]).round(9)
    array([[-0.5]])
    """
    if not callable(getattr(dist, "logpdf", None)) or isinstance(dist, type):
        raise InputError(
            f"`dist` must have a logpdf, as distributions of scipy.stats with their parameters "
            f"set have, got {dist!r}."
        )
    if getattr(dist, "shapes", None) and not hasattr(dist, "dist"):
        name = getattr(dist, "name", "")
        raise InputError(f"`dist` must have its parameters set, as in `scipy.stats.{name}(...)`.")
    return ScipyModel(dist)


def _finite_ends(dist: Any) -> list[float]:
    support = getattr(dist, "support", None)
    if support is None:
        return []
    try:
        ends = np.ravel(np.asarray(support(), dtype=np.float64))
    except (TypeError, ValueError):
        return []
    return [float(end) for end in ends if np.isfinite(end)]
