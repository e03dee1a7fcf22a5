"""A study beyond the paper: the same data with more pairs, and with samples that are smaller."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from nosplit import Exact, NosplitWarning, two_sample_test
from nosplit.datasets import DATASETS
from nosplit.experiments.grids import SIZES
from nosplit.experiments.running.work import Cell, Chunk, Count
from nosplit.experiments.statistics import ALPHA

__all__ = ["BUDGET", "WAYS", "Beyond"]

# Sizes below the paper's smallest.
SMALLER: Mapping[str, Sequence[int]] = {
    "diff_var": (50, 100, 200),
    "mnist": (50, 100, 200),
    "blobs": (100, 250, 500),
}
# 199 draws are enough for an exact test at level .05, and cheap.
_EXACT = Exact(n_resamples=199)
# Nominal seconds of one core for a test by "auto": a tenth of what it takes by itself.
BUDGET = 0.1
WAYS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"method": "ost", "pairs": "linear", "calibration": _EXACT},
    "window2": {"method": "ost", "pairs": 2, "calibration": _EXACT},
    "window5": {"method": "ost", "pairs": 5, "calibration": _EXACT},
    "window20": {"method": "ost", "pairs": 20, "calibration": _EXACT},
    "auto": {"budget": BUDGET},
}


@dataclass(frozen=True)
class Beyond:
    """Linear pairs against windows of 2, 5 and 20 and against "auto", with six kernels.

    Linear pairs and windows are calibrated by random flips, so they hold their level at every
    sample size; "auto" chooses for itself.
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
            # All ways see the same rows and draw the same flips.
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
