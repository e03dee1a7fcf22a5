"""Watching whether two streams, or a stream and a reference, have the same law."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from nosplit._checks import Seed
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.monitor.base import LIMIT, BaseMonitor, as_rows, encoded_rows
from nosplit._old.monitor.explanation import MonitorExplanation
from nosplit._old.monitor.queue import ReferenceQueue
from nosplit._old.monitor.watch import Watch
from nosplit._types import Array
from nosplit.data.frames import as_frame
from nosplit.errors import InputError

__all__ = ["Monitor"]


class Monitor(BaseMonitor):
    """Watch whether rows that come have the law of a reference, or of a second stream.

    It may be looked at after every row and stopped at any time. A row x of the reference and a new
    row y make a pair. Under H₀ they could be swapped, so that a bet whose payoff changes its sign
    with the swap is fair; what is bet on is learned from the pairs before. The wealth that such
    bets make of one unit is the evidence of a change, and exact for every law and sample size, as
    long as pairs are independent.

    Parameters
    ----------
    reference : array_like, table or path, optional
        Rows as they should be. A fifth of them, up to 1,000, is set aside for scales, bins,
        bandwidths and known categories. Each other row is used once, for one new row, in random
        order: after as many new rows `update` raises, unless `renew` has given fresh reference
        rows. Without a reference there are two streams.
    alpha : float
        Of the guarantee "ever": probability that it ever rings without a change, at the most.
    guarantee : {"ever", "rate"}
        "ever" holds for the whole life of a monitor. "rate" is for streams that run for years and
        change late: false alarms are at least `every` pairs apart on average.
    every : int, optional
        Of the guarantee "rate".
    block : int
        Number of consecutive rows that are swapped together. If rows are in time order and depend
        on their neighbours, make blocks several times longer than the dependence, or the monitor
        raises false alarms; the guarantee then holds approximately. If neighbouring rows are alike
        among the first 512 pairs, `warnings` says so.
    estimators : sequence of estimators
        Of scikit-learn, or alike: they learn to tell the rows of past pairs apart, those with
        `partial_fit` as pairs come, others anew on the last 4,096 pairs. Half of the wealth is
        theirs. They see numbers on a common scale, and categories as numbers of bins.
    columns, exclude : names, optional
        The columns to look at, or to leave out; positions for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or watch what is missing too.
        "auto" is "indicate" for tables and "raise" for arrays.
    rng : int, Generator or None
        Picks the frequencies and the order of the reference.

    Attributes
    ----------
    evidence, log_evidence, pvalue, alarm, change, n_pairs, learners, path, warnings
        What is known so far.

    Notes
    -----
    Goodness of fit to a model that can be drawn from is a watch of two streams: rows, and as many
    fresh draws of the model. A model of which only the score is known offers no bet that is both
    fair and bounded.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor(rng.normal(size=(5000, 3)), alpha=0.05)
    >>> for day in range(7):
    ...     rows = rng.normal(size=(200, 3)) + (0.5 if day >= 3 else 0.0)
    ...     monitor.update(rows)
    ...     if monitor.alarm:
    ...         break
    >>> day, monitor.pvalue <= 0.05
    (3, True)
    """

    _what = "do new rows have the law of the reference?"

    def __init__(
        self,
        reference: Any = None,
        *,
        alpha: float = 0.05,
        guarantee: str = "ever",
        every: int | None = None,
        block: int = 1,
        estimators: Sequence[Any] = (),
        columns: Any = None,
        exclude: Any = None,
        nan_policy: str = "auto",
        rng: Seed = 0,
    ) -> None:
        picks = columns, exclude
        super().__init__(alpha, guarantee, every, block, estimators, picks, nan_policy, rng)
        self._queue: ReferenceQueue | None = None
        self._waiting: list[Array] | None = None
        self._renewals = 0
        if reference is not None:
            self._begin(reference)

    def _begin(self, reference: Any) -> None:
        rows = read_if_path(reference)
        encoding = self._schema(rows, "reference")
        self._watch = Watch(self._plan, encoding)
        self._queue = self._queued(rows)
        self._watch.start(self._queue.pilot())

    def _queued(self, reference: Any) -> ReferenceQueue:
        assert self._watch is not None
        rows = encoded_rows(self._watch.encoding, reference, "reference")
        return ReferenceQueue.of(rows, self.block, [self._keys[1], self._renewals])

    # -- rows --------------------------------------------------------------------------------

    @property
    def reference_left(self) -> int | None:
        """Rows of the reference that can still be bet on; None where there is none."""
        return None if self._queue is None else self._queue.left * self.block

    def renew(self, reference: Any) -> None:
        """Go on with another reference, of rows that were not bet on yet.

        What is left of the one before is no longer used. Scales, bins and all that was learned
        stay as they are.
        """
        if self._queue is None or self._watch is None:
            raise InputError("`renew` is for a monitor that has a reference.")
        self._renewals += 1
        self._queue = self._queued(read_if_path(reference))

    def update(self, x: Any = None, y: Any = None) -> None:
        """Take in a batch of rows.

        A batch that is refused leaves everything as it was.

        Parameters
        ----------
        x, y : array_like, table, dict, list of dicts or Series
            The new rows, if there is a reference; for two streams, the rows of each, of any number,
            and either may be None. A dict, or a Series of pandas with the names of the columns, is
            one row, and a list of dicts is a row for each.
        """
        known = None if self._watch is None else self._watch.encoding
        x, y = as_rows(x, known), as_rows(y, known)
        if self._queue is not None:
            if y is not None:
                raise InputError(
                    "`update` takes new rows alone where there is a reference, got two samples."
                )
            self._against_reference(x)
        else:
            self._two_streams(x, y)

    def _against_reference(self, rows: Any) -> None:
        assert self._watch is not None
        assert self._queue is not None
        new = encoded_rows(self._watch.encoding, rows, "rows")
        new = new if self._waiting is None else np.concatenate([self._waiting[1], new])
        count = len(new) // self.block
        if count > self._queue.left:
            raise InputError(
                f"`reference` is used up: {self._queue.left * self.block:,} of its rows are left, "
                f"and {count * self.block:,} are needed. Nothing of this batch was taken in. Each "
                "row of a reference is bet on once. Go on with rows that were not used before, "
                "`monitor.renew(reference)`, or begin a new monitor."
            )
        self._feed(self._queue.take(count), new[: count * self.block])
        self._waiting = [new[:0], new[count * self.block :]]

    def _two_streams(self, x: Any, y: Any) -> None:
        given = [(value, name) for value, name in ((x, "x"), (y, "y")) if value is not None]
        watch = self._watch
        if watch is None:  # columns without rows do not say what they hold
            filled = [g for g in given if as_frame(*g).n_rows]
            if not filled:
                return
            value, name = filled[0]
            watch = Watch(self._plan, self._schema(value, name))
        sides = [
            np.zeros((0, watch.encoding.width))
            if value is None
            else encoded_rows(watch.encoding, value, name)
            for value, name in ((x, "x"), (y, "y"))
        ]
        if self._waiting is not None:
            sides = [np.concatenate(both) for both in zip(self._waiting, sides, strict=True)]
        taken = min(map(len, sides)) // self.block * self.block
        if max(map(len, sides)) - taken > LIMIT + self.block:
            raise InputError(
                f"`x` and `y` must come about together: more than {LIMIT:,} rows would wait for a "
                "partner. Nothing of this batch was taken in."
            )
        self._watch = watch
        self._waiting = [side[taken:] for side in sides]
        self._feed(*(side[:taken] for side in sides))

    @property
    def n_waiting(self) -> int:
        """Rows that wait for a partner, or for the rest of their block."""
        return 0 if self._waiting is None else sum(map(len, self._waiting))

    # -- what it says ------------------------------------------------------------------------

    def explain(self) -> MonitorExplanation:
        """Describe what differs by all pairs so far: columns, pairs of them, a witness function."""
        if self._watch is None or self._watch.bettor is None:
            raise InputError("There is nothing to explain yet: `update` with more rows first.")
        return MonitorExplanation.of(self._watch, self._row_names())

    def _more_lines(self) -> list[str]:
        lines = []
        if self.reference_left is not None:
            left = f"{self.reference_left:,} rows left, one for each new row"
            lines.append(f"  reference  {left}; `renew` gives more")
        if self.alarm is not None:
            lines += self.explain().lines()
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        more: dict[str, Any] = {"reference_left": self.reference_left, "n_waiting": self.n_waiting}
        more["explanation"] = None if self.alarm is None else self.explain().to_dict()
        return {**super().to_dict(), **more}

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        reference: Any = None,
        estimators: Sequence[Any] = (),
        *,
        renew: bool = False,
    ) -> Self:
        """The monitor that `save` wrote, to go on where it was.

        Parameters
        ----------
        path : path-like
            The file.
        reference : array_like, table or path, optional
            The reference it had, or was renewed with last; it is checked to be the same.
        estimators : sequence of estimators
            Those it had, as they were given; what they learned is learned again.
        renew : bool
            Whether the reference is another one, of rows that were not bet on yet.
        """
        from nosplit._old.monitor.saved import read_monitor

        return read_monitor(cls, path, reference, estimators, renew)
