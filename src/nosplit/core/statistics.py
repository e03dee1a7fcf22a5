"""Statistics of named forms under every draw: the one place where data meets permutations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from nosplit._types import Array, Index
from nosplit.core.exchange import Exchange, Permutations
from nosplit.core.forms import Bins, Features, Scores
from nosplit.core.gram import Gram
from nosplit.core.pair_forms import WavePairs
from nosplit.errors import NonFiniteError

__all__ = ["Forms", "Statistics", "centred_statistics", "statistics"]

Forms = Mapping[str, Any]  # a form, or several of one name

# Bits of a covariance that do not depend on the order of sums.
BITS = 40
# A statistic that varies by less than this share of its size is constant.
CONSTANT = 1e-9
# Square roots of the largest and of the smallest variance (see `check_covariance`).
LARGEST = float(np.sqrt(np.finfo(np.float64).max))
SMALLEST = 1e-152
NO_OWNER: Index = np.zeros(0, np.int64)
NOT_FINITE = (
    "The kernels' values are not finite: the data is too large for them, or a kernel returns nan "
    "or inf. Rescale the data, for example to unit variance."
)


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of some forms under every draw.

    Attributes
    ----------
    tau : array, shape (F, s)
        The statistics less their mean, the data first; 0 if no draw changes anything.
    shapes : array, shape (s,)
        Shapes of gamma laws like those of the statistics; empty if they are not needed.
    owner : array of int, shape (s,)
        The column, or pair of columns, that each statistic is about; empty if it is about none.
    contrasts : int
        Contrasts of signed statistics, one after the other; each has the same owners.
    """

    tau: Array
    shapes: Array = field(default_factory=lambda: np.zeros(0))
    owner: Index = field(default_factory=lambda: NO_OWNER)
    contrasts: int = 1

    @cached_property
    def cov(self) -> Array:
        """Second moment of τ over all draws, the data among them, (s, s).

        It is a symmetric function of the draws, so that ranks stay exact. To 40 bits it is the
        same whichever draw was the data.
        """
        size, power = np.frexp(self.tau.T @ self.tau / len(self.tau))
        return np.asarray(np.ldexp(np.rint(np.ldexp(size, BITS)), power - BITS))

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of each statistic over all draws, (s,)."""
        return np.asarray(np.sqrt(np.einsum("fs,fs->s", self.tau, self.tau) / len(self.tau)))

    @cached_property
    def deviations(self) -> Array:
        """τ in standard deviations, (F, s); 0 if no draw changes anything."""
        return np.asarray(self.tau / np.where(self.spread > 0, self.spread, 1.0))

    @cached_property
    def normal_scores(self) -> Array:
        """Deviations as normal scores, (F, s): cube roots of gamma laws (Wilson, Hilferty)."""
        shapes = np.where(self.spread > 0, self.shapes, 1.0)
        width = 1.0 / (9.0 * shapes)
        scores = self.tau / (np.where(self.spread > 0, self.spread, 1.0) * np.sqrt(shapes))
        scores += 1.0
        np.cbrt(np.maximum(scores, 0.0, out=scores), out=scores)
        scores -= 1.0 - width
        return np.asarray(scores / np.sqrt(width))


def statistics(exchange: Exchange | Permutations, forms: Forms) -> dict[str, Statistics]:
    """Compute the statistics of all forms under every draw; those of one name are joined."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found: dict[str, Statistics] = {}
        for name, own in forms.items():
            for form in own if isinstance(own, list) else [own]:
                part = _statistics_of(exchange, form)
                found[name] = _joined([found[name], part]) if name in found else part
        return found


def _statistics_of(exchange: Exchange | Permutations, form: Any) -> Statistics:
    # Linear statistics, and pairs of signs, have a mean of 0.
    signed = isinstance(exchange, Exchange) and exchange.label is None
    known = isinstance(form, Scores) or (isinstance(form, Gram) and signed)
    owner = getattr(form, "owner", NO_OWNER)
    shaped = isinstance(form, Bins) or (isinstance(form, Features | WavePairs) and len(owner) > 0)
    contrasts = 1
    if isinstance(form, Scores) and isinstance(exchange, Exchange):
        contrasts = len(exchange.share)
    return centred_statistics(
        form.under(exchange), owner=owner, centred=known, shaped=shaped, contrasts=contrasts
    )


def centred_statistics(
    raw: Array,
    *,
    owner: Index = NO_OWNER,
    centred: bool = False,
    shaped: bool = False,
    contrasts: int = 1,
) -> Statistics:
    """Subtract from statistics under all draws, (F, s), their mean, unless they are centred.

    Those that are `shaped` have shapes of gamma laws with their mean and variance.
    """
    largest = max(raw.max(initial=0.0), -raw.min(initial=0.0))
    if not largest < LARGEST / len(raw):  # nor is nan
        raise NonFiniteError(NOT_FINITE)
    mean = np.zeros(raw.shape[1]) if centred else raw.mean(axis=0)
    found = Statistics(np.subtract(raw, mean, out=raw), owner=owner, contrasts=contrasts)
    constant = found.spread <= np.maximum(CONSTANT * np.abs(mean), SMALLEST)
    if constant.any():
        found = replace(found, tau=np.where(constant, 0.0, found.tau))
    if shaped:
        return replace(found, shapes=(mean / np.where(constant, 1.0, found.spread)) ** 2)
    return found


def _joined(parts: list[Statistics]) -> Statistics:
    return Statistics(
        np.concatenate([part.tau for part in parts], axis=1),
        np.concatenate([part.shapes for part in parts]),
        np.concatenate([part.owner for part in parts]),
    )
