"""Learners of the pairs so far: directions in which x and y seem to differ.

A witness is w = (C + γI)⁻¹ m: m the mean and C the second moment of the differences of features,
which have unit size. Several γ, several lengths of memory, the places of all columns without their
shapes, and each column by itself: which of them is right nobody knows beforehand, and wealth is
shared between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._old.monitor.bets.maps import JOINT, SCORES, BetMap
from nosplit._types import Array, Index
from nosplit.kernels.frequencies import projected

__all__ = [
    "MEMORIES",
    "RIDGES",
    "Past",
    "Solver",
    "Witnesses",
    "learner_labels",
    "next_update",
    "shares_of",
]

# Regularisations of the joint witness, and of those of single columns.
RIDGES, COLUMN_RIDGE = (0.1, 1.0, 10.0), 1.0
# Regularisation of the witness of places alone, and its share of wealth: there are as many as
# columns, and few pairs tell where they have moved.
PLACE_RIDGE, PLACE_SHARE = 0.3, 0.15
# Pairs after which half of a memory is gone, and the share of wealth of each.
MEMORIES, MEMORY_SHARES = (np.inf, 1024.0, 96.0), (0.5, 0.25, 0.25)
# Weights, short of what overflows in sums of single precision: those of features that were next to
# nothing until a value far out came.
LARGEST = 1e34
# Pairs after which second moments are known well enough.
ENOUGH = 1 << 14
# Fewest and most pairs between two updates of the witnesses.
SHORTEST, LONGEST = 8, 64


def next_update(n: int) -> int:
    """The number of pairs at which witnesses are updated next, after n pairs.

    Examples
    --------
    >>> [next_update(n) for n in (0, 8, 128, 1024, 10_000)]
    [8, 16, 144, 1088, 10048]
    """
    step = min(_eighth_of(n), LONGEST)
    return (n // step + 1) * step


def _eighth_of(n: int) -> int:
    """An eighth of n or less, and a power of two."""
    step = SHORTEST
    while step * 16 <= n:
        step *= 2
    return step


class Solver:
    """Second moments of features, by which means become witnesses.

    Parameters
    ----------
    joint : array, shape (d, d)
        Of the features that are learned from together.
    columns : array, shape (p, K, K)
        Of the scores of each column.
    places : array of int
        Which of the joint features are places of columns; none if those are not bet on.
    """

    def __init__(self, joint: Array, columns: Array, places: Index) -> None:
        from scipy.linalg import cho_factor  # here, as it is slow to import

        self.joint, self.columns, self._places = joint, columns, places
        self._sizes = _inverse_sizes(np.diagonal(joint))
        self._C = joint * self._sizes * self._sizes[:, None]
        # In double: rounded to single weights, no digit depends on where arrays lie in memory.
        eye = np.eye(len(joint))
        self._factors = [cho_factor(self._C + r * eye, check_finite=False) for r in RIDGES]
        inverse = np.linalg.inv(self._C[np.ix_(places, places)] + PLACE_RIDGE * np.eye(len(places)))
        self._place_inverse = inverse
        self._column_sizes = _inverse_sizes(np.diagonal(columns, axis1=1, axis2=2))
        sizes = self._column_sizes
        self._column_C = columns * sizes[:, :, None] * sizes[:, None, :]
        self._column_inverses = np.linalg.inv(self._column_C + COLUMN_RIDGE * np.eye(SCORES))

    def joint_weights(self, means: Array) -> Array:
        """Weights of the features, (d, M · witnesses), for means of each memory, (M, d)."""
        from scipy.linalg import cho_solve

        m = (means * self._sizes).T
        solved = [cho_solve(factor, m, check_finite=False) for factor in self._factors]
        if len(self._places):
            solved.append(np.zeros_like(m))
            solved[-1][self._places] = self._place_inverse @ m[self._places]
        w = np.stack(solved, axis=2)  # (d, M, witnesses)
        risk = (w * np.tensordot(self._C, w, axes=1)).sum(axis=0)
        w *= _best_scale((w * m[:, :, None]).sum(axis=0), risk)
        return (w * self._sizes[:, None, None]).reshape(len(m), -1)

    def column_weights(self, means: Array) -> Array:
        """Weights of the scores of each column, (M, p, K), for means (M, p, K)."""
        m = (means * self._column_sizes).transpose(1, 2, 0)  # (p, K, M)
        w = self._column_inverses @ m
        w *= _best_scale((w * m).sum(axis=1), (w * (self._column_C @ w)).sum(axis=1))[:, None, :]
        return (w * self._column_sizes[:, :, None]).transpose(2, 0, 1)


@dataclass(eq=False)
class Past:
    """Sums over all pairs that were bet on.

    Attributes
    ----------
    n, n_squares : int
        Pairs, and those that second moments are of.
    counts : array, shape (M,)
        Pairs that each memory still holds.
    sums : array, shape (M, D)
        Differences of features summed, for each memory.
    joint : array, shape (d, d)
        Their products, of the features that are learned from together.
    columns : array, shape (p, K, K)
        Their products, of the scores of each column.
    places : array of int
        Which of the joint features are places of columns, if those are bet on.
    known : Solver, optional
        What is made of these products, now and then.
    """

    n: int
    n_squares: int
    counts: Array
    sums: Array
    joint: Array
    columns: Array
    places: Index
    known: Solver | None = None

    @classmethod
    def empty(cls, bet_map: BetMap, columns: bool) -> Past:
        """The sums before the first pair; `columns` says whether those are bet on."""
        M, D, d = len(MEMORIES), bet_map.n_features, len(bet_map.joint)
        squares = np.zeros((bet_map.p, SCORES, SCORES))
        places = bet_map.places if _bets_on_places(bet_map.p, columns) else bet_map.places[:0]
        return cls(0, 0, np.zeros(M), np.zeros((M, D)), np.zeros((d, d)), squares, places)

    def add(self, differences: NDArray[np.float32], bet_map: BetMap) -> None:
        """Add the pairs from one update to the next."""
        n = len(differences)
        kept = np.exp2(-n / np.array(MEMORIES))
        self.counts = kept * self.counts + n
        self.sums = kept[:, None] * self.sums + differences.sum(axis=0, dtype=np.float64)
        self.n += n
        if self.n <= ENOUGH:
            joint = bet_map.jointly(differences)
            self.joint += joint.T @ joint
            each = _by_column(differences, bet_map).transpose(1, 2, 0)
            self.columns += each @ each.transpose(0, 2, 1)
            self.n_squares += n

    def look(self) -> None:
        """See what second moments have become, if it is time to, or was never done."""
        n = self.n_squares
        if n and (self.known is None or (n == self.n and n % (2 * _eighth_of(n)) == 0)):
            self.known = Solver(self.joint / n, self.columns / n, self.places)


def _by_column(differences: NDArray[np.float32], bet_map: BetMap) -> NDArray[np.float32]:
    """The scores of each column, (pairs, p, K)."""
    start = bet_map.n_waves
    return differences[:, start : start + bet_map.p * SCORES].reshape(-1, bet_map.p, SCORES)


def _bets_on_places(p: int, columns: bool) -> bool:
    """Whether there is a witness of places: those of one column are that column's."""
    return columns and 1 < p <= JOINT


def learner_labels(names: list[str], columns: bool) -> list[str]:
    """Names of the learners, in their order."""
    each = [f"all features, ridge {g:g}" for g in RIDGES]
    each += ["places of all columns"] * _bets_on_places(len(names), columns)
    each += [f"column {name!r}" for name in names] * columns
    memory = ["", *(f", last {2 * h:,.0f} pairs" for h in MEMORIES[1:])]
    return [label + tail for tail in memory for label in each]


def shares_of(p: int, columns: bool) -> Array:
    """The share of wealth that each learner begins with; they add up to one."""
    places = [PLACE_SHARE] * _bets_on_places(p, columns)
    rest = 1.0 - sum(places)
    part = 0.5 * rest if columns else rest
    each = [part / len(RIDGES)] * len(RIDGES) + places + [0.5 * rest / p] * p * columns
    return np.outer(MEMORY_SHARES, each).ravel()


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Directions learned of the past, on the scale on which a payoff is best.

    Attributes
    ----------
    joint : array, shape (d, M · witnesses)
        Weights of the features that are learned from together.
    columns : array, shape (M, p, K)
        Weights of the scores of each column.
    """

    joint: NDArray[np.float32]
    columns: NDArray[np.float32]

    @classmethod
    def of(cls, past: Past, bet_map: BetMap) -> Witnesses:
        """Learn from the past."""
        assert past.known is not None
        means = past.sums / past.counts[:, None]
        start = bet_map.n_waves
        own = means[:, start : start + bet_map.p * SCORES].reshape(len(means), -1, SCORES)
        joint = past.known.joint_weights(means[:, bet_map.joint])
        columns = past.known.column_weights(own)
        return cls(_single(joint, 0), _single(columns, 2))

    def payoffs(self, differences: NDArray[np.float32], bet_map: BetMap, columns: bool) -> Array:
        """Payoffs in (-1, 1) of each learner, (pairs, learners): odd when rows are swapped."""
        n, M = len(differences), len(self.columns)
        parts = [projected(bet_map.jointly(differences), self.joint).reshape(n, M, -1)]
        if columns:
            each = _by_column(differences, bet_map)
            parts.append(np.einsum("npk,mpk->nmp", each, self.columns))
        scores = np.concatenate(parts, axis=2)
        return np.tanh(scores.reshape(n, -1).astype(np.float64))


def _single(weights: Array, axis: int) -> NDArray[np.float32]:
    """Weights in single precision, smaller where payoffs would overflow: in the same direction."""
    top = np.max(np.abs(weights), axis=axis, keepdims=True)
    return np.asarray(weights * (LARGEST / np.maximum(top, LARGEST)), dtype=np.float32)


def _inverse_sizes(squares: Array) -> Array:
    """One over the size of each feature; 0 for features that have always been 0."""
    return np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)


def _best_scale(gain: Array, risk: Array) -> Array:
    """The best multiple of a direction: for a normal law, half the log likelihood ratio."""
    return np.divide(gain, risk, out=np.zeros_like(gain), where=risk > 0)
