"""Blocks of units in a stream: of two samples, of rows and scores, and of observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._old.engines.streams.state import Rows
from nosplit._types import Array
from nosplit.core.order import Natural
from nosplit.core.pairings import Pairing
from nosplit.data.scored import ScoredRows
from nosplit.errors import InputError
from nosplit.families.hsic_units import HsicUnits, fit_tensors
from nosplit.families.paired import Paired, fit_bank
from nosplit.families.stein import effective_rows
from nosplit.families.stein_pairs import SteinUnits
from nosplit.kernels import Parts
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Recipe, check_own_kernel
from nosplit.kernels.stein import SteinBank, SteinKernels, fit_stein_bank
from nosplit.kernels.tensor import TensorBank, TensorKernels

__all__ = ["Observations", "Scored", "TwoSamples", "check_ratio"]

# Pairs of a pass that are looked at under all labellings; rows of the larger sample for one of the
# smaller, at most.
SOME_PAIRS, MOST_ROWS = 64, 16


@dataclass(frozen=True)
class TwoSamples:
    """Units of one row of x and one of y."""

    recipe: Recipe
    sizes: tuple[int, ...] = (1, 1)
    units_per_block: int = 1
    rows_per_block: int = 2

    def fit(self, rows: Rows) -> Bank:
        """The kernels, with bandwidths from these rows if they are not given."""
        recipe = self.recipe.of_rare(np.concatenate(rows))  # later rows may differ
        return fit_bank(recipe, self.units(rows, Bank(())))

    def check(self, units: Paired) -> None:
        """Try kernels that are not built in on the first units."""
        some, others = units.rows((0,)), units.rows(range(min(2, units.n_units)))
        for kernel in units.bank.kernels:
            check_own_kernel(kernel, some, others)

    def units(self, rows: Rows, bank: Bank) -> Paired:
        """Units of whole blocks."""
        x, y = rows
        if x.dtype != y.dtype:
            x, y = x.astype(np.float64), y.astype(np.float64)
        return Paired(x, y, Natural(), Natural(), bank, range(len(x)))

    def effective(self, units: Paired, pairing: Pairing) -> None:
        """All pairs count."""


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
        return np.array([effective_rows(ScoredRows(units.x, units.scores), units.bank)])


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

    def effective(self, units: HsicUnits, pairing: Pairing) -> Array:
        """Effective pairs of a pass, for every kernel."""
        return units.effective(pairing, SOME_PAIRS)


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
