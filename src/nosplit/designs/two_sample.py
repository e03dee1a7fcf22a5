"""Two samples in strata or groups: labels → design → draws → result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite, naming
from nosplit._support.types import Array
from nosplit.data.options import Options
from nosplit.data.samples import Samples, check_samples, two_samples
from nosplit.data.serial import correlated_rows
from nosplit.designs.design import design_of
from nosplit.designs.labels import RowLabels, is_name, label_policy, labels_of_both, named_in
from nosplit.designs.testing import test_design
from nosplit.errors import Caveat, DependentRowsWarning, InputError
from nosplit.inference.calibrations import APPROXIMATE, Exact
from nosplit.inference.limits import Limits
from nosplit.inference.outcome import to_result
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import Sizes, design_sizes
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import Exchanged, TestResult
from nosplit.kernels.defaults.recipes import Kernels
from nosplit.methods import Method
from nosplit.pairs.pairing import Complete, Pairing, Sketch

__all__ = [
    "Asked",
    "DesignLabels",
    "about_strata",
    "check_exchange",
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

    @classmethod
    def of(cls, strata: Any, groups: Any, nan_policy: str, *, paired: bool) -> DesignLabels:
        """Check that labels go with rows that are paired or not."""
        found = cls(strata, groups, label_policy(nan_policy))
        if paired and found.given:
            raise InputError(
                "`paired` rows are compared inside pairs, so `strata` and `groups` do not go with "
                "paired=True. Pairs that belong together: give groups= alone, in which each group "
                "has rows of both samples; x and y are then swapped inside groups."
            )
        return found

    def of_rows(self, data: Samples, samples: tuple[Any, Any]) -> list[RowLabels | None]:
        """The labels of all rows that are kept, of strata and of groups."""
        both = (self.strata, "strata"), (self.groups, "groups")
        return [
            None if own is None else labels_of_both(own, samples, data.kept, name, self.policy)
            for own, name in both
        ]


@dataclass(frozen=True, eq=False)
class Asked:
    """The keywords of `two_sample_test` that say how to compare."""

    options: Options
    kernels: Kernels
    method: Method | None
    pairs: Pairing | str | int
    calibration: Exact | str
    budget: float
    shuffle: bool = True
    paired: bool = False
    labels: DesignLabels = field(default_factory=DesignLabels)

    @property
    def sketch(self) -> Sketch:
        """The sketch that is asked for, or the usual one."""
        return self.pairs if isinstance(self.pairs, Sketch) else Sketch()

    def plan(self, sizes: Sizes) -> Plan:
        """Choose pairs and calibration for samples of these sizes."""
        return choose(
            sizes,
            pairs=self.pairs,
            calibration=self.calibration,
            method=self.method,
            budget=self.budget,
        )


def leaving_out(options: Options, names: Sequence[str]) -> Options:
    """The options with some more columns left out."""
    if not names:
        return options
    return replace(options, exclude=tuple(dict.fromkeys((*(options.exclude or ()), *names))))


def swapped_in(pairs: int) -> Exchanged:
    """Words on what is exchanged where rows are paired."""
    return Exchanged("pairs", f"x and y are swapped inside {pairs:,} pairs")


def check_exchange(
    keyword: str, method: Method | None, pairs: Pairing | str | int, calibration: Exact | str
) -> None:
    """Check that what is asked for can be done where labels change places in some ways only."""
    Limits(f"with {keyword}", (Complete(), Sketch())).check(method, pairs, calibration)


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
