"""Columns of two samples, wherever they are: by rows, in cells, in files or in a profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._support.checks import check_finite, naming, new_key
from nosplit._support.types import Array
from nosplit.api.ways.against_profile import against_profile, is_profile
from nosplit.data.files.opening import is_path
from nosplit.data.likeness import (
    MOST_SUSPECTED,
    UNSEEN,
    Likeness,
    doubt_of,
    likeness_of,
    rows_apart,
)
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.columns import sketch_columns
from nosplit.engines.files.two_sample import open_both
from nosplit.engines.memory import sides_of
from nosplit.engines.sides import Sides
from nosplit.errors import Caveat
from nosplit.inference.calibrations import APPROXIMATE, BLOCKS, THINNED
from nosplit.inference.caveats import dependent_rows, perhaps_dependent, thinned_rows
from nosplit.methods.normal.doubt import Doubt
from nosplit.sketch.cells import Sketched
from nosplit.sketch.columns.views import SeenColumns, look_at_cells, look_at_samples

__all__ = ["MOST_ROWS", "Looked", "look_at_columns"]

# Rows of a sample up to which rows are exchanged one by one, and not in cells; samples with fewer
# than the second have too few for cells.
MOST_ROWS, FEWEST_ROWS = 2000, 200
# Rows of the larger sample for one of the smaller, where rows are exchanged one by one.
MOST_RATIO = 20


@dataclass(frozen=True, eq=False)
class Looked:
    """Columns that were looked at, and what is known of the samples.

    Rows that depend on those before them up to a lag are exchanged in blocks, or one in `step` of
    them is used; of those that only may, `likeness` tells how likely that is.
    """

    columns: SeenColumns
    encoding: Encoding | None
    n_used: int
    n_rows: int
    lag: int
    block: int = 1
    step: int = 1
    likeness: Likeness = UNSEEN
    samples: tuple[Any, Any] | None = None
    turned: bool = False
    reference: str | None = None

    @property
    def calibration(self) -> str:
        """The ground that p-values rest on."""
        if self.lag and self.block > 1:
            return BLOCKS
        if self.step > 1:
            return THINNED
        likely = self.doubt is not None and self.doubt.likely
        return APPROXIMATE if self.lag or likely else "exact"

    @property
    def doubt(self) -> Doubt | None:
        """All that rows may be, if they do not depend on those before them for certain."""
        return None if self.lag else doubt_of(self.likeness)

    @property
    def caveats(self) -> list[Caveat]:
        """Words on rows that depend on those before them."""
        if self.step > 1:
            return [thinned_rows("Rows", self.lag, self.step)]
        if self.doubt is not None and self.likeness.suspected:
            return [perhaps_dependent(self.doubt)]
        return [dependent_rows(self.lag, self.block)] if self.lag else []

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
    pairs: bool,
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
        seen = _in_cells(both.sketched, both.encoding, both.n_rows, rng, pairs)
        turned = is_profile(x) and not is_profile(y)  # there, the new sample comes first
        return replace(seen, turned=turned, reference=both.profile.summary)
    if is_path(x) or is_path(y):
        opened = open_both(x, y)
        if opened.large:
            sides, options = opened.sides(options, workers, progress)
            found = sketch_columns(sides, options, rng, shuffle)
            return _in_cells(found.sketched, found.encoding, found.n_rows, rng, pairs)
        x, y, options = opened.whole(options)
    data = two_samples(x, y, options).checked()
    n, m, _ = data.shape
    lag = 0
    if few := max(n, m) <= MOST_ROWS or min(n, m) < FEWEST_ROWS:
        data = _finite_rows(data)
        lag = max(map(correlated_rows, data.rows)) if shuffle else 0
    # Of short series the longest lag that can be seen is too short for blocks.
    if few and not (lag and min(n, m) > MOST_SUSPECTED):
        likeness = likeness_of(*data.rows) if shuffle else UNSEEN
        step = max(1, min(rows_apart(lag, likeness, n=min(n, m)), min(n, m) // 2))
        seen = _by_rows(data, step, rng, shuffle, pairs)
        seen = replace(seen, lag=lag, step=step, likeness=likeness)
    else:  # cells; where rows depend on those before them, of blocks of rows
        sides = Sides(*sides_of(data), workers, progress)
        found = sketch_columns(sides, data.settled(options), rng, shuffle)
        seen = _in_cells(found.sketched, found.encoding, found.n_rows, rng, pairs)
    return replace(seen, samples=(x, y))


def _in_cells(
    sketched: Sketched,
    encoding: Encoding | None,
    n_rows: int,
    rng: np.random.Generator,
    pairs: bool,
) -> Looked:
    owners = None if encoding is None else encoding.owners
    columns = look_at_cells(sketched, new_key(rng), owners, pairs=pairs)
    return Looked(columns, encoding, sketched.n_used, n_rows, sketched.lag, sketched.block)


def _finite_rows(data: Samples) -> Samples:
    """The same, of rows that are checked to be finite."""
    x, y = check_samples(data.x, data.y)
    with naming(x=x, y=y):
        check_finite(x, "x")
        check_finite(y, "y")
    return replace(data, given=(x, y))


def _by_rows(
    data: Samples, step: int, rng: np.random.Generator, shuffle: bool, pairs: bool
) -> Looked:
    """Exchange one row in `step` with another; of a sample that is many times the other, some."""
    x, y = data.rows
    n_rows = len(x) + len(y)
    x, y = x[::step], y[::step]
    most = max(MOST_ROWS, MOST_RATIO * min(len(x), len(y)))
    x, y = (_some_in_random_order(sample, most, rng if shuffle else None) for sample in (x, y))
    encoding = data.encoding
    columns = look_at_samples(
        x,
        y,
        new_key(rng),
        categorical=() if encoding is None else encoding.categorical,
        owners=None if encoding is None else encoding.owners,
        pairs=pairs,
    )
    n_used = len(x) + len(y)
    return Looked(columns, encoding, n_used, n_rows + data.left_out, 0)


def _some_in_random_order(sample: Array, most: int, rng: np.random.Generator | None) -> Array:
    """Rows in random order, or as they are; so many at the most."""
    order = np.arange(len(sample)) if rng is None else rng.permutation(len(sample))
    return sample[order[:most]]
