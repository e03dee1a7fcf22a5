"""A fuzzer: public functions on odd input, and what must hold of whatever they answer.

    python -m benchmarks.fuzz.run --calls 100000 --minutes 60

Every case has a number, and is the same whenever it is run: `--case 4711` runs one again, and
raises what it found. Errors that are documented are answers, too; anything else is a finding.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import signal
import time
import traceback
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.fuzz import files, tests
from benchmarks.fuzz.checks import Finding

# Each with its share of the cases.
CASES: tuple[tuple[Callable[[np.random.Generator], int], float], ...] = (
    (tests.two_sample, 0.16),
    (tests.orbits, 0.02),
    (tests.units_and_columns, 0.10),
    (tests.families_and_columns, 0.04),
    (tests.tables, 0.12),
    (tests.independence, 0.10),
    (tests.goodness_of_fit, 0.12),
    (tests.means, 0.12),
    (tests.monitors, 0.02),
    (tests.plans, 0.06),
    (files.damaged_samples, 0.07),
    (files.states, 0.05),
    (files.profiles, 0.015),
    (files.reports, 0.005),
)
# Seconds after which a case is interrupted.
PATIENCE = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run one case again")
    options = parser.parse_args()
    if options.case is not None:
        one(options.case, options.seed)
        return
    raise SystemExit(run(options.calls, 60.0 * options.minutes, options.seed, options.first))


def run(calls: int, seconds: float, seed: int = 0, first: int = 0) -> int:
    """Run cases until there were so many calls, or the time is over; how many findings."""
    made, found, case = 0, 0, first
    kinds: collections.Counter[str] = collections.Counter()
    start = time.process_time()
    while made < calls and time.process_time() - start < seconds:
        name = kind_of(case, seed).__name__
        kinds[name] += 1
        try:
            with patience(PATIENCE):
                made += one(case, seed)
        except Finding as finding:
            found, made = found + 1, made + 1
            print(f"case {case} ({name}): {finding}", flush=True)
            _where(finding)
        case += 1
    spent = time.process_time() - start
    print(f"{made:,} calls in {case - first:,} cases, {spent:.0f} s: {found} findings", flush=True)
    print(", ".join(f"{name} {count}" for name, count in kinds.most_common()))
    return found


def _where(finding: Finding) -> None:
    """The last lines of the library on the way to an error that nobody expected."""
    error = finding.__cause__
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        for frame in [f for f in frames if "nosplit" in f.filename][-2:] + frames[-1:]:
            print(f"    {frame.filename}:{frame.lineno} {frame.line}", flush=True)


def kind_of(case: int, seed: int) -> Callable[[np.random.Generator], int]:
    """What a case does."""
    rng = np.random.default_rng([seed, case, 1])
    functions, shares = zip(*CASES, strict=True)
    return functions[int(rng.choice(len(functions), p=shares))]


def one(case: int, seed: int) -> int:
    """Run a case; how many calls it made."""
    return kind_of(case, seed)(np.random.default_rng([seed, case]))


@contextlib.contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise a finding where a case takes too long; on a busy machine, ten times as long at most."""
    start, turns = time.process_time(), 0

    def stop(*_):
        nonlocal turns
        turns += 1
        if turns == 10 or time.process_time() - start > seconds / 2:
            raise Finding(f"no answer in {turns * seconds} s")
        signal.alarm(seconds)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    main()
