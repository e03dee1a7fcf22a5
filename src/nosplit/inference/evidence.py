"""Combine several kinds of evidence into one p-value, and find the columns that differ.

A form's name decides which kind of evidence it is. Nothing here knows families.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.core.statistics import Statistics
from nosplit.inference.rank import combine_ranks, own_pvalues, step_down
from nosplit.methods import OST, Adaptive, ChiBar, Method, Nonnegative
from nosplit.methods._base import above_chance, in_deviations
from nosplit.methods.laws import counted_from

__all__ = [
    "ColumnEvidence",
    "Finding",
    "best_of_columns",
    "conclude",
    "conclude_by",
    "drawn_evidence",
    "kinds_of",
]

ADAPTIVE = Adaptive()
# Share of the draws that tell how much a statistic has in its tail.
TAIL = 0.1
# Share of the reference scores beyond which their tail is taken as exponential.
BEYOND = 1e-3
# Steps of one standard deviation in tables of tails, and their end.
STEPS, FARTHEST = 64, 40


@dataclass(frozen=True, eq=False)
class ColumnEvidence:
    """Evidence of single columns under all draws, as -log of comparable p-values.

    Attributes
    ----------
    shape : array, shape (F,)
        Shape of a column, of the most extreme column: cumulative and bin by bin.
    place_spread : array, shape (F,) or None
        Place and spread of a column, of the most extreme column; None without numbers.
    largest : array, shape (F, columns)
        The largest evidence of each column.
    broad : array, shape (F,)
        Mean over columns of the first statistic of each, in standard deviations.
    owner : array of int, shape (columns,)
        The columns.
    """

    shape: Array
    place_spread: Array | None
    largest: NDArray[np.float32]
    broad: Array
    owner: Index

    @classmethod
    def of(cls, largest: Array, owner: Index) -> ColumnEvidence:
        """Keep the largest evidence of each column, (F, columns), which counts by itself."""
        every = largest.max(axis=1)
        return cls(every, None, largest.astype(np.float32), every, owner)

    @cached_property
    def pvalues(self) -> Array:
        """P-value of each column by itself."""
        return own_pvalues(self.largest)

    @cached_property
    def adjusted(self) -> Array:
        """P-values adjusted for all columns."""
        return step_down(self.largest)


@dataclass(frozen=True, eq=False)
class Finding:
    """The evidence of a test, combined and by kind.

    Attributes
    ----------
    evidence : array, shape (F,)
        The combined evidence under all draws, the data first: -log of a p-value.
    kinds : mapping
        The p-value of each kind of evidence by itself.
    kernels : Statistics or None
        Statistics of the kernels.
    columns : ColumnEvidence or None
        Evidence of single columns.
    pairs : Statistics or None
        Statistics of pairs of columns.
    distance : float or None
        The p-value of distances from the middle.
    """

    evidence: Array
    kinds: Mapping[str, float]
    kernels: Statistics | None
    columns: ColumnEvidence | None
    pairs: Statistics | None
    distance: float | None

    @property
    def n_draws(self) -> int:
        """Number of draws, the data among them."""
        return len(self.evidence)

    @property
    def pvalue(self) -> float:
        """The p-value of all kinds together."""
        return float(own_pvalues(self.evidence[:, None])[0])


def conclude(
    found: Mapping[str, Statistics],
    parts: Iterable[Mapping[str, Statistics]] = (),
    only: Collection[str] | None = None,
) -> Finding:
    """Combine the kinds of evidence of named statistics, with equal weights.

    Parameters
    ----------
    found : mapping
        Statistics by name, with the references for place and spread.
    parts : iterable of mapping
        Shape, place and spread of single columns, some columns at a time. Place and spread are
        owned by columns of their part.
    only : collection of str, optional
        Kinds that count; all by default.
    """
    columns = _column_evidence(found, parts)
    kinds = kinds_of(found, columns)
    if only is not None:
        kinds = {name: kind for name, kind in kinds.items() if name in (*only, "none")}
    if not kinds:
        raise AssertionError("no statistics")
    each = {name: float(own_pvalues(kind[:, None])[0]) for name, kind in kinds.items()}
    return Finding(
        combine_ranks(list(kinds.values())),
        each,
        found.get("kernels"),
        columns,
        found.get("pairs"),
        each.get("distance"),
    )


def conclude_by(method: Method, found: Mapping[str, Statistics]) -> Finding:
    """Rank the evidence of one method on the kernels; `Adaptive` combines its three kinds."""
    kernels = found["kernels"]
    if not kernels.tau.any():
        evidence = np.zeros(len(kernels.tau))
        kinds = {"none": evidence}
    elif isinstance(method, Adaptive):
        learned, largest, mean = method.evidence(kernels.tau, kernels.cov)
        kinds = {"learned": learned, "largest": largest, "broad": mean}
        evidence = combine_ranks(list(kinds.values()))
    else:
        evidence = drawn_evidence(method, kernels.tau, kernels.cov)
        kinds = {"learned": evidence}
    each = {name: float(own_pvalues(kind[:, None])[0]) for name, kind in kinds.items()}
    return Finding(evidence, each, kernels, None, None, None)


def drawn_evidence(method: Method, tau: Array, cov: Array) -> Array:
    """The evidence of a method under every draw, (F,): larger is stronger.

    If every statistic is below zero, a combination with negative weights is no evidence.
    """
    if isinstance(method, ChiBar):
        found = method.lengths(tau, cov)
    else:
        picked = method(tau, cov)
        # The closed form's p-value orders draws of different active sets; a statistic does not.
        ordered = isinstance(method, OST | Nonnegative)
        found = -picked.log_pvalue if ordered else picked.statistic
    if isinstance(method, OST | ChiBar):
        return np.where(above_chance(in_deviations(tau, cov)), found, 0.0)
    return found


def kinds_of(found: Mapping[str, Statistics], columns: ColumnEvidence | None) -> dict[str, Array]:
    """Up to nine kinds of evidence under all draws, (F,) each: larger is stronger.

    A kind without a form, or whose statistics are all 0, is left out.
    """
    kinds: dict[str, Array] = {}
    broad = []
    kernels, flat = found.get("kernels"), found.get("flattened")
    if kernels is not None and kernels.tau.any():
        learned, _, mean = ADAPTIVE.evidence(kernels.tau, kernels.cov)
        kinds["learned"] = learned
        broad.append(mean)
    if flat is not None and flat.tau.any():
        learned, largest, _ = ADAPTIVE.evidence(flat.tau, flat.cov)
        kinds |= {"learned, flattened": learned, "largest, flattened": largest}
    if columns is not None:
        kinds["shape of a column"] = columns.shape
        if columns.place_spread is not None:
            kinds["place and spread of a column"] = columns.place_spread
        broad.append(columns.broad)
    if "pairs" in found and found["pairs"].deviations.any():
        kinds["largest pair"] = found["pairs"].normal_scores.max(axis=1)
    if broad:
        kinds["broad"] = np.sum([_standardised(part) for part in broad], axis=0)
    for name in ("distance", "linear", "ranks", "quadratic"):
        if name in found and found[name].tau.any():
            kinds[name] = found[name].deviations.sum(axis=1)
    return kinds or {"none": np.zeros(len(next(iter(found.values())).tau))}


def _standardised(values: Array) -> Array:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


# -- columns ---------------------------------------------------------------------------------------


def _column_evidence(
    found: Mapping[str, Statistics], parts: Iterable[Mapping[str, Statistics]]
) -> ColumnEvidence | None:
    """Compare columns by each type of statistic, and join the types."""
    names = [name for name in ("place", "spread") if f"{name} reference" in found]
    signed = {name: _signed_tails(found[f"{name} reference"]) for name in names}
    maxima: dict[str, Array] = {}
    every, owners, broad = [], [], np.zeros(1)
    for part in parts:
        shape = part["shape"]
        p, live = len(shape.owner), shape.spread > 0
        tails = _own_tails(shape)
        largest = np.maximum(tails[:p], tails[p:])
        for name, of in (("cumulative", slice(p)), ("single", slice(p, None))):
            if live[of].any():
                _raise(maxima, name, tails[of])
        # The cumulative statistic, or bin by bin for categories, which have none.
        first = np.concatenate([live[:p], live[p:] & ~live[:p]])
        broad = broad + shape.tau @ np.where(first, 1.0 / np.where(live, shape.spread, 1.0), 0.0)
        for name in names:
            if name in part:
                own = signed[name](part[name])
                _raise(maxima, name, own)
                at = part[name].owner
                largest[at] = np.maximum(largest[at], own)
        every.append(largest.astype(np.float32))
        owners.append(shape.owner)
    if not every:
        return None
    owner, largest = np.concatenate(owners), np.concatenate(every)
    pairs = ("cumulative", "single"), ("place", "spread")
    kinds = [[maxima[name] for name in pair if name in maxima] for pair in pairs]
    shapes, place_spread = (combine_ranks(own) if own else None for own in kinds)
    shapes = np.zeros(largest.shape[1]) if shapes is None else shapes
    # A column of the table may be made of several columns of numbers.
    columns, starts = np.unique(owner, return_index=True)
    if len(columns) < len(owner):
        largest = np.maximum.reduceat(largest, starts, axis=0)
    return ColumnEvidence(shapes, place_spread, largest.T, broad / len(owner), columns)


def best_of_columns(found: Statistics) -> ColumnEvidence:
    """Compare single columns by the best of the statistics that each owns."""
    columns, starts = np.unique(found.owner, return_index=True)
    return ColumnEvidence.of(np.maximum.reduceat(_own_tails(found), starts, axis=0).T, columns)


def _raise(maxima: dict[str, Array], name: str, tails: Array) -> None:
    """Raise the largest evidence of a type under every draw by that of more columns, (c, F)."""
    values = tails.max(axis=0)
    maxima[name] = np.maximum(maxima[name], values) if name in maxima else values


def _own_tails(found: Statistics) -> Array:
    """-log of p-values of statistics, (s, F), by the tail that each has under the draws.

    All draws tell how much, the data among them, so that no permutation changes it. Those that no
    draw changes are 0.
    """
    tails = _looked_up(found.normal_scores.T, np.ones(len(found.spread)), _normal_tails())
    start = tails.shape[1] - max(1, round(TAIL * tails.shape[1]))
    from_here = np.partition(tails, start, axis=1)[:, start, None]
    share = np.count_nonzero(tails >= counted_from(from_here), axis=1) / tails.shape[1]
    tails -= from_here + np.log(share)[:, None]
    tails[found.spread == 0.0] = 0.0
    return tails


def _looked_up(values: Array, factor: Array, table: Array) -> Array:
    """Interpolate a table from -FARTHEST to FARTHEST at multiples of values, (s, F)."""
    from nosplit.backend.numba.columns import look_up

    values = np.ascontiguousarray(values)
    out = np.empty(values.shape)
    look_up(values, STEPS * factor, table, -STEPS * FARTHEST, out)
    return out


@cache
def _normal_tails() -> Array:
    """-log of upper tails of the normal law in steps."""
    end = STEPS * FARTHEST
    return np.asarray(-special.log_ndtr(-np.arange(-end, end + 1) / STEPS))


def _signed_tails(reference: Statistics) -> Callable[[Statistics], Array]:
    """-log of p-values of signed statistics, (s, F), each of the direction of its own sign.

    The reference is made of columns that depend on no data, so that all columns share one table,
    and step-down stays exact. Every contrast has a table, as samples of different sizes have
    different tails, and the smallest p-value counts.
    """
    end, k, tables = STEPS * FARTHEST, reference.contrasts, []
    for part in np.split(reference.deviations, k, axis=1):
        steps = np.clip(np.rint(STEPS * part), -end, end).astype(np.int64)
        counts = np.bincount(steps.ravel("K") + end, minlength=2 * end + 1)
        upper, lower = _tail_table(counts), _tail_table(counts[::-1])
        tables.append(np.concatenate([lower[:0:-1], upper]))

    def tails(own: Statistics) -> Array:
        factors = np.split(1.0 / np.where(own.spread > 0, own.spread, 1.0), k)
        each = zip(np.split(own.tau, k, axis=1), factors, tables, strict=True)
        return np.asarray(np.max([_looked_up(tau.T, *rest) for tau, *rest in each], axis=0))

    return tails


def _tail_table(counts: Index) -> Array:
    """-log of the share of values of at least 0, 1, 2, … steps, from counts of all steps.

    Beyond the last thousandth the tail is taken as exponential.
    """
    above = np.cumsum(counts[::-1])[::-1]
    n, counts, above = above[0], counts[len(counts) // 2 :], above[len(counts) // 2 :]
    table: Array = -np.log(np.maximum(above, 1) / n)
    start = int(np.flatnonzero(above >= max(1.0, BEYOND * n))[-1])
    beyond = np.arange(len(counts) - start)
    excess = counts[start:] @ beyond / above[start]  # mean number of steps beyond the start
    table[start:] = table[start] + beyond * np.log1p(1.0 / max(excess, 1.0))
    return table
