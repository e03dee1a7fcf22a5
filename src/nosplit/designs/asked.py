"""Requests of callers: how to compare, and labels that say what may change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nosplit.data.options import Options
from nosplit.data.tables.encoding import Mask
from nosplit.designs.labels import RowLabels, is_name, label_policy, labels_of_both
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import Limits
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import Sizes
from nosplit.inference.planning.plan import Plan
from nosplit.methods import Method
from nosplit.pairs.pairing import Complete, Pairing, Sketch

__all__ = ["Asked", "DesignLabels", "check_exchange", "leaving_out", "left_to_library"]


def left_to_library(*keywords: Any) -> bool:
    """Whether keywords that say how to compare are all None or "auto"."""
    return all(value is None or (isinstance(value, str) and value == "auto") for value in keywords)


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
