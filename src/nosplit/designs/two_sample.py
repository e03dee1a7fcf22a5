"""Two samples in strata or groups: labels → design → draws → result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite, naming
from nosplit._support.types import Array
from nosplit.data.samples import check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.designs.asked import Asked, check_exchange, leaving_out
from nosplit.designs.design import design_of
from nosplit.designs.labels import RowLabels, named_in
from nosplit.designs.testing import test_design
from nosplit.errors import Caveat, DependentRowsWarning
from nosplit.inference.calibrations import APPROXIMATE
from nosplit.inference.planning.costs import design_sizes
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import Exchanged, TestResult

__all__ = ["about_strata", "designed_test", "swapped_in"]


def swapped_in(pairs: int) -> Exchanged:
    """Words on what is exchanged where rows are paired."""
    return Exchanged("pairs", f"x and y are swapped inside {pairs:,} pairs")


def designed_test(
    x: Any, y: Any, asked: Asked, rng: np.random.Generator, workers: int | None
) -> TestResult:
    """Test two samples in memory whose units change places inside blocks.

    Parameters
    ----------
    x, y : array or table
        The samples.
    asked : Asked
        What is asked for, with strata, groups or both.
    rng, workers
        As in `two_sample_test`.
    """
    check_exchange("strata= or groups=", asked.method, asked.pairs, asked.calibration)
    labels = asked.labels
    for name in labels.names:
        keyword = "strata" if name == labels.strata else "groups"
        named_in(name, (("x", x), ("y", y)), keyword)
    data = two_samples(x, y, leaving_out(asked.options, labels.names)).checked()
    strata, groups = labels.of_rows(data, (x, y))
    design = design_of(*data.shape[:2], strata, groups)
    recipe = data.recipe(asked.kernels)
    plan = asked.plan(design_sizes(*data.shape, recipe, design.n_units))
    a, b = check_samples(data.x, data.y)
    check_finite(a, "x")
    check_finite(b, "y")
    rows = np.concatenate([a, b])
    with naming(x=a, y=b):
        tested = test_design(rows, design, recipe, data.encoding, plan, asked.method, rng, workers)
    outcome = tested.outcome
    if asked.shuffle and groups is None:
        doubts = _serial(a, b, strata)
        calibration = APPROXIMATE if doubts else outcome.calibration
        outcome = replace(outcome.noting(doubts), calibration=calibration)
    tested = replace(tested, outcome=outcome)
    return tested.result(TWO_SAMPLE, len(rows) + data.left_out, data.columns, design.said)


def _serial(x: NDArray[Any], y: NDArray[Any], strata: RowLabels | None) -> list[Caveat]:
    """Warn of rows that depend on those before them, besides what their stratum says."""
    assert strata is not None
    parts = np.split(strata.codes, [len(x)])
    lag = max(
        correlated_rows(about_strata(rows, codes))
        for rows, codes in zip((x, y), parts, strict=True)
    )
    text = (
        f"Rows depend on those before them (up to {lag} or more rows apart), besides what their "
        "stratum says, and the p-value is that of independent rows: too small. Give groups= of "
        "rows that belong together, or thin the rows."
    )
    return [(DependentRowsWarning, text)] if lag else []


def about_strata(rows: NDArray[Any], codes: NDArray[Any]) -> Array:
    """Rows about the mean of their stratum."""
    _, own = np.unique(codes, return_inverse=True)
    order = np.argsort(own, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(own[order])) + 1])
    sums = np.add.reduceat(rows[order], starts, axis=0, dtype=np.float64)
    return np.asarray(rows - (sums / np.bincount(own)[:, None])[own])
