"""Power, Type-I error and time of `two_sample_test` and of other tests, side by side.

Every test gets the same samples, its own defaults, level .05 and one core. Seconds are seconds
of that core, so other work on the machine disturbs them little; `time` has them as multiples.

    python -m benchmarks.power.two_sample             # all problems: about 20 minutes
    python -m benchmarks.power.two_sample --problems blobs mnist --methods nosplit MMDAgg
    python -m benchmarks.power.two_sample --page      # also writes docs/measured/power.md
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.pages import DOCS, fine_share, share, table, wilson, write_section
from benchmarks.common.peers import TESTS
from benchmarks.common.problems import PROBLEMS, SIZES, sample

OURS = "nosplit"
TIME_PROBLEM = "mean shift, 10-d"


@dataclass
class Cell:
    """One test on one problem."""

    rejected: int
    trials: int
    false: int
    nulls: int
    seconds: float

    @property
    def power(self) -> float:
        return self.rejected / self.trials

    @property
    def level(self) -> float:
        return self.false / self.nulls if self.nulls else np.nan


Results = dict[str, dict[str, Cell]]


def one_core() -> None:
    """Keep the process, its threads and its linear algebra on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    threadpool_limits(1)


def rejections(test, name: str, n: int, trials: int, seed: int, null: bool) -> tuple[int, float]:
    """Number of rejections and mean seconds; the samples depend on the problem and seed only."""
    count, spent = 0, 0.0
    for trial in range(trials):
        key = [seed, list(PROBLEMS).index(name), n, trial, null]
        x, y = sample(name, n, np.random.default_rng(key), null=null)
        rng = np.random.default_rng([*key, 1])
        start = time.process_time()
        count += bool(test(x, y, rng))
        spent += time.process_time() - start
    return count, spent / max(1, trials)


def measure(options) -> Results:
    """All tests on all problems, printed as they are done."""
    for test in options.methods:  # compile and import before anything is timed
        rejections(TESTS[test], TIME_PROBLEM, 60, 2, 0, null=True)
    file = options.results
    kept = json.loads(file.read_text()) if file and file.exists() else {}
    results: Results = {}
    print(f"{'problem':20s} {'n':>5s} {'method':10s} {'power':>6s} {'Type-I':>6s} {'seconds':>8s}")
    for name in options.problems:
        n, results[name] = SIZES[name], {}
        for method in options.methods:
            if method in kept.get(name, {}):
                results[name][method] = Cell(**kept[name][method])
                continue
            run = TESTS[method], name, n
            hits, seconds = rejections(*run, options.trials, options.seed, null=False)
            false, _ = rejections(*run, options.null, options.seed, null=True)
            cell = Cell(hits, options.trials, false, options.null, seconds)
            results[name][method] = cell
            kept.setdefault(name, {})[method] = asdict(cell)
            if file:
                file.write_text(json.dumps(kept))
            print(
                f"{name:20s} {n:5d} {method:10s} {cell.power:6.2f} {cell.level:6.2f} "
                f"{cell.seconds:8.4f}",
                flush=True,
            )
    return results


def worse(ours: Cell, other: Cell, z: float = 1.96) -> bool:
    """Whether a two-proportion z-test says that the other's power is higher."""
    pooled = (ours.rejected + other.rejected) / (ours.trials + other.trials)
    variance = pooled * (1 - pooled) * (1 / ours.trials + 1 / other.trials)
    return other.power - ours.power > z * np.sqrt(variance)


def keeps_level(cells: Iterable[Cell]) -> bool:
    """Whether false rejections over all problems are compatible with the level."""
    cells = list(cells)
    false, nulls = sum(c.false for c in cells), sum(c.nulls for c in cells)
    return nulls == 0 or wilson(false, nulls, z=2.58)[0] <= 0.05


# --- the page -------------------------------------------------------------------------------------


def power_table(results: Results) -> str:
    methods = list(next(iter(results.values())))
    rows = []
    for name, cells in results.items():
        best = max(cells.values(), key=lambda c: c.power)
        powers = [
            share(c.power) if worse(c, best) else f"**{share(c.power)}**" for c in cells.values()
        ]
        rows.append([name, SIZES[name], *powers])
    means = [np.mean([cells[m].power for cells in results.values()]) for m in methods]
    rows.append(["mean", "", *[share(p) for p in means]])
    best = {name: max(c.power for c in cells.values()) for name, cells in results.items()}
    short = [max(best[name] - cells[m].power for name, cells in results.items()) for m in methods]
    rows.append(["largest shortfall", "", *[share(s) for s in short]])
    return table(["problem", "n", *methods], rows)


def level_and_time(results: Results) -> str:
    methods = list(next(iter(results.values())))
    rows = []
    for m in methods:
        cells = [row[m] for row in results.values()]
        false, nulls = sum(c.false for c in cells), sum(c.nulls for c in cells)
        low, high = wilson(false, nulls)
        ratio = [row[m].seconds / row[OURS].seconds for row in results.values()]
        span = f"{min(ratio):.2g} to {max(ratio):.2g}"
        level = f"{fine_share(false / nulls)} ({fine_share(low)} to {fine_share(high)})"
        rows.append([m, level, f"{np.median(ratio):.2g}", span])
    header = ["method", "Type-I error, all problems (95 %)", "time / nosplit, median", "range"]
    return table(header, rows)


def verdict(results: Results) -> str:
    """Where nosplit is within noise of the best, and where it is not: computed, not judged."""
    methods = [m for m in next(iter(results.values())) if m != OURS]
    valid = [m for m in methods if keeps_level(row[m] for row in results.values())]
    behind, ahead = [], 0
    for name, cells in results.items():
        best = max(valid, key=lambda m, cells=cells: cells[m].power)
        if worse(cells[OURS], cells[best]):
            powers = f"{share(cells[OURS].power)} against {share(cells[best].power)}"
            behind.append(f"- {name}: {powers} ({best})")
        ahead += worse(cells[best], cells[OURS])
    close = len(results) - len(behind)
    lines = [
        f"nosplit is the best test, or within noise of the best, on {close} of {len(results)}",
        f"problems; it is ahead of every other test by more than noise on {ahead}.",
    ]
    if behind:
        lines += ["", "It is behind by more than noise on:", "", *behind]
    broken = [m for m in methods if m not in valid]
    if broken:
        lines += ["", f"Not counted, as they do not keep the level: {', '.join(broken)}."]
    return "\n".join(lines)


def time_table(options) -> str:
    """Seconds of one test as n grows, as multiples of nosplit's."""
    rows = []
    for n in options.time_sizes:
        spent = {}
        for m in options.methods:
            repeats = 5 if n <= 500 else 1
            spent[m] = rejections(TESTS[m], TIME_PROBLEM, n, repeats, options.seed, null=False)[1]
        rows.append([n, *[f"{spent[m] / spent[OURS]:.2g}" for m in options.methods]])
        print(f"time, n = {n}: " + ", ".join(f"{m} {s:.3f} s" for m, s in spent.items()))
    return table(["n", *options.methods], rows)


def page(results: Results, times: str, options) -> None:
    trials, nulls = options.trials, options.null
    noise = 100 * 1.96 * np.sqrt(0.5 / trials)
    text = f"""# Power, side by side

`make bench-power` runs these tests on the same samples, each with its own defaults, at level .05,
on one core. Two samples of n rows each, {trials} trials a problem, and {nulls} more in which both
samples have the same law. Written by `python -m benchmarks.power.two_sample --page` (seed
{options.seed}).

- **nosplit**: `two_sample_test(x, y)`.
- **MMDAgg**, **MMDAggInc**, **MMD-FUSE**: the package `kerneltests`.
- **CTT**: `goodpoints`, compression level 4, Gaussian kernel with the median distance.
- **hyppo MMD**: `hyppo.ksample.MMD`, whose default is an approximation by chi-squared.
- **energy**: energy distance, 999 permutations.
- **boosting**: scikit-learn's `HistGradientBoostingClassifier` learns on half of the rows;
  Mann-Whitney test on its scores for the other half.

## Power

In bold: within noise of the best in its row, by a two-proportion z-test at 5 %
(with {trials} trials a difference near .5 is noise up to about {noise:.0f} points).

{power_table(results)}

{verdict(results)}

## Type-I error and time

Time as a multiple of nosplit's, in the same run: above 1 is slower than nosplit.

{level_and_time(results)}

The same for one problem ({TIME_PROBLEM}) as n grows:

{times}
"""
    write_section(DOCS / "measured" / "power.md", "power", text)


def chosen(patterns: list[str] | None, known: Iterable[str]) -> list[str]:
    """The names that contain any of the patterns; all by default."""
    names = [k for k in known if patterns is None or any(p.lower() in k.lower() for p in patterns)]
    if not names:
        raise SystemExit(f"None of {', '.join(known)} contains {patterns}.")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", help="parts of names; all by default")
    parser.add_argument("--methods", nargs="+", help="parts of names; all by default")
    parser.add_argument("--trials", type=int, default=50, help="trials a problem")
    parser.add_argument("--null", type=int, default=12, help="trials a problem for Type-I error")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-sizes", type=int, nargs="*", default=[100, 250, 500, 1000])
    parser.add_argument("--results", type=Path, help="file to keep results in, and to go on from")
    parser.add_argument("--page", action="store_true", help="write docs/measured/power.md")
    options = parser.parse_args()
    options.problems = chosen(options.problems, PROBLEMS)
    options.methods = chosen(options.methods, TESTS)
    one_core()
    results = measure(options)
    if OURS in options.methods and len(options.methods) > 1:
        times = time_table(options)
        print("\n".join(["", verdict(results), "", level_and_time(results), "", times]))
        if options.page:
            page(results, times, options)


if __name__ == "__main__":
    main()
