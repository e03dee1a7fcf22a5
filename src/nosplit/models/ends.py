"""Laws on a half line or between two ends, seen on the whole line.

A Stein test needs a density that falls to zero at the ends of its support, and fast enough. That of
an exponential or a uniform law does not. So the functions that Stein's operator is applied to are
made to vanish there: f(x) = w(x) g(z(x)), with w = dx/dz for coordinates z on the whole line.
That is the ordinary Stein kernel of z, whose law has the score

    d/dz log q = w s + w',

bounded at the ends for every power with which q rises or falls there. The coordinates are those of
a logistic function between two ends, and of a softplus from one end on: linear far from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nosplit._types import Array
from nosplit.errors import InputError

__all__ = ["Ends", "on_the_line"]

# Rows nearer to an end than this share of the scale are taken to be so far from it.
NEAREST = 1e-12


class Ends(NamedTuple):
    """The ends of the support of each column, infinite where there is none, and a scale, (p,)."""

    low: Array
    high: Array
    scale: Array

    @classmethod
    def of_support(cls, support: Any, x: Array) -> Ends:
        """The ends of a declared support (low, high), with a scale from the rows x."""
        try:
            low, high = (np.broadcast_to(np.asarray(end, float), x.shape[1:]) for end in support)
        except (TypeError, ValueError):
            low = high = np.zeros(1)
        if not np.all(low < high):
            raise InputError(
                f"`support` must be a pair (low, high) of numbers, or of {x.shape[1]} numbers each "
                f"(one for each column), with low < high, got {support!r}."
            )
        middle = np.median(x, axis=0)
        scale = np.minimum(middle - low, high - middle)
        return cls(low, high, np.where(np.isfinite(scale) & (scale > 0), scale, 1.0))

    def checked(self, x: Array) -> Array:
        """The rows; an error if any is outside."""
        outside = np.any((x < self.low) | (x > self.high), axis=1)
        if outside.any():
            raise InputError(
                f"`x` has rows where the model's density is zero ({outside.sum()} of them, the "
                f"first is row {int(np.argmax(outside))}): such rows refute the model without a "
                "test."
            )
        return x

    def inside(self, x: Array) -> Array:
        """Rows moved away from the ends by next to nothing."""
        room = NEAREST * self.scale
        return np.clip(x, self.low + room, self.high - room)

    def on_the_line(self, x: Array, scores: Array) -> tuple[Array, Array]:
        """Rows in coordinates of the whole line, and their scores there."""
        columns = [
            _spread_column(x[:, j], scores[:, j], *ends)
            for j, ends in enumerate(zip(*self, strict=True))
        ]
        z, s = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
        return np.ascontiguousarray(z), np.ascontiguousarray(s)


def on_the_line(model: object, x: Array, scores: Array) -> tuple[Array, Array]:
    """Rows and scores as a Stein test takes them: as they are, unless the model has ends."""
    ends = getattr(model, "ends", None)
    return ends.on_the_line(x, scores) if isinstance(ends, Ends) else (x, scores)


def _spread_column(
    x: Array, s: Array, low: float, high: float, scale: float
) -> tuple[Array, Array]:
    if np.isfinite(low) and np.isfinite(high):
        share = np.clip((x - low) / (high - low), NEAREST, 1.0 - NEAREST)
        slope = share * (1.0 - share)
        return np.log(share) - np.log1p(-share), s * (high - low) * slope + 1.0 - 2.0 * share
    if np.isfinite(low):
        return _from_end((x - low) / scale, s * scale)
    if np.isfinite(high):
        z, score = _from_end((high - x) / scale, -s * scale)
        return -z, -score
    return x, s


def _from_end(t: Array, s: Array) -> tuple[Array, Array]:
    """Coordinates log(eᵗ - 1) for t > 0; dt/dz = 1 - e⁻ᵗ."""
    t = np.maximum(t, NEAREST)
    slope = -np.expm1(-t)
    return t + np.log(slope), s * slope + 1.0 - slope
