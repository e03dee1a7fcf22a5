"""Goodness-of-fit tests that the new house does not do: of files, tensors and sketches."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.designs.asked import no_series
from nosplit._old.engines.devices import fit_on_device, lies_on_device
from nosplit._old.engines.families.goodness_of_fit import ScoredArrays, sketched_fit
from nosplit._old.engines.files.goodness_of_fit import fit_of_file
from nosplit._old.inference.planning.goodness_of_fit import SteinSizes, plan_sketch
from nosplit.api._request import Request
from nosplit.api.goodness_of_fit import test_in_memory
from nosplit.core.order import shuffled
from nosplit.core.pairings import Sketch
from nosplit.data.scored import ScoredSample
from nosplit.inference.questions import GOODNESS
from nosplit.inference.result import TestResult
from nosplit.kernels.stein import stein_kernels

__all__ = ["answer", "sketch"]


def answer(request: Request, support: Any) -> TestResult:
    """Test files and tensors; those that need no sketch in memory."""
    if request.series is not False and request.device is not None:
        no_series(request.series, "on a device")
    request = replace(request, y=read_if_path(request.y))
    found, exact = None, request.by_pairs and not isinstance(request.pairs, Sketch)
    sketches = not (exact or request.designed or support is not None)
    if is_path(request.x) and sketches:
        progress = sys.stderr.isatty()
        found = fit_of_file(open_source(request.x), request.y, request, progress=progress)
    if found is None:
        request = replace(request, x=read_if_path(request.x))
        if sketches and (request.device is not None or lies_on_device(request.x)):
            found = fit_on_device(request.x, request.y, request)
    if found is None:
        return test_in_memory(replace(request, device=None), support)
    return found.done(seed=request.seed, automatic=request.automatic)


def sketch(request: Request, sample: ScoredSample) -> TestResult:
    """Test rows in memory by sums of cells."""
    n, p = sample.given.x.shape
    sizes = SteinSizes(n, n, p, len(stein_kernels(request.kernels, 1.0)), 2)
    how = plan_sketch(
        sizes, request.pairs, request.calibration, request.method, request.budget, sample.samples
    )
    assert how is not None
    if request.shuffle:
        shuffled(n, request.rng)  # as those of files, whose rows come in any order
    done = sketched_fit(
        ScoredArrays(*sample.on_the_line),
        request.kernels,
        how,
        request.method,
        request.rng,
        request.shuffle,
        request.workers,
        scaled=sample.data.scaled,
        encoding=sample.data.encoding,
        score=sample.model,
    )
    names = None if sample.data.encoding is None else sample.data.encoding.names
    found = done.result(GOODNESS, n + sample.data.left_out, names)
    return found.done(seed=request.seed, automatic=request.automatic)
