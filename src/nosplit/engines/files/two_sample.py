"""Two-sample tests of files larger than memory, in one pass.

Both files are read in batches, by a thread each, while the pairs of the batches before are
evaluated. Kernels, and the encoding of tables, are fitted on a small sample of the rows first.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from nosplit._support.checks import check_flag, check_rng, numeric
from nosplit._support.terminal import progress_bar
from nosplit._support.types import Array
from nosplit.data.files import whole
from nosplit.data.files.csv import CsvFile
from nosplit.data.files.source import Source
from nosplit.data.files.whole import first_rows
from nosplit.data.options import Options
from nosplit.data.samples import Samples, two_samples
from nosplit.engines.files.columns import Columns, Numbers
from nosplit.engines.files.drift import Drift
from nosplit.engines.files.reading import BLOCK, Block, Deal, Reader, blocks
from nosplit.errors import Caveat, DependentRowsWarning, InputError
from nosplit.families.fitting import fit_bank
from nosplit.families.two_sample import Paired
from nosplit.families.unequal import Grouped
from nosplit.inference.calibrations import Exact, resolve_calibration
from nosplit.inference.outcome import to_result
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.inference.run import as_method, test_moments
from nosplit.kernels.bank import DOT, Bank
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method, Split
from nosplit.pairs.loop import accumulate
from nosplit.pairs.moments import Moments
from nosplit.pairs.neighbours import LagOne, looked_at
from nosplit.pairs.order import Natural
from nosplit.pairs.pairing import Adjacent, Aligned, Linear, Pairing, Window, as_pairing
from nosplit.pairs.protocols import Units

__all__ = ["two_sample_files"]

# Scales beyond which columns are scaled before their differences are squared, not after.
EXTREME = 1e50


def two_sample_files(
    x: Source,
    y: Source,
    options: Options,
    *,
    kernels: Kernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    rng: int | np.random.Generator = 0,
    shuffle: bool = True,
    workers: int | None = None,
    progress: bool = False,
) -> TestResult:
    """Test whether two files hold samples from the same distribution, in one pass over them.

    Parameters
    ----------
    x, y : Source
        The files.
    options : Options
        What to do with the columns.
    kernels, method, pairs, calibration, rng, shuffle, workers, progress
        As in `two_sample_test`, with fewer choices: pairs are adjacent ones, or a window inside
        blocks of units, and calibration is asymptotic.

    Returns
    -------
    TestResult
    """
    _check_choices(x, y, as_method(method), calibration)
    pairing = _pairing(pairs)
    generator = check_rng(rng)
    mixed = check_flag(shuffle, "shuffle")
    pilot = _pilot(x, y, options, generator)
    bank = _bank(pilot, kernels)
    width = int(np.shape(pilot.x)[1])
    deal = Deal.of(_rows(x), _rows(y), width, fixed=not isinstance(pairing, Adjacent))
    if isinstance(pairing, Window) and deal.block // 4 < pairing.R:
        raise _other_pairs(pairs, deal.block)
    readers = [
        Reader(source, pilot.encoding, width, generator.spawn(1)[0] if mixed else None)
        for source in (x, y)
    ]
    done = _Pass(bank, pairing, workers, *_spread(pilot))
    with (
        progress_bar(progress, pairing.n_pairs(deal.n_units)) as step,
        closing(blocks(readers, deal)) as found,
    ):
        for block in found:
            before = done.moments.n
            done.take(block)
            if not done.finite:
                _blame(block, (x, y), pilot)
            if step is not None:
                step(done.moments.n - before)
    outcome = test_moments(
        done.moments, method, pairing, done.n_units, unequal=deal.many is not None
    )
    outcome.caveats += _dependence(done.lags.caveats() or done.drift.caveats(), mixed)
    return to_result(
        outcome,
        question=TWO_SAMPLE,
        kernels=bank.kernels,
        n_units=done.n_units,
        n_used=done.n_used,
        n_left_out=max(0, _rows(x) + _rows(y) - done.n_used),
        columns=pilot.columns,
        encoding=pilot.encoding,
    )


# -- what is asked for -----------------------------------------------------------------------------


def _check_choices(x: Source, y: Source, method: Method | None, calibration: Any) -> None:
    kind = resolve_calibration(calibration)
    if isinstance(kind, Exact):
        total, width = x.n_values + y.n_values, max(1, round(x.n_values / _rows(x)))
        raise InputError(
            "`calibration` can be exact only for files that are read whole, of up to "
            f"{whole.SMALL:,} values together (here {whole.SMALL // (2 * width):,} rows each), got "
            f'{total:,}. Use calibration="asymptotic", or a sample of the rows.'
        )
    if isinstance(method, Split):
        raise InputError(
            "`method` must not be a Split for files that are not read whole. Use "
            'method="ost", which learns and tests on all rows.'
        )


def _pairing(pairs: Pairing | str | int) -> Adjacent | Window:
    """Adjacent pairs, or a window inside blocks."""
    if isinstance(pairs, str) and pairs == "auto":
        return Adjacent()
    found = as_pairing(pairs)
    if isinstance(found, Adjacent | Linear):  # the same law, and one needs no second pass
        return Adjacent()
    if isinstance(found, Window):
        return found
    raise _other_pairs(pairs, BLOCK)


def _other_pairs(pairs: object, block: int) -> InputError:
    return InputError(
        '`pairs` of files that are not read whole must be "adjacent" or a window of up to '
        f"{block // 4}, got {pairs!r}."
    )


def _rows(source: Source) -> int:
    """Rows of a file; for text, lines."""
    if isinstance(source, CsvFile):
        return max(source.n_lines, 2)
    return source.n_rows or 0


# -- a first look ----------------------------------------------------------------------------------


def _pilot(x: Source, y: Source, options: Options, rng: np.random.Generator) -> Samples:
    """Some rows of both files, from many places, and how tables become rows of numbers."""
    return two_samples(first_rows(x, rng), first_rows(y, rng), options)


def _spread(pilot: Samples) -> tuple[Array, Array]:
    """The middle and the width of every column of both samples together."""
    rows = np.concatenate([numeric(pilot.x, "x"), numeric(pilot.y, "y")])
    low, middle, high = np.quantile(np.asarray(rows, dtype=np.float64), [0.25, 0.5, 0.75], axis=0)
    return middle, np.where(high > low, high - low, 1.0)


def _bank(pilot: Samples, kernels: Kernels) -> Bank:
    n = min(len(pilot.x), len(pilot.y))
    x, y = (np.asarray(numeric(rows, "x"), dtype=np.float64)[:n] for rows in (pilot.x, pilot.y))
    units = Paired(x, y, Natural(), Natural(), Bank(()), range(n))
    return fit_bank(pilot.recipe(kernels), units)


# -- the pass --------------------------------------------------------------------------------------


class _Pass:
    """What is known after the blocks so far."""

    def __init__(
        self,
        bank: Bank,
        pairing: Adjacent | Window,
        workers: int | None,
        middle: Array,
        width: Array,
    ) -> None:
        self.bank, self.pairing, self.workers = bank, pairing, workers
        self.spread, self.drift = (middle, width), Drift()
        self.moments = Moments.empty(len(bank))
        self.lags = LagOne.empty(len(bank))
        self.n_units = self.n_used = 0
        self.finite = True

    def take(self, block: Block) -> None:
        """Add a block."""
        units, rows = self._units(block)
        n = units.n_units
        if isinstance(self.pairing, Window) and n <= 2 * self.pairing.R:
            return
        if n > 1:
            self._add(units, block)
        self.n_units += n
        self.n_used += rows

    def _add(self, units: Units, block: Block) -> None:
        if isinstance(units, Columns):  # one thread keeps up with two that read
            with np.errstate(over="ignore", invalid="ignore"):
                jobs = self.pairing.jobs(units.n_units, units.n_units)
                part = sum((units.moments(job) for job in jobs), Moments.empty(len(self.bank)))
        else:
            part = accumulate(units, self.pairing, workers=self.workers)
        seen = self.n_units // 2
        for run in looked_at(range(seen, seen + units.n_units // 2)):
            at = range(2 * (run.start - seen), 2 * (run.stop - seen))
            with np.errstate(over="ignore", invalid="ignore"):
                values = units.values(Aligned(at[::2], at[1::2]))
                self.lags += LagOne.of_values(values)
        self.drift.add(*(block.features(i, *self.spread) for i in range(2)))
        self.moments += part
        self.finite = bool(np.isfinite(self.moments.mean).all())
        if not isinstance(units, Columns):  # the loops there look at every distance, others do not
            sums = [block.rows(i).sum() for i in range(2)]
            self.finite = self.finite and bool(np.isfinite(sums).all())

    def _units(self, block: Block) -> tuple[Units, int]:
        """The units of a block, and how many rows they use."""
        if block.many is None or block.starts is None:
            n = min(side.size for side in block.sides)
            if not self.bank.others and isinstance(self.pairing, Adjacent):
                return self._columns(block, n), 2 * n
            x, y = (np.ascontiguousarray(block.rows(i)[:, :n].T) for i in range(2))
            return Paired(x, y, Natural(), Natural(), self.bank, range(n)), 2 * n
        few, many = (np.ascontiguousarray(block.rows(i).T) for i in (1 - block.many, block.many))
        n = min(len(few), int(np.searchsorted(block.starts, len(many), "right")) - 1)
        starts = block.starts[: n + 1]
        units = Grouped(few, many, Natural(), Natural(), self.bank, starts, range(n))
        return units, n + int(starts[-1])

    def _columns(self, block: Block, n: int) -> Columns:
        """Units of one row each, where they lie in memory if only differences count."""
        x, y = (side.part(0, n) for side in block.sides)
        if not (x.raw or y.raw):
            return Columns(x, y, self.bank)
        factors = block.readers[0].scaling[1]
        moderate = ((factors > 1 / EXTREME) & (factors < EXTREME)).all()
        if x.raw and y.raw and moderate and not self.bank.want[DOT]:
            return Columns(x, y, self.bank, factors)
        x, y = (Numbers.of(block.rows(i)).part(0, n) for i in range(2))
        return Columns(x, y, self.bank)


def _blame(block: Block, sources: Sequence[Source], pilot: Samples) -> None:
    """Name the column that is not finite, if there is one."""
    for i, source in enumerate(sources):
        rows = block.rows(i)
        names = pilot.columns or tuple(map(str, range(len(rows))))
        for name, column in zip(names, rows, strict=False):
            bad = ~np.isfinite(column)
            if bad.any():
                raise InputError(
                    f"`{source.path}` must be finite, got {column[bad][0]} in column {name!r}. "
                    "Remove or fill in such rows first; missing values may be left out with "
                    'nan_policy="omit".'
                )


def _dependence(caveats: Sequence[Caveat], mixed: bool) -> list[Caveat]:
    """What to say, and to do, if rows look sorted."""
    hint = (
        "Mixing them while they were read was not enough: shuffle the rows when the file is "
        "written, or test a random sample of them."
        if mixed
        else "Leave out shuffle=False, or shuffle the rows when the file is written."
    )
    return [
        (kind, f"{text} {hint}" if kind is DependentRowsWarning else text) for kind, text in caveats
    ]
