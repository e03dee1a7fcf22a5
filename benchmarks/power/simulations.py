"""The twenty simulations of hyppo by the default call, and by that of another checkout.

python -m benchmarks.power.simulations --trials 200 --against ../before/src
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import nosplit
from benchmarks.common.shen import SIMULATIONS

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES, LEVEL = (50, 100), 0.05
MONOTONE = ("linear", "exponential", "cubic", "joint normal", "step")


def found(trials: int) -> dict[str, list[float]]:
    """The share of trials in which each simulation is found, for both sizes."""
    shares: dict[str, list[float]] = {}
    for name, draw in SIMULATIONS.items():
        for n in SIZES:
            hits = 0
            for trial in range(trials):
                x, y = draw(n, np.random.default_rng([43, n, trial]))
                hits += nosplit.independence_test(x, y, rng=trial, workers=1).reject(LEVEL)
            shares.setdefault(name, []).append(hits / trials)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--against", type=Path, help="src of another checkout")
    parser.add_argument("--json", action="store_true", help="print shares only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.json:
        print(json.dumps(found(options.trials)))
        return
    own = Path(inspect.getfile(nosplit)).parent.parent
    sides = [own] if options.against is None else [own, options.against.resolve()]
    columns = []
    for source in sides:
        command = [sys.executable, "-m", "benchmarks.power.simulations", "--json"]
        env = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, "--trials", str(options.trials)],
            cwd=ROOT, env=env, capture_output=True, check=True,
        )  # fmt: skip
        columns.append(json.loads(done.stdout))
    for name in SIMULATIONS:
        print(f"| {name} | " + " | ".join(f"{s:.2f}" for c in columns for s in c[name]) + " |")
    for label, names in (("monotone", MONOTONE), ("all but the last", list(SIMULATIONS)[:-1])):
        means = [np.mean([c[n] for n in names], axis=0) for c in columns]
        print(f"| {label}, mean | " + " | ".join(f"{s:.3f}" for m in means for s in m) + " |")


if __name__ == "__main__":
    main()
