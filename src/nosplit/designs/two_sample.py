"""Two samples in strata or groups: labels → design → draws → result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite, naming
from nosplit._support.types import Array
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.designs.design import design_of
from nosplit.designs.labels import RowLabels, is_name, labels_of_both, named_in
from nosplit.designs.testing import test_design
from nosplit.errors import Caveat, DependentRowsWarning, InputError
from nosplit.inference.calibrations import APPROXIMATE, ASYMPTOTIC, Exact, resolve_calibration
from nosplit.inference.outcome import to_result
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import design_sizes
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import Exchanged, TestResult
from nosplit.kernels.defaults.recipes import Kernels
from nosplit.methods import Method, Naive, Split
from nosplit.pairs.pairing import Complete, Pairing, Sketch, as_pairing

__all__ = [
    "DesignLabels",
    "about_strata",
    "check_exact",
    "designed_test",
    "leaving_out",
    "swapped_in",
]


@dataclass(frozen=True, eq=False)
class DesignLabels:
    """Labels that a caller gave: strata, groups, or both; each a name, or two sequences.

    `policy` says what is done with rows without a label.
    """

    strata: Any = None
    groups: Any = None
    policy: str = "raise"

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return self.strata is not None or self.groups is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that hold labels: they are not compared."""
        return tuple(dict.fromkeys(v for v in (self.strata, self.groups) if is_name(v)))

    def check(self, *, paired: bool) -> None:
        """Check that labels go with rows that are paired or not."""
        if paired and self.given:
            raise InputError(
                "`paired` rows are compared inside pairs, so `strata` and `groups` do not go with "
                "paired=True. Pairs that belong together: give groups= alone, in which each group "
                "has rows of both samples; x and y are then swapped inside groups."
            )

    def of(self, data: Samples, samples: tuple[Any, Any]) -> list[RowLabels | None]:
        """The labels of all rows that are kept, of strata and of groups."""
        both = (self.strata, "strata"), (self.groups, "groups")
        return [
            None if own is None else labels_of_both(own, samples, data.kept, name, self.policy)
            for own, name in both
        ]


def leaving_out(options: Options, names: Sequence[str]) -> Options:
    """The options with some more columns left out."""
    if not names:
        return options
    return replace(options, exclude=tuple(dict.fromkeys((*(options.exclude or ()), *names))))


def swapped_in(pairs: int) -> Exchanged:
    """What is exchanged where rows are paired."""
    return Exchanged("pairs", f"x and y are swapped inside {pairs:,} pairs")


def check_exact(
    pairs: Pairing | str | int, calibration: Exact | str, method: Method | None, keyword: str
) -> None:
    """Check that what is asked for can be done with labels that change places."""
    auto = isinstance(pairs, str) and pairs == "auto"
    if not auto and not isinstance(as_pairing(pairs), Complete | Sketch):
        raise InputError(
            f'`pairs` with {keyword} must be "complete", "sketch" or "auto", got {pairs!r}.'
        )
    if resolve_calibration(calibration) == ASYMPTOTIC or isinstance(method, Naive):
        raise InputError(
            f"`calibration` with {keyword} must be exact: no closed form knows what may change "
            "places. Leave it out."
        )
    if isinstance(method, Split):
        raise InputError(
            f"`method` with {keyword} must not be a Split. Use the default, which learns and tests "
            "on all of the data."
        )


def designed_test(
    x: Any,
    y: Any,
    labels: DesignLabels,
    *,
    options: Options,
    kernels: Kernels,
    method: Method | None,
    pairs: Pairing | str | int,
    calibration: Exact | str,
    budget: float,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
) -> TestResult:
    """Test two samples in memory whose units change places inside blocks.

    Parameters
    ----------
    x, y : array or table
        The samples.
    labels : DesignLabels
        Strata, groups or both.
    options : Options
        What to do with the columns.
    kernels, method, pairs, calibration, budget, rng, shuffle, workers
        As in `two_sample_test`.
    """
    check_exact(pairs, calibration, method, "strata= or groups=")
    for name in labels.names:
        keyword = "strata" if name == labels.strata else "groups"
        named_in(name, (("x", x), ("y", y)), keyword)
    options = leaving_out(options, labels.names)
    data = two_samples(x, y, options).checked()
    strata, groups = labels.of(data, (x, y))
    design = design_of(*data.shape[:2], strata, groups)
    recipe = data.recipe(kernels)
    sizes = design_sizes(*data.shape, recipe, design.n_units)
    plan = choose(sizes, pairs=pairs, calibration=calibration, method=method, budget=budget)
    a, b = check_samples(data.x, data.y)
    check_finite(a, "x")
    check_finite(b, "y")
    rows = np.concatenate([a, b])
    with naming(x=a, y=b):
        tested = test_design(rows, design, recipe, data.encoding, plan, method, rng, workers)
    outcome = tested.outcome
    if shuffle and groups is None:
        doubts = _serial(a, b, strata)
        calibration = APPROXIMATE if doubts else outcome.calibration
        outcome = replace(outcome.noting(doubts), calibration=calibration)
    return to_result(
        outcome,
        question=TWO_SAMPLE,
        kernels=tested.kernels,
        n_units=tested.n_units,
        n_used=tested.n_used,
        n_left_out=len(rows) - tested.n_used + data.left_out,
        columns=data.columns,
        encoding=data.encoding,
        default=recipe.default,
        design=design.said,
    )


def _serial(x: NDArray[Any], y: NDArray[Any], strata: RowLabels | None) -> list[Caveat]:
    """A word on rows that depend on those before them, besides what their stratum says."""
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
