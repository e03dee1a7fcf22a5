"""Two-sample problems for large samples: a part of y differs, or one column, or a dependence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nosplit import datasets

Samples = tuple[np.ndarray, np.ndarray]


def _mixed(same, other, share, rng):
    """Rows of `same`, of which a share is replaced by rows of `other`."""
    chosen = rng.random(len(same)) < share
    return np.where(chosen[:, None], other, same)


def _perturbed(n, p, rng):
    """Density 1 + Π sin 6πx on the unit cube, by rejection."""
    found = np.empty((0, p))
    while len(found) < n:
        u = rng.random((3 * n, p))
        keep = 2 * rng.random(3 * n) < 1 + np.prod(np.sin(6 * np.pi * u), axis=1)
        found = np.vstack([found, u[keep]])
    return found[:n]


def _wave(n, rng):
    x = rng.uniform(-np.pi, np.pi, n)
    return np.column_stack([x, np.sin(3 * x) + 0.3 * rng.standard_normal(n)])


def _unrelated(rows, rng):
    return np.column_stack([rows[:, 0], rng.permutation(rows[:, 1])])


def heavy_tails(n, rng) -> Samples:
    x, y = rng.standard_normal((2, n, 2))
    return x, _mixed(y, rng.standard_t(3, (n, 2)) / np.sqrt(3), 0.2, rng)


def shifted_part(n, rng) -> Samples:
    x, y, z = rng.standard_normal((3, n, 10))
    return x, _mixed(y, z + 0.25, 0.12, rng)


def perturbed(n, rng) -> Samples:
    return rng.random((n, 2)), _mixed(rng.random((n, 2)), _perturbed(n, 2, rng), 0.2, rng)


def hidden_sine(n, rng) -> Samples:
    x, y = (_unrelated(_wave(n, rng), rng) for _ in range(2))
    return x, _mixed(y, _wave(n, rng), 0.1, rng)


def odd_digits(n, rng) -> Samples:
    """A tenth of the images are of odd digits only."""
    digits = datasets.MNIST()
    same, odd = digits.draw_p(n, rng), digits.draw_q(n, rng)
    return digits.draw_p(n, rng), _mixed(same, odd, 0.1, rng)


def spread(n, rng) -> Samples:
    x, y = rng.standard_normal((2, n, 10))
    y[:, 0] *= 1.04
    return x, y


def correlation(n, rng) -> Samples:
    x, y = rng.standard_normal((2, n, 5))
    y[:, 1] = 0.05 * y[:, 0] + np.sqrt(1 - 0.05**2) * y[:, 1]
    return x, y


def covariance(n, rng) -> Samples:
    """Twenty columns, each a little like the next."""
    x, y = rng.standard_normal((2, n, 20))
    y[:, 1:] += 0.04 * y[:, :-1]
    return x, y / y.std(axis=0)


def rounded(n, rng) -> Samples:
    """One column of whole numbers, a hundredth of which are no longer whole."""
    x, y = rng.poisson(6.0, (2, n, 3)).astype(float)
    chosen = rng.random(n) < 0.01
    y[chosen, 0] += rng.random(np.count_nonzero(chosen))
    return x, y


PROBLEMS: dict[str, Callable[[int, np.random.Generator], Samples]] = {
    "20 % heavy-tailed, 2-d": heavy_tails,
    "12 % shifted, 10-d": shifted_part,
    "20 % perturbed uniform, 2-d": perturbed,
    "10 % hidden sine": hidden_sine,
    "10 % odd digits, 49-d": odd_digits,
    "spread 1.04 in 1 of 10": spread,
    "correlation .05 in 5-d": correlation,
    "neighbours' covariance, 20-d": covariance,
    "1 % of counts no longer whole": rounded,
}
