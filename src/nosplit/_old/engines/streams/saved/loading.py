"""Accumulators from files."""

from __future__ import annotations

import os
from typing import Any

from nosplit._old.engines.streams.base import Accumulator
from nosplit._old.engines.streams.goodness_of_fit import GoodnessOfFitAccumulator
from nosplit._old.engines.streams.independence import IndependenceAccumulator
from nosplit._old.engines.streams.saved.document import FileError, read_document
from nosplit._old.engines.streams.two_sample import TwoSampleAccumulator

__all__ = ["load_accumulator"]

FAMILIES: tuple[type[Accumulator], ...] = (
    TwoSampleAccumulator,
    GoodnessOfFitAccumulator,
    IndependenceAccumulator,
)


def load_accumulator(path: str | os.PathLike[str]) -> Any:
    """The accumulator in a file, of whichever family."""
    family = read_document(path).get("family")
    for kind in FAMILIES:
        if kind.family == family:
            return kind.load(path)  # type: ignore[attr-defined]
    raise FileError(f"`{path}` is of an unknown family, {str(family)[:40]!r}.")
