"""Wealth: what bets have made of one unit, and when it says that something has changed.

Every learner bets several fractions of its account. Under H₀ each bet is fair, whatever was learned
of the past, so the expected wealth never grows.

"ever": one unit is handed out, most of it before the first pair and the rest little by little, so
that a change that comes late finds accounts that have not been lost. P(wealth ever ≥ 1/α) ≤ α
(Ville's inequality).

"rate": one unit is handed out before every pair (Shiryaev and Roberts). Wealth less the number of
pairs is fair, so that the mean number of pairs until wealth reaches `every` is at least that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from nosplit._types import Array, Index

__all__ = ["FRACTIONS", "EvidencePath", "Wealth"]

# Fractions of an account that are bet.
FRACTIONS = (0.15, 0.45, 0.95)
# Share of the unit that is handed out after the first pair, and how slowly.
LATE, SLOW = 0.3, 100.0
# Points of the path that are kept, at the most.
POINTS = 1024


@dataclass(eq=False)
class EvidencePath:
    """Log of wealth over time: at every `step`-th pair, and ever more rarely in a long stream."""

    step: int = 1
    values: list[float] = field(default_factory=list)

    def add(self, number: int, logs: Array) -> None:
        """Add what follows pair `number`."""
        at = np.arange(number + 1, number + 1 + len(logs))
        self.values += logs[at % self.step == 0].tolist()
        while len(self.values) > POINTS:
            self.step *= 2
            self.values = self.values[1::2]

    @property
    def numbers(self) -> Index:
        """Numbers of the pairs."""
        return self.step * np.arange(1, len(self.values) + 1)


@dataclass(eq=False)
class Wealth:
    """The accounts of all learners.

    Attributes
    ----------
    shares : array, shape (J,)
        Shares of the learners.
    threshold : float
        Log of the wealth at which it rings.
    rate : bool
        Whether the guarantee is "rate".
    n : int
        Pairs bet on since the accounts were opened.
    accounts, luck, begun, scale : array
        As in `nosplit.backend.numba.betting.bet`.
    log_wealth, highest : float
        Log of the wealth now, and the largest so far.
    rang : array, shape (2,)
        The pair at which it rang first, and where the change seemed to have begun; zeros before.
    path : EvidencePath
        Log of wealth over time.
    """

    shares: Array
    threshold: float
    rate: bool
    n: int = 0
    log_wealth: float = 0.0
    highest: float = 0.0
    path: EvidencePath = field(default_factory=EvidencePath)

    def __post_init__(self) -> None:
        shape = len(self.shares), len(FRACTIONS)
        self.accounts, self.scale = np.zeros(shape), np.zeros(1)
        self.luck, self.begun = np.ones(shape), np.zeros(shape, np.int64)
        self.rang = np.zeros(2, np.int64)
        if self.rate:
            self.log_wealth = self.highest = -math.inf

    def bet(self, payoffs: Array) -> None:
        """Bet on pairs, of which the payoffs of each learner are given."""
        from nosplit.backend.numba.betting import bet

        logs = np.empty(len(payoffs))
        stakes, cash = self._handed_out(len(payoffs))
        weights = np.repeat(self.shares[:, None] / len(FRACTIONS), len(FRACTIONS), axis=1)
        fractions = np.array(FRACTIONS)
        accounts = self.accounts, self.luck, self.begun, self.scale
        bells = self.threshold, self.rang, logs
        bet(payoffs, stakes, fractions, weights, cash, self.n + 1, *accounts, *bells)
        self.path.add(self.n, logs)
        self.n += len(logs)
        self.highest = max(self.highest, float(logs.max()))
        self.log_wealth = float(logs[-1])

    def _handed_out(self, count: int) -> tuple[Array, Array]:
        """Wealth handed out before each of the next pairs, and the rest."""
        if self.rate:
            return np.ones(count), np.zeros(count)
        left = LATE / (1.0 + np.log1p(np.arange(self.n, self.n + count + 1) / SLOW))
        stakes = -np.diff(left)
        if self.n == 0:
            stakes[0] += 1.0 - LATE
        return stakes, left[1:]

    def of_learners(self) -> Array:
        """Log of what each learner has made of what it was handed out."""
        total = math.log(self.n) if self.rate and self.n else 0.0
        with np.errstate(divide="ignore"):
            own = np.log(self.accounts.sum(axis=1)) + self.scale[0] - np.log(self.shares)
        return np.asarray(own - total)
