"""Slow, plain versions of what the library does fast, and the problems to try them on.

Everything here works in extended precision where the platform has it, from the same float64
input as the library, and shares no code with it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

__all__ = ["Best", "brute_nonnegative", "brute_ost", "condition", "problems"]

EPS = np.finfo(np.float64).eps


class Best(NamedTuple):
    """The maximiser over all active sets.

    `margin`: how far, in standard deviations over the length of the whitened vector, every
    inequality that decides about the active set is from being an equality.
    """

    statistic: np.ndarray
    active: np.ndarray
    margin: np.ndarray


def inverse(matrices):
    """Gauss–Jordan on a batch (B, k, k) of positive definite matrices, in extended precision."""
    a = np.array(matrices, dtype=np.longdouble)
    k = a.shape[1]
    a = np.concatenate([a, np.broadcast_to(np.eye(k, dtype=np.longdouble), a.shape)], axis=2)
    for i in range(k):
        a[:, i] /= a[:, i, i, None]
        for j in range(k):
            if j != i:
                a[:, j] -= a[:, j, i, None] * a[:, i]
    return a[:, :, k:]


def _dot(a, b):
    return np.einsum("bi,bi->b", a, b)


def _times(matrices, vectors):
    return np.einsum("bij,bj->bi", matrices, vectors)


def brute_nonnegative(G, rho) -> Best:
    """Maximise a'rho / √(a'Ga) over a ≥ 0 by trying each of the 2^d - 1 active sets.

    Set U is the answer if the best a supported on U is positive there and no other coordinate's
    increase helps; if there is no such set (all rho ≤ 0), it is the best single coordinate.
    """
    G, rho = np.asarray(G, dtype=np.longdouble), np.asarray(rho, dtype=np.longdouble)
    cases, d = rho.shape
    length = np.sqrt(_dot(rho, _times(inverse(G), rho)))
    sd = np.sqrt(np.diagonal(G, axis1=1, axis2=2))
    single = rho / sd
    statistic, active = single.max(axis=1), np.arange(d) == single.argmax(axis=1)[:, None]
    margin = _gap(G / sd[:, :, None] / sd[:, None, :], single)
    top = np.full(cases, -np.inf, dtype=np.longdouble)
    for size in range(1, d + 1):
        for subset in combinations(range(d), size):
            inside = np.array(subset)
            outside = np.setdiff1d(np.arange(d), inside)
            inv = inverse(G[:, inside][:, :, inside])
            a = _times(inv, rho[:, inside])
            value = np.sqrt(np.maximum(_dot(a, rho[:, inside]), 0))
            cross = G[:, outside][:, :, inside]
            z = rho[:, outside] - _times(cross, a)
            spread = np.einsum("bij,bjk,bik->bi", cross, inv, cross)
            z /= np.sqrt(np.diagonal(G, axis1=1, axis2=2)[:, outside] - spread)
            a /= np.sqrt(np.diagonal(inv, axis1=1, axis2=2))
            feasible = (a > 0).all(axis=1)
            top = np.where(feasible, np.maximum(top, value), top)
            best = feasible & (z <= 0).all(axis=1)
            statistic[best], active[best] = value[best], np.isin(np.arange(d), inside)
            margin[best] = np.abs(np.concatenate([a, z], axis=1))[best].min(axis=1)
    # No active set with positive entries does better than the one that was found.
    assert np.all(statistic >= top - 1e-7 * np.abs(statistic))
    return Best(statistic.astype(float), active, (margin / length).astype(float))


def _gap(correlation, single):
    """How far the best single coordinate is ahead, and the best of all from being positive."""
    rows, first = np.arange(len(single)), single.argmax(axis=1)
    ahead = single[rows, first, None] - single
    ahead /= np.sqrt(np.maximum(2 * (1 - correlation[rows, first]), 1e-30))
    ahead[rows, first] = np.inf
    return np.minimum(ahead.min(axis=1), np.abs(single).min(axis=1))


def brute_ost(tau, cov) -> Best:
    """Maximise b'tau / √(b'Σb) over Σb ≥ 0, in the canonical form of Remark 1."""
    inv = inverse(cov)
    return brute_nonnegative(inv, _times(inv, np.asarray(tau, dtype=np.longdouble)))


def condition(cov):
    """Condition numbers of the correlation matrices of a batch."""
    sd = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    return np.linalg.cond(cov / sd[:, :, None] / sd[:, None, :])


def roots(rng, cases, d, kappa):
    """Random R with unit rows; RR' has a condition number of about `kappa` (cases, d, d).

    In turn: eigenvalues spread evenly on the log scale; one direction that nearly vanishes; a
    coordinate that nearly copies another.
    """
    kind = np.arange(cases)[:, None] % 3
    mild = np.geomspace(1, 0.3, d)
    vanish = np.where(np.arange(d) == d - 1, 1 / kappa, mild)
    values = np.select([kind == 0, kind == 1], [kappa ** -np.linspace(0, 1, d), vanish], mild)
    root = np.linalg.qr(rng.standard_normal((cases, d, d)))[0] * np.sqrt(values)[:, None, :]
    if d > 1:
        copy = root[:, -1] + rng.standard_normal((cases, d)) / np.sqrt(kappa)
        root[:, 0] = np.where(kind == 2, copy, root[:, 0])
    return root / np.linalg.norm(root, axis=2, keepdims=True)


def problems(rng, cases, d, kappa, sign, *, decades=2.0):
    """At most `cases` random τ (B, d) and Σ (B, d, d), with condition numbers up to 1e9.

    `sign`: "null" draws τ from N(0, Σ); "positive" and "negative" make all of τ so; "corner"
    makes all of Σ⁻¹τ negative, where OST's projection is 0. The coordinates are on scales from
    10^-decades to 10^decades.
    """
    R = roots(rng, cases, d, kappa)
    z = rng.standard_normal((cases, d))
    t = _times(R, z)
    C = np.einsum("bik,bjk->bij", R, R)
    if sign == "positive":
        t = np.abs(t)
    elif sign == "negative":
        t = -np.abs(t)
    elif sign == "corner":
        t = _times(C, -np.abs(z))
    sd = 10.0 ** rng.uniform(-decades, decades, (cases, d))
    tau, cov = t * sd, C * sd[:, :, None] * sd[:, None, :]
    fair = condition(cov) <= 1e9
    return tau[fair], cov[fair]
