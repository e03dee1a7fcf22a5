"""Profiles in files, and back, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int
from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.saved.bundles import check_version, read_bundle, write_bundle
from nosplit._old.sketch.saved.plain import ARRAYS, LARGEST_SCORE, map_from_plain, map_to_plain
from nosplit._old.sketch.saved.profiles import Profile
from nosplit._old.sketch.saved.tiers import LARGEST_CELL, MOST_CELLS, Tiers
from nosplit._old.sketch.sums import CellSums
from nosplit.core.feature_map import STEP
from nosplit.errors import FileError, InputError

__all__ = ["read_profile", "write_profile"]

FORMAT, VERSION = "nosplit profile", 5
COUNTS = ("n_rows", "n_pilot", "n_left_out")
SUMS = ("wave_sums", "coordinate_sums", "pair_sums", "bin_counts")
# Steps that a wave may be above its amplitude, by rounding.
ROUNDED = 64
# Sizes of cells, and samples that are put together.
MOST_TIERS, MOST_PARTS = 16, 1_000_000


def write_profile(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Write a profile in place of what was there."""
    values, arrays = map_to_plain(profile.map)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "reveals": profile.reveals,
        "made": profile.made,
        **{name: getattr(profile, name) for name in COUNTS},
        "cell_rows": profile.cell_rows,
        "counts": list(profile.tiers.counts),
        "parts": list(profile.parts),
        "ignored": list(profile.ignored),
        "dtype": profile.dtype,
        "encoding": None if profile.encoding is None else profile.encoding.to_dict(),
        "map": values,
    }
    ends = np.cumsum([width for width, _ in _numbers_of_cells(profile.map)])[:-1]
    features = np.split(profile.cells.features, ends, axis=1)
    small = [_small(part, ("<i2", "<i4", "<i8")) for part in features]
    counts = _small(profile.cells.bins, ("|u1", "<u2", "<u4"))
    write_bundle(path, header, {**arrays, **dict(zip(SUMS, [*small, counts], strict=True))})


def _numbers_of_cells(sketch: SketchMap) -> list[tuple[int, int]]:
    """Numbers of waves, coordinates and pairs of a cell, and the most that a row adds to each."""
    from nosplit.backend.numba.sketch import FAR

    return [
        (2 * sketch.n_waves, STEP + ROUNDED),
        (len(sketch.coordinates), int(FAR) * STEP + 1),
        (4 * len(sketch.products), int(LARGEST_SCORE**2 * STEP) + 1),
    ]


def _small(values: NDArray[Any], kinds: tuple[str, ...]) -> NDArray[Any]:
    """Integers in the smallest type that holds them."""
    low, high = values.min(initial=0), values.max(initial=0)
    kind = next(k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    return values.astype(kind)


def read_profile(path: str | os.PathLike[str], encoding: Callable[[Any], Any]) -> Profile:
    """The profile in a file, once it is known to be one that could have come about.

    Parameters
    ----------
    path : path-like
        The file.
    encoding : callable
        Makes an encoding of what its `to_dict` wrote.
    """
    header, arrays = read_bundle(path)
    if header.get("format") != FORMAT:
        raise FileError(f"`{path}` is not a profile: its header is another.")
    check_version(path, header.get("version"), VERSION)
    try:
        return _profile_from(header, arrays, encoding)
    except (InputError, RecursionError, OverflowError) as error:
        raise FileError(f"`{path}` is damaged: {error}") from error


def _profile_from(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoding: Callable[[Any], Any]
) -> Profile:
    if set(arrays) != {*ARRAYS, *SUMS}:
        raise InputError("`arrays` must be those of a profile.")
    sketch = map_from_plain(header.get("map"), arrays)
    encoded = header.get("encoding")
    made = None if encoded is None else encoding(encoded)
    _check_encoding(made, sketch, header.get("dtype"))
    tiers = _tiers(header)
    counts = {name: check_int(header.get(name, -1), name, least=0) for name in COUNTS}
    if tiers.n_rows + counts["n_pilot"] > counts["n_rows"]:
        raise InputError(f"`n_rows` must be those of all cells, got {counts['n_rows']}.")
    return Profile(
        sketch,
        made,
        tiers,
        _cell_sums(sketch, tiers, arrays),
        **counts,
        made=_checked_date(header.get("made")),
        parts=_texts(header.get("parts"), "parts"),
        ignored=_texts(header.get("ignored"), "ignored"),
        dtype=header.get("dtype"),
    )


def _check_encoding(encoding: Any, sketch: SketchMap, dtype: Any) -> None:
    """Check that encoded rows are what the map takes."""
    if encoding is None:
        fits = dtype in ("float32", "float64") and not any(b.categories for b in sketch.bins)
    else:
        found = tuple(j for j, bins in enumerate(sketch.bins) if bins.categories)
        fits = dtype is None and (encoding.width, encoding.categorical) == (sketch.p, found)
    if not fits:
        raise InputError("`encoding` must make the rows that the map takes.")


def _tiers(header: Mapping[str, Any]) -> Tiers:
    counts = header.get("counts")
    if not isinstance(counts, list) or not 1 <= len(counts) <= MOST_TIERS:
        raise InputError("`counts` must be numbers of cells.")
    checked = tuple(check_int(count, "counts", least=0) for count in counts)
    if max(checked) > MOST_CELLS or checked[0] < 1:
        raise InputError(f"`counts` must be from 1 to {MOST_CELLS}.")
    c = check_int(header.get("cell_rows", 0), "cell_rows", least=1)
    tiers = Tiers(c, checked)
    if tiers.sizes[-1] > LARGEST_CELL:
        raise InputError(f"cells must be of at most {LARGEST_CELL} rows.")
    return tiers


def _cell_sums(sketch: SketchMap, tiers: Tiers, arrays: Mapping[str, NDArray[Any]]) -> CellSums:
    """Sums that cells of so many rows can have."""
    *parts, bins = (arrays[name] for name in SUMS)
    widths = _numbers_of_cells(sketch)
    shapes = [(tiers.n_cells, width) for width, _ in widths] + [(tiers.n_cells, sketch.n_bins)]
    if [part.shape for part in (*parts, bins)] != shapes:
        raise InputError(f"sums must be of shapes {shapes}.")
    if any(part.dtype.kind == "f" for part in (*parts, bins)):
        raise InputError("sums must be integers.")
    rows = np.repeat(tiers.sizes, tiers.counts)
    for part, (_, step) in zip(parts, widths, strict=True):
        most = np.minimum(rows.astype(np.float64) * step, 2.0**62)
        if part.size and np.any(np.abs(part.astype(np.float64)) > most[:, None]):
            raise InputError("sums must be those of so many rows, got larger ones.")
    counts = bins.astype(np.int64)
    starts = sketch.edges.starts
    if counts.min(initial=0) < 0 or np.any(
        np.add.reduceat(counts, starts, axis=1) != rows[:, None]
    ):
        raise InputError("`bin_counts` must count every row of a cell once.")
    features = np.concatenate(parts, axis=1, dtype=np.int64)
    return CellSums(features, bins.astype(np.int32))


def _checked_date(value: Any) -> str:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InputError("`made` must be an ISO date.") from error
    return str(value)


def _texts(value: Any, name: str) -> tuple[str, ...]:
    fits = isinstance(value, list) and len(value) <= MOST_PARTS
    if not fits or not all(isinstance(text, str) for text in value):
        raise InputError(f"`{name}` must be texts.")
    return tuple(value)
