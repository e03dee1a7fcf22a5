"""The stream of pairs: bet on each with what was learned of those before, then learn from it.

Learners are updated at fixed numbers of pairs. In between, payoffs of many pairs are computed
together. Nothing depends on how pairs are cut into batches, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nosplit._old.monitor.bets.estimators import Estimators
from nosplit._old.monitor.bets.learners import Past, Witnesses, next_update
from nosplit._old.monitor.bets.maps import BetMap
from nosplit._old.monitor.bets.wealth import Wealth
from nosplit._types import Array
from nosplit.backend.threads import one_blas_thread

__all__ = ["Bettor"]

# Pairs whose features are computed together.
CHUNK = 2048


@dataclass(eq=False)
class Bettor:
    """A map, what was learned, and the wealth that it made.

    Attributes
    ----------
    bet_map : BetMap
        From pairs to features.
    size : int
        Rows of either side of a pair.
    columns : bool
        Whether single columns are bet on, too.
    wealth : Wealth
        The accounts.
    estimators : Estimators
        Learners of the user's.
    past : Past
        Sums over the pairs up to the last update.
    waiting : list of arrays
        Features of the pairs since then.
    """

    bet_map: BetMap
    size: int
    columns: bool
    wealth: Wealth
    estimators: Estimators

    def __post_init__(self) -> None:
        self.past = Past.empty(self.bet_map, self.columns)
        self.waiting: list[NDArray[np.float32]] = []
        self.witnesses: Witnesses | None = None

    @property
    def n(self) -> int:
        """Pairs learned from or waiting for it."""
        return self.past.n + sum(map(len, self.waiting))

    def feed(self, x: Array, y: Array, *, bets: bool = True) -> None:
        """Bet on pairs and learn from them; or learn only, from pairs that were bet on before."""
        rows = CHUNK * self.size
        with one_blas_thread():
            for start in range(0, len(x), rows):
                self._feed(x[start : start + rows], y[start : start + rows], bets)
            if not bets:
                self.see()

    def _feed(self, x: Array, y: Array, bets: bool) -> None:
        x, y = self.bet_map.standardised(x), self.bet_map.standardised(y)
        differences = self.bet_map.differences(x, y, self.size)
        start = 0
        while start < len(differences):
            left = next_update(self.past.n) - self.n
            stop = min(start + left, len(differences))
            rows = slice(start * self.size, stop * self.size)
            part = differences[start:stop]
            seen = [self.bet_map.numbered(side[rows]) for side in (x, y) if self.estimators]
            if bets:
                self.wealth.bet(self._payoffs(part, seen))
            self.waiting.append(part)
            if self.estimators:
                self.estimators.keep(*seen)
            if stop - start == left:
                self._learn(bets)
            start = stop

    def _payoffs(self, differences: NDArray[np.float32], seen: list[Array]) -> Array:
        if self.witnesses is None:
            return np.zeros((len(differences), len(self.wealth.shares)))
        payoffs = self.witnesses.payoffs(differences, self.bet_map, self.columns)
        if not self.estimators:
            return payoffs
        return np.hstack([payoffs, self.estimators.payoffs(*seen)])

    def _learn(self, bets: bool) -> None:
        """Update the learners, at the numbers of pairs at which that is due."""
        self.past.add(np.concatenate(self.waiting), self.bet_map)
        self.waiting = []
        if bets:
            self.see()
        if self.estimators:
            self.estimators.learn(self.past.n)

    def see(self) -> None:
        """Make the witnesses of the past."""
        self.past.look()
        if self.past.n:
            self.witnesses = Witnesses.of(self.past, self.bet_map)
