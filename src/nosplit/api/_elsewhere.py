"""The door to the old house: samples that the new one does not read yet, plots and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from nosplit._lazy import elsewhere, is_tensor, tensor_as_array
from nosplit.api._request import Request
from nosplit.core.pairings import Sketch
from nosplit.data.scored import ScoredSample
from nosplit.inference.columns import ColumnTests
from nosplit.inference.plan import MAX_SHIFTED, is_sketched
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Recipe

__all__ = [
    "in_memory",
    "plot",
    "report",
    "sketch_fit",
    "sketch_samples",
    "takes",
    "takes_fit",
    "takes_variables",
    "test_columns",
    "test_fit",
    "test_samples",
    "test_variables",
    "whole_samples",
]

# Packages whose objects are read by the old house; of ours they are profiles and parts of files.
PACKAGES = ("nosplit", "dask", "dask_expr", "pyspark")


def takes(request: Request) -> bool:
    """Whether the old house answers: files, profiles, clusters, devices and sketches."""
    samples = (request.x, request.y)
    if request.device is not None or any(map(_is_stored_elsewhere, samples)):
        return True
    if isinstance(request.pairs, Sketch):
        return True
    n, m = map(_length, samples)
    in_blocks = request.paired and request.series is not False
    return is_sketched(n, m) and not request.by_pairs and not in_blocks


def takes_variables(request: Request) -> bool:
    """Whether the old house tests two variables: files, devices and sketches."""
    variables = request.x, request.y
    if request.device is not None or any(map(_is_stored_elsewhere, variables)):
        return True
    blocked = request.groups is not None or request.series is not False
    if request.by_pairs and not isinstance(request.pairs, Sketch):
        return False
    return isinstance(request.pairs, Sketch) or (
        max(map(_length, variables)) > MAX_SHIFTED and not blocked
    )


def _length(sample: Any) -> int:
    """Rows of a sample that knows them; sparse matrices have a shape only."""
    shape = getattr(sample, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(sample) if hasattr(sample, "__len__") else 0


def _is_stored_elsewhere(sample: Any) -> bool:
    package = type(sample).__module__.partition(".")[0]
    path = isinstance(sample, str | PathLike)
    return path or package in PACKAGES or is_tensor(sample) or elsewhere(sample)


def in_memory(sample: Any) -> Any:
    """Read all rows of a file; return any other sample as it is."""
    from nosplit._old.data.files.whole import read_if_path

    return read_if_path(sample) if isinstance(sample, str | PathLike) else sample


def test_samples(request: Request) -> TestResult:
    """Test two samples in the old house."""
    from nosplit._old.api.ways.call import answer

    return answer(request)


def test_variables(request: Request) -> TestResult:
    """Test two variables in the old house."""
    from nosplit._old.api.independence import answer

    return answer(request)


def test_columns(request: Request, alpha: float, n_resamples: int) -> ColumnTests:
    """Test the columns of two samples in the old house; those of tensors as arrays."""
    samples = (request.x, request.y)
    if any(map(is_tensor, samples)):
        from nosplit.api.columns import test_columns

        x, y = (
            tensor_as_array(s, n) if is_tensor(s) else s for s, n in zip(samples, "xy", strict=True)
        )
        return test_columns(replace(request, x=x, y=y, device=None), alpha, n_resamples)
    from nosplit._old.api.columns import test_columns_elsewhere

    return test_columns_elsewhere(request, alpha, n_resamples)


def whole_samples(samples: Any, labels: Any) -> Any:
    """Read files whole: several samples, or rows with labels. All else stays as it is."""
    from nosplit._old.data.files.whole import read_if_path

    if labels is not None:
        return read_if_path(samples)
    if isinstance(samples, Mapping):
        return {name: read_if_path(own) for name, own in samples.items()}
    return [*map(read_if_path, samples)] if isinstance(samples, list | tuple) else samples


def sketch_samples(
    request: Request, rows: Sequence[Any], encoding: Any, recipe: Recipe, n_rows: int
) -> TestResult:
    """Compare several samples by sums of cells."""
    from nosplit._old.designs.several import sketch_samples

    return sketch_samples(request, rows, encoding, recipe, n_rows)


def takes_fit(request: Request) -> bool:
    """Whether the old house reads the sample or the scores: files and devices."""
    stored = _is_stored_elsewhere(request.x) or isinstance(request.y, str | PathLike)
    return stored or request.device is not None


def test_fit(request: Request, support: Any) -> TestResult:
    """Test the fit of a file or of tensors in the old house."""
    from nosplit._old.api.goodness_of_fit import answer

    return answer(request, support)


def sketch_fit(request: Request, sample: ScoredSample) -> TestResult:
    """Test the fit of many rows in memory by a sketch, in the old house."""
    from nosplit._old.api.goodness_of_fit import sketch

    return sketch(request, sample)


def plot(result: TestResult, **options: Any) -> Any:
    """Draw a result."""
    from nosplit._old.describe.plots import plot

    return plot(result, **options)


def report(result: TestResult, x: Any, y: Any, **options: Any) -> Path:
    """Write a report of a result."""
    from nosplit._old.describe.report import report

    return report(result, x, y, **options)
