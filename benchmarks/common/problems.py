"""Two-sample problems of different kinds, for the studies of power.

Each problem is a function of (n, rng) that gives x and y; `SIZES` has the n at which tests of
middling power can be told apart. Null versions draw both samples from the first law.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nosplit import datasets

Draw = Callable[[int, np.random.Generator], np.ndarray]


def _normal(p, mean=0.0, scale=1.0):
    return lambda n, rng: rng.standard_normal((n, p)) * scale + mean


def _first(p, shift):
    mean = np.zeros(p)
    mean[0] = shift
    return _normal(p, mean)


def _correlated(p, rho):
    def draw(n, rng):
        z = rng.standard_normal((n, p))
        z[:, 1] = rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]
        return z

    return draw


def _t(p, dof):
    scale = np.sqrt((dof - 2) / dof)
    return lambda n, rng: rng.standard_t(dof, (n, p)) * scale


def _mixture(p, gap):
    """Two clusters with unit variance in every column, as the standard normal has."""

    def draw(n, rng):
        side = rng.choice([-gap, gap], (n, 1))
        return side + rng.standard_normal((n, p)) * np.sqrt(1 - gap**2)

    return draw


def _ripple(frequency, depth=1.0):
    """Uniform on [0, 1] with a density 1 + depth·sin(2π f x): a difference at a fine scale."""

    def draw(n, rng):
        out = np.empty(0)
        while len(out) < n:
            u, v = rng.random((2, 4 * n))
            keep = v * (1 + depth) < 1 + depth * np.sin(2 * np.pi * frequency * u)
            out = np.concatenate([out, u[keep]])
        return out[:n, None]

    return draw


def _uniform(n, rng):
    return rng.random((n, 1))


def _rare(p, share, shift):
    def draw(n, rng):
        z = rng.standard_normal((n, p))
        z[rng.random(n) < share] += shift
        return z

    return draw


def _dataset(name, which):
    return lambda n, rng: datasets.DATASETS[name].sample(n, rng)[which]


def _scales(p, shift):
    """Columns of very different scales; the narrow ones differ."""
    scale = np.geomspace(0.01, 100.0, p)

    def draw(n, rng):
        z = rng.standard_normal((n, p))
        z[:, 0] += shift
        return z * scale

    return draw


PROBLEMS: dict[str, tuple[Draw, Draw]] = {
    "mean shift, 1-d": (_normal(1), _normal(1, 0.5)),
    "mean shift, 10-d": (_normal(10), _normal(10, 0.15)),
    "mean shift, 50-d": (_normal(50), _normal(50, 0.1)),
    "one column of 10": (_normal(10), _first(10, 0.6)),
    "one column of 50": (_normal(50), _first(50, 0.8)),
    "variance, 1-d": (_normal(1), _normal(1, 0.0, 1.5)),
    "variance, 10-d": (_normal(10), _normal(10, 0.0, 1.15)),
    "correlation, 2-d": (_correlated(2, 0.0), _correlated(2, 0.6)),
    "correlation, 10-d": (_correlated(10, 0.0), _correlated(10, 0.8)),
    "heavy tails, 1-d": (_normal(1), _t(1, 3)),
    "heavy tails, 20-d": (_normal(20), _t(20, 4)),
    "two clusters, 2-d": (_normal(2), _mixture(2, 0.8)),
    "ripple f=2, 1-d": (_uniform, _ripple(2, 0.7)),
    "ripple f=5, 1-d": (_uniform, _ripple(5, 0.9)),
    "rare shift, 5-d": (_normal(5), _rare(5, 0.1, 2.0)),
    "blobs, 2-d": (_dataset("blobs", 0), _dataset("blobs", 1)),
    "mnist, 49-d": (_dataset("mnist", 0), _dataset("mnist", 1)),
    "uniform v Laplace": (_dataset("symmetric", 0), _dataset("symmetric", 1)),
    "mixed scales, 6-d": (_scales(6, 0.0), _scales(6, 0.8)),
}

SIZES: dict[str, int] = {
    "mean shift, 1-d": 80,
    "mean shift, 10-d": 100,
    "mean shift, 50-d": 100,
    "one column of 10": 100,
    "one column of 50": 150,
    "variance, 1-d": 100,
    "variance, 10-d": 100,
    "correlation, 2-d": 120,
    "correlation, 10-d": 200,
    "heavy tails, 1-d": 200,
    "heavy tails, 20-d": 100,
    "two clusters, 2-d": 80,
    "ripple f=2, 1-d": 150,
    "ripple f=5, 1-d": 150,
    "rare shift, 5-d": 120,
    "blobs, 2-d": 200,
    "mnist, 49-d": 120,
    "uniform v Laplace": 80,
    "mixed scales, 6-d": 100,
}


def sample(name: str, n: int, rng: np.random.Generator, *, null: bool = False, share: float = 1.0):
    """x and y of a problem; both from the first law if `null`.

    With a `share` below 1 only so many rows of y, on average, are from the second law: MMD² is
    smaller by share², which 1 / share² times the rows make up for.
    """
    first, second = PROBLEMS[name]
    x, y = first(n, rng), (first if null else second)(n, rng)
    return x, y if share == 1.0 else np.where(rng.random((n, 1)) < share, y, first(n, rng))
