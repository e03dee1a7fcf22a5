"""The claims of the paper, one function a figure: rows of its table in, verdicts out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from nosplit._old.experiments.grids import COMBINED
from nosplit._old.experiments.normals import theorem_methods
from nosplit._old.experiments.showing.claims import (
    Comparison,
    Verdict,
    all_clear,
    at_least,
    at_most,
    none_fails,
    select,
    some_clear,
    versus,
)
from nosplit._old.experiments.showing.pictures import LAWS
from nosplit._old.experiments.showing.table import TableRow
from nosplit._old.experiments.statistics import ALPHA, SPLITS

__all__ = [
    "beyond",
    "constraints",
    "densities",
    "discrete",
    "geometry",
    "polynomial",
    "theorem",
    "type1",
    "type2",
]

Rows = Sequence[TableRow]

SPLIT = tuple(f"split{f:g}" for f in SPLITS)
BEST_SPLIT = tuple(f"best_{name}" for name in SPLIT)
CALIBRATED = tuple(name for name in COMBINED if name != "naive")


def _all_versus(rows: Rows, better: str, others: Iterable[str]) -> list[Comparison]:
    return [versus(p[better], p[other]) for p in select(rows) for other in others]


def _equal(row: TableRow, level: float) -> tuple[Comparison, Comparison]:
    return at_least(row, level), at_most(row, level)


def _ascending(points: Iterable[Mapping[str, TableRow]], names: Sequence[str]) -> list[Comparison]:
    return [versus(p[high], p[low]) for p in points for low, high in pairwise(names)]


def type2(rows: Rows) -> list[Verdict]:
    """Figure 2."""
    smallest = select(rows, dataset="diff_var", d=[1])
    learned = select(rows, dataset="diff_var", d=[6])
    middle = [max(p["split0.3"], p["split0.5"], key=_rate) for p in learned]
    blobs = {(p["ost"].d, p["ost"].n): p["ost"] for p in select(rows, dataset="blobs")}
    return [
        none_fails("OST ≤ every split at every n", _all_versus(rows, "ost", SPLIT)),
        none_fails("OST ≤ Wald at every n", _all_versus(rows, "ost", ["wald"])),
        none_fails(
            "The same for OST with our defaults",
            _all_versus(rows, "ost_default", [*SPLIT, "wald"]),
        ),
        none_fails(
            "DIFF VAR, d = 1: the error grows with the share of the data that selects",
            _ascending(smallest, SPLIT[::-1]),
        ),
        some_clear(
            "DIFF VAR, d = 6: learning on too little data (split0.1) gives a high error",
            [versus(m, p["split0.1"]) for m, p in zip(middle, learned, strict=True)],
        ),
        some_clear(
            "DIFF VAR, d = 6: learning on too much data (split0.8) gives a high error as well",
            [versus(m, p["split0.8"]) for m, p in zip(middle, learned, strict=True)],
        ),
        all_clear(
            "Blobs: the median heuristic and a linear kernel (d = 2) do badly beside d = 6",
            [versus(row, blobs[2, n]) for (d, n), row in blobs.items() if d == 6],
        ),
    ]


def type1(rows: Rows) -> list[Verdict]:
    """Figure 8."""
    calibrated = [at_most(p[name], ALPHA) for p in select(rows) for name in CALIBRATED]
    return [
        all_clear(
            "naive exceeds .05 (d > 1)",
            [at_least(p["naive"], ALPHA) for p in select(rows, d=[2, 6])],
        ),
        none_fails("All others hold .05", calibrated),
    ]


def polynomial(rows: Rows) -> list[Verdict]:
    """Figure 3."""
    d = {p["ost"].d: p for p in select(rows)}
    others = [name for name in CALIBRATED if name not in ("ost", "ost_default")]
    blind = [p[name] for p in select(rows, d=[1, 2, 3]) for name in CALIBRATED]
    return [
        none_fails(
            "d ≤ 3: calibrated methods have a Type-II error of 1 − α",
            [c for row in blind for c in _equal(row, ALPHA)],
        ),
        all_clear(
            "naive overfits to noise already there (d = 2, 3)",
            [at_least(d[k]["naive"], ALPHA) for k in (2, 3)],
        ),
        all_clear(
            "The fourth kernel helps all methods",
            [versus(d[4][name], d[3][name]) for name in COMBINED],
        ),
        none_fails(
            "The fifth, pure noise again, raises the error",
            [versus(d[4][name], d[5][name]) for name in CALIBRATED],
        ),
        none_fails("OST ≤ every calibrated competitor", _all_versus(rows, "ost", others)),
        none_fails("The same for OST with our defaults", _all_versus(rows, "ost_default", others)),
    ]


def constraints(rows: Rows) -> list[Verdict]:
    """Figure 9."""
    points = select(rows)
    return [
        none_fails("OST ≤ Wald at every n", _all_versus(rows, "ost", ["wald"])),
        none_fails(
            "The same for OST with our defaults", _all_versus(rows, "ost_default", ["wald"])
        ),
        some_clear(
            "β ≥ 0 does better than OST in some cases",
            [versus(p["nonnegative"], p["ost"]) for p in points],
        ),
        some_clear(
            "β ≥ 0 does worse than Wald in others",
            [versus(p["wald"], p["nonnegative"]) for p in points],
        ),
    ]


def discrete(rows: Rows) -> list[Verdict]:
    """Figure 10."""
    return [
        none_fails(
            "The best base statistic ≤ every split in most cases",
            _all_versus(rows, "best", BEST_SPLIT),
            share=0.5,
        ),
        none_fails(
            "MNIST, d = 2: splitting with 10 % for learning does slightly better",
            [versus(p["best_split0.1"], p["best"]) for p in select(rows, dataset="mnist", d=[2])],
        ),
        none_fails(
            "split0.1 ≤ the other splits", _all_versus(rows, "best_split0.1", BEST_SPLIT[1:])
        ),
    ]


def theorem(rows: Rows) -> list[Verdict]:
    """Figure 4."""
    (point,) = select(rows)
    comparisons = [
        c for name, level in theorem_methods().items() for c in _equal(point[name], level)
    ]
    return [none_fails("Given 𝒰 = {1, 2} the statistic follows χ₂ (at six levels)", comparisons)]


def geometry(rows: Rows) -> list[Verdict]:
    """Figure 1."""
    comparisons = [c for p in select(rows) for c in _equal(p["nonnegative"], ALPHA)]
    return [none_fails("Given each active set the test rejects at a rate of .05", comparisons)]


def densities(_: Rows) -> list[Verdict]:
    """Figure 7: moments of the densities as drawn, by a sum over a fine grid."""
    x = np.linspace(-40.0, 40.0, 800_001)
    step = float(x[1] - x[0])
    p, q = (
        np.array([float(np.sum(law(x) * x**k)) * step for k in range(6)]) for law in LAWS.values()
    )
    same = np.allclose(p[:4], q[:4], atol=1e-3)
    odd = np.allclose([p[1::2], q[1::2]], 0.0, atol=1e-3)
    return [
        Verdict(
            "P and Q share the first three moments",
            bool(same),
            f"means {_digits(p[1])} and {_digits(q[1])}, variances {p[2]:.3f} and {q[2]:.3f}, "
            f"third moments {_digits(p[3])} and {_digits(q[3])}",
        ),
        Verdict("All uneven moments vanish", bool(odd), "first, third and fifth moments are 0"),
        Verdict(
            "The fourth moments differ",
            not math.isclose(p[4], q[4], rel_tol=0.01),
            f"they are {p[4]:.2f} and {q[4]:.2f}",
        ),
    ]


def beyond(rows: Rows) -> list[Verdict]:
    """Claims of our own, not the paper's: what more pairs and smaller samples show."""
    windows = ["linear", "window2", "window5", "window20"]
    return [
        none_fails(
            "The error falls with the number of pairs: linear, R = 2, 5, 20",
            _ascending(select(rows), windows),
        ),
        none_fails("auto ≤ linear pairs at every n", _all_versus(rows, "auto", ["linear"])),
    ]


def _rate(row: TableRow) -> float:
    return row.rate


def _digits(value: float) -> str:
    return f"{abs(value):.3f}" if abs(value) < 5e-4 else f"{value:.3f}"
