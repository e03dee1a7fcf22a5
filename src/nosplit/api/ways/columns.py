"""Columns of two samples, wherever they are: by rows, in cells, in files or in a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._support.checks import check_finite, naming, new_key
from nosplit._support.types import Array
from nosplit.api.ways.against_profile import against_profile, is_profile
from nosplit.data.files.opening import is_path
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.series import check_rows
from nosplit.data.tables.encoding import Encoding, columns_in
from nosplit.engines.changes import separations_in_bins
from nosplit.engines.columns import sketch_columns
from nosplit.engines.files.two_sample import open_both
from nosplit.engines.memory import sides_of
from nosplit.engines.sides import Sides
from nosplit.errors import Caveat
from nosplit.families.pooled import relabellings
from nosplit.inference.effect import FOLDS, Separation, separations_of_both
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
    """Statistics of columns under permutations, and what is known of the samples.

    `relabellings` is as in `Outcome`.
    """

    columns: SeenColumns
    separations: list[Separation | None]
    encoding: Encoding | None
    n_used: int
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
        x, y = opened.whole()
    data = two_samples(x, y, options).checked()
    n, m, _ = data.shape
    if max(n, m) <= MOST_ROWS or min(n, m) < FEWEST_ROWS:
        seen = _by_rows(_finite_rows(data), rng, shuffle, pairs)
    else:
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
    found = separations_in_bins(sketched.map.bins, sketched.counts(FOLDS), encoding)
    return Looked(columns, found, encoding, sketched.n_used, n_rows, sketched.caveats)


def _finite_rows(data: Samples) -> Samples:
    """The same, of rows that are checked to be finite."""
    x, y = check_samples(data.x, data.y)
    with naming(x=x, y=y):
        check_finite(x, "x")
        check_finite(y, "y")
    return replace(data, given=(x, y))


def _by_rows(data: Samples, rng: np.random.Generator, shuffle: bool, pairs: bool) -> Looked:
    """Permute rows; of a sample that is many times the other, some."""
    x, y = data.rows
    n_rows, caveats, encoding = len(x) + len(y), check_rows(x, y), data.encoding
    found = separations_of_both(x, y, *columns_in(encoding, x.shape[1]))
    most = max(MOST_ROWS, MOST_RATIO * min(len(x), len(y)))
    x, y = (_some_in_random_order(sample, most, rng if shuffle else None) for sample in (x, y))
    columns = look_at_samples(
        x,
        y,
        new_key(rng),
        categorical=() if encoding is None else encoding.categorical,
        owners=None if encoding is None else encoding.owners,
        pairs=pairs,
    )
    n_used, ways = len(x) + len(y), relabellings(len(x), len(y))
    n_rows += data.left_out
    return Looked(columns, found, encoding, n_used, n_rows, caveats, relabellings=ways)


def _some_in_random_order(sample: Array, most: int, rng: np.random.Generator | None) -> Array:
    """Rows in random order, or as they are; so many at the most."""
    order = np.arange(len(sample)) if rng is None else rng.permutation(len(sample))
    return sample[order[:most]]
