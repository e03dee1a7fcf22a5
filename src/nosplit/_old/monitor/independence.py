"""Watching whether two variables that are observed together depend on one another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from nosplit._checks import Seed
from nosplit._old.monitor.base import BaseMonitor, as_rows, encoded_rows
from nosplit._old.monitor.explanation import MonitorExplanation
from nosplit._old.monitor.watch import Watch
from nosplit._types import Array
from nosplit.data.encoding import Encoding
from nosplit.errors import InputError

__all__ = ["IndependenceMonitor"]


class IndependenceMonitor(BaseMonitor):
    """Watch whether two variables that are observed together are independent.

    As `Monitor`: it may be looked at after every row. Two observations (x, y) and (x′, y′) make a
    pair. If x and y are independent, y and y′ may be exchanged, so that a bet whose payoff
    changes its sign then is fair.

    Parameters
    ----------
    alpha, guarantee, every, estimators, nan_policy, rng
        As in `Monitor`. Estimators learn to tell observations from exchanged ones. "omit" leaves
        out observations in which anything is missing.
    block : int
        Observations that follow one another, whose y are exchanged together with those of the next
        block.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 2))
    >>> y = np.abs(x[:, :1]) + rng.normal(size=(1000, 1))
    >>> monitor = IndependenceMonitor()
    >>> monitor.update(x, y)
    >>> monitor.alarm is not None, monitor.n_pairs
    (True, 500)
    """

    _what = "are x and y independent?"

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        guarantee: str = "ever",
        every: int | None = None,
        block: int = 1,
        estimators: Sequence[Any] = (),
        nan_policy: str = "auto",
        rng: Seed = 0,
    ) -> None:
        none = None, None
        super().__init__(alpha, guarantee, every, block, estimators, none, nan_policy, rng)
        self._encodings: list[Encoding] | None = None
        self._waiting: Array | None = None

    def update(self, x: Any, y: Any) -> None:
        """Take in observations of both variables, as many of each.

        A batch that is refused leaves everything as it was. A dict, or a Series of pandas with the
        names of the columns, is one row, and a list of dicts is a row for each.
        """
        known: Sequence[Encoding | None] = self._encodings or (None, None)
        x, y = (as_rows(value, own) for value, own in zip((x, y), known, strict=True))
        encodings = self._encodings or [
            self._schema(value, name) for value, name in ((x, "x"), (y, "y"))
        ]
        both = [(e, value, name) for e, value, name in zip(encodings, (x, y), "xy", strict=True)]
        kept = [encoding.kept(value, name) for encoding, value, name in both]
        if len(kept[0]) != len(kept[1]):
            raise InputError(
                "`x` and `y` must have as many rows, observed together, got "
                f"{len(kept[0])} and {len(kept[1])}."
            )
        rows = np.hstack([encoded_rows(*each, kept[0] & kept[1]) for each in both])
        if self._watch is None:
            self.begin(encodings)
        if self._waiting is not None:
            rows = np.concatenate([self._waiting, rows])
        taken = len(rows) // (2 * self.block) * 2 * self.block
        self._waiting = rows[taken:]
        self._feed(rows[:taken], exchanged(rows[:taken], self.block, encodings[0].width))

    def begin(self, encodings: list[Encoding]) -> None:
        """Begin a watch of rows of both variables, side by side."""
        self._encodings = encodings
        split = encodings[0].width
        plan = replace(self._plan, size=2 * self.block, split=split)
        columns = [
            replace(c, name=f"{name}: {c.name}")
            for name, e in zip("xy", encodings, strict=True)
            for c in e.columns
        ]
        self._plan = plan
        self._watch = Watch(plan, replace(encodings[0], columns=tuple(columns)))

    @property
    def n_waiting(self) -> int:
        """Observations that wait for others."""
        return 0 if self._waiting is None else len(self._waiting)

    def explain(self) -> MonitorExplanation:
        """Find the pairs of columns that depend on one another, by all observations so far."""
        if self._watch is None or self._watch.bettor is None:
            raise InputError("There is nothing to explain yet: `update` with more rows first.")
        return MonitorExplanation.of(self._watch, self._row_names())

    def _of_blocks(self) -> str:
        return f" of {2 * self.block:,} observations each"

    def _more_lines(self) -> list[str]:
        return [] if self.alarm is None else self.explain().lines()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        more: dict[str, Any] = {"n_waiting": self.n_waiting}
        more["explanation"] = None if self.alarm is None else self.explain().to_dict()
        return {**super().to_dict(), **more}

    @classmethod
    def load(cls, path: str | os.PathLike[str], estimators: Sequence[Any] = ()) -> Self:
        """The monitor that `save` wrote, to go on where it was; estimators are given again."""
        from nosplit._old.monitor.saved import read_monitor

        return read_monitor(cls, path, None, estimators, False)


def exchanged(rows: Array, block: int, split: int) -> Array:
    """Rows with the second variable exchanged between blocks, the first with the second and so on.

    Examples
    --------
    >>> exchanged(np.array([[1, 10], [2, 20], [3, 30], [4, 40]]), 1, 1)[:, 1]
    array([20, 10, 40, 30])
    """
    places = np.arange(len(rows)).reshape(-1, 2, block)[:, ::-1].ravel()
    return np.hstack([rows[:, :split], rows[places, split:]])
