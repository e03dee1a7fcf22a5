"""The level map: every public test on true null hypotheses, at .05, .01 and .001.

    python -m benchmarks.level.map --journal level.jsonl --minutes 1500 --workers 2

Cells take turns, a few trials at a time, until each has as many as it is to have or the time is
over; what was done is kept in the journal, and the next call goes on from there. Data and the
seeds of tests differ from trial to trial.

A cell is printed where its rate of rejections is above the level with simultaneous confidence: the
lower limit has confidence 1 - .05 / (cells × levels). *Quiet* are trials without a warning that
the p-value is not to be relied on; calibrations that are asked for are judged by those alone, and
tests as they are called without options by all trials, and by those that were quiet. Series are
judged by all, refused or not.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
import zlib
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from benchmarks.common.pages import fine_share, table
from benchmarks.level.cells import Cell, cells
from nosplit import InputError
from nosplit.errors import NotATestWarning, UnsafeAsymptoticsWarning

LEVELS = (0.05, 0.01, 0.001)
DOUBTS = (UnsafeAsymptoticsWarning, NotATestWarning)
# Seconds that a turn of a cell takes, about.
TURN = 1.5


@dataclass
class Count:
    """Trials of a cell, and rejections at every level; the same of quiet trials alone."""

    trials: int = 0
    quiet: int = 0
    refused: int = 0
    seconds: float = 0.0
    rejected: list[int] = field(default_factory=lambda: [0] * len(LEVELS))
    quietly: list[int] = field(default_factory=lambda: [0] * len(LEVELS))

    def add(self, other: Count) -> None:
        """Add the trials of a turn."""
        self.trials += other.trials
        self.quiet += other.quiet
        self.refused += other.refused
        self.seconds += other.seconds
        for k in range(len(LEVELS)):
            self.rejected[k] += other.rejected[k]
            self.quietly[k] += other.quietly[k]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--journal", type=Path, default=Path("level_map.jsonl"))
    parser.add_argument("--minutes", type=float, default=480.0, help="of processor time, in all")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--only", default="", help="cells whose name has this in it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="print all cells")
    options = parser.parse_args()
    grid = [cell for cell in cells() if options.only in cell.name]
    counts = run(grid, options.journal, 60.0 * options.minutes, options.seed, options.workers)
    show(grid, counts, every=options.all)


def run(
    grid: list[Cell], journal: Path, seconds: float, seed: int, workers: int = 1
) -> dict[str, Count]:
    """Take turns until the time is over; one more line in the journal for each turn."""
    counts = {cell.name: Count() for cell in grid}
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []:
        entry = json.loads(line)
        if entry.pop("seed") == seed and entry["cell"] in counts:
            counts[entry.pop("cell")].add(Count(**entry))
    spent, running = 0.0, {}
    with journal.open("a", encoding="utf-8") as file, ProcessPoolExecutor(workers) as pool:
        while True:
            while spent < seconds and len(running) < workers:
                cell = _next(grid, counts, set(running.values()))
                if cell is None:
                    break
                running[pool.submit(_turn_of, cell, _done(counts[cell]), seed)] = cell
            if not running:
                return counts
            done: set[Future[Count]] = wait(running, return_when=FIRST_COMPLETED).done
            for future in done:
                cell, found = running.pop(future), future.result()
                counts[cell].add(found)
                spent += found.seconds
                file.write(json.dumps({"cell": cell, "seed": seed, **vars(found)}) + "\n")
                file.flush()


def _next(grid: list[Cell], counts: dict[str, Count], running: set[str]) -> str | None:
    """The cell that has had the least time, of those that want more trials and are not at it."""
    waiting = [
        cell.name
        for cell in grid
        if cell.name not in running and _done(counts[cell.name]) < cell.trials
    ]
    return min(waiting, key=lambda name: counts[name].seconds, default=None)


def _turn_of(name: str, first: int, seed: int) -> Count:
    """A turn of the cell with a name, in a process of its own."""
    return turn(next(cell for cell in cells() if cell.name == name), first, seed)


def _done(count: Count) -> int:
    return count.trials + count.refused


def turn(cell: Cell, first: int, seed: int, most: int | None = None) -> Count:
    """Some trials of a cell, from the trial with a number on."""
    found, start = Count(), time.process_time()
    stop = min(cell.trials, first + (most or cell.trials))
    for trial in range(first, stop):
        result, quiet = one(
            cell, np.random.SeedSequence([seed, zlib.crc32(cell.name.encode()), trial])
        )
        if result is None:
            found.refused += 1
        else:
            found.trials += 1
            found.quiet += quiet
            for k, level in enumerate(LEVELS):
                found.rejected[k] += result.pvalue <= level
                found.quietly[k] += quiet and result.pvalue <= level
        found.seconds = time.process_time() - start
        if most is None and found.seconds > TURN:
            break
    return found


def one(cell: Cell, seed: np.random.SeedSequence) -> tuple[Any, bool]:
    """The result of a trial, None if the data is refused, and whether it came without a doubt."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = cell.trial(rng, int(rng.integers(2**31)))
        except InputError:
            return None, True
    return result, not any(issubclass(w.category, DOUBTS) for w in said)


def lower_limit(hits: int, trials: int, confidence: float) -> float:
    """The lower limit of a rate, one-sided (Clopper and Pearson)."""
    return float(beta.ppf(1.0 - confidence, hits, trials - hits + 1)) if hits else 0.0


class Above(NamedTuple):
    """A cell and a level that its rate is above: in which trials."""

    cell: str
    level: float
    hits: int
    trials: int
    which: str


def above(grid: list[Cell], counts: dict[str, Count]) -> list[Above]:
    """Cells and levels for which the lower limit of the rate is above the level."""
    confidence = 1.0 - 0.05 / (len(grid) * len(LEVELS))
    found = []
    for cell in grid:
        count = counts[cell.name]
        for k, level in enumerate(LEVELS):
            quiet = count.quietly[k], count.quiet, "quiet"
            every = count.rejected[k], count.trials, "warned of"
            if cell.series and cell.default:
                judged = [(count.rejected[k], _done(count), "series")]
            else:
                judged = [quiet, every] if cell.default else [quiet]
            for hits, trials, which in judged:
                if lower_limit(hits, trials, confidence) > level:
                    found.append(Above(cell.name, level, hits, trials, which))
                    break
    return found


def show(grid: list[Cell], counts: dict[str, Count], *, every: bool) -> None:
    begun = [counts[cell.name] for cell in grid if counts[cell.name].trials]
    done = sum(_done(counts[cell.name]) >= cell.trials for cell in grid)
    print(
        f"{len(grid)} cells, {len(begun)} begun, {done} finished; "
        f"{sum(c.trials for c in begun):,} trials, {sum(c.seconds for c in begun) / 60:.1f} minutes"
    )
    if every:
        for cell in grid:
            count = counts[cell.name]
            rates = " ".join(f"{hits:4d}" for hits in count.rejected)
            quiet = " ".join(f"{hits:4d}" for hits in count.quietly)
            print(
                f"{cell.name:80s} {count.trials:6d}: {rates}   quiet {count.quiet:6d}: {quiet}"
                f"   refused {count.refused}"
            )
    by_test: dict[str, Count] = {}
    for cell in grid:
        by_test.setdefault(cell.name.split(":")[0], Count()).add(counts[cell.name])
    heads = ["test", "cells", "trials", *map(fine_share, LEVELS), "quiet", *map(fine_share, LEVELS)]
    print(table(heads, [_line(grid, name, count) for name, count in by_test.items()]))
    found = above(grid, counts)
    print(f"above the level with simultaneous confidence: {len(found)}")
    for line in found:
        print(f"  {line.cell}: {line.hits} of {line.trials} at {line.level}, {line.which}")


def _line(grid: list[Cell], name: str, count: Count) -> list[str]:
    """A test in the table: its cells and trials, and rates of rejection; of quiet trials, too."""
    line = [name, str(sum(cell.name.split(":")[0] == name for cell in grid))]
    for trials, hits in ((count.trials, count.rejected), (count.quiet, count.quietly)):
        line += [f"{trials:,}", *(fine_share(h / trials) if trials else "" for h in hits)]
    return line


if __name__ == "__main__":
    main()
