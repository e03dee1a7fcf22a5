"""Contributions of units to the values of their pairs, estimated from a pilot sample.

The value of a pair is h(a, b) = μ + g(a) + g(b) + s(a, b) (Hoeffding's decomposition): g is what
a unit adds to all of its pairs, and s, of mean zero given either unit, is all that is left under
the null. A pilot's g and s can be drawn from again for a sample of any size, which gives the law
of the statistic over all pairs, where nothing is normal.

Three things would go wrong if the pilot's rows were simply drawn with replacement. Rows that come
twice make pairs of a unit with itself, whose values h(a, a) are large: here s(a, a) = 0, which
leaves Σ s² and all longer cycles of s, the cumulants of the null law, unbiased but for O(1/n).
The mean of h would keep the pilot's upward bias: μ is set apart. And the pilot's g carries the
noise of row means, which at the pilot's own size is as large as the law's whole variance: g is
mapped to the covariance ζ₁ that was estimated without bias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._types import Array

__all__ = ["Effects", "roots", "transport"]

# Eigenvalues below this share of the largest count as zero.
RCOND = 1e-12


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of the n units of a pilot.

    Parameters
    ----------
    single : array, shape (n, d)
        g(a), of mean zero.
    double : array, shape (d, n, n)
        s(a, b), whose rows sum to zero and whose diagonal is zero.
    """

    single: Array
    double: Array

    @classmethod
    def from_values(cls, values: Array) -> Effects:
        """Effects from the values of all pairs, (d, n, n); the diagonal is not looked at."""
        n = values.shape[1]
        h = np.array(values)
        h[:, range(n), range(n)] = 0.0
        h -= (h.sum(axis=(1, 2)) / (n * (n - 1.0)))[:, None, None]
        h[:, range(n), range(n)] = 0.0
        g = h.sum(axis=2) / (n - 2.0)
        s = h - g[:, :, None] - g[:, None, :]
        s[:, range(n), range(n)] = 0.0
        return cls(g.T, s)

    def fitted(self, zeta: Array, rest: Array) -> Effects:
        """The same effects with Cov[g] = `zeta` and Cov[s] = `rest`, changed as little as can be.

        The covariances are those of units drawn with replacement.
        """
        d, n, _ = self.double.shape
        flat = self.double.reshape(d, -1)
        g = self.single @ transport(self.single.T @ self.single / n, zeta).T
        s = transport(flat @ flat.T / n**2, rest) @ flat
        return Effects(g, s.reshape(d, n, n))

    def statistics(self, mu: Array, n: int, trials: int, rng: np.random.Generator) -> Array:
        """Statistics τ over all pairs of `n` units drawn from these, (trials, d)."""
        k = self._counts(n, trials, rng)
        pairs = n * (n - 1.0) / 2.0
        total = pairs * mu + (n - 1.0) * (k @ self.single) + self._quadratic(k)
        return np.asarray(total / np.sqrt(pairs))

    def flipped(self, mu: Array, n: int, trials: int, rng: np.random.Generator) -> Array:
        """The same statistics under random signs of the units: the null law of exact tests."""
        k = self._counts(n, trials, rng)
        # A unit that was drawn k times has a sum of k signs.
        c = 2.0 * rng.binomial(k.astype(np.int64), 0.5) - k
        e = c.sum(axis=1)[:, None]
        mean = 0.5 * (e * e - n) * mu
        total = mean + e * (c @ self.single) - k @ self.single + self._quadratic(c)
        return np.asarray(total / np.sqrt(n * (n - 1.0) / 2.0))

    def _counts(self, n: int, trials: int, rng: np.random.Generator) -> Array:
        size = len(self.single)
        return rng.multinomial(n, np.full(size, 1.0 / size), size=trials).astype(np.float64)

    def _quadratic(self, c: Array) -> Array:
        """Sums of s over the pairs of distinct units, c' s c / 2, (trials, d)."""
        return np.stack([0.5 * np.einsum("ta,ta->t", c @ s, c) for s in self.double], axis=1)


def transport(start: Array, goal: Array) -> Array:
    """The symmetric M with M `start` M' = `goal` that moves a vector of law `start` least.

    Both are looked at on the scale of the goal's standard deviations (or the start's, where the
    goal has none).

    Examples
    --------
    >>> transport(np.diag([1.0, 4.0]), np.diag([4.0, 4.0])).round(6)
    array([[2., 0.],
           [0., 1.]])
    """
    variance = np.where(np.diagonal(goal) > 0, np.diagonal(goal), np.diagonal(start))
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    grid = np.outer(scale, scale)
    root, inverse = roots(start / grid)
    inner, _ = roots(root @ (goal / grid) @ root)
    return np.asarray(scale[:, None] * (inverse @ inner @ inverse) / scale)


def roots(matrix: Array) -> tuple[Array, Array]:
    """Symmetric square root of a semidefinite matrix, and its pseudo-inverse."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    keep = values > RCOND * max(values[-1], 0.0)
    root = np.sqrt(np.where(keep, values, 0.0))
    inverse = np.where(keep, 1.0 / np.where(keep, root, 1.0), 0.0)
    return (vectors * root) @ vectors.T, (vectors * inverse) @ vectors.T
