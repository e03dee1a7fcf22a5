"""Few observations of two variables: y is permuted among all of them, and no units are cut.

Units of eight observations cost a third of the data's worth: pairs inside of them are not looked
at, and each is centred by itself. Where observations are few, all pairs under all permutations
are affordable. With centred kernel matrices K and L a statistic is Σ K_ij L_π(i)π(j), less its mean
over all permutations, tr K · tr L / (n - 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.families.pooled import Pooled
from nosplit._old.pairs.loop import in_runs
from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._types import Array, Index
from nosplit.kernels._base import tile_base
from nosplit.kernels.bank import Bank
from nosplit.kernels.tensor import TensorBank

__all__ = ["permuted_statistics"]

# Of the largest eigenvalue: what is added where a linear kernel's spectrum is flattened.
WHITENED = 1e-2
# Permutations of one job.
AT_ONCE = 32


@np.errstate(over="ignore", invalid="ignore")  # found in what comes of it
def permuted_statistics(
    x: NDArray[Any],
    y: NDArray[Any],
    bank: TensorBank,
    flips: int,
    rng: np.random.Generator,
    *,
    numbers: bool,
    workers: int = 1,
    length: int = 1,
) -> DrawnStatistics | None:
    """Statistics of product kernels under permutations of y.

    None where a kernel is constant, and where values are too large for sums of their squares.

    Parameters
    ----------
    x, y : array, shape (n, p) and (n, q)
        The variables.
    bank : TensorBank
        The product kernels.
    flips : int
        Random permutations.
    rng : Generator
        Source of them.
    numbers : bool
        Whether both variables are numbers throughout: linear dependence of many columns is then
        looked at by whitened linear kernels, and by distances as in distance covariance.
    workers : int
        Threads.
    length : int
        Consecutive rows that are permuted together, a divisor of the number of rows.
    """
    n = len(x)
    blocks = np.arange(n).reshape(-1, length)
    moved = (blocks[rng.permutation(len(blocks))].ravel() for _ in range(flips))
    draws = np.stack([np.arange(n), *moved])
    K, L = (_grams(v, own) for v, own in ((x, bank.factors[0]), (y, bank.factors[1])))
    tau, cov = _permuted_statistics(K, L, bank.places, draws, workers)
    if not _can_be_used(tau, cov):
        return None
    n_pairs = n * (n - 1) // 2
    if not numbers:
        return DrawnStatistics(tau, cov, n, n_pairs)
    both = np.arange(2)
    flat_tau, flat_cov = _permuted_statistics(_broad(x), _broad(y), (both, both), draws, workers)
    if not _can_be_used(flat_tau, flat_cov):
        return None
    return DrawnStatistics(tau, cov, n, n_pairs, flat_tau, flat_cov)


def _can_be_used(tau: Array, cov: Array) -> bool:
    finite = np.isfinite(tau).all() and np.isfinite(cov).all()
    return bool(finite and (np.diagonal(cov) > 0).all())


def _grams(rows: NDArray[Any], bank: Bank) -> Array:
    """Centred kernel matrices, (d, n, n)."""
    every = range(len(rows))
    return _centred(Pooled(rows, bank).kernel_values(every, every))


def _centred(K: Array) -> Array:
    K = K - K.mean(axis=-1, keepdims=True)
    return np.asarray(K - K.mean(axis=-2, keepdims=True))


def _broad(rows: NDArray[Any]) -> Array:
    """Centred matrices of a whitened linear kernel and of minus the distance, (2, n, n)."""
    rows = np.asarray(rows, dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    squares = s * s
    flat = U * (squares / (squares + WHITENED * max(squares[0], np.finfo(float).tiny)))
    apart = np.sqrt(tile_base("sq", rows, rows))
    return np.stack([flat @ U.T, _centred(-apart)])


def _permuted_statistics(
    K: Array, L: Array, places: tuple[Index, Index], draws: Index, workers: int
) -> tuple[Array, Array]:
    """Statistics under all permutations, (F, d), and their covariance, which none changes."""
    from nosplit.backend.numba.families import permuted_sums

    n, (u, v) = K.shape[1], places
    m = n * (n - 1)
    sums = np.empty((len(draws), len(u)))
    k, l = np.ascontiguousarray(K), np.ascontiguousarray(L)

    def some(run: slice) -> None:
        permuted_sums(k, l, u, v, draws[run], sums[run])

    in_runs(some, len(draws), AT_ONCE, workers)
    traces = np.trace(K, axis1=1, axis2=2)[u] * np.trace(L, axis1=1, axis2=2)[v]
    apart = ~np.eye(n, dtype=np.bool_)
    left, right = (A[:, apart] @ A[:, apart].T / m for A in (K, L))
    tau = (sums - traces / (n - 1)) / np.sqrt(2.0 * m)
    return tau, np.asarray(left[np.ix_(u, u)] * right[np.ix_(v, v)])
