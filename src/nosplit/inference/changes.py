"""Describe what changed in columns, pairs and distances of two samples in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from nosplit._lazy import is_tensor, special
from nosplit._text import printable
from nosplit._types import Array, Index
from nosplit.core.statistics import Statistics
from nosplit.data.encoding import Encoding, columns_in
from nosplit.data.frames import CATEGORIES, NUMBER, UNKNOWN, Frame, Raw, as_frame, native_columns
from nosplit.inference.change import (
    Change,
    Counts,
    Distance,
    change_inside_strata,
    change_of_distances,
    change_of_pair,
    change_of_samples,
    describe,
    mean_of_differences,
)
from nosplit.inference.columns import ColumnTable, PairTable, PairTest, column_rows
from nosplit.inference.effect import (
    DealtRows,
    DealtSamples,
    Separation,
    bins_of_both,
    deal_rows,
    separations_of_rows,
)
from nosplit.inference.evidence import ColumnEvidence
from nosplit.inference.rank import own_pvalues, step_down
from nosplit.kernels.orders import rank_shares

__all__ = [
    "SomeColumns",
    "describe_columns",
    "describe_distance",
    "describe_misfit",
    "describe_pairs",
]

# Columns that are read at once.
MAX_COLUMNS = 256
# Columns, pairs and distances with p-values up to here are described: levels that are asked for.
MAX_ALPHA_SHOWN = 0.1


@dataclass(frozen=True, eq=False)
class SomeColumns:
    """Columns of two tables or arrays, or of several, read when one is described.

    Attributes
    ----------
    samples : sequence
        The samples as they came; or all their rows, of which `parts` are the samples.
    parts : sequence of array of int, or None
        Rows of each sample among those of all `samples`; None if they are the samples.
    names : tuple of str
        Names of the samples.
    """

    samples: Sequence[Any]
    parts: Sequence[Index] | None = None
    names: tuple[str, ...] = ("x", "y")

    @classmethod
    def of(cls, x: Any, y: Any, names: Sequence[str]) -> SomeColumns:
        """Take some columns of two samples; no others of tensors are copied to memory."""
        if is_tensor(x) or is_tensor(y):
            places = [int(name) for name in names]
            x, y = (_some_of_array(sample, places, names) for sample in (x, y))
        return cls((x, y))

    def change(self, name: str) -> Change:
        """Describe what changed in a column."""
        raws, namer = self._read(name)
        table = Counts.of([raw.values for raw in raws], _kind(raws))
        return describe(table, namer and (lambda j: namer(float(table.values[j]))))

    def change_of_samples(self, name: str, strata: Index | None = None) -> Change:
        """Describe what changed in a column of two or more samples, maybe inside strata."""
        if len(self.names) == 2:
            return self.change(name) if strata is None else self.change_inside(name, strata)
        raws, namer = self._read(name)
        values = np.concatenate([raw.values for raw in raws])
        label = np.repeat(np.arange(len(raws)), [len(raw.values) for raw in raws])
        return change_of_samples(values, label, self.names, _kind(raws), namer, strata)

    def change_of_pairs(self, name: str) -> Change:
        """Describe paired rows: numbers by the mean of their differences."""
        raws, namer = self._read(name)
        change = self.change(name)
        words = None if namer else mean_of_differences(*(raw.values for raw in raws))
        if words is None or _kind(raws) != NUMBER:
            return change
        return replace(change, words=words, more=(), what="mean", discreet=words)

    def change_inside(self, name: str, strata: Index) -> Change:
        """Describe a column inside strata; rows of which the stratum is missing have -1."""
        raws, namer = self._read(name)
        both, kept = np.concatenate([raw.values for raw in raws]), strata >= 0
        n = int(np.count_nonzero(kept[: len(raws[0].values)]))
        sizes = n, int(np.count_nonzero(kept)) - n
        return change_inside_strata(both[kept], sizes, strata[kept], namer)

    def change_of_two(self, first: str, second: str) -> Change:
        """Describe how two columns go together."""
        both = self._read(first), self._read(second)
        if any(namer for _, namer in both):
            return change_of_pair(None)
        sides = list(zip(both[0][0], both[1][0], strict=True))
        kept = [~np.isnan(a.values) & ~np.isnan(b.values) for a, b in sides]
        sizes = [int(np.count_nonzero(own)) for own in kept]
        if min(sizes) < 2:
            return change_of_pair(None)
        parts = zip(sides, kept, strict=True)
        return change_of_pair([_dependence(a.values[k], b.values[k]) for (a, b), k in parts], sizes)

    def distance(self, pvalue: float, names: Sequence[str]) -> Distance:
        """Describe how far rows lie from the middle: by squared normal scores, added up.

        A missing number counts as the median of its column.
        """
        total: Array | None = None
        for first in range(0, len(names), MAX_COLUMNS):
            read = [self._read(name) for name in names[first : first + MAX_COLUMNS]]
            columns = [
                np.concatenate([r.values for r in raws]) for raws, namer in read if not namer
            ]
            rows = np.array([own for own in columns if not np.isnan(own).all()]).T
            if rows.size:
                if np.isnan(rows).any():
                    rows = np.where(np.isnan(rows), np.nanmedian(rows, axis=0), rows)
                squares = (special.ndtri(rank_shares(rows)) ** 2).sum(axis=1)
                total = squares if total is None else total + squares
        if total is None:
            return Distance(pvalue)
        n_rows = [len(raw.values) for raw in self._read(names[0])[0]]
        parts = np.split(np.sqrt(total), np.cumsum(n_rows)[:-1])
        if len(parts) == 2:
            return change_of_distances(pvalue, parts[0], parts[1])
        others = [np.concatenate([*parts[:k], *parts[k + 1 :]]) for k in range(len(parts))]
        gaps = [
            abs(np.log(np.median(a) / np.median(b))) for a, b in zip(parts, others, strict=True)
        ]
        k = int(np.argmax(gaps))
        found = change_of_distances(pvalue, others[k], parts[k])
        return replace(found, words=f"{self.names[k]}, against the others: {found.words}")

    @cached_property
    def _sources(self) -> list[Frame]:
        return [as_frame(sample, "sample") for sample in self.samples]

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        return [{name: i for i, name in enumerate(own.names)} for own in self._sources]

    def _read(self, name: str) -> tuple[list[Raw], Callable[[float], str] | None]:
        """Read a column of all, and the function that names its codes, if it has any."""
        both = zip(self._sources, self._places, strict=True)
        places = [0 if source.single else at[name] for source, at in both]
        raws = [s.read(i) for s, i in zip(self._sources, places, strict=True)]
        values, kind = [raw.values for raw in raws], _kind(raws)
        if self.parts is not None:
            pooled = np.concatenate(values)
            raws = [Raw(kind, pooled[part]) for part in self.parts]
        if kind not in CATEGORIES:
            return raws, None
        natives = cache(lambda side: native_columns(self.samples[side], "sample").columns)
        return raws, lambda code: _category_name(code, values, natives, places)


def _some_of_array(sample: Any, places: Sequence[int], names: Sequence[str]) -> Any:
    """Some columns of a tensor or an array, and nothing in the place of the others."""
    rows = sample if sample.ndim == 2 else sample[:, None]
    some = rows[:, list(places)]
    some = some.detach().cpu().double().numpy() if is_tensor(some) else some
    whole = np.zeros((len(some), rows.shape[1]))
    whole[:, list(places)] = some
    return whole


def _kind(raws: Sequence[Raw]) -> str:
    """The kind of a column, of which one sample may hold missing values only."""
    return next((raw.kind for raw in raws if raw.kind != UNKNOWN), NUMBER)


def _ranks(values: Array) -> Array:
    """Ranks from 1 on; equal values have the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[place])


def _dependence(first: Array, second: Array) -> float:
    """Rank correlation; 0 if a column is constant."""
    a, b = (_ranks(values) - (len(values) + 1) / 2.0 for values in (first, second))
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def _category_name(
    code: float, values: Sequence[Array], natives: Callable[[int], Any], places: Sequence[int]
) -> str:
    """A category as it is called: that of the first row that has its code."""
    for side, (codes, place) in enumerate(zip(values, places, strict=True)):
        rows = np.flatnonzero(codes == code)
        if len(rows):
            value = natives(side)[place][int(rows[0])]
            return printable(str(value) if str(value).strip() else repr(value))
    return "a category"


# -- tables of a finding ---------------------------------------------------------------------------


def describe_columns(
    names: Sequence[str],
    evidence: ColumnEvidence,
    joint: float | None,
    separations: Sequence[Separation | None],
    change: Callable[[str], Change],
) -> ColumnTable:
    """Make the table of columns, and describe those that differ or nearly so."""
    shown = (evidence.adjusted <= MAX_ALPHA_SHOWN) & (joint is None or joint <= MAX_ALPHA_SHOWN)
    changes = [change(name) if told else None for name, told in zip(names, shown, strict=True)]
    statistics = evidence.largest[0].tolist()
    rows = column_rows(names, statistics, evidence.pvalues, evidence.adjusted, changes, separations)
    return ColumnTable(rows, joint)


def describe_misfit(
    names: Sequence[str], evidence: ColumnEvidence, joint: float, model: Array, x: Array
) -> ColumnTable:
    """Make the table of columns of a sample, each beside that of a sample of the model."""
    of_x = np.arange(len(model) + len(x)) >= len(model)
    each = [[j] for j in range(x.shape[1])]
    separations = separations_of_rows(np.concatenate([model, x]), deal_rows(of_x), each)
    place = {name: j for j, name in enumerate(names)}

    def change(name: str) -> Change:
        found = describe(Counts.of([own[:, place[name]] for own in (model, x)], "numbers"))
        return replace(found, words=found.words.replace(" →", " (model) →", 1))

    return describe_columns(names, evidence, joint, separations, change)


def describe_pairs(
    names: Sequence[str],
    columns: Sequence[tuple[int, int]],
    found: Statistics | None,
    joint: float,
    some: SomeColumns,
    dealt: DealtRows | DealtSamples,
    rows: Array,
    encoding: Encoding | None,
) -> PairTable:
    """Make the table of pairs that differ or nearly so: of each pair its best statistic."""
    if found is None or joint > MAX_ALPHA_SHOWN:
        return PairTable((), joint)
    starts = np.flatnonzero(np.append(True, np.diff(found.owner)))
    scores = np.maximum.reduceat(found.normal_scores, starts, axis=1)
    groups, categorical = columns_in(encoding, rows.shape[1])
    told: dict[tuple[int, int], PairTest] = {}
    each = zip(columns, own_pvalues(scores), step_down(scores), strict=True)
    for both, p, adjusted in sorted(each, key=lambda own: float(own[2])):
        if adjusted <= MAX_ALPHA_SHOWN and both not in told:
            first, second = names[both[0]], names[both[1]]
            bins = bins_of_both(rows, [groups[j] for j in both], categorical)
            told[both] = PairTest(
                (first, second),
                float(p),
                float(adjusted),
                some.change_of_two(first, second),
                dealt.separation(*bins),
            )
    return PairTable(tuple(told.values()), joint)


def describe_distance(
    pvalue: float | None, columns: ColumnTable, some: SomeColumns
) -> Distance | None:
    """Describe distances from the middle, if they differ and no column does by itself."""
    if pvalue is None:
        return None
    far = pvalue <= MAX_ALPHA_SHOWN and not columns.differing(MAX_ALPHA_SHOWN)
    return some.distance(pvalue, columns.names) if far else Distance(pvalue)
