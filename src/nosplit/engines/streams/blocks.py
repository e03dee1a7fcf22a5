"""Blocks of units in a stream: of two samples, of rows and scores, and of observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._support.types import Array
from nosplit.engines.streams.state import Rows
from nosplit.errors import InputError
from nosplit.families.fitting import (
    SteinKernels,
    TensorKernels,
    fit_bank,
    fit_stein_bank,
    fit_tensors,
)
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.families.independence import HsicUnits
from nosplit.families.two_sample import Paired, two_sample_units
from nosplit.families.unequal import Grouped
from nosplit.kernels import Parts
from nosplit.kernels.bank import Bank
from nosplit.kernels.defaults.recipes import Recipe, check_own_kernel
from nosplit.kernels.derived.stein import SteinBank
from nosplit.kernels.derived.tensor import TensorBank
from nosplit.pairs.dealing import MOST_ROWS, Natural
from nosplit.pairs.effective import effective_pairs
from nosplit.pairs.pairing import Pairing

__all__ = ["Observations", "Scored", "TwoSamples", "check_ratio"]

# Pairs of a pass that are looked at under all labellings.
SOME_PAIRS = 64


@dataclass(frozen=True)
class TwoSamples:
    """Units of rows of x and rows of y in a fixed ratio, in lowest terms."""

    ratio: tuple[int, int]
    recipe: Recipe

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of x and of y in a block."""
        return self.ratio

    @property
    def units_per_block(self) -> int:
        """Units in a block: each has one row of the smaller sample."""
        return min(self.ratio)

    @property
    def rows_per_block(self) -> int:
        """Rows in a block."""
        return sum(self.ratio)

    def fit(self, rows: Rows) -> Bank:
        """The kernels, with bandwidths from these rows if they are not given."""
        recipe = self.recipe.of_rare(np.concatenate(rows))  # later rows may differ
        return fit_bank(recipe, self.units(rows, Bank(())))

    def check(self, units: Paired | Grouped) -> None:
        """Try kernels that are not built in on the first units."""
        some = [units.rows(u) for u in range(min(2, units.n_units))]
        for kernel in units.bank.kernels:
            check_own_kernel(kernel, some[0], np.concatenate(some))

    def units(self, rows: Rows, bank: Bank) -> Paired | Grouped:
        """Units of whole blocks."""
        x, y = rows
        if x.dtype != y.dtype:
            x, y = x.astype(np.float64), y.astype(np.float64)
        return two_sample_units(x, y, Natural(), Natural(), bank)

    def effective(self, units: Paired | Grouped, pairing: Pairing) -> Array | None:
        """Effective pairs of a pass, for every kernel."""
        return effective_pairs(units, pairing, SOME_PAIRS)


@dataclass(frozen=True)
class Scored:
    """Units of one row and its score."""

    kernels: SteinKernels
    sizes: tuple[int, ...] = (1, 1)
    units_per_block: int = 1
    rows_per_block: int = 1

    def fit(self, rows: Rows) -> SteinBank:
        """The kernels, with bandwidths from these rows if they are not given."""
        try:
            return fit_stein_bank(self.kernels, rows[0])
        except InputError as error:
            raise InputError(str(error).replace("`rows`", "`x`")) from None

    def units(self, rows: Rows, bank: SteinBank) -> SteinUnits:
        """Units of whole blocks."""
        return SteinUnits(rows[0], rows[1], Natural(), bank, range(len(rows[0])))

    def check(self, units: SteinUnits) -> None:
        """All its kernels are built in."""

    def effective(self, units: SteinUnits, pairing: Pairing) -> Array:
        """Effective rows of a pass, for the kernel with the fewest."""
        return np.array([units.effective_rows()])


@dataclass(frozen=True)
class Observations:
    """Units of q observations of x and y; `discrete` says which of them name categories."""

    kernels: TensorKernels
    q: int
    discrete: tuple[bool | Parts, bool | Parts] = (False, False)
    units_per_block: int = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of x and of y in a block."""
        return (self.q, self.q)

    @property
    def rows_per_block(self) -> int:
        """Observations in a block."""
        return self.q

    def fit(self, rows: Rows) -> TensorBank:
        """The kernels, with bandwidths from these rows if they are not given."""
        units = self.units(rows, TensorBank(()))
        return TensorBank(fit_tensors(self.kernels, units, self.discrete))

    def units(self, rows: Rows, bank: TensorBank) -> HsicUnits:
        """Units of whole blocks."""
        x, y = rows
        N = len(x) // self.q
        return HsicUnits(x, y, Natural(), bank, np.arange(N + 1) * self.q, range(N))

    def check(self, units: HsicUnits) -> None:
        """Try kernels that are not built in on the first units."""
        for bank, rows in zip(units.bank.factors, units.rows(0), strict=True):
            for kernel in bank.kernels:
                check_own_kernel(kernel, rows, rows)

    def effective(self, units: HsicUnits, pairing: Pairing) -> Array | None:
        """Effective pairs of a pass, for every kernel."""
        return effective_pairs(units, pairing, SOME_PAIRS)


def check_ratio(ratio: Any) -> tuple[int, int]:
    """Rows of x to rows of y, in lowest terms.

    Examples
    --------
    >>> check_ratio((4, 6))
    (2, 3)
    """
    if not isinstance(ratio, (tuple, list)) or len(ratio) != 2 or not all(map(_is_count, ratio)):
        raise InputError(
            f"`ratio` must be two ints ≥ 1, rows of x to rows of y, such as (1, 3), got {ratio!r}."
        )
    a, b = int(ratio[0]), int(ratio[1])
    common = math.gcd(a, b)
    a, b = a // common, b // common
    if max(a, b) > MOST_ROWS * min(a, b):
        raise InputError(
            f"`ratio` must be at most {MOST_ROWS} to 1, got {ratio[0]} to {ratio[1]}: more rows to "
            "a unit would add next to nothing. What is left over is counted as dropped."
        )
    return a, b


def _is_count(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and int(value) >= 1
