"""Profiles: what is kept of a reference, to compare new samples with, without its rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from nosplit._old.sketch.maps import SketchMap
from nosplit._old.sketch.saved.plain import digest_of, map_to_plain
from nosplit._old.sketch.saved.tiers import FEWEST_CELLS, MOST_CELLS, Tiers, merge_tiers
from nosplit._old.sketch.sums import CellSums
from nosplit._text import indented, listed, printable
from nosplit.errors import InputError

__all__ = ["Profile", "best_level"]

# Cells of a new sample, and of both, below which those of a smaller size are taken if there are
# any: pairs of rows in the same cell are not seen, and it takes cells to know how they vary.
ENOUGH_CELLS, ENOUGH_IN_ALL = 125, 1000
# A size of cells is as good as the best one if so much of what can be seen is seen with it.
AS_GOOD = 0.98


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """A reference sample as sums over its rows; made by `nosplit.profile`.

    It holds the recipe of a map from rows to numbers, and sums of these numbers over cells of at
    least `cell_rows` rows each. It holds no row. Either sample of `two_sample_test` may be a
    profile; those of the same recipe add up with `+` and `+=`.

    Attributes
    ----------
    n_rows : int
        Rows of the reference that could be used.
    n_pilot : int
        Those of them that the recipe was made of; they are in no cell.
    n_left_out : int
        Rows left out because something was missing.
    made : str
        When it was made, as an ISO date.
    parts : tuple of str
        Fingerprints of the samples it was made of, so that none is counted twice.
    ignored : tuple of str
        Columns of the reference that were left out on purpose.
    dtype : str or None
        Precision of the numbers of an array; None for tables.
    """

    map: SketchMap
    encoding: Any
    tiers: Tiers
    cells: CellSums
    n_rows: int
    n_pilot: int
    n_left_out: int
    made: str
    parts: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    dtype: str | None = None

    # -- what is in it -----------------------------------------------------------------------

    @property
    def cell_rows(self) -> int:
        """Rows of the smallest cells."""
        return self.tiers.c

    @property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """Rows of a cell and number of cells, for each size there is."""
        return self.tiers.levels

    @property
    def fewest_rows(self) -> int:
        """Rows that a new sample must have."""
        return FEWEST_CELLS * self.cell_rows

    @property
    def kernels(self) -> tuple[Any, ...]:
        """The base kernels."""
        return self.map.kernels

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; their positions for arrays."""
        if self.encoding is not None:
            return tuple(self.encoding.names)
        return tuple(str(j) for j in range(self.map.p))

    @cached_property
    def recipe(self) -> str:
        """A short name of the map: profiles with the same one can be added, and compared."""
        values, arrays = map_to_plain(self.map)
        encoding = None if self.encoding is None else self.encoding.to_dict()
        return digest_of({**values, "encoding": encoding, "dtype": self.dtype}, arrays)

    def level(self, number: int) -> CellSums:
        """All cells of one of the `levels`."""
        return self.tiers.level(self.cells, number)

    # -- adding and saving -------------------------------------------------------------------

    def __add__(self, other: Profile) -> Profile:
        if not isinstance(other, Profile):
            return NotImplemented
        check_alike(self, other, "added")
        share = self.n_rows / (self.n_rows + other.n_rows)
        tiers, cells = merge_tiers((self.tiers, self.cells), (other.tiers, other.cells), share)
        return replace(
            self,
            tiers=tiers,
            cells=cells,
            n_rows=self.n_rows + other.n_rows,
            n_pilot=self.n_pilot + other.n_pilot,
            n_left_out=self.n_left_out + other.n_left_out,
            made=max(self.made, other.made),
            parts=self.parts + other.parts,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, in place of what was there; `nosplit.load` reads it."""
        from nosplit._old.sketch.saved.profile_files import (
            write_profile,  # it knows what a profile is
        )

        write_profile(self, path)

    # -- text --------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """The number of rows, and the day on which it was made, in words."""
        several = f" in {len(self.parts):,} parts" * (len(self.parts) > 1)
        return f"a profile of {self.n_rows:,} rows made {self.made[:10]}{several}"

    @property
    def reveals(self) -> str:
        """Say what the profile tells about the reference."""
        return (
            f"sums over {self.cell_rows:,} rows or more; and of the pilot rows, which are in no "
            "sum: median, spread and quantiles of columns of numbers, values that many of them "
            "share, codes of frequent categories, and the median distance between rows. Names of "
            "columns, and a fingerprint of the data as a whole. No row."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: what it is, without the sums."""
        return {
            "n_rows": self.n_rows,
            "n_pilot": self.n_pilot,
            "n_left_out": self.n_left_out,
            "n_parts": len(self.parts),
            "made": self.made,
            "columns": list(self.columns),
            "kernels": [str(kernel) for kernel in self.kernels],
            "frequencies": self.map.frequencies,
            "cell_rows": self.cell_rows,
            "levels": [list(level) for level in self.levels],
            "fewest_rows": self.fewest_rows,
            "recipe": self.recipe,
            "reveals": self.reveals,
        }

    def __repr__(self) -> str:
        return f"Profile(n_rows={self.n_rows}, cell_rows={self.cell_rows}, made={self.made!r})"

    def __str__(self) -> str:
        cells = ", ".join(f"{count:,} of {size:,} rows" for size, count in self.levels)
        names = printable(listed(self.columns))
        left_out = f", {self.n_left_out:,} with missing values left out" * bool(self.n_left_out)
        return "\n".join(
            [
                f"{self.summary[0].upper()}{self.summary[1:]}{left_out}.",
                indented("  columns    ", f"{len(self.columns):,}: {names}"),
                indented("  cells      ", cells),
                f"  serves     new samples of {self.fewest_rows:,} rows or more",
                f"  kernels    {len(self.kernels)}, {self.map.frequencies} frequencies each",
                indented("  reveals    ", self.reveals),
            ]
        )


def check_alike(ours: Profile, theirs: Profile, done: str) -> None:
    """Check that two profiles have the same recipe and no rows in common."""
    if ours.recipe != theirs.recipe or ours.cell_rows != theirs.cell_rows:
        raise InputError(
            f"Profiles must have the same recipe to be {done}, got {_say_difference(ours, theirs)}."
            " Make one from the rows of the other part: nosplit.profile(rows, like=profile)."
        )
    if set(ours.parts) & set(theirs.parts):
        raise InputError(f"Profiles must be of different rows to be {done}, got the same twice.")


def _say_difference(ours: Profile, theirs: Profile) -> str:
    """Say what is different about two recipes."""
    if ours.columns != theirs.columns:
        return f"columns {listed(ours.columns)} and {listed(theirs.columns)}"
    if ours.cell_rows != theirs.cell_rows:
        return f"cells of {ours.cell_rows:,} and of {theirs.cell_rows:,} rows"
    return "maps that were made of different rows"


def best_level(levels: tuple[tuple[int, int], ...], n: int) -> tuple[int, int]:
    """The level with which a new sample of n rows is compared, and how many cells it then has.

    The difference of two means is known as well as that of ab/(a + b) cells of either sample, and
    pairs of rows inside one cell are not seen. Large cells leave little of the reference unused,
    and few cells make the draws cheap: of levels that are about as good, the one with the largest.
    """
    found = []
    for number, (size, b) in enumerate(levels):
        a = min(n // size, MOST_CELLS)
        if number == 0 or (a >= ENOUGH_CELLS and a + b >= ENOUGH_IN_ALL):
            found.append(((1.0 - 1.0 / max(min(a, b), 1)) * size * a * b / (a + b), number, a))
    best = max(score for score, _, _ in found)
    return next((number, a) for score, number, a in found[::-1] if score >= AS_GOOD * best)
