"""Quick judges of level, power and speed: a few minutes each, to run before and after a change.

    python -m benchmarks.judge level
    python -m benchmarks.judge power
    python -m benchmarks.judge speed --against ../before/src

`level` runs every design and family on at most 40 rows (or units) without a difference, and names
the cells that reject more often than chance allows. `power` compares the mean power on small
problems with recorded numbers. `speed` compares the time of a call, without printing, with that of
another checkout, in turns. The exit code is 1 if something is worse.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import nosplit
from benchmarks.common import designed_problems as designed
from benchmarks.common.independence_problems import PROBLEMS as DEPENDENT
from benchmarks.common.problems import sample
from benchmarks.level import nulls

ROOT = Path(__file__).resolve().parent.parent
LEVEL, FALSE_ALARM_RATE = 0.05, 1e-3

Problem = Callable[[Any], tuple[Any, Any, dict[str, Any]]]

# -- level -----------------------------------------------------------------------------------------


def law(name: str, n: int, m: int, p: int = 2) -> Problem:
    return lambda rng: (nulls.ROWS[name](rng, n, p), nulls.ROWS[name](rng, m, p), {})


def in_time(n: int, m: int, **design: Any) -> Problem:
    return lambda rng: (nulls.ar1(rng, n, 2, 0.3), nulls.ar1(rng, m, 2, 0.3), design)


def grouped_variables(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Twelve groups of three rows, which are alike in both variables."""
    group = np.repeat(np.arange(12), 3)
    x, y = (rng.normal(size=(12, 2))[group] + rng.normal(size=(36, 2)) for _ in range(2))
    return x, y, {"groups": group}


def two_student(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    return rng.standard_t(2.0, (600, 2)), rng.standard_t(2.0, (600, 1)), {}


def pvalue(
    test: Callable[..., Any], problem: Problem, rng: Any, seed: int, **options: Any
) -> float:
    """The p-value of a test; the smallest adjusted one of a table of columns."""
    x, y, design = problem(rng)
    res = test(x, y, **design, rng=seed, workers=1, **options)
    return float(res.adjusted.min()) if hasattr(res, "adjusted") else res.pvalue


def fit(score: Any, draw: Callable[[Any], Any], rng: Any, seed: int, **options: Any) -> float:
    return nosplit.goodness_of_fit_test(draw(rng), score, rng=seed, workers=1, **options).pvalue


def several(design: str, rng: Any, seed: int) -> float:
    samples, options = SEVERAL[design](rng)
    return nosplit.k_sample_test(samples, **options, follow_up=False, rng=seed, workers=1).pvalue


def several_in_strata(rng: Any) -> tuple[list[Any], dict[str, Any]]:
    """Strata apart from one another, mixed in other proportions."""
    strata = [np.repeat([0, 1], own) for own in ((15, 5), (8, 7), (2, 8))]
    samples = designed.several(rng, [20, 15, 10])
    return [s + 2.0 * own[:, None] for s, own in zip(samples, strata, strict=True)], {
        "strata": strata
    }


def several_in_groups(rng: Any) -> tuple[list[Any], dict[str, Any]]:
    """Groups of five rows that have half of their variance in common."""
    groups = [np.arange(n) // 5 + 10 * k for k, n in enumerate((20, 15, 10))]
    common, samples = rng.standard_normal((30, 2)), designed.several(rng, [20, 15, 10])
    return [s + common[own] for s, own in zip(samples, groups, strict=True)], {"groups": groups}


def several_in_time(rng: Any) -> tuple[list[Any], dict[str, Any]]:
    return [nulls.ar1(rng, n, 2, 0.3) for n in (20, 16, 12)], {"series": 4}


SEVERAL = {
    "plain": lambda rng: (designed.several(rng, [20, 15, 10]), {}),
    "strata": several_in_strata,
    "groups": several_in_groups,
    "series": several_in_time,
}


def classifier(rng: Any, seed: int) -> float:
    x, y, _ = law("Cauchy", 30, 30)(rng)
    return nulls.TESTS_OF_TWO["witness, means"](x, y, seed).pvalue


def mean(rng: Any, seed: int) -> float:
    h = nulls.VALUES["Student 3"](rng, 40, 3)
    return nosplit.mean_test(h, symmetric=True, rng=seed).pvalue


DEFAULT = partial(pvalue, nosplit.two_sample_test)
TWO_SAMPLES = partial(DEFAULT, calibration=nosplit.Exact(199))
COLUMNS = partial(pvalue, nosplit.column_tests, n_resamples=199)
INDEPENDENCE = partial(pvalue, nosplit.independence_test)
STATES = partial(INDEPENDENCE, calibration=nosplit.Exact(199))
# Thirty groups of one to five rows.
GROUPS = np.repeat(np.arange(30), 1 + np.arange(30) % 5)
NORMAL, GAMMA = nulls.normal_model(2), nulls.one_column("gamma(2)")
# Two samples from the same distribution, and the keywords of their test.
ALIKE = {
    "equal": law("Cauchy", 30, 30),
    "unequal": law("log-normal", 40, 15),
    "ties": law("ties", 20, 30),
    "table": law("mixed table", 40, 30),
    "wide": law("normal", 20, 20, 100),
    "paired": partial(designed.pairs, n=30),
    "strata": partial(designed.small_strata, strata=15),
    "groups": partial(designed.groups, count=10, rows=4),
    "groups of both": partial(designed.groups_of_both, count=10),
    "groups in strata": designed.groups_in_strata,
    "series": in_time(40, 40, series=4),
    "series, unequal": in_time(40, 24, series=4),
    "series, paired": in_time(40, 40, series=4, paired=True),
}
CELLS: dict[str, Callable[[Any, int], float]] = {
    **{f"two samples, {name}": partial(TWO_SAMPLES, problem) for name, problem in ALIKE.items()},
    **{f"columns, {name}": partial(COLUMNS, problem) for name, problem in ALIKE.items()},
    **{f"several samples, {design}": partial(several, design) for design in SEVERAL},
    "classifier": classifier,
    "independence": partial(INDEPENDENCE, law("Cauchy", 40, 40)),
    "independence, table": partial(INDEPENDENCE, law("mixed table", 40, 40, 1)),
    "independence, strata": partial(INDEPENDENCE, partial(designed.given_a_stratum, n=40)),
    "independence, groups": partial(INDEPENDENCE, grouped_variables),
    "independence, series": partial(INDEPENDENCE, in_time(40, 40, series=4)),
    "independence, states": partial(STATES, two_student),
    "independence, states, table": partial(STATES, law("mixed table", 600, 600, 1)),
    "fit, simulated": partial(fit, GAMMA, lambda rng: GAMMA.sample(40, rng)),
    **{
        f"fit, wild, {n} rows": partial(fit, NORMAL.score, partial(NORMAL.sample, n))
        for n in (20, 40, 200, 1000)
    },
    "fit, groups": lambda rng, seed: fit(
        lambda x: -x, lambda rng: nulls.in_groups(rng, GROUPS, 2), rng, seed, groups=GROUPS
    ),
    "fit, series": partial(fit, lambda x: -x, lambda rng: nulls.ar1(rng, 40, 2, 0.3), series=4),
    "mean, symmetric": mean,
}


def level(trials: int, only: str) -> bool:
    """Print the level of every cell, and return whether none is above what chance allows."""
    cells = {name: run for name, run in CELLS.items() if only in name}
    most = int(binom.isf(FALSE_ALARM_RATE / len(cells), trials, LEVEL))
    print(f"{trials} trials a cell; at most {most / trials:.3f} is within chance", flush=True)
    above = []
    for name, run in cells.items():
        start, hits = time.process_time(), 0
        for trial in range(trials):
            hits += run(np.random.default_rng([40, trial]), trial) <= LEVEL
        above += [name] if hits > most else []
        ms = 1e3 * (time.process_time() - start) / trials
        print(f"{name:30s} {hits / trials:.3f} {ms:6.0f} ms {'ABOVE' * (hits > most)}", flush=True)
    print(f"above the level: {', '.join(above) or 'none'}")
    return not above


# -- power -----------------------------------------------------------------------------------------


def arrays(name: str, n: int) -> Problem:
    return lambda rng: (*sample(name, n, rng), {})


def rarer_category(rng: Any) -> tuple[Any, Any, dict[str, Any]]:
    x, y = (nulls.ROWS["mixed table"](rng, 120, 3) for _ in range(2))
    rarer = (y["carrier"] == "B") & (rng.random(120) < 0.5)
    return x, y.assign(carrier=y["carrier"].mask(rarer, "A")), {}


def dependent(name: str) -> Problem:
    return lambda rng: (*DEPENDENT[name](100, rng), {})


TRIALS = 60
# Tests and problems, and how many of 60 trials were rejected at commit a8fe3e5.
POWER: dict[str, tuple[Callable[..., float], Problem, int]] = {
    "mean shift, 10-d": (DEFAULT, arrays("mean shift, 10-d", 100), 31),
    "one column of 50": (DEFAULT, arrays("one column of 50", 80), 46),
    "variance, 10-d": (DEFAULT, arrays("variance, 10-d", 70), 39),
    "correlation, 10-d": (DEFAULT, arrays("correlation, 10-d", 70), 42),
    "heavy tails, 20-d": (DEFAULT, arrays("heavy tails, 20-d", 50), 46),
    "ripple f=2, 1-d": (DEFAULT, arrays("ripple f=2, 1-d", 100), 47),
    "rare shift, 5-d": (DEFAULT, arrays("rare shift, 5-d", 120), 36),
    "blobs, 2-d": (DEFAULT, arrays("blobs, 2-d", 50), 49),
    "a rarer category": (DEFAULT, rarer_category, 33),
    "paired": (DEFAULT, partial(designed.pairs, effect=0.15), 34),
    "strata": (DEFAULT, partial(designed.strata, effect=0.3), 41),
    "groups": (DEFAULT, partial(designed.groups, effect=0.6), 39),
    "independence, square": (INDEPENDENCE, dependent("square"), 44),
    "independence, spread": (INDEPENDENCE, dependent("spread"), 46),
}


def power(only: str) -> bool:
    """Print power beside what was recorded, and return whether the mean is within chance."""
    found, before = [], []
    for name, (test, problem, recorded) in POWER.items():
        if only in name:
            hits = [
                test(problem, np.random.default_rng([41, t]), t) <= LEVEL for t in range(TRIALS)
            ]
            found.append(np.mean(hits))
            before.append(recorded / TRIALS)
            print(f"{name:30s} {found[-1]:.2f}, recorded {before[-1]:.2f}", flush=True)
    # Trials are the same as those recorded, so that this standard error is too large.
    p, q = np.array(found), np.array(before)
    error = np.sqrt(np.sum(p * (1 - p) + q * (1 - q)) / TRIALS) / len(p)
    print(f"mean {p.mean():.3f}, recorded {q.mean():.3f}, standard error below {error:.3f}")
    return bool(p.mean() > q.mean() - 2.0 * error)


# -- speed -----------------------------------------------------------------------------------------

# Name, rows of x and of y (0: three samples), columns (0 for a table), and the time over that
# before that is allowed. Tests of independence have two columns on either side.
CALLS = [
    *((f"{n} v {n}", n, n, 10, 1.3 if n <= 50 else 1.25 if n <= 500 else 1.1)
      for n in (20, 50, 100, 200, 500, 1000, 2000)),
    *((f"{n} v {n // 2}", n, n // 2, 10, 1.25 if n <= 500 else 1.1)
      for n in (50, 100, 200, 500, 1000, 2000)),
    ("200 v 200, 50 columns", 200, 200, 50, 1.25),
    ("200 v 150, table", 200, 150, 0, 1.25),
    ("1000 v 1000, table", 1000, 1000, 0, 1.1),
    ("3 x 200", 200, 0, 5, 1.25),
]  # fmt: skip
INDEPENDENT = [(f"independence, {n}", n, n, 2, 1.25 if n <= 300 else 1.1) for n in (100, 300, 1000)]
# Tests of fit: name, rows, calibration, and the same.
FITS = [
    (f"fit, {n} rows, {how}", n, how, 1.25 if n <= 300 else 1.1)
    for n in (100, 300, 1000) for how in ("simulate", "wild")
]  # fmt: skip


def time_of_fit(n: int, how: str) -> float:
    x, spent = NORMAL.sample(n, np.random.default_rng(n)), []
    for _ in range(3):
        start = time.process_time()
        nosplit.goodness_of_fit_test(x, NORMAL, calibration=how, workers=1)
        spent.append(1e3 * (time.process_time() - start))
    return min(spent[1:])


def times() -> None:
    """Print milliseconds of every call, as JSON: the best of several, after one to warm up."""
    found = {}
    for name, n, m, p, _ in [*CALLS, *INDEPENDENT]:
        test = "independence" if name.startswith("independence") else "two_sample"
        rng = np.random.default_rng([42, n, m, p])
        draw = nulls.ROWS["normal" if p else "mixed table"]
        x, y, z = (draw(rng, own, p or 4) for own in (n, m or n, n))
        spent = []
        for _ in range(2 if n > 500 else 8):
            start = time.process_time()
            if m:
                getattr(nosplit, f"{test}_test")(x, y, workers=1)
            else:
                nosplit.k_sample_test([x, y, z], workers=1)
            spent.append(1e3 * (time.process_time() - start))
        found[name] = min(spent[1:])
    found |= {name: time_of_fit(n, how) for name, n, how, _ in FITS}
    print(json.dumps({"file": inspect.getfile(nosplit), "times": found}))


def speed(against: Path, rounds: int) -> bool:
    """Print times over those of another checkout, and return whether all are allowed."""
    best: dict[Path, dict[str, float]] = {}
    sides = (Path(inspect.getfile(nosplit)).parent.parent, against.resolve())
    for _ in range(rounds):
        for source in sides:
            env = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
            command = [sys.executable, "-m", "benchmarks.judge", "times"]
            done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=True)
            found = json.loads(done.stdout)
            assert Path(found["file"]).is_relative_to(source), f"{found['file']} was timed"
            old = best.setdefault(source, found["times"])
            best[source] = {name: min(ms, old[name]) for name, ms in found["times"].items()}
    slower = []
    for name, *_, allowed in [*CALLS, *INDEPENDENT, *FITS]:
        ours, theirs = (best[source][name] for source in sides)
        slower += [name] if ours > allowed * theirs else []
        said = f"{ours / theirs:.2f} ({ours:.1f} v {theirs:.1f} ms), at most {allowed}"
        print(f"{name:24s} {said} {'SLOWER' * (name in slower)}")
    print(f"slower than is allowed: {', '.join(slower) or 'none'}")
    return not slower


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge", choices=["level", "power", "speed", "times"])
    parser.add_argument("--only", default="", help="cells or problems whose names have this")
    parser.add_argument("--trials", type=int, default=300, help="of the level, for each cell")
    parser.add_argument("--against", type=Path, help="src of the other checkout, for speed")
    parser.add_argument("--rounds", type=int, default=4, help="of speed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.judge == "times":
        times()
        return
    if options.judge == "speed" and options.against is None:
        parser.error("speed needs --against, the src of another checkout")
    good = {
        "level": lambda: level(options.trials, options.only),
        "power": lambda: power(options.only),
        "speed": lambda: speed(options.against, options.rounds),
    }[options.judge]()
    raise SystemExit(not good)


if __name__ == "__main__":
    main()
