"""Exact tests of several sets of kernels on the same random swaps, in plain NumPy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# Evidence that differs by less is the same but for rounding.
TIE = 1e-9


def swapped(tiles: Iterable[np.ndarray], flips: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Statistics of all pairs of units (x_i, y_i) under random swaps, and their covariance.

    `tiles` has the values of each kernel on the pooled rows, those of x first. The first of the
    1 + `flips` rows of statistics is that of the data as it came.
    """
    tau, columns = [], []
    signs = None
    for K in tiles:
        n = len(K) // 2
        if signs is None:
            signs = np.where(rng.random((flips + 1, n)) < 0.5, -1.0, 1.0)
            signs[0] = 1.0
        H = K[:n, :n] + K[n:, n:] - K[:n, n:] - K[n:, :n]
        tau.append((np.einsum("fi,fi->f", signs @ H, signs) - np.trace(H)) / 2)
        columns.append(H[np.triu_indices(n, 1)])
    h = np.stack(columns)
    return np.stack(tau, axis=1) / np.sqrt(h.shape[1]), h @ h.T / h.shape[1]


def hedged_pvalue(evidence: np.ndarray) -> float:
    """The rank of the first of F draws by the harmonic mean of its ranks; ties count against.

    `evidence` is (K, F), larger is stronger: K kinds of it for each draw.
    """
    least = evidence - TIE * np.maximum(np.abs(evidence), 1.0)
    ranks = np.sum(evidence[:, None, :] >= least[:, :, None], axis=2)
    score = np.sum(1.0 / np.sort(ranks, axis=0), axis=0)
    return float(np.mean(score >= score[0] - TIE))
