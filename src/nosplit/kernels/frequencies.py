"""Random frequencies: kernels as inner products of finitely many cosines and sines.

A kernel that is a mixture of waves, k(x, x') = E cos(ω'(x - x')), is approximated by the mean over
a few ω drawn from the mixture (random Fourier features). Columns of categories take part by their
phase: every value of a category has its own, so that the mean over frequencies is 1 where two
values are equal and 0 where they are not. The approximate kernel is a kernel, too: how many
frequencies there are changes what a test finds, never its level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array, Index
from nosplit.errors import InputError
from nosplit.kernels.algebra import Product, Scaled, Sum
from nosplit.kernels.categories import Agreement, Hamming
from nosplit.kernels.families import IMQ, Delta, Gaussian, Laplace, Matern
from nosplit.kernels.on_columns import Mixed, OnColumns

__all__ = ["Frequencies", "frequencies_of", "has_frequencies", "projected", "turns_by_spread"]

# Waves faster than this have any phase whatever at the next value that a float32 can hold. Sums of
# turns of many columns, each up to a million spreads away, stay finite.
FASTEST = 1e25


@dataclass(frozen=True, eq=False)
class Frequencies:
    """F waves: a row becomes a_f cos 2πt_f and a_f sin 2πt_f, where t_f counts turns.

    Attributes
    ----------
    turns : array, shape (p, F)
        Turns for a unit of each column.
    phases : array of uint32, shape (p, F)
        What the hash of a column's value is multiplied by, modulo 2³², for its phase in parts of
        a turn; 0 where a column's equality plays no part.
    weights : array, shape (F,)
        The squares a_f²; they add up to k(x, x).
    """

    turns: Array
    phases: NDArray[np.uint32]
    weights: Array

    def __len__(self) -> int:
        return len(self.weights)


def turns_by_spread(turns: Array, spread: Array) -> NDArray[np.float32]:
    """Turns for a spread of each column, (p, F), of turns for a unit of it."""
    with np.errstate(over="ignore"):
        fast = turns * spread[:, None]
    return np.ascontiguousarray(np.clip(fast, -FASTEST, FASTEST), dtype=np.float32)


def projected(rows: NDArray[Any], onto: NDArray[Any], out: NDArray[Any] | None = None) -> Any:
    """Products of rows and columns: those of a row are the same whichever rows are beside it."""
    if rows.shape[1] == 1:
        return np.multiply(rows, onto, out=out)
    from nosplit.backend.numba.bases import product

    out = np.empty((len(rows), onto.shape[1]), rows.dtype) if out is None else out
    product(np.ascontiguousarray(rows), np.ascontiguousarray(onto), out)
    return out


def has_frequencies(kernel: Any) -> bool:
    """Whether a kernel is a mixture of waves that can be drawn from."""
    match kernel:
        case Gaussian() | Laplace() | Matern() | IMQ() | Delta() | Agreement() | Hamming():
            return True
        case OnColumns() | Scaled():
            return has_frequencies(kernel.kernel)
        case Sum() | Product():
            return all(has_frequencies(k) for k in kernel.kernels)
        case Mixed():
            return has_frequencies(kernel.numbers) and has_frequencies(kernel.categories)
    return False


def frequencies_of(kernel: Any, places: Index, count: int, rng: np.random.Generator) -> Frequencies:
    """Draw frequencies of a kernel on rows of p columns.

    Parameters
    ----------
    kernel : Kernel
        One for which `has_frequencies` holds.
    places : array of int, shape (p,)
        What is drawn first is that of the column with the smallest of them, and so on: columns that
        keep their places meet the same frequencies wherever they stand.
    count : int
        How many; a sum takes at least one for each of its terms.
    rng : Generator
        Source of the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = frequencies_of(Gaussian(1.0), np.arange(2), 8, np.random.default_rng(0))
    >>> drawn.turns.shape, float(drawn.weights.sum())
    ((2, 8), 1.0)
    """
    p, own = len(places), np.argsort(np.argsort(places))
    match kernel:
        case Gaussian(bandwidth):
            return _plain_waves(rng.standard_normal((p, count))[own] / bandwidth)
        case Laplace(bandwidth):
            return _plain_waves(rng.standard_cauchy((p, count))[own] / bandwidth)
        case Matern(bandwidth, nu):
            # A multivariate Student law with 2ν degrees of freedom: one divisor for all columns.
            divisor = np.sqrt(rng.chisquare(2.0 * nu, count) / (2.0 * nu))
            return _plain_waves(rng.standard_normal((p, count))[own] / (bandwidth * divisor))
        case IMQ(bandwidth, exponent):
            # (1 + r²)^-β = E exp(-s r²) with s from a gamma law: Gaussians of many widths.
            width = np.sqrt(2.0 * rng.gamma(-exponent, size=count))
            return _plain_waves(rng.standard_normal((p, count))[own] * width / bandwidth)
        case Delta():
            return _phases(rng, np.ones((p, count), np.bool_), own)
        case Agreement():
            return _phases(rng, np.arange(p)[:, None] == np.arange(count) % p, own)
        case Hamming(factor):
            # A column that is left out forgives a mismatch: factor is how often that happens.
            return _phases(rng, rng.random((p, count)) >= factor, own)
        case OnColumns(inner, columns):
            chosen = list(columns)
            return _embedded(frequencies_of(inner, places[chosen], count, rng), chosen, p)
        case Scaled(factor, inner):
            drawn = frequencies_of(inner, places, count, rng)
            return replace(drawn, weights=factor * drawn.weights)
        case Sum(kernels):
            return _sum(kernels, places, count, rng)
        case Product(kernels):
            parts = (frequencies_of(k, places, count, rng) for k in kernels)
            return reduce(_waves_of_product, parts)
        case Mixed(numbers, categories):
            return _sum((numbers, categories, Product((numbers, categories))), places, count, rng)
    raise InputError(
        f"`kernels` must be mixtures of waves for this, got {kernel!r}: it has no frequencies."
    )


def _plain_waves(omega: Array) -> Frequencies:
    count = omega.shape[1]
    none = np.zeros(omega.shape, np.uint32)
    return Frequencies(omega / (2.0 * np.pi), none, np.full(count, 1.0 / count))


def _phases(rng: np.random.Generator, which: NDArray[np.bool_], own: Index) -> Frequencies:
    """Random multipliers: the phases of two different hashes then differ by any angle alike.

    Row `own[j]` of what is drawn, and of `which`, is that of column j.
    """
    drawn = rng.integers(0, 2**32, which.shape, dtype=np.uint32)
    count = which.shape[1]
    phases = np.where(which, drawn, np.uint32(0))[own]
    return Frequencies(np.zeros(which.shape), phases, np.full(count, 1.0 / count))


def _embedded(inner: Frequencies, columns: list[int], p: int) -> Frequencies:
    turns, phases = np.zeros((p, len(inner))), np.zeros((p, len(inner)), np.uint32)
    turns[columns], phases[columns] = inner.turns, inner.phases
    return Frequencies(turns, phases, inner.weights)


def _sum(
    kernels: Sequence[Any], places: Index, count: int, rng: np.random.Generator
) -> Frequencies:
    """Some frequencies of each term, as evenly as can be."""
    ends = np.arange(1, len(kernels) + 1) * max(count, len(kernels)) // len(kernels)
    shares = np.diff(ends, prepend=0)
    parts = [frequencies_of(k, places, int(s), rng) for k, s in zip(kernels, shares, strict=True)]
    return Frequencies(
        np.concatenate([part.turns for part in parts], axis=1),
        np.concatenate([part.phases for part in parts], axis=1),
        np.concatenate([part.weights for part in parts]),
    )


def _waves_of_product(left: Frequencies, right: Frequencies) -> Frequencies:
    """A product of waves turns by the sum of their turns."""
    count = min(len(left), len(right))
    left, right = (_some_waves(part, count) for part in (left, right))
    weights = left.weights * right.weights * count
    return Frequencies(left.turns + right.turns, left.phases + right.phases, weights)


def _some_waves(drawn: Frequencies, count: int) -> Frequencies:
    """Some of the frequencies, with the weight of all."""
    weights = drawn.weights[:count]
    whole = drawn.weights.sum() / weights.sum()
    return Frequencies(drawn.turns[:, :count], drawn.phases[:, :count], weights * whole)
