"""The paper's own estimate in one pass over files: adjacent pairs and a closed form.

Row i of x meets row i of y, and unit 2i meets unit 2i + 1, in the order of the files. That is the
paper's law if rows are in random order; sketches need no such thing, and see all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.engines.reading import Reader
from nosplit._old.engines.sides import SampleSide, Sides
from nosplit._old.engines.sketching.pilot import look_at
from nosplit._old.inference.outcome import to_result
from nosplit._old.inference.statistics import test_moments
from nosplit._text import progress_bar
from nosplit.core.moments import Moments
from nosplit.core.order import Natural
from nosplit.core.pairings import Adjacent, Sketch, units_in_pairs
from nosplit.data.options import Options
from nosplit.families.paired import Paired, check_equal_sizes
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Kernels, as_recipe, check_own_kernel
from nosplit.methods import Method

__all__ = ["adjacent_test"]

# Numbers of a block of units.
BLOCK = 1 << 20


def adjacent_test(
    sides: Sides,
    options: Options,
    *,
    kernels: Kernels,
    method: Method | str,
    rng: np.random.Generator,
) -> TestResult:
    """Test with adjacent pairs of rows as they come; bandwidths are from pilot rows.

    Parameters
    ----------
    sides : Sides
        The samples.
    options : Options
        What to do with the columns.
    kernels, method
        As in `two_sample_test`.
    rng : Generator
        Picks the pilot rows.
    """
    look = look_at(sides, options, Sketch().cells, rng, shuffle=True)
    check_equal_sizes(*(side.n for side in look.census))
    encoding = look.encoding
    recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
    built = recipe.fit(np.asarray(look.rows[:: -(-len(look.rows) // 1000)], dtype=np.float64))
    for kernel in built:
        check_own_kernel(kernel, look.rows[:2], look.rows[:4])
    bank, pairing = Bank(built), Adjacent()
    n_units, width = look.census[0].n, look.rows.shape[1]
    moments = Moments.empty(len(bank))
    with progress_bar(sides.progress, pairing.n_pairs(n_units)) as step:
        for units in _neighbouring_units(sides, Reader(encoding), n_units, bank, width):
            moments += units.total(pairing, sides.workers, step)
    outcome = test_moments(moments, method, pairing, n_units, effective=None)
    rows = sum(side.n + side.left_out for side in look.census)
    n_used = 2 * units_in_pairs(pairing, n_units)
    return to_result(
        outcome.noting(look.caveats),
        question=TWO_SAMPLE,
        kernels=bank.kernels,
        n_units=n_units,
        n_used=n_used,
        n_left_out=rows - n_used,
        columns=None if encoding is None else encoding.names,
        encoding=encoding,
    )


def _neighbouring_units(
    sides: Sides, reader: Reader, n_units: int, bank: Bank, width: int
) -> Iterator[Paired]:
    """Blocks of units that are neighbours; a last one without a partner is left out."""
    size, order = 2 * max(1, BLOCK // (4 * width)), Natural()
    x, y = (_InOrder(side, reader) for side in (sides.x, sides.y))
    for start in range(0, n_units, size):
        count = min(size, n_units - start)
        rows = x.take(count), y.take(count)
        if count > 1:
            yield Paired(*rows, order, order, bank, range(count))


class _InOrder:
    """The rows of a sample as numbers, taken in runs of any length."""

    def __init__(self, side: SampleSide, reader: Reader) -> None:
        self.numbers = self._numbers(side, reader)
        self.waiting: NDArray[Any] | None = None

    @staticmethod
    def _numbers(side: SampleSide, reader: Reader) -> Iterator[NDArray[Any]]:
        for first, batch in side.numbered():
            rows = np.asarray(reader(batch, side.name, first), dtype=np.float64)
            if not np.isfinite(rows.sum()):  # a bounded kernel would hide it
                reader.blame(batch, side.name, first)
            yield rows

    def take(self, count: int) -> NDArray[Any]:
        """The next rows."""
        found, missing = [], count
        while missing > 0:
            rows = next(self.numbers) if self.waiting is None else self.waiting
            found.append(rows[:missing])
            self.waiting = rows[missing:] if len(rows) > missing else None
            missing -= len(found[-1])
        return np.concatenate(found) if len(found) > 1 else found[0]
