"""Columns that are compared: picked, matched by name, of one kind, finite, present."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nosplit._text import listed
from nosplit.data.frames import NUMBER, UNKNOWN, Frame, Raw
from nosplit.data.names import without
from nosplit.errors import InputError, MissingValuesError

__all__ = [
    "check_finite_columns",
    "check_known",
    "check_present",
    "common_kind",
    "matched",
    "picked",
    "present_rows",
]


def picked(
    source: Frame, columns: tuple[str, ...] | None, exclude: tuple[str, ...] | None
) -> list[int]:
    """Positions of the columns that are asked for, in the order asked for."""
    check_known(exclude or (), (source,), "exclude")
    check_known(columns or (), (source,), "columns")
    return _positions_of(source, without(columns or source.names, exclude or ()))


def matched(
    x: Frame, y: Frame, columns: tuple[str, ...] | None, exclude: tuple[str, ...] | None
) -> tuple[list[int], list[int]]:
    """Positions of the columns to compare, matched by name; in the order of x, or as asked for."""
    if x.table != y.table:
        table, array = (x, y) if x.table else (y, x)
        raise InputError(
            f"`{x.label}` and `{y.label}` must both be tables or both arrays, but only "
            f"`{table.label}` is a table. Give `{array.label}` column names, or convert "
            f"`{table.label}` to an array."
        )
    if x.single and y.single and columns is exclude is None:
        return [0], [0]  # two series are compared whatever they are called
    left_out = set(exclude or ())
    check_known(exclude or (), (x, y), "exclude")
    if columns is not None:
        check_known(columns, (x,), "columns")
        check_known(columns, (y,), "columns")
    ours, theirs = (
        [n for n in columns or s.names if n not in left_out and n in known]
        for s, known in ((x, set(x.names)), (y, set(y.names)))
    )
    _check_same_columns(x, y, ours, theirs)
    return _positions_of(x, ours), _positions_of(y, ours)


def _positions_of(source: Frame, names: Sequence[str]) -> list[int]:
    if not names:
        raise InputError(f"`{source.label}` must keep at least one column, but all are left out.")
    where = {name: i for i, name in enumerate(source.names)}
    return [where[name] for name in names]


def check_known(names: Sequence[str], sources: Sequence[Frame], keyword: str) -> None:
    """Check that columns that are named are there, in one of the sources at least."""
    known = list(dict.fromkeys(name for source in sources for name in source.names))
    # What is left out in any case may be left out by name, too.
    index = {name for source in sources for name in source.index if keyword == "exclude"}
    there = index.union(known)
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            labels = " or ".join(f"`{s.label}`" for s in sources)
            have = "has" if len(sources) == 1 else "have"
            raise InputError(
                f"`{keyword}` must name columns of {labels}, which {have} {listed(known)}, "
                f"got {name!r}.{hint}"
            )


def _check_same_columns(x: Frame, y: Frame, ours: Sequence[str], theirs: Sequence[str]) -> None:
    lacking, besides = without(ours, theirs), without(theirs, ours)
    if not (lacking or besides):
        return
    if not x.table:
        raise InputError(
            f"`{x.label}` and `{y.label}` must have the same number of columns, got "
            f"{len(x.names)} and {len(y.names)}."
        )
    parts = [f"lacks {listed(lacking)}"] * bool(lacking)
    parts += [f"has {listed(besides)} besides"] * bool(besides)
    raise InputError(
        f"`{y.label}` must have the columns of `{x.label}`, but {' and '.join(parts)}. "
        "Say which to compare with columns=, or leave some out with exclude=."
    )


# -- kinds and values --------------------------------------------------------------------------


def common_kind(name: str, raws: Sequence[Raw], labels: Sequence[str]) -> str:
    """The kind of a column, the same in all tables; a column without values may be of any kind."""
    found = [(raw.kind, label) for raw, label in zip(raws, labels, strict=True)]
    known = [(kind, label) for kind, label in found if kind != UNKNOWN]
    if not known:
        return NUMBER
    for kind, label in known[1:]:
        if kind != known[0][0]:
            raise InputError(
                f"column {name!r} must be of one type, got {known[0][0]} in `{known[0][1]}` and "
                f"{kind} in `{label}`. Convert one of them, or leave it out with "
                f"exclude=[{name!r}]."
            )
    return known[0][0]


def check_finite_columns(raws: Sequence[Raw], names: Sequence[str], label: str) -> None:
    """Check that no number is infinite."""
    for raw, name in zip(raws, names, strict=True):
        infinite = np.isinf(raw.values)
        if infinite.any():
            first = int(np.argmax(infinite))
            raise InputError(
                f"column {name!r} of `{label}` must be finite, got {raw.values[first]} in row "
                f"{first} ({np.count_nonzero(infinite)} such values in all)."
            )


def check_present(
    samples: Sequence[Sequence[Raw]], names: Sequence[str], labels: Sequence[str], table: bool
) -> None:
    """Check that nothing is missing; name the columns and counts where something is."""
    parts = []
    for raws, label in zip(samples, labels, strict=True):
        counts = [(np.count_nonzero(np.isnan(raw.values)), raw.values.size) for raw in raws]
        some = [f"{c:,} of {n:,} in {m!r}" for (c, n), m in zip(counts, names, strict=True) if c]
        if some:
            n_more = len(some) - 5
            more = f" and {n_more} more column{'s' * (n_more > 1)}" if n_more > 0 else ""
            parts.append(f"`{label}` has {', '.join(some[:5])}{more}")
    if parts:
        kind = MissingValuesError if table else InputError
        raise kind(
            f"Values are missing: {'; '.join(parts)}. Use nan_policy='omit' to leave out those "
            "rows, or nan_policy='indicate' to compare what is missing too."
        )


def present_rows(raws: Sequence[Raw]) -> NDArray[np.bool_]:
    """Rows in which nothing is missing."""
    missing = np.zeros(len(raws[0].values), dtype=np.bool_)
    for raw in raws:
        missing |= np.isnan(raw.values)
    return ~missing
