"""Why these products of kernels: power of the independence test with several sets.

python -m benchmarks.choices.independence_kernels --trials 200
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from benchmarks.common.independence_problems import PROBLEMS
from nosplit import independence_test
from nosplit.kernels import Gaussian, Laplace, Linear

LINEAR = [(Linear(), Linear())]


def grid(kernel, factors, more=()):
    return lambda a, b: (
        [(kernel(s * a), kernel(t * b)) for s, t in product(factors, factors)] + list(more)
    )


def alike(factors, more=()):
    return lambda a, b: [(Gaussian(s * a), Gaussian(s * b)) for s in factors] + list(more)


SETS = {
    "one": grid(Gaussian, (1.0,)),
    "alike": alike((0.25, 0.5, 1.0, 2.0), LINEAR),
    "2x2+l": grid(Gaussian, (0.5, 1.5), LINEAR),
    "3x3": grid(Gaussian, (0.5, 1.0, 2.0)),
    "3x3+l": grid(Gaussian, (0.5, 1.0, 2.0), LINEAR),
    "wide+l": grid(Gaussian, (0.25, 1.0, 4.0), LINEAR),
    "fine+l": grid(Gaussian, (0.25, 0.5, 1.0), LINEAR),
    "L3x3+l": grid(Laplace, (0.5, 1.0, 2.0), LINEAR),
    "5x5+l": grid(Gaussian, (0.25, 0.5, 1.0, 2.0, 4.0), LINEAR),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--n", type=int, default=96)
    args = parser.parse_args()
    print(f"n = {args.n}, level 0.05, {args.trials} trials")
    print(" " * 16 + "".join(f"{name:>8s}" for name in SETS))
    table = []
    for name, draw in PROBLEMS.items():
        rng = np.random.default_rng(1)
        hits = [
            [independence_test(x, y, kernels=k, workers=1).reject() for k in SETS.values()]
            for x, y in (draw(args.n, rng) for _ in range(args.trials))
        ]
        table.append(np.mean(hits, axis=0))
        print(f"{name:16s}" + "".join(f"{s:8.2f}" for s in table[-1]), flush=True)
    power = np.array(table[1:])
    short = (power.max(axis=1, keepdims=True) - power).max(axis=0)
    print(f"{'mean power':16s}" + "".join(f"{s:8.3f}" for s in power.mean(axis=0)))
    print(f"{'most lost':16s}" + "".join(f"{s:8.2f}" for s in short))


if __name__ == "__main__":
    main()
