"""The goodness-of-fit test of tensors: Stein features are summed where the rows lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nosplit._old.engines.families.goodness_of_fit import SteinTask, sketched_fit
from nosplit._old.engines.torch.devices import as_array, as_rows, device_of, running
from nosplit._old.engines.torch.sketches.dealing import cells_of
from nosplit._old.engines.torch.sketches.sides import check_finite_tensor
from nosplit._old.engines.torch.sketches.stein import DeviceStein
from nosplit._old.inference.planning.goodness_of_fit import SteinSizes, plan_sketch
from nosplit._types import Array, Index
from nosplit.api._request import Request
from nosplit.core.order import shuffled
from nosplit.core.stein_map import SteinSums
from nosplit.data.frames import is_table
from nosplit.errors import InputError
from nosplit.inference.questions import GOODNESS
from nosplit.inference.result import TestResult
from nosplit.kernels.stein import stein_kernels
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import Ends
from nosplit.models.scores import Score, check_scores, scores_of

__all__ = ["fit_of_tensor"]


def fit_of_tensor(
    x: Any,
    score: Score,
    request: Request,
) -> TestResult | None:
    """Test rows on a device by a sketch; None where they are compared in memory.

    That is so for few rows, tables, models with ends, and where columns are picked or scaled.
    """
    plain = request.options.idle and not is_table(x)
    if not plain or isinstance(getattr(score, "ends", None), Ends):
        return None
    place = device_of(x, x, request.device)
    rows = as_rows(x, "x", place)
    n, p = rows.shape
    sizes = SteinSizes(n, n, p, len(stein_kernels(request.kernels, 1.0)), 2)
    sampling = isinstance(score, SamplingModel)
    how = plan_sketch(
        sizes, request.pairs, request.calibration, request.method, request.budget, sampling
    )
    if how is None:
        return None
    check_finite_tensor(rows, "x")
    if bool((rows == rows[0]).all()):
        raise InputError("`x` is constant: all rows are the same.")
    if request.shuffle:
        shuffled(
            n, request.rng
        )  # in memory, all rows are put in order first: the same draws follow
    with running(place):
        scored = _ScoredTensor(rows, _placed(score, place))
        done = sketched_fit(
            scored,
            request.kernels,
            how,
            request.method,
            request.rng,
            request.shuffle,
            request.workers,
            score=score,
        )
    return done.result(GOODNESS, n)


def _placed(score: Any, place: torch.device) -> Any:
    """Scores that are given row by row, on the device; a model or a function as it is."""
    if isinstance(score, Model | type) or callable(score):
        return score
    return as_rows(score, "score", place)


@dataclass(frozen=True, eq=False)
class _ScoredTensor:
    """Rows on a device, and the scores of a model there."""

    rows: torch.Tensor
    score: Any

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def some(self, rows: Index) -> tuple[Array, Array]:
        """Rows of given numbers, and their scores, in memory."""
        where = torch.from_numpy(rows).to(self.rows.device)
        x = self.rows[where]
        found = as_array(x), as_array(self._scores(x, where))
        return found[0].astype(np.float64), found[1].astype(np.float64)

    def _scores(self, x: torch.Tensor, where: torch.Tensor | slice) -> torch.Tensor:
        """Scores of some rows; those of functions of tensors are computed on the device."""
        if isinstance(self.score, torch.Tensor):
            if self.score.shape != self.rows.shape:
                check_scores(self.score, tuple(self.rows.shape))
            return self.score[where]
        if not isinstance(self.score, Model | type):
            try:
                found = self.score(x)
            except (TypeError, AttributeError):  # a function of arrays
                found = None
            if isinstance(found, torch.Tensor):
                found = found.detach()
                found = found[:, None] if found.ndim == 1 and x.shape[1] == 1 else found
                check_scores(found, tuple(x.shape))
                check_finite_tensor(found, "score")
                return found.to(x.device)
        in_memory = as_array(x).astype(np.float64)
        return torch.from_numpy(scores_of(self.score, in_memory)).to(x.device)

    def sums(self, task: SteinTask, workers: int | None) -> SteinSums:
        """The sketch of all rows: some after others, in their order."""
        device = self.rows.device
        sums = DeviceStein.empty(task.map, task.deal.cells, device)
        for first in range(0, self.n, sums.at_once):
            where = slice(first, first + sums.at_once)
            x = self.rows[where]
            cells = cells_of(task.deal, first, len(x), device)
            sums.add(x, self._scores(x, where), cells)
        return sums.in_memory()
