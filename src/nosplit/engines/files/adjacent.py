"""The paper's own estimate in one pass over files: adjacent pairs and a closed form.

Row i of x meets row i of y, and unit 2i meets unit 2i + 1, in the order of the files. That is the
paper's law if rows are in random order; sketches need no such thing, and see all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.terminal import progress_bar
from nosplit.data.options import Options
from nosplit.engines.reading import Reader
from nosplit.engines.sides import SampleSide, Sides
from nosplit.engines.sketching.pilot import look_at
from nosplit.families.two_sample import Paired
from nosplit.families.unequal import Grouped
from nosplit.inference.outcome import to_result
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.inference.statistics import test_moments
from nosplit.kernels.bank import Bank
from nosplit.kernels.defaults.recipes import Kernels, as_recipe, check_own_kernel
from nosplit.methods import Method
from nosplit.pairs.dealing import Dealing, Natural
from nosplit.pairs.effective import effective_pairs
from nosplit.pairs.loop import accumulate
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Adjacent, Sketch, units_in_pairs

__all__ = ["adjacent_test"]

# Numbers of a block of units.
BLOCK = 1 << 20
# Pairs of a block that are looked at under all labellings.
SOME_PAIRS = 64


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
    encoding = look.encoding
    recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
    built = recipe.fit(np.asarray(look.rows[:: -(-len(look.rows) // 1000)], dtype=np.float64))
    for kernel in built:
        check_own_kernel(kernel, look.rows[:2], look.rows[:4])
    bank, pairing = Bank(built), Adjacent()
    dealing = Dealing(*(side.n for side in look.census))
    moments, effective = Moments.empty(len(bank)), np.zeros(len(bank))
    with progress_bar(sides.progress, pairing.n_pairs(dealing.n_units)) as step:
        for units in _neighbouring_units(
            sides, Reader(encoding), dealing, bank, look.rows.shape[1]
        ):
            part = accumulate(units, pairing, workers=sides.workers)
            moments += part
            carried = effective_pairs(units, pairing, SOME_PAIRS)
            effective = effective + (part.n if carried is None else carried)
            if step is not None:
                step(part.n)
    unequal = dealing.n != dealing.m
    outcome = test_moments(
        moments,
        method,
        pairing,
        dealing.n_units,
        unequal=unequal,
        effective=effective if unequal else None,
    )
    rows = sum(side.n + side.left_out for side in look.census)
    n_used = round(dealing.rows_per_unit * units_in_pairs(pairing, dealing.n_units))
    return to_result(
        outcome.noting(look.caveats),
        question=TWO_SAMPLE,
        kernels=bank.kernels,
        n_units=dealing.n_units,
        n_used=n_used,
        n_left_out=rows - n_used,
        columns=None if encoding is None else encoding.names,
        encoding=encoding,
    )


def _neighbouring_units(
    sides: Sides, reader: Reader, dealing: Dealing, bank: Bank, width: int
) -> Iterator[Paired | Grouped]:
    """Blocks of units that are neighbours; a last one without a partner is left out."""
    size = 2 * max(1, int(BLOCK / (2 * width * dealing.rows_per_unit)))
    x, y = (_InOrder(side, reader) for side in (sides.x, sides.y))
    for start in range(0, dealing.n_units, size):
        units = range(start, min(start + size, dealing.n_units))
        mine, theirs = dealing.rows(units)
        rows = x.take(len(mine)), y.take(len(theirs))
        if len(units) > 1:
            yield _block(rows, dealing, units, bank)


def _block(
    rows: tuple[NDArray[Any], NDArray[Any]], dealing: Dealing, units: range, bank: Bank
) -> Paired | Grouped:
    order, local = Natural(), range(len(units))
    if dealing.n == dealing.m:
        return Paired(*rows, order, order, bank, local)
    few, many = rows if dealing.n < dealing.m else rows[::-1]
    starts = dealing.starts(units)
    return Grouped(few, many, order, order, bank, starts - starts[0], local)


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
