"""Parts that all monitors share: evidence, alarm, and messages."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._checks import Seed, check_alpha, check_int, check_rng, resolve
from nosplit._old.monitor.bets.learners import learner_labels
from nosplit._old.monitor.bets.wealth import Wealth
from nosplit._old.monitor.watch import Watch, WatchPlan
from nosplit._text import indented, printable
from nosplit._types import Array
from nosplit.data.encoding import Column, Encoding
from nosplit.data.fit_encoding import read_one
from nosplit.data.frames import CATEGORIES, as_frame, is_table
from nosplit.data.options import AUTO, POLICIES, Options
from nosplit.data.plain import PlainTable
from nosplit.errors import InputError
from nosplit.inference.change import finite_or_none
from nosplit.inference.print import said_p

__all__ = ["BaseMonitor", "as_rows", "encoded_rows"]

NAN_POLICIES = {AUTO: AUTO, **POLICIES}
GUARANTEES = {name: name for name in ("ever", "rate")}
# What lines on learners begin with: those of the richest are printed.
HEADS = ("  bets       ", *[" " * 13] * 2)
# Rows that may wait for a partner.
LIMIT = 100_000


class BaseMonitor:
    """Evidence that grows as pairs come; see `Monitor`."""

    _what: str

    def __init__(
        self,
        alpha: float,
        guarantee: str,
        every: int | None,
        block: int,
        estimators: Sequence[Any],
        picks: tuple[Any, Any],
        nan_policy: str,
        rng: Seed,
    ) -> None:
        self.guarantee = resolve(guarantee, GUARANTEES, "guarantee")
        if (every is None) == (self.guarantee == "rate"):
            raise InputError(
                '`every` must be given for guarantee="rate", and for that only: at least so many '
                f"pairs between false alarms on average, got {every!r}."
            )
        self.alpha = check_alpha(alpha) if self.guarantee == "ever" else None
        self.every = None if every is None else check_int(every, "every", least=2)
        self.block = check_int(block, "block", least=1)
        self._picks, self._nan_policy = picks, resolve(nan_policy, NAN_POLICIES, "nan_policy")
        Options.of("none", *picks, "raise")
        self._keys = [int(k) for k in check_rng(rng).integers(2**53, size=2)]
        threshold = -math.log(self.alpha) if self.alpha is not None else math.log(self.every or 1)
        self._plan = WatchPlan(
            self.block, threshold, self.every is not None, self._keys[0], None, tuple(estimators)
        )
        self._watch: Watch | None = None

    # -- evidence ----------------------------------------------------------------------------

    @property
    def _wealth(self) -> Wealth | None:
        watch = self._watch
        return None if watch is None or watch.bettor is None else watch.bettor.wealth

    @property
    def n_pairs(self) -> int:
        """Pairs that came."""
        return 0 if self._watch is None else self._watch.n

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the evidence."""
        nothing = -math.inf if self._plan.rate else 0.0
        return nothing if self._wealth is None else self._wealth.log_wealth

    @property
    def evidence(self) -> float:
        """Evidence of a change: an e-value, that is the wealth that bets have made of one unit.

        Under the guarantee "rate" it is the sum over all pairs at which one could have begun.
        """
        return math.exp(min(self.log_evidence, 700.0))

    @property
    def log_pvalue(self) -> float | None:
        """Natural logarithm of the p-value."""
        if self._plan.rate:
            return None
        return -max(0.0, 0.0 if self._wealth is None else self._wealth.highest)

    @property
    def pvalue(self) -> float | None:
        """A p-value that is valid at any time, one over the largest evidence; None for "rate"."""
        return None if self.log_pvalue is None else math.exp(self.log_pvalue)

    @property
    def threshold(self) -> float:
        """The evidence at which it rings."""
        return math.exp(self._plan.threshold)

    @property
    def alarm(self) -> int | None:
        """Number of the pair at which it rang, counted from 1; None if it has not."""
        return self._rang(0)

    @property
    def change(self) -> int | None:
        """About the pair at which the change began, as it looked when it rang; None before."""
        return self._rang(1)

    def _rang(self, which: int) -> int | None:
        wealth = self._wealth
        return None if wealth is None or not wealth.rang[0] else int(wealth.rang[which])

    @property
    def path(self) -> tuple[Array, Array]:
        """Numbers of some pairs, and the natural logarithm of the evidence after each of them."""
        if self._wealth is None:
            return np.zeros(0), np.zeros(0)
        return self._wealth.path.numbers.astype(np.float64), np.array(self._wealth.path.values)

    @property
    def learners(self) -> list[dict[str, Any]]:
        """The learners, the richest first: name, share of the wealth, log of its evidence.

        The evidence is never below the share of a learner times the evidence of that learner.
        """
        wealth = self._wealth
        if wealth is None:
            return []
        names = learner_labels(self._row_names(), self._plan.columns)
        names += [type(e).__name__ for e in self._plan.estimators]
        own = wealth.of_learners()
        order = np.argsort(-own, kind="stable")
        return [
            {"learner": names[j], "share": float(wealth.shares[j]), "log_evidence": float(own[j])}
            for j in order
        ]

    def _row_names(self) -> list[str]:
        """Names of the columns of encoded rows."""
        assert self._watch is not None
        encoding = self._watch.encoding
        return [
            encoding.names[j] + " missing" * (k > 0)
            for j, group in enumerate(encoding.groups)
            for k in range(len(group))
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to know before relying on it."""
        if self._watch is None or not self._watch.dependent:
            return ()
        text = (
            "Neighbouring rows are alike, as in a time series; then false alarms are more frequent "
            "than promised. Make blocks several times longer than the dependence: block=."
        )
        return (text,)

    # -- pairs -------------------------------------------------------------------------------

    def _schema(self, value: Any, name: str) -> Encoding:
        """Names and kinds of the columns. Under "indicate" any number may be missing one day."""
        policy = self._nan_policy
        if policy == AUTO:
            policy = "indicate" if is_table(value) else "raise"
        read = read_one(as_frame(value, name), Options.of("none", *self._picks, policy))
        columns = [
            Column(n, kind, indicated=policy == "indicate" and kind not in CATEGORIES)
            for n, kind in zip(read.names, read.kinds, strict=True)
        ]
        return Encoding(tuple(columns), policy, read.sources[0].table)

    def _feed(self, x: Array, y: Array) -> None:
        assert self._watch is not None
        self._watch.feed(x, y)

    def acknowledge(self) -> None:
        """After an alarm, go on watching from here, with what was learned and with no evidence.

        Only under the guarantee "rate", which holds from alarm to alarm: `alarm` and `change` are
        None again, and pairs are counted on. "ever" is for one alarm: begin a new monitor.
        """
        if not self._plan.rate:
            raise InputError(
                '`acknowledge` is for guarantee="rate". A monitor that promises that it hardly '
                "`ever` rings falsely has one alarm in its life: make a new one."
            )
        bettor = None if self._watch is None else self._watch.bettor
        if bettor is not None:
            bettor.wealth = replace(bettor.wealth, log_wealth=-math.inf, highest=-math.inf)

    # -- text --------------------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [self._verdict(), f"  question   {self._what}", f"  guarantee  {self._promise()}"]
        lines.append(f"  pairs      {self.n_pairs:,}{self._of_blocks()}")
        lines += self._more_lines()
        for head, learner in zip(HEADS, self.learners, strict=False):
            log10 = learner["log_evidence"] / math.log(10.0)
            lines.append(f"{head}{printable(learner['learner'])}: evidence 10^{log10:.1f}")
        lines += [indented("  warning    ", text) for text in self.warnings]
        return "\n".join(lines)

    def _verdict(self) -> str:
        log10 = self.log_evidence / math.log(10.0)
        shown = f"{self.evidence:.3g}" if abs(log10) < 4 else f"10^{log10:.1f}"
        evidence = f"evidence {shown}, rings at {self.threshold:,.4g}"
        if self.log_pvalue is not None:
            evidence += f", {said_p(self.log_pvalue)}"
        if self.alarm is None:
            return f"No change found so far ({evidence})."
        return (
            f"A change was found at pair {self.alarm:,} ({evidence}); it seems to have begun at "
            f"about pair {self.change:,}."
        )

    def _promise(self) -> str:
        if self.alpha is not None:
            return f"ever: without a change it rings with probability {self.alpha:g} at most"
        return f"rate: without a change it rings after {self.every:,} pairs on average, or later"

    def _of_blocks(self) -> str:
        return f" of blocks of {self.block:,} rows" if self.block > 1 else ""

    def _more_lines(self) -> list[str]:
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._verdict()}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        log = self.log_evidence
        return {
            "question": self._what,
            "guarantee": self.guarantee,
            "alpha": self.alpha,
            "every": self.every,
            "block": self.block,
            "n_pairs": self.n_pairs,
            "evidence": self.evidence,
            "log_evidence": log if math.isfinite(log) else None,
            "pvalue": self.pvalue,
            "threshold": self.threshold,
            "alarm": self.alarm,
            "change": self.change,
            "learners": [
                {**entry, "log_evidence": finite_or_none(entry["log_evidence"])}
                for entry in self.learners[:20]
            ],
            "warnings": list(self.warnings),
        }

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the evidence over time, on a log scale, as a matplotlib figure."""
        from nosplit._old.describe.plots.monitor import plot_monitor  # lazily: it needs matplotlib

        return plot_monitor(self, ax=ax)

    def report(self, *, path: str | os.PathLike[str]) -> Any:
        """Write what it says as one HTML file, with the plot."""
        from nosplit._old.describe.report.monitor import report_monitor  # lazily, as above

        return report_monitor(self, path=path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that is needed to go on, in place of what was there.

        A reference is not written: `load` takes it again. Nothing that is read is ever run.
        """
        from nosplit._old.monitor.saved import write_monitor

        write_monitor(self, path)


def encoded_rows(encoding: Encoding, value: Any, name: str, kept: Any = None) -> Array:
    """Encoded rows, with NaN where a number is missing."""
    columns = tuple(c if c.categorical else replace(c, fill=math.nan) for c in encoding.columns)
    return replace(encoding, columns=columns).encode(value, name, kept)


def as_rows(value: Any, encoding: Encoding | None) -> Any:
    """Rows given as dicts, or one as a pandas Series by names of columns, as a table."""
    if hasattr(value, "to_dict") and encoding is not None and len(encoding.columns) > 1:
        is_row = is_table(value) and as_frame(value, "rows").single
        value = value.to_dict() if is_row else value
    rows = [value] if isinstance(value, Mapping) else value
    if not (isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows)):
        return value
    columns = {str(name): np.empty(len(rows), dtype=object) for row in rows for name in row}
    for i, row in enumerate(rows):
        for name, cell in row.items():
            columns[str(name)][i] = None if type(cell).__name__ == "NAType" else cell  # pandas.NA
    return PlainTable(columns)
