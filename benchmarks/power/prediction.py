"""Predicted and observed power on the paper's data: the tables of docs/guide/power_planning.md.

    python -m benchmarks.power.prediction --results power.json      # about twenty minutes, one core

What is in the file of results already is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nosplit
from benchmarks.common.pages import DOCS, share, table, wilson, write_section
from nosplit.datasets import DATASETS

PAGE = DOCS / "guide" / "power_planning.md"
KERNELS = "paper6"
LARGE, PILOT = 8000, 200


class Case(NamedTuple):
    """A test at one size."""

    data: str
    pairs: Any
    n: int
    method: Any = "ost"

    @property
    def options(self) -> dict[str, Any]:
        calibration = nosplit.Exact(199) if self.pairs == "complete" else "asymptotic"
        return {"pairs": self.pairs, "calibration": calibration, "method": self.method}

    @property
    def label(self) -> str:
        return f"R = {self.pairs}" if isinstance(self.pairs, int) else self.pairs


CASES = [
    *(Case("diff_var", "linear", n) for n in (1000, 2500)),
    *(Case("diff_var", 5, n) for n in (200, 400)),
    *(Case("diff_var", "complete", n) for n in (60, 100)),
    *(Case("mnist", "linear", n) for n in (1000, 2000)),
    *(Case("mnist", 5, n) for n in (150, 300)),
    *(Case("mnist", "complete", n) for n in (40, 70)),
    *(Case("blobs", "linear", n) for n in (1500, 2500)),
    *(Case("blobs", 5, n) for n in (200, 350)),
    *(Case("blobs", "complete", n) for n in (50, 80)),
]
# What the default test is asked to find, and at what size.
DEFAULTS: dict[str, tuple[Callable[[Any], None], int]] = {
    "one column moved by .35": (lambda y: _moved(y[:, :1], 0.35), 100),
    "all columns moved by .15": (lambda y: _moved(y, 0.15), 100),
    "all spreads 1.15": (lambda y: _spread(y, 1.15), 100),
    "one correlation .5": (lambda y: _moved(y[:, 1:2], y[:, :1], 0.75**0.5, 0.5), 100),
    "one spread 1.15": (lambda y: _spread(y[:, :1], 1.15), 500),
    "one spread 1.05": (lambda y: _spread(y[:, :1], 1.05), 4000),
}
DEFAULT_PILOTS, LARGE_TEST = (200, 2_000, 20_000), 4000
METHOD_SIZES = (("linear", 1400), (5, 200), ("complete", 50))
METHODS = ["ost", "nonnegative", "wald", "best", "chibar", nosplit.methods.Split(0.5), "adaptive"]


def _moved(part: Any, by: Any, scale: float = 1.0, share: float = 1.0) -> None:
    part *= scale
    part += share * by


def _spread(part: Any, by: float) -> None:
    part *= by


def five_columns(change: Callable[[Any], None], n: int, seed: list[int]) -> tuple[Any, Any]:
    x, y = np.random.default_rng(seed).normal(size=(2, n, 5))
    change(y)
    return x, y


def observed(case: Case, trials: int) -> float:
    data, hits = DATASETS[case.data], 0
    for seed in range(trials):
        x, y = data.sample(case.n, rng=np.random.default_rng([7, seed]))
        res = nosplit.two_sample_test(
            x, y, kernels=KERNELS, rng=seed, shuffle=False, workers=1, **case.options
        )
        hits += res.reject(0.05)
    return hits / trials


def interval(low: float, high: float) -> str:
    return f"{share(low)}–{share(high)}"


def seen(rate: float, trials: int) -> str:
    return f"{share(rate)} ({interval(*wilson(round(rate * trials), trials))})"


@cache
def large(name: str) -> nosplit.power.Alternative:
    return nosplit.pilot(*DATASETS[name].sample(LARGE, rng=1), kernels=KERNELS)


@cache
def small(name: str, seed: int) -> nosplit.power.Alternative:
    return nosplit.pilot(*DATASETS[name].sample(PILOT, rng=100 + seed), kernels=KERNELS)


class Results(NamedTuple):
    """Rows of tables, kept in a file as they are found."""

    path: Path
    trials: int
    pilots: int

    def row(self, key: str, measure: Callable[[], list[Any]]) -> list[Any]:
        known = json.loads(self.path.read_text()) if self.path.exists() else {}
        if key not in known:
            known[key] = measure()
            self.path.write_text(json.dumps(known, indent=1))
            print(key, *known[key], flush=True)
        return known[key]


def agreement(results: Results) -> str:
    """Predictions from a large sample and from many small pilots, beside what happened."""

    def measure(case: Case) -> list[Any]:
        rate = observed(case, results.trials)
        told = nosplit.power.predict_power(large(case.data), n=case.n, **case.options)
        pilots = [small(case.data, i) for i in range(results.pilots)]
        many = [
            nosplit.power.predict_power(p, n=case.n, trials=500, **case.options) for p in pilots
        ]
        power = np.array([p.power for p in many])
        held = sum(p.low <= rate <= p.high for p in many)
        return [
            case.data,
            case.label,
            case.n,
            seen(rate, results.trials),
            f"{share(told.power)} ({interval(told.low, told.high)})",
            f"{share(np.median(power))} ({interval(*np.quantile(power, [0.1, 0.9]))})",
            f"{held} of {len(many)}",
        ]

    rows = [results.row(f"{c.data} {c.pairs} {c.n}", lambda c=c: measure(c)) for c in CASES]
    head = ["data", "pairs", "n", "observed (95 %)", f"predicted from {LARGE:,} rows"]
    head += [f"from {PILOT} rows: median (10–90 % of pilots)", "intervals that hold it"]
    return table(head, rows)


def methods(results: Results) -> str:
    """Every method on MNIST."""

    def measure(method: Any) -> list[Any]:
        # Every test of chi-bar simulates the weights of its null law.
        trials = results.trials // 5 if method == "chibar" else results.trials
        row: list[Any] = [method if isinstance(method, str) else f"Split({method.fraction})"]
        for pairs, n in METHOD_SIZES:
            case = Case("mnist", pairs, n, method)
            told = nosplit.power.predict_power(large("mnist"), n=n, **case.options)
            row += [share(told.power), seen(observed(case, trials), trials)]
        return row

    rows = [results.row(f"method {m}", lambda m=m: measure(m)) for m in METHODS]
    head = ["method"]
    for pairs, n in METHOD_SIZES:
        head += [f"{Case('mnist', pairs, n).label}, n = {n}", "observed"]
    return table(head, rows)


def sizes(results: Results) -> str:
    """The size for power .8, from a large sample, and the power found there."""

    def measure(name: str, pairs: Any) -> list[Any]:
        case = Case(name, pairs, 0)
        found = nosplit.sample_size(large(name), power=0.8, **case.options)
        rate = observed(case._replace(n=found.n), results.trials)
        return [name, case.label, found.n, f"{found.low}–{found.high}", seen(rate, results.trials)]

    rows = [
        results.row(f"size {name} {pairs}", lambda name=name, pairs=pairs: measure(name, pairs))
        for name in ("diff_var", "mnist", "blobs")
        for pairs in (5, "complete")
    ]
    return table(["data", "pairs", "n for .8", "95 % interval", "observed there"], rows)


def defaults(results: Results) -> str:
    """The default test on five columns, from pilots of several sizes."""

    def measure(name: str) -> list[Any]:
        change, n = DEFAULTS[name]
        tests = 200 if n < LARGE_TEST else 60
        hits = sum(
            nosplit.two_sample_test(*five_columns(change, n, [7, t]), workers=1).reject(0.05)
            for t in range(tests)
        )
        row: list[Any] = [name, n, seen(hits / tests, tests)]
        for size in DEFAULT_PILOTS:
            pilots = (nosplit.pilot(*five_columns(change, size, [size, k])) for k in range(10))
            many = [nosplit.power.predict_power(pilot, n=n, trials=1000) for pilot in pilots]
            power = np.array([told.power for told in many])
            held = sum(told.low <= hits / tests <= told.high for told in many)
            spread = interval(*np.quantile(power, [0.1, 0.9]))
            row.append(f"{share(np.median(power))} ({spread}), {held}")
        return row

    rows = [results.row(f"default {name}", lambda name=name: measure(name)) for name in DEFAULTS]
    head = ["difference", "n", "observed (95 %)"]
    head += [f"from {n:,} rows: median (10–90 %), intervals of 10" for n in DEFAULT_PILOTS]
    return table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--pilots", type=int, default=20)
    parser.add_argument("--only", choices=["agreement", "methods", "sizes", "defaults"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nosplit.NosplitWarning)
    results = Results(arguments.results, arguments.trials, arguments.pilots)
    start = time.process_time()
    for study in (agreement, sizes, methods, defaults):
        if arguments.only in (None, study.__name__):
            write_section(PAGE, study.__name__, study(results))
    print(f"{time.process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main()
