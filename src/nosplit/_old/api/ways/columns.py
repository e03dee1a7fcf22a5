"""Columns of two samples, wherever they are: by rows, in cells, in files or in a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._checks import new_key
from nosplit._old.api.ways.against_profile import against_profile, is_profile
from nosplit._old.data.files.opening import is_path
from nosplit._old.engines.changes import separations_in_bins
from nosplit._old.engines.columns import sketch_columns
from nosplit._old.engines.files.two_sample import open_both
from nosplit._old.engines.memory import sides_of
from nosplit._old.engines.sides import Sides
from nosplit._old.sketch.cells import Sketched
from nosplit._old.sketch.columns.views import SeenColumns, look_at_cells
from nosplit.data.encoding import Encoding
from nosplit.data.options import Options
from nosplit.data.samples import two_samples
from nosplit.errors import Caveat
from nosplit.inference.effect import FOLDS, Separation

__all__ = ["Looked", "look_at_columns"]


@dataclass(frozen=True, eq=False)
class Looked:
    """Statistics of columns under permutations, and what is known of the samples.

    `relabellings` is as in `Outcome`.
    """

    columns: SeenColumns
    separations: list[Separation | None]
    encoding: Encoding | None
    sizes: tuple[int, int]
    n_rows: int
    caveats: Sequence[Caveat] = ()
    samples: tuple[Any, Any] | None = None
    turned: bool = False
    reference: str | None = None
    relabellings: float = math.inf

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; positions for arrays."""
        if self.encoding is not None:
            return self.encoding.names
        return tuple(map(str, range(len(self.columns.bins))))

    @property
    def owners(self) -> list[int] | None:
        """The column that each column of the rows belongs to."""
        return None if self.encoding is None else self.encoding.owners


def look_at_columns(
    x: Any,
    y: Any,
    options: Options,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
    progress: bool,
) -> Looked:
    """Look at the columns of two samples, wherever they are."""
    if is_profile(x) or is_profile(y):
        both = against_profile(
            x,
            y,
            options,
            kernels=None,
            pairs="auto",
            rng=rng,
            shuffle=shuffle,
            workers=workers,
        )
        seen = _in_cells(both.sketched, both.encoding, both.n_rows, rng)
        turned = is_profile(x) and not is_profile(y)  # there, the new sample comes first
        return replace(seen, turned=turned, reference=both.profile.summary)
    if is_path(x) or is_path(y):
        sides, options = open_both(x, y).sides(options, workers, progress)
        found = sketch_columns(sides, options, rng, shuffle)
        return _in_cells(found.sketched, found.encoding, found.n_rows, rng)
    data = two_samples(x, y, options).checked()
    sides = Sides(*sides_of(data), workers, progress)
    found = sketch_columns(sides, data.settled(options), rng, shuffle)
    seen = _in_cells(found.sketched, found.encoding, found.n_rows, rng)
    return replace(seen, samples=(x, y))


def _in_cells(
    sketched: Sketched,
    encoding: Encoding | None,
    n_rows: int,
    rng: np.random.Generator,
) -> Looked:
    owners = None if encoding is None else encoding.owners
    columns = look_at_cells(sketched, new_key(rng), owners)
    found = separations_in_bins(sketched.map.bins, sketched.counts(FOLDS), encoding)
    return Looked(columns, found, encoding, sketched.sizes, n_rows, sketched.caveats)
