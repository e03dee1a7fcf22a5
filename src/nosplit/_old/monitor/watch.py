"""The life of a watch: make a map, bet on pairs, check the first of them for serial dependence.

Without a reference, the map comes from the first 32 pairs, whichever of their rows are called x,
and comes anew from the first 128 and 512, all of which were bet on then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nosplit._old.monitor.bets.bettor import Bettor
from nosplit._old.monitor.bets.estimators import Estimators
from nosplit._old.monitor.bets.learners import shares_of
from nosplit._old.monitor.bets.maps import SCORES, fit_bet_map
from nosplit._old.monitor.bets.wealth import Wealth
from nosplit._types import Array
from nosplit.data.encoding import Encoding
from nosplit.data.series import check_rows

__all__ = ["STAGES", "Watch", "WatchPlan"]

# Pairs after which the map is made, and made anew; until the last, rows are kept.
STAGES = (32, 128, 512)


@dataclass(frozen=True)
class WatchPlan:
    """Settings that do not change while one watches.

    Attributes
    ----------
    size : int
        Rows of either side of a pair.
    threshold : float
        Log of the wealth at which it rings.
    rate : bool
        Whether the guarantee is "rate".
    key : int
        Picks the frequencies.
    split : int, optional
        Where the columns of the second of two variables begin: then their independence is watched.
    estimators : tuple
        Learners of the user's, which share half of the wealth.
    """

    size: int
    threshold: float
    rate: bool
    key: int
    split: int | None = None
    estimators: tuple[Any, ...] = ()

    @property
    def columns(self) -> bool:
        """Whether single columns are bet on: alone they say nothing of dependence."""
        return self.split is None

    def wealth(self, p: int) -> Wealth:
        """Accounts before the first pair."""
        shares, count = shares_of(p, self.columns), len(self.estimators)
        if count:
            shares = np.concatenate([shares / 2.0, np.full(count, 0.5 / count)])
        return Wealth(shares, self.threshold, self.rate)


@dataclass(eq=False)
class Watch:
    """Pairs of encoded rows, as they come.

    Attributes
    ----------
    plan : WatchPlan
        What does not change.
    encoding : Encoding
        Tells numbers from categories.
    bettor : Bettor, optional
        None before there is a map.
    piloted : bool
        Whether the map came from a reference, and stays.
    kept : tuple of arrays
        Rows of the first pairs.
    n : int
        Pairs that came.
    dependent : bool
        Whether neighbouring pairs are alike.
    """

    plan: WatchPlan
    encoding: Encoding
    bettor: Bettor | None = None
    piloted: bool = False
    kept: list[tuple[Array, Array]] = field(default_factory=list)
    n: int = 0
    dependent: bool = False

    def start(self, pilot: Array) -> None:
        """Make the map of reference rows."""
        self.piloted = True
        self.bettor = self._bettor(pilot, None)

    def _bettor(self, rows: Array, wealth: Wealth | None) -> Bettor:
        plan = self.plan
        bet_map = fit_bet_map(rows, self.encoding, plan.key, plan.split)
        wealth = plan.wealth(bet_map.p) if wealth is None else wealth
        estimators = Estimators(plan.estimators, plan.size)
        return Bettor(bet_map, plan.size, plan.columns, wealth, estimators)

    def feed(self, x: Array, y: Array) -> None:
        """Take in pairs."""
        start, count = 0, len(x) // self.plan.size
        while start < count:
            stage = next((s for s in STAGES if s > self.n), None)
            stop = count if stage is None else min(start + stage - self.n, count)
            rows = slice(start * self.plan.size, stop * self.plan.size)
            self._feed(x[rows], y[rows], stop - start, stage)
            start = stop

    def _feed(self, x: Array, y: Array, count: int, stage: int | None) -> None:
        if self.bettor is not None:
            self.bettor.feed(x, y)
        self.n += count
        if stage is not None:
            self.kept.append((x, y))
        if self.n == stage:
            self._settle()

    def _settle(self) -> None:
        """Make the map, or make it anew; at the last stage, check for serial dependence."""
        x, y = (np.concatenate(side) for side in zip(*self.kept, strict=True))
        self.kept = [(x, y)]
        if not self.piloted:
            before = self.bettor
            wealth = None if before is None else before.wealth
            self.bettor = self._bettor(np.concatenate([x, y]), wealth)
            self.bettor.feed(x, y, bets=before is None)
        if self.n == STAGES[-1]:
            self.kept = []
            self.dependent = bool(check_rows(self._differences(x, y)))

    def _differences(self, x: Array, y: Array) -> Array:
        """Return the differences of pairs in one feature of each column, or of both variables."""
        assert self.bettor is not None
        bet_map = self.bettor.bet_map
        sides = bet_map.standardised(x), bet_map.standardised(y)
        differences = bet_map.differences(*sides, self.plan.size)
        first = bet_map.n_waves + SCORES * np.arange(bet_map.p)
        if not self.plan.columns:
            first = np.arange(bet_map.n_waves + SCORES * bet_map.p, bet_map.n_features)
        return differences[:, first].astype(np.float64)
