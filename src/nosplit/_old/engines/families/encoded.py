"""Variables of tables as numbers, by what their pilot rows show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._old.engines.sketching.pilot import completed, some_of
from nosplit._old.engines.sketching.task import Census
from nosplit._types import Index
from nosplit.data.encoding import Encoding, Mask
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import Frame, as_frame
from nosplit.data.matching import picked
from nosplit.data.options import Options
from nosplit.data.variables import Variable, own_options
from nosplit.errors import InputError

__all__ = ["by_pilot", "check_pilot_varies", "fit_variable", "gaps_in"]


def fit_variable(pilot: Frame, options: Options, census: Census) -> Encoding:
    """Fit the encoding of a variable to pilot rows and to the counts of all rows."""
    return completed(read_one(pilot, options).encoding(), (census,))


def gaps_in(raws: Sequence[Any], names: Sequence[str]) -> dict[str, int]:
    """Number of missing values in each column."""
    counts = (int(np.count_nonzero(np.isnan(raw.values))) for raw in raws)
    return dict(zip(names, counts, strict=True))


def by_pilot(
    given: Sequence[Any], variables: Sequence[Variable], kept: Mask, options: Options
) -> Callable[[Index], tuple[Variable, Variable]]:
    """The function that encodes variables in memory by their pilot rows, as those of files are.

    Parameters
    ----------
    given : pair
        The variables as they came.
    variables : pair of Variable
        The same as numbers, by all of their rows.
    kept : array of bool
        Which rows are not left out.
    options : Options
        What to do with the columns.
    """

    def encoded(pilot: Index) -> tuple[Variable, Variable]:
        rows = np.flatnonzero(kept)
        both = [
            variable
            if variable.encoding is None
            else _encoded_variable(as_frame(value, name), kept, rows[pilot], options)
            for value, variable, name in zip(given, variables, "xy", strict=True)
        ]
        for variable, name in zip(both, "xy", strict=True):
            check_pilot_varies(variable.some(pilot), name)
        return both[0], both[1]

    return encoded


def _encoded_variable(frame: Frame, kept: Mask, pilot: Index, options: Options) -> Variable:
    own = own_options(options, frame)
    places = picked(frame, own.columns, own.exclude)
    raws = [frame.read(i) for i in places]
    known = [replace(raw, values=raw.values[kept]) for raw in raws]
    gaps = gaps_in(known, [frame.names[i] for i in places])
    missing = gaps if own.nan_policy == "indicate" else {}
    census = Census(int(np.count_nonzero(kept)), 0, missing)
    encoding = fit_variable(some_of(frame, pilot), own, census)
    return Variable(encoding.rows_of(raws, kept), encoding.parts, encoding)


def check_pilot_varies(pilot: Variable, name: str) -> None:
    """Check that there is something to compare."""
    if np.all(pilot.rows == pilot.rows[0]):
        raise InputError(f"`{name}` is constant in all of {len(pilot.rows):,} rows looked at.")
