"""Tests of two or more samples in memory: named forms of the atoms of a design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.backend.threads import one_blas_thread
from nosplit.core.bins import RankedColumns, normal_scores, number_of_bins, rank_columns
from nosplit.core.exchange import Exchange
from nosplit.core.feature_map import pairs_of_columns, radii, shuffled, wave_values
from nosplit.core.forms import Bins, Features, Form, Scores, flattened
from nosplit.core.gram import Gram
from nosplit.core.statistics import Statistics, statistics
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError
from nosplit.families.design import Design, Units, exchange_of
from nosplit.inference.evidence import conclude, conclude_by
from nosplit.inference.plan import Effort
from nosplit.inference.selection import Found, found_by
from nosplit.kernels import Kernel, Linear
from nosplit.kernels.bank import Bank, difference_tile, rows_tile
from nosplit.kernels.eigenbases import SCALE_ROWS, default_eigenbases, spread_out
from nosplit.kernels.frequencies import frequencies_of
from nosplit.kernels.orders import sorted_columns
from nosplit.kernels.recipes import Recipe, check_own_kernel
from nosplit.methods import Adaptive, Method

__all__ = [
    "PooledRows",
    "compare_columns",
    "compare_samples",
    "kernel_gram",
]

# Ridge of the flattened linear kernel, relative to the largest eigenvalue, and regularisations of
# flattened random features.
RIDGE, REGULARISATIONS = 1e-3, (1e-1, 1e-3)
# Columns, and their numbers of all atoms, that are made at once.
MAX_COLUMNS, MAX_NUMBERS = 256, 1 << 23
# Keys of the shuffled ranks of the two references.
KEY_PLACE, KEY_SPREAD = 1, 2


@dataclass(frozen=True, eq=False)
class PooledRows:
    """Pooled rows of all samples, and what is known of their columns.

    Attributes
    ----------
    rows : array, shape (N, p)
        Rows of all samples, one sample after the other, as numbers.
    label : array of int, shape (N,)
        Sample of each row, from 0.
    categorical : sequence of int
        Columns whose values are compared for equality only.
    owners : sequence of int
        The column of the table that each column is made of.
    paired : bool
        Whether row i of x belongs to row i of y.
    """

    rows: Array
    label: Index
    categorical: Sequence[int]
    owners: Sequence[int]
    paired: bool = False

    @classmethod
    def of(cls, rows: Array, label: Index, encoding: Encoding | None, paired: bool) -> PooledRows:
        """Pool rows that an encoding made; None for arrays as they came."""
        rows = rows.astype(np.float64, copy=False)
        if encoding is None:
            return cls(rows, label, (), range(rows.shape[1]), paired)
        return cls(rows, label, encoding.categorical, encoding.owners, paired)

    @property
    def numeric(self) -> Index:
        """Columns of numbers."""
        every = np.arange(self.rows.shape[1])
        return every[~np.isin(every, list(self.categorical))]


def compare_samples(
    pooled: PooledRows,
    design: Design,
    recipe: Recipe,
    effort: Effort,
    rng: np.random.Generator,
    method: Method | None = None,
) -> Found:
    """Test samples by permuting the atoms of a design.

    Kernels that were named are all that is tested; otherwise all kinds of evidence are combined.
    A method other than the adaptive one ranks the kernels by itself.
    """
    pooled, design, columns = _in_order(pooled, design, effort.n_bins)
    samples = "`x` and `y`" if pooled.label.max() == 1 else "`samples`"
    kernels = _fitted_kernels(recipe, pooled.rows, samples)
    units, exchange = exchange_of(design, pooled.label, effort.n_resamples, _key(rng))
    with one_blas_thread():
        if recipe.default and (method is None or isinstance(method, Adaptive)):
            forms, pairs = sample_forms(
                pooled,
                columns,
                units,
                exchange,
                kernels,
                effort.n_frequencies,
                _key(rng),
                design.said is not None,
            )
            forms |= reference_forms(pooled, columns, units, exchange)
            each = column_statistics(pooled, columns, units, exchange)
            finding = conclude(statistics(exchange, forms), each)
            return found_by(exchange, finding, kernels, pairs)
        found = statistics(exchange, {"kernels": kernel_gram(units, pooled.rows, kernels)})
    return found_by(exchange, conclude_by(method or Adaptive(), found), kernels)


def compare_columns(
    pooled: PooledRows, design: Design, n_resamples: int, rng: np.random.Generator
) -> Found:
    """Test each column by itself, under the permutations of a design."""
    pooled, design, columns = _in_order(pooled, design)
    units, exchange = exchange_of(design, pooled.label, n_resamples, _key(rng))
    with one_blas_thread():
        found = statistics(exchange, reference_forms(pooled, columns, units, exchange))
        finding = conclude(found, column_statistics(pooled, columns, units, exchange))
    return found_by(exchange, finding)


def _fitted_kernels(recipe: Recipe, rows: Array, samples: str) -> tuple[Kernel, ...]:
    """Fit kernels on some of the pooled rows, and check those of a caller."""
    some = rows[spread_out(len(rows), SCALE_ROWS)]
    try:
        kernels = recipe.of_rare(some).fit(some)
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", samples)) from None
    for kernel in kernels:
        check_own_kernel(kernel, some[:2], some[:4])
    return kernels


def _in_order(
    pooled: PooledRows, design: Design, n_bins: int | None = None
) -> tuple[PooledRows, Design, RankedColumns]:
    """Sort the rows that are in atoms, so that what is fitted on them knows no label; rank them."""
    (kept,) = np.nonzero(design.dealt)
    rows, p = pooled.rows[kept], pooled.rows.shape[1]
    categories = np.isin(np.arange(p), list(pooled.categorical))
    columns = rank_columns(rows, categories, n_bins or number_of_bins(len(rows)))
    order = np.argsort(columns.keys, kind="stable")
    same = np.diff(columns.keys[order]) == 0
    tied = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    if tied.any():
        order[tied] = order[tied][_by_columns(rows, order[tied], columns.keys)]
    some = replace(pooled, rows=rows[order], label=pooled.label[kept[order]])
    return some, replace(design, unit=design.unit[kept[order]]), columns.some(order)


def _by_columns(rows: Array, some: Index, keys: NDArray[np.uint64]) -> Index:
    """Order some rows by keys, and those of equal keys by columns, in any order of the columns."""
    marks = [0, len(rows) // 3, len(rows) - 1]
    low, middle, high = np.partition(rows, marks, axis=0)[marks]
    with np.errstate(all="ignore"):
        first = np.argsort((middle - low) / (high - low), kind="stable")
    return np.lexsort((*rows[some].T[first], keys[some]))


def _key(rng: np.random.Generator) -> int:
    return int(rng.integers(0, 2**62))


def sample_forms(
    pooled: PooledRows,
    columns: RankedColumns,
    units: Units,
    exchange: Exchange,
    kernels: Sequence[Kernel],
    n_frequencies: int,
    key: int,
    designed: bool,
) -> tuple[dict[str, Any], Sequence[tuple[int, int]]]:
    """Make the forms of all columns together and of pairs of them, and name the pairs.

    Parameters
    ----------
    pooled : PooledRows
        The rows; all of them are in atoms.
    columns : RankedColumns
        Their columns.
    units : Units
        The atoms.
    exchange : Exchange
        Permutations of the atoms.
    kernels : sequence of Kernel
        The kernels.
    n_frequencies : int
        Random frequencies of a kernel; 0 for exact kernels.
    key : int
        Picks the frequencies.
    designed : bool
        Whether permutations are restricted to blocks, or atoms are more than rows.
    """
    rows = pooled.rows
    forms, pairs = pair_forms(pooled, columns, units)
    if n_frequencies:
        forms |= feature_kernels(units, exchange, rows, kernels, n_frequencies, key)
    else:
        forms["kernels"] = kernel_gram(units, rows, kernels)
        numbers = np.ascontiguousarray(rows[:, pooled.numeric])
        bases = default_eigenbases(numbers) if numbers.size else []
        # Landmarks know the spread of single rows; in a design, atoms vary about their block.
        forms["flattened"] = [
            flattened(units.of(features), exchange, REGULARISATIONS)
            if designed
            else Features(units.of(features), basis.gains())
            for basis, features in bases
        ]
    if len(columns.scored):
        scores = columns.scores
        forms["linear"] = flattened(units.of(scores), exchange, (RIDGE,))
        distance = radii(scores)
        if distance is not None:
            forms["distance"] = Features(units.of(distance), np.eye(2))
    return forms, pairs


def pair_forms(
    pooled: PooledRows, columns: RankedColumns, units: Units
) -> tuple[dict[str, Any], Sequence[tuple[int, int]]]:
    """Make the form of pairs of columns, if they are not too many, and name the pairs."""
    found = pairs_of_columns(columns, pooled.owners)
    if found is None:
        return {}, ()
    number = len(found.columns)
    owner = np.repeat(np.arange(number), found.gains.shape[1])
    form = Features(units.of(found.values), found.gains, number, owner)
    return {"pairs": form}, found.columns


def reference_forms(
    pooled: PooledRows, columns: RankedColumns, units: Units, exchange: Exchange
) -> dict[str, Form]:
    """Make the forms of columns that depend on no data, to which single columns are compared."""
    if not len(columns.scored):
        return {}
    scores, none = normal_scores(len(pooled.rows))[1::2], np.zeros(0, np.int64)
    if pooled.paired and units.differences:
        place = shuffled(_half_scores(np.arange(1.0, units.n + 1.0), units.n), KEY_PLACE)
    else:
        place = units.of(shuffled(scores, KEY_PLACE))
    found = {"place": place, "spread": units.of(shuffled(scores * scores, KEY_SPREAD))}
    if exchange.even:  # as likely as their negatives: labels may be exchanged
        found = {name: np.concatenate([a[:, ::2], -a[:, ::2]], 1) for name, a in found.items()}
    return {f"{name} reference": Scores(values, none) for name, values in found.items()}


def column_statistics(
    pooled: PooledRows, columns: RankedColumns, units: Units, exchange: Exchange
) -> Iterator[Mapping[str, Statistics]]:
    """Compute shape, place and spread of single columns, some columns at a time."""
    p, width = columns.counts.shape
    table = normal_scores(len(pooled.rows))
    owners = np.asarray(pooled.owners)
    step = min(max(MAX_NUMBERS // (units.n * width), 1), MAX_COLUMNS)
    for first in range(0, p, step):
        some = slice(first, min(first + step, p))
        which = columns.scored[(columns.scored >= some.start) & (columns.scored < some.stop)]
        forms: dict[str, Form] = {"shape": _bins_of(columns, some, which - first, units, owners)}
        if len(which):
            scores = table[columns.twice[:, which]]
            forms["spread"] = Scores(units.of(scores * scores), which - first)
            paired = pooled.paired and units.differences
            place = _signed_scores(pooled.rows[:, which], units) if paired else units.of(scores)
            forms["place"] = Scores(place, which - first)
        yield statistics(exchange, forms)


def _bins_of(
    columns: RankedColumns, some: slice, scored: Index, units: Units, owners: Index
) -> Bins:
    """Bins of some columns; those without scores have no cumulative statistic."""
    from nosplit.backend.numba.columns import atoms_in_bins

    counts = columns.counts[some]
    share = counts / counts.sum(axis=1, keepdims=True)
    below = np.cumsum(share, axis=1)
    inside = (below < 1.0 - 1e-9) & (counts > 0)
    inside &= np.isin(np.arange(len(counts)), scored)[:, None]
    inside &= (np.count_nonzero(counts, axis=1) > 2)[:, None]
    cumulative = np.where(inside, 1.0 / np.where(inside, below * (1.0 - below), 1.0), 0.0)
    single = np.where(counts > 0, 1.0 / np.where(counts > 0, share, 1.0), 0.0)
    # Counts of rows are whole, shares of the rows of a group are not.
    kind = np.float32 if units.single or units.differences else np.float64
    values = np.empty((units.n, counts.size), kind)
    code = np.ascontiguousarray(columns.code[:, some])
    atoms_in_bins(code, units.row, units.coef, units.start, counts.shape[1], values)
    return Bins(values, cumulative, single, owners[some])


def _signed_scores(rows: Array, units: Units) -> Array:
    """Signed normal scores of differences of pairs, (pairs, columns): |d| by its rank."""
    gaps = units.of(rows)
    columns = sorted_columns(np.abs(gaps))
    rank = columns.back((columns.twice + 1) / 2.0)
    return np.asarray(np.sign(gaps) * _half_scores(rank, units.n))


def _half_scores(rank: Array, n: int) -> Array:
    """Normal scores above 0 of ranks from 1 to n."""
    return np.asarray(special.ndtri(0.5 + 0.5 * rank / (n + 1.0)))


# -- kernels ---------------------------------------------------------------------------------------


def feature_kernels(
    units: Units,
    exchange: Exchange,
    rows: Array,
    kernels: Sequence[Kernel],
    n_frequencies: int,
    key: int,
) -> dict[str, Any]:
    """Kernels by random frequencies, plain and with flattened spectra."""
    values, order = [], np.arange(rows.shape[1])
    for u, kernel in enumerate(kernels):
        if isinstance(kernel, Linear):
            values.append(units.of(rows - rows.mean(axis=0)))
            continue
        rng = np.random.Generator(np.random.Philox(key=np.array([key, u], np.uint64)))
        drawn = frequencies_of(kernel, order, n_frequencies, rng)
        values.append(units.of(wave_values(rows, drawn)))
    return {
        "kernels": [Features(own, np.ones((own.shape[1], 1))) for own in values],
        "flattened": [flattened(own, exchange, REGULARISATIONS) for own in values],
    }


def kernel_gram(units: Units, rows: Array, kernels: Sequence[Kernel]) -> Gram:
    """Gram tiles of kernels on atoms of rows."""
    bank, own = Bank(tuple(kernels)), np.ascontiguousarray(rows[units.row])
    centre, origin = bank.centre(own), (own / len(own)).sum(axis=0)  # the sum may overflow
    if units.differences:
        return Gram(units.n, len(bank), partial(_tile_of_differences, bank, own, centre))

    def tile(left: slice, right: slice) -> Array:
        return rows_tile(bank, own[left], own[right], centre, origin)

    return units.gram(len(bank), tile)


def _tile_of_differences(
    bank: Bank, rows: Array, centre: Array | None, a: range, b: range
) -> Array:
    """Values h of differences of pairs of rows, (d, a, b)."""
    left, right = (
        [np.ascontiguousarray(rows[2 * r.start + i : 2 * r.stop : 2]) for i in (0, 1)]
        for r in (a, b)
    )
    return difference_tile(bank, left, right, centre)
