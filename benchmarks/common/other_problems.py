"""Two-sample problems besides those whose power is reported: other laws, dimensions and sizes.

What a default test looks at, and how, is chosen on these, so that nothing is fitted to the figures
that `benchmarks/common/problems.py` gives. Each is (x's law, y's law, n).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Draw = Callable[[int, np.random.Generator], np.ndarray]


def _normal(p, mean=0.0, scale=1.0):
    return lambda n, rng: rng.standard_normal((n, p)) * scale + mean


def _some(p, shift, count):
    """A shift of the first columns."""
    return _normal(p, np.where(np.arange(p) < count, shift, 0.0))


def _equicorrelated(p, rho, mean=0.0):
    root = np.linalg.cholesky((1 - rho) * np.eye(p) + rho)
    return lambda n, rng: rng.standard_normal((n, p)) @ root.T + mean


def _rare(p, share, shift, count=None):
    def draw(n, rng):
        z = rng.standard_normal((n, p))
        z[rng.random(n) < share, :count] += shift
        return z

    return draw


def _clusters(p, gap):
    def draw(n, rng):
        side = rng.choice([-gap, gap], (n, 1))
        return side + rng.standard_normal((n, p)) * np.sqrt(1 - gap**2)

    return draw


def _thinned(p, density):
    """Points of the unit cube, kept with a probability that depends on where they are."""

    def draw(n, rng):
        kept = np.empty((0, p))
        while len(kept) < n:
            u, v = rng.random((4 * n, p)), rng.random(4 * n)
            kept = np.concatenate([kept, u[2.0 * v < density(u)]])
        return kept[:n]

    return draw


def _ripple(u):
    return 1 + 0.7 * np.cos(6 * np.pi * u[:, 0])


def _chequered(u):
    return 1 + 0.8 * np.prod(np.sin(2 * np.pi * u), axis=1)


def _sine(dependent):
    def draw(n, rng):
        x, other = rng.standard_normal((2, n))
        wave = np.sin(3 * (x if dependent else other))
        return np.stack([x, 0.75 * wave + 0.75 * rng.standard_normal(n)], axis=1)

    return draw


def _modes(spread):
    """Four clusters far apart, one of them of another spread."""

    def draw(n, rng):
        which, z = rng.integers(0, 4, n), rng.standard_normal((n, 2))
        z[which == 0] *= spread
        return z + 20.0 * np.stack([which // 2 * 2 - 1, which % 2 * 2 - 1], axis=1)

    return draw


def _ring(n, rng):
    angle = 2 * np.pi * rng.random(n)
    return 1.2 * np.stack([np.cos(angle), np.sin(angle)], 1) + 0.4 * rng.standard_normal((n, 2))


def _elliptical(n, rng):
    return rng.standard_normal((n, 6)) * np.exp(0.35 * rng.standard_normal((n, 1)) - 0.35**2)


def _scales(shift):
    def draw(n, rng):
        z = rng.standard_normal((n, 4))
        z[:, 1] += shift
        return z * np.geomspace(0.1, 1000.0, 4)

    return draw


def _factor(load):
    def draw(n, rng):
        common = load * rng.standard_normal((n, 1))
        return common + np.sqrt(1 - load**2) * rng.standard_normal((n, 25))

    return draw


def _t(p, dof, scale=1.0, shift=0.0):
    return lambda n, rng: rng.standard_t(dof, (n, p)) / scale + shift


def _laplace(p):
    return lambda n, rng: rng.laplace(size=(n, p)) / np.sqrt(2.0)


def _poisson(mean):
    return lambda n, rng: rng.poisson(mean, (n, 3)).astype(float)


def _exponential(shift):
    return lambda n, rng: rng.exponential(size=(n, 1)) + shift


def _lognormal(shift):
    return lambda n, rng: np.exp(rng.standard_normal((n, 5)) + shift)


def _uniform(p):
    return lambda n, rng: rng.random((n, p))


def _hills(d, count, depth):
    """Points of the unit cube with hills and valleys, at random which."""

    def draw(n, rng):
        signs = rng.choice([-1.0, 1.0], (count,) * d)

        def density(u):
            cell = np.minimum((count * u).astype(int), count - 1)
            wave = np.prod(np.sin(2 * np.pi * (count * u - cell)), axis=1)
            return 1 + depth * signs[tuple(cell.T)] * wave

        return _thinned(d, density)(n, rng)

    return draw


def _beside(draw, count):
    """A law beside columns of noise."""
    return lambda n, rng: np.hstack([draw(n, rng), rng.standard_normal((n, count))])


OTHERS: dict[str, tuple[Draw, Draw, int]] = {
    "shift, 3-d": (_normal(3), _normal(3, 0.28), 90),
    "shift, 20-d": (_normal(20), _normal(20, 0.12), 110),
    "shift, 80-d": (_normal(80), _normal(80, 0.09), 90),
    "shift, 30 of 100 columns": (_normal(100), _some(100, 0.2, 30), 70),
    "shift of t5, 1-d": (_t(1, 5), _t(1, 5, shift=0.55), 70),
    "shift, 1-d, n = 40": (_normal(1), _normal(1, 0.7), 40),
    "shift, correlated, 8-d": (_equicorrelated(8, 0.5), _equicorrelated(8, 0.5, 0.32), 100),
    "shift of an exponential": (_exponential(0.0), _exponential(0.25), 80),
    "one column of 5": (_normal(5), _some(5, 0.5, 1), 100),
    "one column of 25": (_normal(25), _some(25, 0.65, 1), 120),
    "three columns of 20": (_normal(20), _some(20, 0.35, 3), 120),
    "variance, 2-d": (_normal(2), _normal(2, 0.0, 1.3), 100),
    "variance, 30-d": (_normal(30), _normal(30, 0.0, 1.09), 100),
    "less variance, 1-d": (_normal(1), _normal(1, 0.0, 0.7), 90),
    "equal correlations, 6-d": (_normal(6), _equicorrelated(6, 0.28), 100),
    "one factor, 25-d": (_factor(0.0), _factor(0.4), 100),
    "t3, 5-d": (_normal(5), _t(5, 3, np.sqrt(3.0)), 100),
    "Laplace, 1-d": (_normal(1), _laplace(1), 300),
    "Laplace, 12-d": (_normal(12), _laplace(12), 120),
    "clusters, 1-d": (_normal(1), _clusters(1, 0.85), 100),
    "clusters, 4-d": (_normal(4), _clusters(4, 0.65), 90),
    "ripple f=3, 1-d": (_uniform(1), _thinned(1, _ripple), 160),
    "chequered, 2-d": (_uniform(2), _thinned(2, _chequered), 150),
    "rare shift, 2-d": (_normal(2), _rare(2, 0.1, 2.2), 120),
    "rare shift, 12-d": (_normal(12), _rare(12, 0.12, 1.2), 110),
    "rare shift, 3 of 8": (_normal(8), _rare(8, 0.12, 2.2, 3), 120),
    "rare shift, 1-d": (_normal(1), _rare(1, 0.12, 2.5), 100),
    "sine, 2-d": (_sine(False), _sine(True), 90),
    "far modes, 2-d": (_modes(1.0), _modes(0.5), 200),
    "ring, 2-d": (_normal(2, 0.0, np.sqrt(0.88)), _ring, 70),
    "elliptical, 6-d": (_normal(6), _elliptical, 100),
    "scales, 4-d": (_scales(0.0), _scales(0.6), 90),
    "Poisson, 3-d": (_poisson(2.0), _poisson(2.4), 110),
    "lognormal, 5-d": (_lognormal(0.0), _lognormal(0.22), 90),
    "hills, 1-d": (_uniform(1), _hills(1, 4, 0.42), 300),
    "hills, 2-d": (_uniform(2), _hills(2, 3, 0.7), 300),
    "hills in 2 of 3": (_beside(_uniform(2), 1), _beside(_hills(2, 2, 0.7), 1), 250),
    "correlation, 2-d, n = 300": (_normal(2), _equicorrelated(2, 0.22), 300),
    "correlation in 2 of 6": (_normal(6), _beside(_equicorrelated(2, 0.35), 4), 250),
    "correlation in 2 of 20": (_normal(20), _beside(_equicorrelated(2, 0.4), 18), 250),
    "sine in 2 of 6": (_beside(_sine(False), 4), _beside(_sine(True), 4), 200),
    "shift, 4-d, n = 300": (_normal(4), _normal(4, 0.11), 300),
}
