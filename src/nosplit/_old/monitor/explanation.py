"""Explain the difference by the pairs that a monitor has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nosplit._old.monitor.base import encoded_rows
from nosplit._old.monitor.bets.bettor import Bettor
from nosplit._old.monitor.bets.learners import MEMORIES
from nosplit._old.monitor.bets.maps import SCORES
from nosplit._old.monitor.watch import Watch
from nosplit._text import printable
from nosplit._types import Array

__all__ = ["MonitorExplanation", "WatchedColumn", "WatchedPair"]

# Columns and pairs of columns that are printed, and standard errors from which they are.
MOST_LINES, SURE = 5, 3.0


@dataclass(frozen=True)
class WatchedColumn:
    """One column: what became of it from x to y, in standard errors, and in spreads.

    Attributes
    ----------
    name : str
        Its name.
    strength : float
        The largest of its scores in standard errors: how sure it is that the column differs.
    higher : float or None
        By how many spreads y is higher than x on average, values beyond 4 cut off; None for
        categories.
    wider : float or None
        By how much the mean square is larger in y; None for categories.
    """

    name: str
    strength: float
    higher: float | None
    wider: float | None

    @property
    def words(self) -> str:
        """Describe the change in a few words."""
        if self.higher is None or self.wider is None:
            return "other categories, or other shares of them"
        place = f"{abs(self.higher):.2g} spreads {'higher' if self.higher > 0 else 'lower'}"
        spread = f"mean square {self.wider:+.2g}"
        return f"{place}, {spread}"


@dataclass(frozen=True)
class WatchedPair:
    """Two columns whose product differs: names, and by how many standard errors."""

    names: tuple[str, str]
    strength: float


@dataclass(frozen=True, eq=False)
class MonitorExplanation:
    """Differences between the two sides of the pairs so far. It describes, and tests nothing.

    It looks at all pairs, or at the last ones, whichever bets on them won more.

    Attributes
    ----------
    columns : tuple of WatchedColumn
        Single columns, those that differ most first; none where independence is watched.
    pairs : tuple of WatchedPair
        Pairs of columns whose dependence differs, likewise.
    witness : callable
        From rows to the learned witness function: it is positive where x is denser than y.
    """

    columns: tuple[WatchedColumn, ...]
    pairs: tuple[WatchedPair, ...]
    witness: Callable[[Any], Array]

    @classmethod
    def of(cls, watch: Watch, names: list[str]) -> MonitorExplanation:
        """Look at what a watch has summed up."""
        bettor = watch.bettor
        assert bettor is not None
        bet_map, past = bettor.bet_map, bettor.past
        memory = _richest_memory(bettor)
        size, n = watch.plan.size, max(float(past.counts[memory]), 1.0)
        start = bet_map.n_waves
        sums = past.sums[memory] / n
        squares = np.diagonal(past.columns, axis1=1, axis2=2) / max(past.n_squares, 1)
        own = sums[start : start + bet_map.p * SCORES].reshape(-1, SCORES)
        scores = _means_in_errors(own, squares, n)
        columns = [
            WatchedColumn(
                name,
                float(np.abs(scores[j]).max()),
                -float(own[j, 0]) / size if bet_map.numbers[j] else None,
                -float(own[j, 1]) / size if bet_map.numbers[j] else None,
            )
            for j, name in enumerate(names)
        ]
        products = len(bet_map.sketch.pairs)
        last = sums[bet_map.n_features - products :]
        seconds = np.diagonal(past.joint)[len(bet_map.joint) - products :] / max(past.n_squares, 1)
        strength = np.abs(_means_in_errors(last, seconds, n))
        pairs = [
            WatchedPair((names[a], names[b]), float(t))
            for (a, b), t in zip(bet_map.sketch.pairs.tolist(), strength, strict=True)
        ]

        def witness(rows: Any) -> Array:
            scaled = bet_map.standardised(encoded_rows(watch.encoding, rows, "rows"))
            features = bet_map.features(scaled)[:, bet_map.joint]
            if bettor.witnesses is None:
                return np.zeros(len(features))
            joint = bettor.witnesses.joint
            weights = joint[:, memory * (joint.shape[1] // len(MEMORIES)) + 1]
            return np.asarray(features @ weights, dtype=np.float64)

        watched = sorted(columns, key=lambda c: -c.strength) if watch.plan.columns else []
        return cls(tuple(watched), tuple(sorted(pairs, key=lambda q: -q.strength)), witness)

    def lines(self) -> list[str]:
        """Lines to print."""
        texts = [
            f"{printable(c.name)}: {c.words} ({c.strength:.1f} standard errors)"
            for c in self.columns[:MOST_LINES]
            if c.strength > SURE
        ]
        # A product of columns that have moved differs, whether or not their dependence does.
        moved = {column.name for column in self.columns if column.strength > SURE}
        texts += [
            f"{printable(q.names[0])} with {printable(q.names[1])}: their dependence "
            f"({q.strength:.1f} standard errors)"
            for q in self.pairs[:MOST_LINES]
            if q.strength > SURE and not moved.intersection(q.names)
        ][: MOST_LINES if not self.columns else 2]
        heads = ["  differ     ", *[" " * 13] * len(texts)]
        return [head + text for head, text in zip(heads, texts, strict=False)]

    def __str__(self) -> str:
        lines = self.lines() or ["  differ     nothing that single columns or pairs of them show"]
        return "\n".join(["What differs, by the pairs so far:", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "pairs": [asdict(pair) for pair in self.pairs[:20]],
        }


def _richest_memory(bettor: Bettor) -> int:
    """The memory of the learner that made most."""
    own = bettor.wealth.of_learners()
    each = (len(own) - len(bettor.estimators)) // len(MEMORIES)
    return int(np.argmax(own[: each * len(MEMORIES)])) // each


def _means_in_errors(means: Array, squares: Array, n: float) -> Array:
    """Means in standard errors; 0 where nothing varies."""
    errors = np.sqrt(squares / n)
    return np.divide(means, errors, out=np.zeros_like(means), where=errors > 0)
