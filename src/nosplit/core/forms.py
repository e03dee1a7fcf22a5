"""Statistics of explicit numbers: quadratic forms, bins and linear scores under every draw.

A form turns numbers of atoms into statistics under all draws of an exchange. Numbers are rounded
to steps, so that their sums are exact in single precision and draws that tie, tie exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.core.exchange import DRAWS_AT_ONCE, Exchange

__all__ = ["Bins", "Features", "Form", "Scores", "flattened"]

# Integers up to here are exact in float32, sums of them too.
EXACT = 1 << 24
# Eigenvectors of a flattened spectrum: a share of the atoms, and at most this number.
SHARE, MAX_RANK = 1 / 3, 200
# Labels from which sums are added up atom by atom, at the same cost for any number of labels: one
# product for each label costs more (measured with 1,200 atoms).
MANY_LABELS = 5
# Directions of a random subspace beyond those that are kept (Halko, Martinsson, Tropp).
EXTRA = 10


class Form(Protocol):
    """Statistics under every draw: ½ (w - s)'K(w - s), with s the mean of the weights w."""

    def under(self, exchange: Exchange) -> Array:
        """Compute the statistics under every draw, (F, s), up to a constant."""
        ...


class _Sums(NamedTuple):
    """Sums of numbers by weight, in steps.

    Attributes
    ----------
    drawn : iterator of array
        The sums, (contrasts, D, draws), some draws at a time.
    mean : array, shape (contrasts, D, 1)
        Their mean over all permutations.
    steps : array, shape (D,)
        The value of a step of each.
    """

    drawn: Iterator[NDArray[np.float32]]
    mean: Array
    steps: Array

    def centred(self) -> Iterator[Array]:
        """The sums less their mean."""
        for drawn in self.drawn:
            sums = drawn.astype(np.float64)
            if self.mean.any():
                sums -= self.mean
            yield sums


def _weighted_sums(values: NDArray[Any], exchange: Exchange) -> _Sums:
    """Round numbers to steps so that sums over all atoms are exact in float32, and add by weight.

    Numbers in single precision are counts, which are whole already.
    """
    steps = np.ones(values.shape[1])
    if values.dtype != np.float32:
        centred = exchange.centred(values)
        steps = np.maximum(centred.max(axis=0, initial=0.0), -centred.min(axis=0, initial=0.0))
        steps *= len(values) / EXACT
        steps[steps == 0.0] = 1.0
        whole = centred / steps
        values = np.rint(whole, out=whole).astype(np.float32)
    drawn = _drawn_sums(values, exchange)
    if exchange.even:  # weights are 1 and -1, and not 1 and 0
        return _Sums(drawn, np.zeros((1, len(steps), 1)), 0.5 * steps)
    return _Sums(drawn, (exchange.share @ values)[:, :, None], steps)


def _drawn_sums(values: NDArray[np.float32], exchange: Exchange) -> Iterator[NDArray[np.float32]]:
    """Sums of whole numbers by weight, (contrasts, D, draws), some draws at a time."""
    if len(exchange.share) >= MANY_LABELS:
        from nosplit.backend.numba.dealing import sums_by_sample

        for labels in exchange.labels_of_draws():
            sums = np.zeros((len(labels), len(exchange.share), values.shape[1]), np.float32)
            sums_by_sample(labels, values, len(values), values.shape[1], sums)
            yield np.ascontiguousarray(sums.transpose(1, 2, 0))
        return
    if exchange.picked is None:
        total, last = values.sum(axis=0, dtype=np.float32)[:, None], len(exchange.share) - 1
        for weights in exchange.chunks:
            own = np.matmul(values.T, weights[:, : last or 1].transpose(1, 2, 0))
            # What is of no other label is of the last.
            yield np.concatenate([own, [total - own.sum(axis=0)]]) if last else own
        return
    # The sum of few atoms: the total is the same under every permutation.
    from nosplit.backend.numba.columns import sums_of_picked

    label, picked = exchange.picked
    total = values.sum(axis=0, dtype=np.float32)
    for first in range(0, len(picked), DRAWS_AT_ONCE):
        own = picked[first : first + DRAWS_AT_ONCE]
        found = np.empty((len(own), values.shape[1]), np.float32)
        sums_of_picked(own, values, found)
        yield np.ascontiguousarray((total - found if label else found).T)[None]


@dataclass(frozen=True, eq=False)
class Features:
    """Weighted sums of squares of explicit numbers of atoms.

    Parameters
    ----------
    values : array, shape (A, blocks · D)
        The numbers, block by block.
    gains : array, shape (D, S)
        Weights of the squares in a block: a column for each of S statistics.
    blocks : int
        Blocks of numbers with the same gains.
    owner : array of int, shape (blocks · S,)
        The pair of columns that each statistic is about, if it is about one.
    """

    values: Array
    gains: Array
    blocks: int = 1
    owner: Index = field(default_factory=lambda: np.zeros(0, np.int64))

    def under(self, exchange: Exchange) -> Array:
        """Compute the statistics under every draw, (F, blocks · S)."""
        sums, parts = _weighted_sums(self.values, exchange), []
        gains = np.tile(self.gains, (self.blocks, 1)) * (0.5 * sums.steps**2)[:, None]
        gains = gains.reshape(self.blocks, -1, self.gains.shape[1]).transpose(0, 2, 1)
        for centred in sums.centred():
            centred *= centred
            squares = np.tensordot(exchange.scale, centred, axes=1) if len(centred) > 1 else centred
            found = gains @ squares.reshape(self.blocks, gains.shape[2], -1)
            parts.append(found.reshape(-1, found.shape[2]))
        return np.concatenate(parts, axis=1).T


@dataclass(frozen=True, eq=False)
class Bins:
    """Two statistics of each column, from its bins: cumulative, and bin by bin.

    Parameters
    ----------
    values : array, shape (A, columns · B)
        Counts of each atom in the bins of each column; columns with fewer than B bins are padded.
    cumulative, single : array, shape (columns, B)
        Weights of the squares of cumulative sums of bins, and of the bins.
    owner : array of int, shape (columns,)
        The column of the table that each is made of.
    """

    values: NDArray[Any]
    cumulative: Array
    single: Array
    owner: Index

    def under(self, exchange: Exchange) -> Array:
        """Compute the statistics under every draw: all cumulative ones, then bin by bin."""
        from nosplit.backend.numba.columns import bin_statistics

        found = np.zeros((2, len(self.owner), exchange.n_draws))
        sums, first = _weighted_sums(self.values, exchange), 0
        for drawn in sums.drawn:
            into = found[:, :, first : first + drawn.shape[2]]
            for own, mean, scale in zip(drawn, sums.mean, 0.5 * exchange.scale, strict=True):
                weights = scale * self.cumulative, scale * self.single
                bin_statistics(own, mean[:, 0], sums.steps, *weights, into)
            first += drawn.shape[2]
        return found.reshape(-1, exchange.n_draws).T


@dataclass(frozen=True, eq=False)
class Scores:
    """Linear statistics of numbers of atoms, which keep their sign.

    Parameters
    ----------
    values : array, shape (A, s)
        The numbers.
    owner : array of int, shape (s,)
        The column of the rows that each is about.
    """

    values: Array
    owner: Index

    def under(self, exchange: Exchange) -> Array:
        """Compute the sums by weight under every draw, (F, contrasts · s).

        They are positive if the first sample, or that of the contrast, is larger.
        """
        sums, parts = _weighted_sums(self.values, exchange), []
        for found in sums.centred():
            found *= sums.steps[:, None]
            parts.append(found.reshape(-1, found.shape[2]))
        return np.concatenate(parts, axis=1).T


def flattened(values: Array, exchange: Exchange, gammas: tuple[float, ...]) -> Features:
    """Flatten the spectrum of numbers of atoms: squares over λ + γ λ_max, along eigenvectors.

    The second moment of the atoms about their block changes under no permutation. Of many numbers
    of many atoms, a random subspace (keyed) that two powers of the moment turn to the leading
    eigenvectors stands for them.
    """
    root = np.sqrt(exchange.variance)[:, None]
    part = root * exchange.centred(values)
    A, D = part.shape
    rank = min(A, D, MAX_RANK, max(2, int(SHARE * A)))
    if min(A, D) > 2 * MAX_RANK:
        span = np.random.default_rng(0).normal(size=(D, MAX_RANK + EXTRA))
        basis, _ = np.linalg.qr(part @ (part.T @ (part @ span)))
        inside = basis.T @ part
        eigenvalues, axes = np.linalg.eigh(inside @ inside.T)
        sides = basis @ axes[:, ::-1][:, :rank]
    elif D <= A:
        eigenvalues, axes = np.linalg.eigh(part.T @ part)
        sides = part @ axes[:, ::-1][:, :rank]
    else:
        eigenvalues, sides = np.linalg.eigh(part @ part.T)
        sides = sides[:, ::-1][:, :rank]
    eigenvalues = np.maximum(eigenvalues[::-1][:rank], 0.0)
    if D > A or min(A, D) > 2 * MAX_RANK:  # sides of length 1
        sides = sides * np.sqrt(eigenvalues)
    largest = float(eigenvalues[0]) or 1.0  # nothing varies
    gains = np.stack([1.0 / (eigenvalues + gamma * largest) for gamma in gammas], axis=1)
    return Features(sides / np.where(root > 0, root, 1.0), gains)
