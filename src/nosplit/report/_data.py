"""The data of a report: as it was given, or some rows of large files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._sampled import encoded
from nosplit.files import is_path, open_source, read_one
from nosplit.larger import some_rows
from nosplit.report._samples import Sample, as_samples
from nosplit.results import TestResult

__all__ = ["Data", "read"]


@dataclass(frozen=True, eq=False)
class Data:
    """Two samples, or some of their rows.

    Attributes
    ----------
    x, y : array or table
        The rows.
    samples : two Sample
        The same, column by column.
    res : TestResult
        The result, as if it were of these rows where they are some of many.
    some : bool
        Whether they are.
    """

    x: Any
    y: Any
    samples: tuple[Sample, Sample]
    res: TestResult
    some: bool = False


def read(res: TestResult, x: Any, y: Any, names: Sequence[str] | None) -> Data:
    """The rows of two samples; files are read, whole if they fit."""
    if not (is_path(x) and is_path(y)):
        x, y = read_one(x), read_one(y)
        return Data(x, y, as_samples(x, y, names), res)
    source = open_source(x)
    x, y = some_rows(str(x), str(y))
    if names is None and isinstance(x, np.ndarray):
        names = source.names
    samples = as_samples(x, y, names)
    some = samples[0].n + samples[1].n < res.n_used + res.n_left_out
    return Data(x, y, samples, _as_if_of(res, x, y) if some else res, some)


def _as_if_of(res: TestResult, x: Any, y: Any) -> TestResult:
    """The result with the counts of some rows: what was learned is shown on them."""
    coded = [encoded(res, sample, name, 0) for sample, name in ((x, "x"), (y, "y"))]
    counts = [len(sample.rows) for sample in coded]
    omitted = sum(sample.omitted for sample in coded)
    return replace(res, n_units=min(counts), n_used=sum(counts), n_left_out=omitted)
