"""The paper's estimates for two samples of one size: pairs of units, and closed forms.

A unit is a pair (x, y) with Ψ = φ(x) - φ(y), and two units give
h = k(x, x') + k(y, y') - k(x, y') - k(y, x'). Σ is estimated over pairs, not over permutations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from nosplit._checks import check_finite, naming
from nosplit._text import progress_bar
from nosplit._types import Array, Index
from nosplit.core.moments import Moments, Step, add_up, column_moments
from nosplit.core.order import Natural, Order, UnitRange, shuffled, take
from nosplit.core.pairings import (
    Adjacent,
    Aligned,
    Band,
    Blocks,
    Complete,
    Job,
    LinearPairs,
    Pairing,
    Tile,
    pairing_name,
    units_in_pairs,
)
from nosplit.errors import Caveat, InputError, NearCopyWarning
from nosplit.inference.caveats import safe_window, small_test_part, too_alike, unsafe
from nosplit.inference.closed import closed_form
from nosplit.kernels import Kernel
from nosplit.kernels.bank import (
    DIFFERENCE_SIGNS,
    Bank,
    difference_tile,
    fill_called_differences,
)
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe, check_own_kernel
from nosplit.methods import OST, Method, Selection
from nosplit.methods.split import split_at

__all__ = [
    "MEDIAN_ROWS",
    "PairEstimate",
    "Paired",
    "check_equal_sizes",
    "estimate",
    "estimate_pairs",
    "fit_bank",
    "paired_units",
]

# Pairs of a job, whose values fill a core's second cache; more if no values are kept.
PAIRS, FOLDED_PAIRS = 32768, 4 * 32768
# Pairs whose base quantities are found together, for the same cache.
AT_ONCE = 4096
# Rows that bandwidths come from, in whole units.
MEDIAN_ROWS = 500
REMEDY = "all pairs with exact calibration (the default)"


@dataclass(frozen=True, eq=False)
class PairEstimate:
    """The outcome of a closed form on pairs of units.

    Attributes
    ----------
    selection : Selection
        What the method made of τ and Σ.
    tau, cov : array, shape (d,) and (d, d)
        τ = √m · mean of the values of m pairs, and their centred covariance with divisor m.
    kernels : tuple of Kernel
        The kernels.
    pairs : str
        Short name of the pairing.
    n_units, n_pairs : int
        Units, and pairs of them.
    sizes : tuple of int
        Rows of each sample that are in pairs.
    caveats : tuple of Caveat
        What to know before relying on it.
    """

    selection: Selection
    tau: Array
    cov: Array
    kernels: tuple[Kernel, ...]
    pairs: str
    n_units: int
    n_pairs: int
    sizes: tuple[int, ...]
    caveats: tuple[Caveat, ...]


def estimate_pairs(
    x: NDArray[Any],
    y: NDArray[Any],
    kernels: Kernels | Recipe,
    pairing: Pairing,
    method: Method | None,
    rng: np.random.Generator | None,
    *,
    paired: bool = False,
    workers: int | None = None,
    progress: bool = False,
) -> PairEstimate:
    """Test two samples of one size by the closed form of a method on pairs of units.

    Parameters
    ----------
    x, y : array, shape (n, p)
        The samples.
    kernels : Kernels or Recipe
        The kernels.
    pairing : Pairing
        Linear or adjacent pairs, a window or blocks.
    method : Method or None
        None is OST.
    rng : Generator or None
        Shuffles the rows; None keeps their order.
    paired : bool
        Whether row i of x belongs to row i of y: both are then shuffled alike.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    """
    recipe = kernels if isinstance(kernels, Recipe) else as_recipe(kernels)
    with naming(x=x, y=y):
        units = paired_units(x, y, recipe, rng, paired=paired)
        if isinstance(pairing, Blocks):  # tiles take a distance that is nan for a large one
            check_finite(x, "x")
            check_finite(y, "y")
        used = units_in_pairs(pairing, len(x))
        return estimate(
            units, pairing, method, sizes=(used, used), default=recipe.default, workers=workers,
            progress=progress,
        )  # fmt: skip


def estimate(
    units: Any,
    pairing: Pairing,
    method: Method | None,
    *,
    sizes: tuple[int, ...],
    default: bool,
    workers: int | None = None,
    progress: bool = False,
) -> PairEstimate:
    """Apply the closed form of a method to pairs of the units of a family.

    Parameters
    ----------
    units : Paired or the units of another family
        `n_units`, a `bank` of kernels, some units as `part(range)`, and the moments of all pairs
        as `total(pairing, workers, step)`.
    pairing, method, workers, progress
        As in `estimate_pairs`.
    sizes : tuple of int
        Rows of each sample that are in pairs.
    default : bool
        Whether no kernels were named.
    """
    n = units.n_units
    if isinstance(pairing, Complete):
        raise InputError(
            '`pairs="complete"` has no normal limit, so calibration="asymptotic" would be wrong. '
            f'Use calibration="exact", or a window such as pairs={safe_window(n)}.'
        )
    parts = split_at(method, n)
    with progress_bar(progress, sum(pairing.n_pairs(len(part)) for part in parts)) as step:
        moments = [units.part(part).total(pairing, workers, step) for part in parts]
    found = closed_form(method or OST(), moments)
    tau, cov, caveats = found.total.tau, found.total.cov, list(found.caveats)
    selection, d = found.selection, len(tau)
    if np.any(cov):  # else there is no evidence, and nothing is approximated
        caveats += unsafe(pairing, n, pairing.n_pairs(n), d, REMEDY)
        if len(parts) > 1 and not caveats:
            caveats += small_test_part(pairing, len(parts[1]))
    caveats += too_alike(tau, float(selection.log_pvalue))
    if default:  # nobody can drop one of two kernels that nobody named
        caveats = [caveat for caveat in caveats if caveat[0] is not NearCopyWarning]
    return PairEstimate(
        selection, tau, cov, tuple(units.bank.kernels), pairing_name(pairing), n, found.total.n,
        sizes, tuple(caveats),
    )  # fmt: skip


def check_equal_sizes(n: int, m: int) -> None:
    """Check that samples whose rows are matched have as many rows."""
    if n != m:
        raise InputError(
            "`pairs` that match rows of x with rows of y (linear, adjacent, windows, blocks, a "
            f"split) need samples of the same size, got {n} and {m} rows. Use all pairs, the "
            "default, with exact calibration: samples may then differ in size."
        )


# -- units -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Paired(UnitRange):
    """N units of one row each of x and y.

    Parameters
    ----------
    x, y : array, shape (n, p)
        The samples.
    x_order, y_order : Order
        Row of each sample in each unit.
    bank : Bank
        The kernels.
    units : range
        Which positions are units of this object.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    x_order: Order
    y_order: Order
    bank: Bank
    units: range

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 2.0

    def rows(self, units: Iterable[int]) -> NDArray[Any]:
        """Rows of x and of y of some units, unit by unit."""
        places = [self._places(range(u, u + 1)) for u in units]
        i, j = (np.concatenate(side) for side in zip(*places, strict=True))
        both = np.stack([self.x[i], self.y[j]], axis=1)
        return both.reshape(2 * len(i), -1)

    def total(self, pairing: Pairing, workers: int | None, step: Step | None = None) -> Moments:
        """Add up the moments of the values of all pairs."""
        size = FOLDED_PAIRS if isinstance(pairing, Adjacent | LinearPairs) else PAIRS
        return add_up(self.moments, pairing.jobs(self.n_units, size), workers, step)

    def moments(self, job: Job) -> Moments:
        """Moments of the values of a job, without keeping the values if that is possible."""
        if isinstance(job, Tile) or self.bank.others:
            return column_moments(self.values(job), job)
        from nosplit.backend.numba.values import two_sample_moments

        d = len(self.bank)
        mean, total = np.empty(d), np.empty((d, d))
        two_sample_moments(*self._compiled(job), mean, total, job.n_pairs)
        return Moments(job.n_pairs, mean, total)

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        if not isinstance(job, Tile):
            return self._aligned(job)
        left, right = self._rows(job.a), self._rows(job.b)
        return difference_tile(self.bank, left, right, self.bank.centre(*left, *right))

    def _rows(self, units: range) -> tuple[NDArray[Any], NDArray[Any]]:
        positions = self.units[units.start : units.stop : units.step]
        return take(self.x, self.x_order, positions), take(self.y, self.y_order, positions)

    def _places(self, units: range) -> tuple[Index, Index]:
        """Rows of x and of y in each of the units."""
        positions = self.units[units.start : units.stop : units.step]
        return self.x_order.rows(positions), self.y_order.rows(positions)

    def _index(self, job: Aligned | Band) -> Index:
        """Rows of x in a and in b, of y in a and in b, of the pairs of a job; a band lag by lag."""
        if isinstance(job, Aligned):
            parts = (self._places(job.a), self._places(job.b))
            return np.stack([parts[0][0], parts[1][0], parts[0][1], parts[1][1]])
        n, stop = len(job.units), job.units.stop + job.R
        i, j = self._places(range(job.units.start, min(stop, self.n_units)))
        if stop > self.n_units:
            first = self._places(range(stop - self.n_units))
            i, j = np.concatenate([i, first[0]]), np.concatenate([j, first[1]])
        ib, jb = (sliding_window_view(rows, n)[1:].ravel() for rows in (i, j))
        return np.stack([np.tile(i[:n], job.R), ib, np.tile(j[:n], job.R), jb])

    def _aligned(self, job: Aligned | Band) -> Array:
        """Values of pairs that are not a tile."""
        bank, m, index = self.bank, job.n_pairs, self._index(job)
        h = np.empty((len(bank), m))
        if bank.operations or bank.linear:
            for start in range(0, m, AT_ONCE):
                self._fill_some(index[:, start : start + AT_ONCE], h, start)
        if bank.others:
            ia, ib, ja, jb = index
            fill_called_differences(
                bank, "aligned", (self.x[ia], self.y[ja]), (self.x[ib], self.y[jb]), h
            )
        return h

    def _fill_some(self, index: Index, h: Array, start: int) -> None:
        """Write values of some pairs into h from column `start` on, by the compiled loops."""
        from nosplit.backend.numba.bases import touch, two_sample_bases

        bank, m, (ia, ib, ja, jb) = self.bank, index.shape[1], index
        (sq, l1, dot), cross = bank.empty_bases(4, m), np.empty(m)
        if self._scattered:
            for sample, rows in ((self.x, ia), (self.x, ib), (self.y, ja), (self.y, jb)):
                touch(sample, rows)
        want, linear = bank.want, bool(bank.linear)
        two_sample_bases(self.x, ia, ib, self.y, ja, jb, want, linear, sq, l1, dot, cross)
        bank.evaluate((sq, l1, dot), DIFFERENCE_SIGNS, h, start, m)
        if not np.isfinite(sq.sum() + l1.sum()):  # a bounded kernel would hide it
            h[:, start] = np.nan
        h[bank.linear, start : start + m] = cross

    @property
    def _scattered(self) -> bool:
        """Whether rows are taken in another order than theirs."""
        return not Natural() == self.x_order == self.y_order

    def _compiled(self, job: Aligned | Band) -> tuple[Any, ...]:
        """Arguments of the compiled loops."""
        from nosplit.backend.numba.values import two_sample_room

        bank, scattered = self.bank, self._scattered
        listed = isinstance(job, Band) or scattered
        if isinstance(job, Aligned) and not listed:  # first rows and steps, in the same order
            a, b = ([self.units[u.start], u.step * self.units.step] for u in (job.a, job.b))
            index = np.array([a, b, a, b], dtype=np.int64)
        else:
            index = self._index(job)
        where = self.x, self.y, index, listed, scattered
        return *where, bank.want, bank.linear_rows, bank.program, two_sample_room()


# -- kernels ---------------------------------------------------------------------------------------


def paired_units(
    x: NDArray[Any],
    y: NDArray[Any],
    recipe: Recipe,
    rng: np.random.Generator | None = None,
    *,
    paired: bool = False,
) -> Paired:
    """Make units of two samples, in random order if there is a generator, with their kernels.

    Rows that are `paired` are units: both samples are dealt in the same order.
    """
    check_equal_sizes(len(x), len(y))
    # Compiled loops are made anew for every layout, and for what may not be written to.
    x, y = (np.require(sample, requirements=["C", "W"]) for sample in (x, y))
    orders = [Natural() if rng is None else shuffled(len(s), rng) for s in (x, y)]
    units = Paired(x, y, orders[0], orders[0 if paired else 1], Bank(()), range(len(x)))
    units = replace(units, bank=fit_bank(recipe, units))
    if units.bank.others:
        # The compiled loops over aligned pairs look at every distance; nothing else does.
        check_finite(x, "x")
        check_finite(y, "y")
    return units


def fit_bank(recipe: Recipe, units: Paired) -> Bank:
    """Fit kernels to pooled rows of whole units, which swaps of x and y do not change."""
    kernels = _fitted_kernels(recipe, units) if recipe.looks_at_rows else recipe.build()
    some, others = units.rows((0,)), units.rows((0, 1))
    for kernel in kernels:
        check_own_kernel(kernel, some, others)
    return Bank(kernels)


def _fitted_kernels(recipe: Recipe, units: Paired) -> tuple[Kernel, ...]:
    count = max(2, min(units.n_units, MEDIAN_ROWS // 2))
    rows = units.rows((np.arange(count) * units.n_units // count).tolist())
    if np.all(rows == rows[0]):
        rows = _rare_rows(units, rows[0])
    try:
        return recipe.fit(rows)
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "`x` and `y`")) from None


def _rare_rows(units: Paired, usual: NDArray[Any]) -> NDArray[Any]:
    """Return a row that is nearly all rows, twice, and some of those that differ from it.

    They are picked in the order of their values, so that swaps of x and y do not change them.
    """
    rare = np.concatenate([s[np.any(s != usual, axis=1)] for s in (units.x, units.y)])
    rare = rare[np.lexsort(rare.T)]
    count = min(len(rare), MEDIAN_ROWS)
    some = rare[np.arange(count) * len(rare) // max(count, 1)]
    return np.concatenate([usual[None], usual[None], some])
