"""Counts and pilot rows → cells, encoding, and a check of neighbouring rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_flag
from nosplit._old.engines.reading import check_read
from nosplit._old.engines.sketching.task import Census, Pair
from nosplit._old.sketch.dealing import Layout, layout_of
from nosplit._types import Index
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import GAPS, gaps_note, read_two
from nosplit.data.frames import UNKNOWN, Frame, Raw, as_frame
from nosplit.data.matching import picked
from nosplit.data.options import Options
from nosplit.data.samples import check_as_many
from nosplit.data.series import check_rows, checked_rows
from nosplit.errors import Caveat, InputError

__all__ = ["PilotLook", "completed", "look_at", "some_of"]

# Rows of both samples, and numbers in them, up to which bins are made of all of them.
FEW_ROWS, FEW_NUMBERS = 1 << 17, 1 << 22


@dataclass(frozen=True, eq=False)
class PilotLook:
    """Findings from sizes and pilot rows: how rows are dealt to cells and become numbers.

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
    binned : array or None
        All rows of both samples where they are few, to make bins of: no swap changes them.
    caveats : list
        A warning if neighbouring rows are alike.
    """

    census: tuple[Census, Census]
    layout: Layout
    encoding: Encoding | None
    rows: NDArray[Any]
    binned: NDArray[Any] | None
    caveats: list[Caveat]


def look_at(
    pair: Pair,
    options: Options,
    cells: int,
    rng: np.random.Generator,
    shuffle: bool,
    paired: bool = False,
) -> PilotLook:
    """Count both samples, encode their pilot rows, and check neighbouring rows."""
    census = pair.census()
    for name, side in zip(pair.names, census, strict=True):
        if side.n < 2:
            raise InputError(f"`{name}` must have at least 2 rows, got {side.n}.")
    n, m = (side.n for side in census)
    if paired:
        check_as_many(n, m)
    shuffle = check_flag(shuffle, "shuffle")
    layout = layout_of(n, m, cells, rng, shuffle=shuffle, paired=paired)
    neighbours = np.asarray(checked_rows(n)), np.asarray(checked_rows(m))
    pilot, checked = _brought(pair, _pilots(layout), neighbours)
    encoding, rows = _encoded_pilot(pilot, layout, pair.names, options, census)
    x, y = (_as_numbers(source, encoding) for source in checked)
    # Pairs may share what varies in time: swaps need their differences to be independent.
    caveats = check_rows(x - y) if paired else check_rows(x, y)
    few = n + m <= FEW_ROWS and (n + m) * rows.shape[1] <= FEW_NUMBERS
    binned = _all_rows(pair, census, encoding) if few else None
    return PilotLook(census, layout, encoding, rows, binned, caveats)


def _all_rows(pair: Pair, census: tuple[Census, Census], encoding: Encoding | None) -> NDArray[Any]:
    """All rows of both samples as numbers."""
    (sources,) = _brought(pair, (np.arange(census[0].n), np.arange(census[1].n)))
    return np.concatenate([_as_numbers(source, encoding) for source in sources])


def _pilots(layout: Layout) -> tuple[Index, Index]:
    return layout.x.pilot_rows(), layout.y.pilot_rows()


def _brought(pair: Pair, *groups: tuple[Index, ...]) -> list[list[Frame]]:
    """Several groups of rows, each of both samples, brought at once."""
    x, y = (reduce(np.union1d, side) for side in zip(*groups, strict=True))
    found = zip(pair.pilot(x, y), pair.names, (x, y), strict=True)
    sources = [(_as_frame(rows, name), wanted) for rows, name, wanted in found]
    return [
        [some_of(s, np.searchsorted(w, r)) for (s, w), r in zip(sources, rows, strict=True)]
        for rows in groups
    ]


def _as_frame(rows: Any, name: str) -> Frame:
    return rows if isinstance(rows, Frame) else as_frame(rows, name)


def some_of(source: Frame, places: Index) -> Frame:
    """Some rows of a source."""

    def read(i: int) -> Raw:
        raw = source.read(i)
        values = raw.values[places]
        # As for columns of Arrow: without a value, the type says nothing.
        unknown = source.table and bool(np.isnan(values).all())
        return Raw(UNKNOWN if unknown else raw.kind, values)

    return replace(source, n_rows=len(places), read=read)


def _as_numbers(source: Frame, encoding: Encoding | None) -> NDArray[Any]:
    """Rows of a source as numbers, not checked."""
    if encoding is None:
        columns = [source.read(i).values for i in range(len(source.names))]
        return np.stack(columns, axis=1)
    places = [0] if source.single else picked(source, encoding.names, None)
    raws = [source.read(i) for i in places]
    return encoding.rows_of(raws, np.ones(source.n_rows, np.bool_))


def _encoded_pilot(
    pilot: list[Frame],
    layout: Layout,
    names: tuple[str, str],
    options: Options,
    census: tuple[Census, Census],
) -> tuple[Encoding | None, NDArray[Any]]:
    """Fit the encoding; and the pilot rows of both samples as numbers."""
    if options.idle and not any(source.table for source in pilot):
        rows = [_as_numbers(source, None) for source in pilot]
        _check_pilot_widths(names, rows)
        for part, deal, name in zip(rows, (layout.x, layout.y), names, strict=True):
            check_read(part, name, deal.pilot_rows())
        return None, np.concatenate(rows)
    try:
        read = read_two(pilot, options)
    except InputError as error:
        count = sum(source.n_rows for source in pilot)
        text = f"{error} (Looking at {count:,} rows from all over them.)"
        raise type(error)(text) from None
    encoding = completed(read.encoding(), census)
    return encoding, np.concatenate(read.rows(encoding))


def _check_pilot_widths(names: tuple[str, str], rows: list[NDArray[Any]]) -> None:
    if rows[0].shape[1] != rows[1].shape[1]:
        raise InputError(
            f"`{names[0]}` and `{names[1]}` must have the same number of columns, got "
            f"{rows[0].shape[1]} and {rows[1].shape[1]}."
        )


def completed(encoding: Encoding, census: Sequence[Census]) -> Encoding:
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
