"""The test by sketches of two samples, wherever they lie: the steps that all engines share.

Sizes → cells → pilot rows → encoding, kernels and plan → map → sums by cell → result. An engine
counts the rows, brings the pilot rows, and sums the others where they are; the sums are integers,
so that they are the same in whatever parts and order they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_flag
from nosplit._support.types import Index
from nosplit.data.matching import picked
from nosplit.data.options import Options
from nosplit.data.samples import check_as_many
from nosplit.data.serial import correlated_rows, serial_rows
from nosplit.data.tables.encoding import Encoding
from nosplit.data.tables.fit_encoding import GAPS, gaps_note, read_two
from nosplit.data.tables.frames import UNKNOWN, Frame, Raw, as_frame
from nosplit.designs.two_sample import DesignLabels
from nosplit.engines.reading import Reader, check_read
from nosplit.engines.verdict import sketch_result
from nosplit.errors import InputError, NonFiniteError
from nosplit.inference.calibrations import Exact
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import sizes_of
from nosplit.inference.planning.plan import Plan
from nosplit.inference.result import TestResult
from nosplit.kernels.defaults.recipes import Kernels, as_recipe
from nosplit.methods import Method
from nosplit.pairs.pairing import Sketch
from nosplit.sketch.cells import See, Sketched
from nosplit.sketch.dealing import Layout, block_length, layout_of
from nosplit.sketch.maps import SketchMap, fit_map
from nosplit.sketch.sums import CellSums

__all__ = [
    "ROWS",
    "Asked",
    "Census",
    "KnowsOrder",
    "Pair",
    "PilotLook",
    "Prepared",
    "Sees",
    "SketchTask",
    "look_at",
    "prepare_sketch",
    "sketch_pair",
    "sketch_test",
]

# Rows that become numbers at once.
ROWS = 1 << 14
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Census:
    """What was counted in a sample before any of it was looked at.

    Attributes
    ----------
    n : int
        Rows, without those left out.
    left_out : int
        Rows left out because something in them is missing.
    missing : mapping of str to int
        How many values of each column are missing, where that is to be compared.
    """

    n: int
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SketchTask:
    """What is done with rows wherever they are: they become numbers, and are added to their cells.

    Attributes
    ----------
    names : pair of str
        What the samples are called in messages.
    reader : Reader
        How rows become numbers.
    map : SketchMap
        How these become the numbers that cells sum.
    layout : Layout
        Which row is in which cell.
    """

    names: tuple[str, str]
    reader: Reader
    map: SketchMap
    layout: Layout

    def empty(self, side: int) -> CellSums:
        """The sketch of no rows of a sample."""
        return CellSums.empty(self.map, self.deal(side).cells)

    def deal(self, side: int) -> Any:
        """The cells of a sample: 0 for x, 1 for y."""
        return (self.layout.x, self.layout.y)[side]

    def add(self, sums: CellSums, side: int, rows: Any, first: int) -> None:
        """Add rows of a sample, of which the first has the number `first`."""
        for start in range(0, len(rows), ROWS):
            self._add(sums, side, _part(rows, start, start + ROWS), first + start)

    def _add(self, sums: CellSums, side: int, rows: Any, first: int) -> None:
        numbers = self.reader(rows, self.names[side], first)
        cells = self.deal(side).cell_of(first, len(numbers))
        try:
            sums.add(self.map, numbers, cells)
        except NonFiniteError:
            self.reader.blame(rows, self.names[side], first)
            raise


def _part(rows: Any, start: int, stop: int) -> Any:
    """Some rows of an array, a data frame of pandas or a table of Arrow."""
    if hasattr(rows, "iloc"):
        return rows.iloc[start:stop]
    return rows[start:stop] if isinstance(rows, np.ndarray) else rows.slice(start, stop - start)


class Pair(Protocol):
    """Two samples that lie somewhere."""

    @property
    def names(self) -> tuple[str, str]:
        """What they are called in messages."""
        ...

    def census(self) -> tuple[Census, Census]:
        """Count them."""
        ...

    def pilot(self, x: Index, y: Index) -> tuple[Any, Any]:
        """Rows of given numbers, ascending, of both: tables, arrays or `Frame`."""
        ...

    def sums(self, task: SketchTask) -> tuple[CellSums, CellSums]:
        """The sketches of both."""
        ...


@runtime_checkable
class KnowsOrder(Protocol):
    """Two samples that can be asked whether their rows depend on one another."""

    def lag(self) -> int | None:
        """Up to which lag they do; 0: they do not; None: they are to be looked at."""
        ...


@runtime_checkable
class Sees(Protocol):
    """Two samples whose cells are looked at somewhere else than in memory."""

    @property
    def see(self) -> See | None:
        """Finds statistics under all draws; None: in memory."""
        ...


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked for: keywords of `two_sample_test`, of which `pairing` is a sketch."""

    options: Options
    kernels: Kernels
    method: Method | None
    pairing: Sketch
    calibration: Exact | str
    budget: float
    shuffle: bool = True
    paired: bool = False
    labels: DesignLabels = field(default_factory=DesignLabels)


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is known before the rows are summed."""

    census: tuple[Census, Census]
    plan: Plan
    task: SketchTask
    lag: int

    @property
    def n_rows(self) -> int:
        """All rows, those left out included."""
        return sum(side.n + side.left_out for side in self.census)


@dataclass(frozen=True, eq=False)
class PilotLook:
    """What sizes and some rows tell: how rows are dealt to cells, and become numbers.

    Attributes
    ----------
    census : pair of Census
        What was counted.
    layout : Layout
        The cells.
    encoding : Encoding or None
        How rows become numbers; None for arrays as they came.
    rows : array
        The pilot rows of both samples, as numbers.
    lag : int
        Up to which lag rows depend on one another; 0: they do not.
    """

    census: tuple[Census, Census]
    layout: Layout
    encoding: Encoding | None
    rows: NDArray[Any]
    lag: int


def look_at(
    pair: Pair,
    options: Options,
    cells: int,
    rng: np.random.Generator,
    shuffle: bool,
    paired: bool = False,
) -> PilotLook:
    """Count both samples, and look at their pilot rows and at how alike neighbours are.

    Where rows depend on those before them, blocks of rows are dealt whole, and there are other
    pilot rows.
    """
    census = pair.census()
    for name, side in zip(pair.names, census, strict=True):
        if side.n < 2:
            raise InputError(f"`{name}` must have at least 2 rows, got {side.n}.")
    n, m = (side.n for side in census)
    if paired:
        check_as_many(n, m)
    shuffle = check_flag(shuffle, "shuffle")
    layout = layout_of(n, m, cells, rng, shuffle=shuffle, paired=paired)
    known = pair.lag() if shuffle and isinstance(pair, KnowsOrder) else None
    looks = shuffle and known is None
    in_order = tuple(serial_rows(side.n) if looks else _NONE for side in census)
    pilot, series = _read(pair, (layout.x.pilot_rows(), layout.y.pilot_rows()), in_order)
    encoding, rows = _encoded(pilot, layout, pair.names, options, census)
    lag = known or 0
    if looks:
        lags = zip(series, census, strict=True)
        lag = max(correlated_rows(_numbers(source, encoding), side.n) for source, side in lags)
    block = block_length(lag, min(n, m))
    if block > 1:
        layout = layout_of(n, m, cells, rng, shuffle=shuffle, block=block, paired=paired)
        pilot, _ = _read(pair, (layout.x.pilot_rows(), layout.y.pilot_rows()), (_NONE, _NONE))
        encoding, rows = _encoded(pilot, layout, pair.names, options, census)
    return PilotLook(census, layout, encoding, rows, lag)


def _read(
    pair: Pair, pilot: tuple[Index, ...], series: tuple[Index, ...]
) -> tuple[list[Frame], list[Frame]]:
    """Pilot rows and rows in their order, of both samples, brought at once."""
    wanted = [np.union1d(a, b) for a, b in zip(pilot, series, strict=True)]
    found = pair.pilot(wanted[0], wanted[1])
    sources = [_as_frame(rows, name) for rows, name in zip(found, pair.names, strict=True)]
    both = list(zip(sources, wanted, strict=True))
    return (
        [_some(s, np.searchsorted(w, r)) for (s, w), r in zip(both, pilot, strict=True)],
        [_some(s, np.searchsorted(w, r)) for (s, w), r in zip(both, series, strict=True)],
    )


def _as_frame(rows: Any, name: str) -> Frame:
    return rows if isinstance(rows, Frame) else as_frame(rows, name)


def _some(source: Frame, places: Index) -> Frame:
    """Some rows of a source."""

    def read(i: int) -> Raw:
        raw = source.read(i)
        values = raw.values[places]
        # As for columns of Arrow: without a value, the type says nothing.
        unknown = source.table and bool(np.isnan(values).all())
        return Raw(UNKNOWN if unknown else raw.kind, values)

    return replace(source, n_rows=len(places), read=read)


def _numbers(source: Frame, encoding: Encoding | None) -> NDArray[Any]:
    """Rows of a source as numbers, not checked."""
    if encoding is None:
        columns = [source.read(i).values for i in range(len(source.names))]
        return np.stack(columns, axis=1)
    places = [0] if source.single else picked(source, encoding.names, None)
    raws = [source.read(i) for i in places]
    return encoding.rows_of(raws, np.ones(source.n_rows, np.bool_))


def prepare_sketch(pair: Pair, asked: Asked, rng: np.random.Generator) -> Prepared:
    """Cells, encoding, kernels, plan and map, from the sizes and the pilot rows."""
    look = look_at(
        pair, asked.options, asked.pairing.cells, rng, asked.shuffle, paired=asked.paired
    )
    encoding, layout = look.encoding, look.layout
    recipe = as_recipe(asked.kernels) if encoding is None else encoding.recipe(asked.kernels)
    plan = choose(
        sizes_of(layout.x.n, layout.y.n, look.rows.shape[1], recipe),
        pairs=asked.pairing,
        calibration=asked.calibration,
        method=asked.method,
        budget=asked.budget,
    )
    assert isinstance(plan.pairing, Sketch)
    sketch = fit_map(
        look.rows,
        recipe.of_rare(look.rows),
        categorical=() if encoding is None else encoding.categorical,
        frequencies=plan.pairing.frequencies or 64,
        cells=layout.n_cells,
        key=int(rng.integers(2**63)),
    )
    return Prepared(
        look.census, plan, SketchTask(pair.names, Reader(encoding), sketch, layout), look.lag
    )


def _encoded(
    pilot: list[Frame],
    layout: Layout,
    names: tuple[str, str],
    options: Options,
    census: tuple[Census, Census],
) -> tuple[Encoding | None, NDArray[Any]]:
    """How rows become numbers, and the pilot rows of both samples as numbers."""
    if options.idle and not any(source.table for source in pilot):
        rows = [_numbers(source, None) for source in pilot]
        _check_widths(names, rows)
        for part, deal, name in zip(rows, (layout.x, layout.y), names, strict=True):
            check_read(part, name, deal.pilot_rows())
        return None, np.concatenate(rows)
    try:
        read = read_two(pilot, options)
    except InputError as error:
        count = sum(source.n_rows for source in pilot)
        text = f"{error} (Looking at {count:,} rows from all over them.)"
        raise type(error)(text) from None
    encoding = _completed(read.encoding(), census)
    return encoding, np.concatenate(read.rows(encoding))


def _check_widths(names: tuple[str, str], rows: list[NDArray[Any]]) -> None:
    if rows[0].shape[1] != rows[1].shape[1]:
        raise InputError(
            f"`{names[0]}` and `{names[1]}` must have the same number of columns, got "
            f"{rows[0].shape[1]} and {rows[1].shape[1]}."
        )


def _completed(encoding: Encoding, census: tuple[Census, Census]) -> Encoding:
    """An encoding of pilot rows, with what is known of all rows: where values are missing."""
    total = sum(side.n for side in census)
    # Columns that are all alike in the pilot may differ elsewhere: if all are, none is passed over.
    idle = encoding.idle
    columns = []
    for column in encoding.columns:
        missing = sum(side.missing.get(column.name, 0) for side in census)
        columns.append(
            replace(
                column,
                indicated=not column.categorical and 2 <= missing <= total - 2,
                idle=column.idle and not idle,
            )
        )
    gaps = {name for side in census for name, count in side.missing.items() if count}
    notes = [note for note in encoding.notes if not note.startswith(GAPS)]
    notes += gaps_note([name for name in encoding.names if name in gaps])
    return replace(encoding, columns=tuple(columns), notes=tuple(notes))


def sketch_pair(pair: Pair, prepared: Prepared) -> Sketched:
    """The sketches of both samples."""
    x, y = pair.sums(prepared.task)
    layout = prepared.task.layout
    see = pair.see if isinstance(pair, Sees) else None
    return Sketched(prepared.task.map, x, y, layout.c, prepared.lag, layout.x.block, see)


def sketch_test(
    pair: Pair,
    asked: Asked,
    *,
    rng: np.random.Generator,
    workers: int | None = None,
) -> TestResult:
    """Test two samples by their sketches, wherever they lie.

    Parameters
    ----------
    pair : Pair
        The samples.
    asked : Asked
        What is asked for.
    rng : Generator
        Source of the dealing, the frequencies and the draws, in this order.
    workers : int, optional
        Threads of the draws; all cores by default.
    """
    prepared = prepare_sketch(pair, asked, rng)
    return sketch_result(
        sketch_pair(pair, prepared),
        method=asked.method,
        flips=prepared.plan.flips,
        rng=rng,
        n_rows=prepared.n_rows,
        encoding=prepared.task.reader.encoding,
        workers=workers,
        default=asked.kernels is None,
    )
