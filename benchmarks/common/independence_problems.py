"""Dependent variables of different kinds, for the studies of independence tests.

Each problem is a function of (n, rng) that gives x and y; the first is a null.
"""

from __future__ import annotations

import numpy as np


def _null(n, rng):
    return rng.standard_normal((n, 1)), rng.standard_normal((n, 1))


def _linear(n, rng):
    x = rng.standard_normal((n, 1))
    return x, 0.35 * x + rng.standard_normal((n, 1))


def _square(n, rng):
    x = rng.standard_normal((n, 1))
    return x, 0.35 * x**2 + rng.standard_normal((n, 1))


def _sine(n, rng):
    x = rng.uniform(-1, 1, (n, 1))
    return x, np.sin(3 * np.pi * x) + rng.standard_normal((n, 1))


def _circle(n, rng):
    angle = rng.uniform(0, 2 * np.pi, (n, 1))
    noise = 0.3 * rng.standard_normal((2, n, 1))
    return np.cos(angle) + noise[0], np.sin(angle) + noise[1]


def _spread(n, rng):
    x = rng.standard_normal((n, 1))
    return x, rng.standard_normal((n, 1)) * np.sqrt(0.3 + x**2)


def _many(n, rng):
    x = rng.standard_normal((n, 5))
    return x, 0.2 * x + rng.standard_normal((n, 5))


def _product(n, rng):
    """Neither column of x alone says anything about y."""
    x = rng.standard_normal((n, 2))
    return x, np.abs(rng.standard_normal((n, 1))) * np.sign(x[:, :1] * x[:, 1:]) + 0.5 * (
        rng.standard_normal((n, 1))
    )


def _categories(n, rng):
    x = rng.standard_normal((n, 1))
    return x, ((rng.standard_normal((n, 1)) + 0.7 * np.abs(x)) > 0.5).astype(float)


PROBLEMS = {
    "null": _null,
    "linear": _linear,
    "square": _square,
    "sine": _sine,
    "circle": _circle,
    "spread": _spread,
    "five linear": _many,
    "sign of product": _product,
    "categories": _categories,
}
