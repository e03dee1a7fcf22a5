"""Rejection rates of a test under an alternative: closed forms, and simulation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit._old.inference.calibrating.ranking import Joining, drawn_evidence
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.power.alternative import Alternative, overlap, root
from nosplit._types import Array
from nosplit.core.pairings import Complete, Sketch
from nosplit.methods import Adaptive, ChiBar, Method, Split, Wald
from nosplit.methods.split import split_at
from nosplit.methods.whitening import Whitening

__all__ = ["CLOSED", "NORMAL", "RESAMPLED", "SUMMED", "Rate", "rejection_rate"]

CLOSED, NORMAL, RESAMPLED, SUMMED = "closed form", "normal", "resampled", "cells"
# A noncentrality beyond which power is 1 to all digits, for any level that can be written down.
CERTAIN = 1e6
# Draws of the null law for each trial: an error of the threshold moves all trials together.
NULL = 4


class Rate(NamedTuple):
    """Chance that a test rejects, how it was found, and its error from draws of the null law."""

    power: float
    how: str
    error: float = 0.0


def rejection_rate(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> Rate:
    """Chance that the test rejects.

    Parameters
    ----------
    alternative : Alternative
        The law of the pairs' values.
    method : Method
        The method of the test.
    how : Plan
        Its pairs, calibration and number of units.
    alpha : float
        Its level.
    trials : int
        Number of simulated tests; of draws from their null law, where that has no closed form,
        there are four times as many.
    rng : Generator
        Source of the simulation.
    """
    if isinstance(how.pairing, Complete):
        if alternative.gap is not None and isinstance(method, Adaptive):
            sketched = isinstance(how.pairing, Sketch)
            found = alternative.gap.evidence(how.sizes.n, trials, rng, sketched=sketched)
            return Rate(how=SUMMED, **_share_above(*found[:2], alpha, found[2]))
        return _resampled(alternative, method, how, alpha, trials, rng)
    closed = _closed(alternative, method, how, alpha)
    if closed is not None:
        return Rate(closed, CLOSED)
    return _normal(alternative, method, how, alpha, trials, rng)


# --- closed forms ---------------------------------------------------------------------------------


def _closed(alternative: Alternative, method: Method, how: Plan, alpha: float) -> float | None:
    if alternative.d == 1:
        return _one(alternative, method, how, alpha)
    disjoint = overlap(how.pairing, how.n_units) == 0.0
    if isinstance(method, Wald) and disjoint and not how.n_resamples:
        return _noncentral(alternative, method.whitening, how.n_pairs, alpha)
    return None


def _one(alternative: Alternative, method: Method, how: Plan, alpha: float) -> float | None:
    """One statistic (equation 1 of the paper): nothing is learned, τ against its threshold."""
    # A combination that Wald learned on a part may be negative; chi-bar never rejects below 0.
    learns = isinstance(method, Split) and isinstance(method.method, Wald)
    if learns or (alpha >= 0.5 and isinstance(method, ChiBar)):
        return None
    n_units = len(split_at(method, how.n_units)[-1])
    mean = np.sqrt(how.pairing.n_pairs(n_units)) * alternative.mu[0]
    spread = np.sqrt(alternative.spread(how.pairing, n_units)[0, 0])
    sd = np.sqrt(_test_cov(alternative, how)[0, 0])
    if isinstance(method, Wald):
        threshold = special.ndtri(1.0 - alpha / 2.0) * sd
        both = special.ndtr((mean - threshold) / spread) + special.ndtr(
            -(mean + threshold) / spread
        )
        return float(both)
    return float(special.ndtr((mean + special.ndtri(alpha) * sd) / spread))


def _noncentral(
    alternative: Alternative, whitening: Whitening, n_pairs: int, alpha: float
) -> float:
    """The Wald test: ‖w‖² is noncentral chi-squared with m μ'Σ⁺μ."""
    white = whitening(alternative.cov)
    w = white.whiten(np.sqrt(n_pairs) * alternative.mu[None])[0]
    rank, noncentrality = int(white.rank[0]), float(w @ w)
    if noncentrality > CERTAIN:
        return 1.0
    return float(1.0 - special.chndtr(special.chdtri(rank, alpha), rank, noncentrality))


# --- simulation -----------------------------------------------------------------------------------


def _test_cov(alternative: Alternative, how: Plan) -> Array:
    """The test's Σ: centred, or, where it is exact, not (which flips leave alone)."""
    if not how.n_resamples:
        return np.asarray(alternative.cov)
    return np.asarray(alternative.cov + np.outer(alternative.mu, alternative.mu))


def _normal(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> Rate:
    """Statistics from their normal limit; under flips it is N(0, Σ) with the test's own Σ."""
    parts = split_at(method, how.n_units)
    cov = _test_cov(alternative, how)
    z = rng.standard_normal((len(parts), trials, alternative.d))
    tau = _stack([alternative.normal(how.pairing, len(r), z[i]) for i, r in enumerate(parts)])
    if isinstance(method, Adaptive) and how.n_resamples:
        flipped = rng.standard_normal((NULL * trials, alternative.d)) @ root(cov)
        return Rate(how=NORMAL, **_share_ranked(method, tau, flipped, cov, alpha))
    return Rate(float(np.mean(method(tau, cov).log_pvalue <= np.log(alpha))), NORMAL)


def _resampled(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> Rate:
    """Statistics over all pairs of resampled units, ranked among those of their flips.

    One set of flips of other resampled units serves all trials: the flips' law given the units
    varies little from one sample to the next.
    """
    units, parts = alternative.resampled, split_at(method, how.n_units)
    first, second = rng.spawn(2)
    tau = _stack([units.statistics(alternative.mu, len(r), trials, first) for r in parts])
    flipped = _stack([units.flipped(alternative.mu, len(r), NULL * trials, second) for r in parts])
    cov = _test_cov(alternative, how)
    return Rate(how=RESAMPLED, **_share_ranked(method, tau, flipped, cov, alpha))


def _stack(tau: list[Array]) -> Array:
    """(trials, d), or (trials, 2, d) for the two parts of a split."""
    return tau[0] if len(tau) == 1 else np.stack(tau, axis=-2)


def _share_ranked(
    method: Method, tau: Array, flipped: Array, cov: Array, alpha: float
) -> dict[str, float]:
    """Share of τ whose evidence ranks among the alpha best of the flips."""
    return _share_above(_evidence(method, tau, cov), _evidence(method, flipped, cov), alpha)


def _share_above(
    observed: Array, null: Array, alpha: float, joining: Joining | None = None
) -> dict[str, float]:
    """Share of the observed whose evidence, of several kinds, ranks among the alpha best.

    The error is half of what two standard errors of the threshold's own level make of it.
    """
    ascending = np.sort(null)
    joining = Joining(np.ones(len(null))) if joining is None else joining
    # Draws have a score by their ranks under each kind of evidence, as in the test itself.
    ours, theirs = (
        joining.scores(
            (_at_least(*pair) + own) / null.shape[1] for pair in zip(values, ascending, strict=True)
        )
        for values, own in ((observed, 1), (null, 0))  # flips are among themselves
    )
    p = (_at_least(ours, np.sort(theirs)) + 1.0) / (null.shape[1] + 1.0)
    off = 2.0 * np.sqrt(alpha * (1.0 - alpha) / null.shape[1])
    low, power, high = (float(np.mean(p <= level)) for level in (alpha - off, alpha, alpha + off))
    return {"power": power, "error": (high - low) / 2.0}


def _at_least(values: Array, ascending: Array) -> NDArray[np.int_]:
    """Number of the sorted values that are at least as large."""
    return np.asarray(len(ascending) - np.searchsorted(ascending, values, side="left"))


def _evidence(method: Method, tau: Array, cov: Array) -> Array:
    """The evidence that exact calibration ranks, (kinds, trials)."""
    if isinstance(method, Adaptive):
        return method.evidence(tau, cov)
    return drawn_evidence(method, tau, cov)[None]
