"""Power of the default test on the tables that other papers published, next to their figures.

Perturbed uniforms and digits are from the paper on MMDAgg (Schrab et al., 2023), the four modes
from that on MMD-FUSE (Biggs et al., 2023). Every test is at level .05. Beside the default are the
paper's own test (OST of linear pairs, closed form) and the same choice of kernels on all pairs.

    python -m benchmarks.power.published --trials 500              # hours
    python -m benchmarks.power.published --trials 20 --tables modes
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources

import numpy as np

from benchmarks.common.pages import fine_share, table, wilson
from nosplit import NosplitWarning, two_sample_test

Sampler = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
HEIGHT = {1: 2.7, 2: 7.3}


@dataclass(frozen=True)
class Cell:
    """One column of a published table."""

    table: str
    label: str
    sample: Sampler
    published: dict[str, float]


# -- perturbed uniforms ----------------------------------------------------------------------------


def bump(t: np.ndarray) -> np.ndarray:
    """A hill on (-1, -1/2) and a valley on (-1/2, 0)."""
    out = np.zeros_like(t)
    for centre, sign in ((3.0, 1.0), (1.0, -1.0)):
        inside = np.abs(4.0 * t + centre) < 1.0
        out[inside] += sign * np.exp(-1.0 / (1.0 - (4.0 * t[inside] + centre) ** 2))
    return out


def perturbed(n: int, d: int, P: int, rng: np.random.Generator) -> np.ndarray:
    """n rows of the density 1 + c_d / P · Σ_ν θ_ν Π_i G(P x_i - ν_i), by rejection."""
    theta = rng.choice([-1.0, 1.0], (P,) * d)
    found, c = np.empty((0, d)), HEIGHT[d] / P
    most = 1.0 + c * np.exp(-1.0) ** d
    while len(found) < n:
        x = rng.random((4 * n, d))
        cell = np.minimum((P * x).astype(int), P - 1)
        # ν = cell + 1 is the one for which P x - ν lies in (-1, 0).
        density = 1.0 + c * theta[tuple(cell.T)] * np.prod(bump(P * x - cell - 1.0), axis=1)
        found = np.concatenate([found, x[rng.random(4 * n) * most < density]])
    return found[:n]


def perturbed_cells(d: int) -> Iterator[Cell]:
    n, powers = {1: (500, (1.0, 0.988, 0.602, 0.228)), 2: (2000, (1.0, 0.982, 0.260))}[d]
    for P, power in enumerate(powers, start=1):

        def sample(rng, P=P):
            return rng.random((n, d)), perturbed(n, d, P, rng)

        yield Cell(f"perturbed {d}-d", f"{P} bumps, n = {n}", sample, {"MMDAgg": power})


# -- digits ----------------------------------------------------------------------------------------


def digit_cells() -> Iterator[Cell]:
    file = resources.files("nosplit.datasets").joinpath("mnist_7x7.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        images, labels = archive["sums"].reshape(-1, 49) / (16 * 255), archive["labels"]
    sets = ((1, 3, 5, 7, 9), (0,), (2,), (4,), (6,))
    figures = (1.0, 1.0, 0.996, 0.890, 0.248)
    classifier = (None, None, None, 0.934, 0.312)
    seen: tuple[int, ...] = ()
    for more, power, half in zip(sets, figures, classifier, strict=True):
        seen += more
        some = np.flatnonzero(np.isin(labels, seen))

        def sample(rng, some=some):
            x, y = rng.choice(len(images), 500), rng.choice(some, 500)
            return images[x], images[y]

        published = {"MMDAgg": power} | ({} if half is None else {"classifier": half})
        yield Cell("digits", f"all against {len(seen)} digits, n = 500", sample, published)


# -- four modes ------------------------------------------------------------------------------------


def modes(n: int, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Normal modes at (±20, ±20), one of them with another spread."""
    which = rng.integers(4, size=n)
    centre = 20.0 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[which]
    return centre + rng.normal(size=(n, 2)) * np.where(which == 0, spread, 1.0)[:, None]


def mode_cells() -> Iterator[Cell]:
    fuse = {0.6: 0.945, 0.7: 0.510, 1.4: 0.235, 1.6: 0.635, 1.8: 0.840}
    agg = {0.6: 0.915, 0.7: 0.460, 1.4: 0.250, 1.6: 0.675, 1.8: 0.910}
    cells = [(500, s, {"MMD-FUSE": fuse[s], "MMDAgg": agg[s]}) for s in fuse]
    cells += [(1000, 1.3, {"best": 0.385}), (2000, 1.3, {"best": 0.785})]
    for n, spread, published in cells:

        def sample(rng, n=n, spread=spread):
            return modes(n, 1.0, rng), modes(n, spread, rng)

        yield Cell("modes", f"spread {spread}, n = {n}", sample, published)


TABLES: dict[str, Callable[[], Iterator[Cell]]] = {
    "perturbed1": partial(perturbed_cells, 1),
    "perturbed2": partial(perturbed_cells, 2),
    "digits": digit_cells,
    "modes": mode_cells,
}


# -- the tests -------------------------------------------------------------------------------------

PAPER = {"kernels": "paper6", "method": "ost"}
WAYS = {
    "nosplit": {},
    "OST, all pairs": PAPER | {"pairs": "complete", "calibration": "exact"},
    "OST, linear": PAPER | {"pairs": "linear", "calibration": "asymptotic"},
}


def found(cell: Cell, ways: Sequence[str], trials: int, seed: int) -> dict[str, list[float]]:
    """How often each way finds the difference, and its seconds of one core."""
    tally = {way: [0.0, 0.0] for way in ways}
    for trial in range(trials):
        x, y = cell.sample(np.random.default_rng([seed, trial]))
        for way, own in tally.items():
            start = time.process_time()
            own[0] += two_sample_test(x, y, rng=trial, workers=1, **WAYS[way]).reject(0.05)
            own[1] += time.process_time() - start
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument(
        "--trials-large", type=int, default=200, help="at most so many at n = 2,000"
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    # Linear pairs of a few hundred rows are what the paper tests; the warning says as much.
    warnings.simplefilter("ignore", NosplitWarning)
    head = ["problem", *o.ways, "95 %", "published", "seconds"]
    print(table(head, []), flush=True)
    for name in o.tables:
        for cell in TABLES[name]():
            trials = min(o.trials, o.trials_large) if "n = 2000" in cell.label else o.trials
            tally = found(cell, o.ways, trials, o.seed)
            low, high = wilson(int(tally[o.ways[0]][0]), trials)
            row = [
                f"{cell.table}: {cell.label}",
                *(fine_share(hits / trials) for hits, _ in tally.values()),
                f"{fine_share(low)} to {fine_share(high)}",
                ", ".join(f"{who} {fine_share(power)}" for who, power in cell.published.items()),
                f"{tally[o.ways[0]][1] / trials:.2f}",
            ]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
