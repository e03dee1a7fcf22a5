"""What the two-sample test computes, written out plainly in NumPy, sharing no code with it.

Kernel values are in extended precision where the platform has it, from the same input as the
library's.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import binom

from nosplit.kernels import IMQ, Gaussian, Laplace, Linear, Matern, Polynomial, Sum
from nosplit.pairs.pairing import Adjacent, Blocks, Complete, LinearPairs, Window

__all__ = [
    "at_most",
    "averaged_second_moment",
    "differences",
    "kernel_matrices",
    "kernel_matrix",
    "observed_weights",
    "pair_values",
    "pairs_of",
    "unit_rows",
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


# Units of unequal sizes ---------------------------------------------------------------------------


def unit_rows(n, m):
    """For every unit, its rows of x and its rows of y: each sample dealt out evenly, 16 at most."""
    N = min(n, m)
    x, y = ([min(size, 16 * N) * i // N for i in range(N + 1)] for size in (n, m))
    return [(range(x[i], x[i + 1]), range(y[i], y[i + 1])) for i in range(N)]


def observed_weights(n, m):
    """Weights 1/a of the rows of x and -1/b of those of y in each unit, (N, n + m)."""
    W = np.zeros((min(n, m), n + m))
    for w, (x, y) in zip(W, unit_rows(n, m), strict=True):
        w[list(x)] = 1 / len(x)
        w[[n + j for j in y]] = -1 / len(y)
    return W


def kernel_matrices(kernels, x, y):
    """Kernel values of all rows of both samples, (d, n + m, n + m)."""
    z = np.concatenate([x, y])
    return np.array([kernel_matrix(k, z, z) for k in kernels])


def pair_values(K, weights, pairs):
    """h = w'Kw for the given pairs of units with weights (N, n + m), as (d, M)."""
    W = weights.astype(K.dtype)
    return np.array([(W @ k @ W.T)[pairs[:, 0], pairs[:, 1]] for k in K])


def averaged_second_moment(K, n, m, pairs):
    """Mean over pairs of hh', averaged over all labellings: γγ' ⟨J K_u J, J K_v J⟩."""
    units = unit_rows(n, m)

    def rows_and_gamma(unit):
        own = [*units[unit][0], *(n + j for j in units[unit][1])]
        a, b = (len(side) for side in units[unit])
        return own, (1 / a + 1 / b) / (a + b - 1)

    total = 0
    for i, j in pairs:
        (left, g), (right, f) = rows_and_gamma(i), rows_and_gamma(j)
        block = K[:, left][:, :, right]
        block = block - block.mean(axis=1, keepdims=True)
        block = block - block.mean(axis=2, keepdims=True)
        total = total + g * f * np.tensordot(block, block, axes=([1, 2], [1, 2]))
    return total / len(pairs)


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
