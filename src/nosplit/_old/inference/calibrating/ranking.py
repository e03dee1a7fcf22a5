"""Exact p-values: the evidence of the data ranked among that of random draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.methods import OST, Adaptive, ChiBar, Method, Nonnegative
from nosplit.methods._base import above_chance, in_deviations
from nosplit.methods.laws import Flips, counted_from

__all__ = ["Joining", "drawn_evidence", "hedged", "rank_draws", "ranks"]


def rank_draws(method: Method, tau: Array, cov: Array) -> Flips:
    """The evidence under every draw, the observed one first.

    Parameters
    ----------
    method : Method
        What turns statistics into evidence.
    tau : array, shape (F, d), or (F, 2, d) for a split
        Statistics under each draw.
    cov : array, shape (d, d) or (F, d, d)
        Covariance matrix, the same for every draw or one for each.
    """
    if isinstance(method, Adaptive):
        return Flips(hedged(method.evidence(tau, cov)))
    return Flips(drawn_evidence(method, tau, cov))


def drawn_evidence(method: Method, tau: Array, cov: Array) -> Array:
    """The evidence under every draw of a method with one kind of it, (F,): larger is stronger.

    Weights of OST may be negative. Where every statistic is below zero it has no evidence, here as
    in `Adaptive`; its closed form is the paper's, and knows no such exception.
    """
    if isinstance(method, ChiBar):
        found = method.lengths(tau, cov)
    else:
        picked = method(tau, cov)
        # The closed form's p-value orders draws of different active sets; a statistic does not.
        ordered = isinstance(method, OST | Nonnegative)
        found = -picked.log_pvalue if ordered else picked.statistic
    if isinstance(method, OST | ChiBar):
        return np.where(above_chance(in_deviations(tau, cov)), found, 0.0)
    return found


@dataclass(frozen=True, eq=False)
class Joining:
    """An order of draws by their ranks under several kinds of evidence: Σ weight · rank^-power.

    With equal weights and power 1, by the harmonic mean of their ranks: one kind that stands out
    says it all, and kinds that agree add up. The lower the power, the more agreement counts.

    Attributes
    ----------
    weights : array, shape (K,)
        How much each kind counts.
    power : float
        The power.
    """

    weights: Array
    power: float = 1.0

    def scores(self, kinds: Iterable[NDArray[Any]]) -> Array:
        """Scores of draws from their ranks under each kind, (F,) each: larger is stronger."""
        pairs = zip(self.weights, kinds, strict=True)
        # In the order of their size: the same terms of other kinds have the same sum, to the last
        # bit.
        return np.asarray(np.sort([w * own**-self.power for w, own in pairs], axis=0).sum(axis=0))


def hedged(evidence: Array, joining: Joining | None = None) -> Array:
    """One evidence from several: -log of the share of draws with a score at least as high.

    Ties count against.

    Parameters
    ----------
    evidence : array, shape (K, F)
        Kinds of evidence under all draws: larger is stronger.
    joining : Joining, optional
        How draws are ordered; by the harmonic mean of their ranks by default.
    """
    joining = Joining(np.ones(len(evidence))) if joining is None else joining
    score = joining.scores(ranks(kind) / evidence.shape[1] for kind in evidence)
    return np.asarray(-np.log(ranks(score) / evidence.shape[1]))


def ranks(values: Array) -> NDArray[np.int_]:
    """Number of draws with at least this much evidence, within the tolerance for ties."""
    ascending = np.sort(values)
    below = np.searchsorted(ascending, counted_from(values), side="left")
    return np.asarray(len(values) - below)
