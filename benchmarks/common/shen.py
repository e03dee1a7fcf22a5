"""The twenty simulations of Vogelstein et al. (2019) and Shen et al. (2020), one column each.

With their noise, and as the package hyppo has them (`hyppo.tools.indep_sim`, p = 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SIMULATIONS"]


def uniform(rng: Any, n: int) -> Any:
    return rng.uniform(-1.0, 1.0, n)


def of_x(curve: Callable[[Any], Any], noise: float, low: float = -1.0, high: float = 1.0) -> Any:
    def draw(n: int, rng: Any) -> tuple[Any, Any]:
        x = rng.uniform(low, high, n)
        return x, curve(x) + noise * rng.standard_normal(n)

    return draw


def cubic(x: Any) -> Any:
    x = x - 1 / 3
    return 128 * x**3 + 48 * x**2 - 12 * x**3  # hyppo has the last power, the papers have 12 x


def joint_normal(n: int, rng: Any) -> tuple[Any, Any]:
    x, y = rng.multivariate_normal(np.zeros(2), [[1, 0.5], [0.5, 1]], n).T
    return x, y + 0.5 * rng.standard_normal(n)


def w_shaped(n: int, rng: Any) -> tuple[Any, Any]:
    x, u = uniform(rng, n), rng.uniform(size=n)
    return x, 4 * ((x**2 - 0.5) ** 2 + u / 500) + 0.5 * rng.standard_normal(n)


def spiral(n: int, rng: Any) -> tuple[Any, Any]:
    u = rng.uniform(0, 5, n)
    return u * np.cos(np.pi * u), u * np.sin(np.pi * u) + 0.4 * rng.standard_normal(n)


def bernoulli(n: int, rng: Any) -> tuple[Any, Any]:
    sign = 2 * rng.integers(0, 2, n) - 1
    x = rng.integers(0, 2, n) + 0.5 * rng.standard_normal(n)
    return x, sign * x + 0.5 * rng.standard_normal(n)


def logarithmic(n: int, rng: Any) -> tuple[Any, Any]:
    x = rng.standard_normal(n)
    return x, np.log(x**2) + 3 * rng.standard_normal(n)


def sine(turns: int, noise: float) -> Any:
    def draw(n: int, rng: Any) -> tuple[Any, Any]:
        x = uniform(rng, n) + 0.02 * rng.standard_normal(n)
        return x, np.sin(turns * np.pi * x) + noise * rng.standard_normal(n)

    return draw


def rotated(angle: float) -> Any:
    def draw(n: int, rng: Any) -> tuple[Any, Any]:
        u, v, e = uniform(rng, n), uniform(rng, n), rng.standard_normal(n)
        x = u * np.cos(angle) + v * np.sin(angle) + 0.05 * e
        return x, -u * np.sin(angle) + v * np.cos(angle)

    return draw


def parabolas(n: int, rng: Any) -> tuple[Any, Any]:
    x, side = uniform(rng, n), rng.integers(0, 2, n) - 0.5
    return x, (x**2 + 2 * rng.uniform(size=n)) * side


def ellipse(radius: float) -> Any:
    def draw(n: int, rng: Any) -> tuple[Any, Any]:
        u = uniform(rng, n)
        x = radius * (np.cos(np.pi * u) + 0.4 * rng.standard_normal(n))
        return x, np.sin(np.pi * u)

    return draw


def multiplicative(n: int, rng: Any) -> tuple[Any, Any]:
    x, u = rng.standard_normal((2, n))
    return x, x * u


def clouds(n: int, rng: Any) -> tuple[Any, Any]:
    x, y = rng.standard_normal((2, n)) / 3 + 2 * rng.integers(0, 2, (2, n)) - 1
    return x, y


SIMULATIONS: dict[str, Callable[[int, Any], tuple[Any, Any]]] = {
    "linear": of_x(lambda x: x, 1.0),
    "exponential": of_x(np.exp, 10.0, 0.0, 3.0),
    "cubic": of_x(cubic, 80.0),
    "joint normal": joint_normal,
    "step": of_x(lambda x: (x > 0).astype(float), 1.0),
    "quadratic": of_x(np.square, 0.5),
    "W": w_shaped,
    "spiral": spiral,
    "uncorrelated Bernoulli": bernoulli,
    "logarithmic": logarithmic,
    "fourth root": of_x(lambda x: np.abs(x) ** 0.25, 0.25),
    "sine of period 4π": sine(4, 1.0),
    "sine of period 16π": sine(16, 0.5),
    "square": rotated(-np.pi / 8),
    "two parabolas": parabolas,
    "circle": ellipse(1.0),
    "ellipse": ellipse(5.0),
    "diamond": rotated(-np.pi / 4),
    "multiplicative noise": multiplicative,
    "independent clouds": clouds,
}
