"""What the two-sample test computes, written out plainly in NumPy, sharing no code with it.

Kernel values are in extended precision where the platform has it, from the same input as the
library's.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import binom

from nosplit.core.pairings import Adjacent, Blocks, Complete, LinearPairs, Window
from nosplit.kernels import IMQ, Gaussian, Laplace, Linear, Matern, Polynomial, Sum

__all__ = [
    "at_most",
    "differences",
    "kernel_matrices",
    "kernel_matrix",
    "pair_values",
    "pairs_of",
    "within",
]


# Which pairs --------------------------------------------------------------------------------------


def pairs_of(pairing, N):
    """The pairs of units, (M, 2), as section 2 of the design has them."""
    match pairing:
        case LinearPairs():
            pairs = [(i, N // 2 + i) for i in range(N // 2)]
        case Adjacent():
            pairs = [(2 * i, 2 * i + 1) for i in range(N // 2)]
        case Window(R):
            pairs = [(i, (i + r) % N) for r in range(1, R + 1) for i in range(N)]
        case Blocks(B):
            pairs = [(i, j) for i, j in combinations(range(N), 2) if i // B == j // B]
        case Complete():
            pairs = list(combinations(range(N), 2))
    return np.array(pairs).reshape(-1, 2)


# Kernels ------------------------------------------------------------------------------------------


def kernel_matrix(kernel, a, b):
    """k(a_i, b_j) from the differences of rows, by the formula of each family."""
    a, b = np.asarray(a, dtype=np.longdouble), np.asarray(b, dtype=np.longdouble)
    step = a[:, None, :] - b[None, :, :]
    sq, l1 = (step**2).sum(axis=2), np.abs(step).sum(axis=2)
    dot = (a[:, None, :] * b[None, :, :]).sum(axis=2)
    match kernel:
        case Gaussian(s):
            return np.exp(-sq / (2 * np.longdouble(s) ** 2))
        case Laplace(s):
            return np.exp(-l1 / np.longdouble(s))
        case IMQ(s, e):
            return (1 + sq / np.longdouble(s) ** 2) ** np.longdouble(e)
        case Matern(s, nu):
            z = np.sqrt(2 * np.longdouble(nu) * sq) / np.longdouble(s)
            return {0.5: 1, 1.5: 1 + z, 2.5: 1 + z + z**2 / 3}[nu] * np.exp(-z)
        case Linear():
            return dot
        case Polynomial(degree, offset):
            return (dot + offset) ** degree
        case Sum(kernels):
            return sum(kernel_matrix(k, a, b) for k in kernels)
    raise AssertionError(kernel)


# Values -------------------------------------------------------------------------------------------


def kernel_matrices(kernels, x, y):
    """Kernel values of all rows of both samples, (d, n + m, n + m)."""
    z = np.concatenate([x, y])
    return np.array([kernel_matrix(k, z, z) for k in kernels])


def pair_values(K, pairs):
    """h of the given pairs of units (x_i, y_i), from kernel values of x and then y, as (d, M)."""
    N = K.shape[1] // 2
    a, b = pairs.T
    return (K[:, a, b] + K[:, N + a, N + b]) - (K[:, a, N + b] + K[:, N + a, b])


# Comparisons --------------------------------------------------------------------------------------


def differences(moments, values):
    """Largest errors of mean and covariance on the scale of the values' standard deviations."""
    mean = values.mean(axis=1)
    centred = values - mean[:, None]
    cov = centred @ centred.T / values.shape[1]
    sd = np.sqrt(np.diagonal(cov))
    assert moments.n == values.shape[1]
    return (
        float(np.max(np.abs(moments.mean - mean) / sd)),
        float(np.max(np.abs(moments.cov - cov) / np.outer(sd, sd))),
    )


def at_most(hits, trials, chance, alarm):
    """Whether so many hits are plausible if each has at most this chance; false alarms: `alarm`."""
    return hits <= binom.isf(alarm, trials, chance)


def within(hits, trials, chance, alarm):
    """Whether the number of hits is plausible on both sides; false alarms: `alarm` in all."""
    low, high = binom.ppf(alarm / 2, trials, chance), binom.isf(alarm / 2, trials, chance)
    return low <= hits <= high
