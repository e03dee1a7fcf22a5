"""Requests of callers: how to compare, and labels that say what may change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nosplit._checks import check_int
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import Sizes
from nosplit._old.inference.planning.limits import Limits
from nosplit._old.inference.planning.plan import Plan
from nosplit.core.pairings import Complete, Pairing, Sketch
from nosplit.data.encoding import Mask
from nosplit.data.labels import RowLabels, is_name, label_policy, labels_of_both
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.methods import Method

__all__ = [
    "Asked",
    "DesignLabels",
    "check_exchange",
    "check_series",
    "leaving_out",
    "left_to_library",
    "no_series",
]


def left_to_library(*keywords: Any) -> bool:
    """Whether keywords that say how to compare are all None or "auto"."""
    return all(value is None or (isinstance(value, str) and value == "auto") for value in keywords)


@dataclass(frozen=True, eq=False)
class DesignLabels:
    """Labels that a caller gave: strata, groups, or both; each a name, or two sequences.

    `policy` says what is done with rows without a label; `series` declares time order, and may be
    the length of blocks.
    """

    strata: Any = None
    groups: Any = None
    policy: str = "raise"
    series: bool | int = False

    @property
    def given(self) -> bool:
        """Whether rows may not all be permuted."""
        return self.strata is not None or self.groups is not None or self.series is not False

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that hold labels: they are not compared."""
        return tuple(dict.fromkeys(v for v in (self.strata, self.groups) if is_name(v)))

    @classmethod
    def of(
        cls, strata: Any, groups: Any, nan_policy: str, *, paired: bool, series: bool | int = False
    ) -> DesignLabels:
        """Check which designs are asked for together."""
        found = cls(strata, groups, label_policy(nan_policy), check_series(series))
        labelled = strata is not None or groups is not None
        if paired and labelled:
            raise InputError(
                "`paired` rows are compared inside pairs, so `strata` and `groups` do not go with "
                "paired=True. Pairs that belong together: give groups= alone, in which each group "
                "has rows of both samples; x and y are then swapped inside groups."
            )
        if labelled and found.series is not False:
            raise InputError(
                "`series` permutes blocks of consecutive rows, so `strata` and `groups` do not go "
                "with it."
            )
        return found

    def of_rows(self, kept: tuple[Mask, Mask], samples: tuple[Any, Any]) -> list[RowLabels | None]:
        """The labels of all rows that are kept, of strata and of groups."""
        both = (self.strata, "strata"), (self.groups, "groups")
        return [
            None if own is None else labels_of_both(own, samples, kept, name, self.policy)
            for own, name in both
        ]


@dataclass(frozen=True, eq=False)
class Asked:
    """The keywords of a test that say how to compare.

    Kernels and calibrations are those of its family.
    """

    options: Options
    kernels: Any
    method: Method | None
    pairs: Pairing | str | int
    calibration: Any
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


def check_series(series: bool | int) -> bool | int:
    """Check a declaration of time order: True, False, or the number of rows of a block."""
    if isinstance(series, bool | np.bool_):
        return bool(series)
    return check_int(series, "series", least=1)


def no_series(series: bool | int, where: str) -> None:
    """Refuse a declaration of time order where blocks cannot be permuted yet."""
    if check_series(series) is not False:
        raise InputError(
            f"`series` is not supported {where}. Read the rows, or some of them, into arrays or "
            "tables first."
        )


def leaving_out(options: Options, names: Sequence[str]) -> Options:
    """The options with some more columns left out."""
    if not names:
        return options
    return replace(options, exclude=tuple(dict.fromkeys((*(options.exclude or ()), *names))))


def check_exchange(
    keyword: str, method: Method | None, pairs: Pairing | str | int, calibration: Exact | str
) -> None:
    """Check that what is asked for can be done where labels change places in some ways only."""
    Limits(f"with {keyword}", (Complete(), Sketch())).check(method, pairs, calibration)
