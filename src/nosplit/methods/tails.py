"""Tails of the chi and truncated normal laws, in logarithms.

Nothing here subtracts a probability from 1: p = 1e-300 and log p = -10⁴ are ordinary numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nosplit._lazy import special
from nosplit._types import Array

__all__ = ["log_chi_sf", "log_ndtr", "log_truncated_sf"]


def log_chi_sf(x: ArrayLike, dof: ArrayLike) -> Array:
    """Logarithm of P(chi_dof >= x), accurate where the probability itself underflows."""
    x, a = np.broadcast_arrays(np.maximum(x, 0.0), np.asarray(dof) / 2.0)
    half = 0.5 * x * x
    tail = special.gammaincc(a, half)
    far = tail < 1e-290
    out = np.log(np.where(far, 1.0, tail))
    if far.any():
        out = np.where(far, _log_upper_gamma(np.where(far, a, 1.0), np.where(far, half, 1e3)), out)
    return out


def _log_upper_gamma(a: Array, x: Array) -> Array:
    """Log of Q(a, x) far in the tail: Legendre's continued fraction by the modified Lentz rule."""
    b = x + 1.0 - a
    c = np.full_like(x, 1e300)
    d = 1.0 / b
    fraction = d
    for i in range(1, 200):
        an = -i * (i - a)
        b = b + 2.0
        d = 1.0 / (an * d + b)
        c = b + an / c
        change = c * d
        fraction = fraction * change
        if np.all(np.abs(change - 1.0) < 1e-16):
            break
    return np.asarray(a * np.log(x) - x - special.gammaln(a) + np.log(fraction))


def _log_mass(lower: Array, upper: Array) -> Array:
    """Log of the standard normal mass of [lower, upper].

    The difference of two tails, or, where that would cancel, density times width (and the next
    term of the series).
    """
    flip = lower > 0
    a, b = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
    log_a, log_b = special.log_ndtr(a), special.log_ndtr(b)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inside = np.where(np.isneginf(log_b), 0.0, log_a - log_b)
        tails = log_b + np.log1p(-np.exp(np.minimum(inside, 0.0)))
        middle, width = 0.5 * (a + b), b - a
        near = width * (1.0 + np.abs(middle)) < 1e-2
        m, w = np.where(near, middle, 0.0), np.where(near, width, 1.0)
        thin = np.log(w / np.sqrt(2.0 * np.pi)) - 0.5 * m * m + np.log1p((m * m - 1.0) * w * w / 24)
        return np.asarray(np.where(near, thin, tails))


def _far(z: Array, a: Array, b: Array) -> Array:
    """Log of the mass of [z, b] over that of [a, b], all on one side of the middle.

    Masses are divided by a density that both have, whose logarithm would swallow their digits.
    """
    right = a > 1
    low, near, high = (np.where(right, v, w) for v, w in ((a, -b), (z, -z), (b, -a)))
    low, near = np.maximum(low, 1.0), np.maximum(near, 1.0)  # others are not looked at
    whole = _scaled_mass(low, high)
    down = np.log(_scaled_mass(near, high)) - 0.5 * (near - low) * (near + low)
    return np.asarray(np.where(right, down, np.log(_scaled_mass(low, near))) - np.log(whole))


def _scaled_mass(lower: Array, upper: Array) -> Array:
    """The standard normal mass of [lower, upper], lower >= 1, over the density at lower."""
    width = upper - lower
    drop = 0.5 * width * (upper + lower)
    mills = [np.sqrt(np.pi / 2.0) * special.erfcx(v / np.sqrt(2.0)) for v in (lower, upper)]
    wide = mills[0] - np.exp(-drop) * mills[1]
    # exp(-lower t - t²/2) over the width, with the first term of the square.
    slope = lower * width
    thin = -np.expm1(-slope) / lower - width**3 / 6.0 * (1.0 - 0.75 * slope)
    return np.asarray(np.where(drop < 1e-3, thin, wide))


def log_truncated_sf(x: ArrayLike, lower: ArrayLike, upper: ArrayLike = np.inf) -> Array:
    """Logarithm of P(Z >= x | lower <= Z <= upper) for a standard normal Z.

    The tails are divided as logarithms, through the scaled complementary error function where
    both are far out, so that `lower` = 30 is as good as `lower` = 0.
    """
    arguments = (np.asarray(v, dtype=np.float64) for v in (x, lower, upper))
    value, a, b = np.broadcast_arrays(*arguments)
    z = np.clip(value, a, b)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        one_sided = special.log_ndtr(-z) - special.log_ndtr(-a)
        far = (a > 0) & np.isfinite(z)
        z_far, a_far = np.where(far, z, 1.0), np.where(far, a, 1.0)
        scaled = np.log(special.erfcx(z_far / np.sqrt(2)) / special.erfcx(a_far / np.sqrt(2)))
        one_sided = np.where(far, scaled - 0.5 * (z_far - a_far) * (z_far + a_far), one_sided)
        out = one_sided
        if not np.isposinf(b).all():
            same_side, between = (a > 1) | (b < -1), _log_mass(z, b) - _log_mass(a, b)
            two_sided = np.where(same_side, _far(z, a, b), between)
            out = np.where(np.isposinf(b), one_sided, two_sided)
    return np.where(z <= a, 0.0, np.minimum(out, 0.0))


def log_ndtr(x: ArrayLike) -> Array:
    """Logarithm of the standard normal distribution function."""
    return np.asarray(special.log_ndtr(x))
