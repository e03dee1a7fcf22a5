"""A study beyond the paper: the same data with more pairs, and with samples that are smaller."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from nosplit import NosplitWarning, two_sample_test
from nosplit._old.experiments.grids import SIZES
from nosplit._old.experiments.running.work import Cell, Chunk, Count
from nosplit._old.experiments.statistics import ALPHA
from nosplit.datasets import DATASETS

__all__ = ["BUDGET", "WAYS", "Beyond"]

# Sizes below the paper's smallest.
SMALLER: Mapping[str, Sequence[int]] = {
    "diff_var": (50, 100, 200),
    "mnist": (50, 100, 200),
    "blobs": (100, 250, 500),
}
# Nominal seconds of one core for a test by "auto": a tenth of what it takes by itself.
BUDGET = 0.1
_CLOSED = {"method": "ost", "calibration": "asymptotic"}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"pairs": "linear", **_CLOSED},
    "window2": {"pairs": 2, **_CLOSED},
    "window5": {"pairs": 5, **_CLOSED},
    "window20": {"pairs": 20, **_CLOSED},
    "auto": {"budget": BUDGET},
}


@dataclass(frozen=True)
class Beyond:
    """Linear pairs against windows of 2, 5 and 20 and against "auto", with six kernels.

    Linear pairs and windows have the closed form of the paper; "auto" permutes rows.
    """

    number: int
    trials: int = 200
    chunk: int = 5

    @property
    def cells(self) -> Sequence[Cell]:
        """Datasets and sample sizes."""
        return [Cell(name, n) for name in SIZES for n in (*SMALLER[name], *SIZES[name])]

    def run(self, cell: Cell, trials: int, rng: Generator) -> Chunk:
        """Do some trials of a cell."""
        rejections = dict.fromkeys(WAYS, 0)
        for _ in range(trials):
            x, y = DATASETS[cell.dataset].sample(cell.n, rng)
            # All ways see the same rows.
            seed = int(rng.integers(2**63))
            for name, options in WAYS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NosplitWarning)
                    result = two_sample_test(x, y, kernels="paper6", rng=seed, workers=1, **options)
                rejections[name] += result.reject(ALPHA)
        return Chunk(
            tuple(
                Count(cell.dataset, 6, cell.n, name, trials, count)
                for name, count in rejections.items()
            )
        )
