"""The data of a report, column by column: as it was given, or some rows of large files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    samples : two Sample
        The columns.
    some : bool
        Whether they are some rows of files that were too large to be read whole.
    """

    samples: tuple[Sample, Sample]
    some: bool = False


def read(res: TestResult, x: Any, y: Any, names: Sequence[str] | None) -> Data:
    """The columns of two samples; files are read as `explain` reads them."""
    if not (is_path(x) and is_path(y)):
        return Data(as_samples(read_one(x), read_one(y), names))
    rows = some_rows(str(x), str(y))
    if names is None and isinstance(rows[0], np.ndarray):
        names = open_source(x).names
    samples = as_samples(*rows, names)
    return Data(samples, samples[0].n + samples[1].n < res.n_used + res.n_left_out)
