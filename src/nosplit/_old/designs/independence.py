"""Units of observations inside strata, for independence given a discrete variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._text import listed
from nosplit._types import Index
from nosplit.data.labels import RowLabels
from nosplit.errors import InputError
from nosplit.inference.questions import Exchanged

__all__ = ["StrataUnits", "units_in_strata"]


@dataclass(frozen=True, eq=False)
class StrataUnits:
    """Observations in an order in which units follow one another, each of one stratum.

    Attributes
    ----------
    rows : array of int
        The observations that are in units, unit by unit.
    starts : array of int, shape (N + 1,)
        Where each unit begins.
    strata : array of int, shape (S + 1,)
        Where each stratum begins.
    said : Exchanged
        What is exchanged under the null hypothesis.
    """

    rows: Index
    starts: Index
    strata: Index
    said: Exchanged

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.starts) - 1

    def alike(self, unit_size: int, rng: np.random.Generator) -> tuple[Index, int]:
        """Observations in units of one size and in random order, for sketches; and that size.

        The size is the one, up to `unit_size`, that loses the least: a unit of q observations
        shows q - 1 of them, and what does not fill a unit is left over.
        """
        sizes = np.diff(self.strata)
        worth = [int(np.sum(sizes // q)) * (q - 1) for q in range(2, unit_size + 1)]
        q = 2 + int(np.argmax(worth))
        place = np.arange(len(self.rows)) - np.repeat(self.strata[:-1], sizes)
        kept = place < np.repeat(sizes // q * q, sizes)
        units = self.rows[kept].reshape(-1, q)
        return units[rng.permutation(len(units))].ravel(), q


def units_in_strata(
    strata: RowLabels, unit_size: int, rng: np.random.Generator | None
) -> StrataUnits:
    """Cut the observations of every stratum into units of about so many.

    Parameters
    ----------
    strata : RowLabels
        The stratum of each observation.
    unit_size : int
        Observations to a unit, about.
    rng : Generator, optional
        Deals observations to units; without it they keep their order.
    """
    count = np.bincount(strata.codes[strata.codes >= 0], minlength=len(strata.names))
    alone = count == 1
    kept = np.flatnonzero((strata.codes >= 0) & ~alone[strata.codes])
    ties = np.arange(len(kept)) if rng is None else rng.random(len(kept))
    rows = kept[np.lexsort((ties, strata.codes[kept]))]
    sizes = count[count > 1]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    starts = [
        first + np.arange(units) * int(size) // units
        for first, size in zip(begins, sizes, strict=False)
        for units in [max(1, min(round(size / unit_size), int(size) // 2))]
    ]
    if len(starts) == 0 or sum(map(len, starts)) < 2:
        raise InputError(
            "`strata` must have several observations in them, enough for two units, got "
            f"{len(count)} strata of {', '.join(map(str, count[:5]))} observations."
        )
    said = f"y is permuted inside {len(sizes):,} {'stratum' if len(sizes) == 1 else 'strata'}"
    if alone.any():
        said += f"; {int(alone.sum()):,} of one observation left out: {listed(strata.said(alone))}"
    design = Exchanged("strata", said, count=len(sizes))
    return StrataUnits(rows, np.append(np.concatenate(starts), len(rows)), begins, design)
