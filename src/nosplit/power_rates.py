"""How often a test rejects under an alternative: closed forms, and simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import special
from nosplit.alternative import Alternative, overlap, root
from nosplit.methods import OST, Adaptive, ChiBar, Method, Nonnegative, Split, Wald
from nosplit.normal import Whitening
from nosplit.pairing import Complete
from nosplit.plan import Plan
from nosplit.steps import split_at

__all__ = ["CLOSED", "NORMAL", "RESAMPLED", "rejection_rate"]

Array = NDArray[np.float64]

CLOSED, NORMAL, RESAMPLED = "closed form", "normal", "resampled"
# A noncentrality beyond which power is 1 to all digits, for any level that can be written down.
CERTAIN = 1e6


def rejection_rate(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> tuple[float, str]:
    """Chance that the test rejects, and how it was found.

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
        Number of simulated tests, and of draws from their null law where that has no closed form.
    rng : Generator
        Source of the simulation.
    """
    if isinstance(how.pairing, Complete):
        return _resampled(alternative, method, how, alpha, trials, rng), RESAMPLED
    closed = _closed(alternative, method, how, alpha)
    if closed is not None:
        return closed, CLOSED
    return _normal(alternative, method, how, alpha, trials, rng), NORMAL


# --- closed forms ---------------------------------------------------------------------------------


def _closed(alternative: Alternative, method: Method, how: Plan, alpha: float) -> float | None:
    if alternative.d == 1:
        return _one(alternative, method, how, alpha)
    disjoint = overlap(how.pairing, how.n_units) == 0.0
    if isinstance(method, Wald) and disjoint and not how.flips:
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
    """What the test takes for Σ: centred, or, where it is exact, not (which flips leave alone)."""
    if not how.flips:
        return np.asarray(alternative.cov)
    return np.asarray(alternative.cov + np.outer(alternative.mu, alternative.mu))


def _normal(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> float:
    """Statistics from their normal limit; under flips it is N(0, Σ) with the test's own Σ."""
    parts = split_at(method, how.n_units)
    cov = _test_cov(alternative, how)
    z = rng.standard_normal((2 * len(parts), trials, alternative.d))
    tau = _stack([alternative.normal(how.pairing, len(r), z[i]) for i, r in enumerate(parts)])
    if isinstance(method, Adaptive) and how.flips:
        flipped = z[1] @ root(cov)
        return _ranked(method, tau, flipped, cov, alpha)
    return float(np.mean(method(tau, cov).log_pvalue <= np.log(alpha)))


def _resampled(
    alternative: Alternative,
    method: Method,
    how: Plan,
    alpha: float,
    trials: int,
    rng: np.random.Generator,
) -> float:
    """Statistics over all pairs of resampled units, ranked among those of their flips.

    One set of flips of other resampled units serves all trials: the flips' law given the units
    varies little from one sample to the next.
    """
    units, parts = alternative.resampled, split_at(method, how.n_units)
    seeds = rng.spawn(2)
    tau, flipped = (
        _stack([draw(alternative.mu, len(r), trials, seed) for r in parts])
        for draw, seed in zip((units.statistics, units.flipped), seeds, strict=True)
    )
    return _ranked(method, tau, flipped, _test_cov(alternative, how), alpha)


def _stack(tau: list[Array]) -> Array:
    """(trials, d), or (trials, 2, d) for the two parts of a split."""
    return tau[0] if len(tau) == 1 else np.stack(tau, axis=-2)


def _ranked(method: Method, tau: Array, flipped: Array, cov: Array, alpha: float) -> float:
    """Share of τ whose evidence ranks among the alpha best of the flips."""
    observed, null = (_evidence(method, t, cov) for t in (tau, flipped))
    above = [
        _at_least(values, sorted_) for values, sorted_ in zip(observed, np.sort(null), strict=True)
    ]
    best = np.min(above, axis=0)
    if len(null) > 1:
        # Several kinds of evidence: a draw counts by the best of its ranks.
        ranks = [_at_least(values, np.sort(values)) for values in null]
        best = np.searchsorted(np.sort(np.min(ranks, axis=0)), best + 1, side="right")
    return float(np.mean((best + 1.0) / (null.shape[1] + 1.0) <= alpha))


def _at_least(values: Array, ascending: Array) -> NDArray[np.int_]:
    """How many of the sorted values are at least as large."""
    return np.asarray(len(ascending) - np.searchsorted(ascending, values, side="left"))


def _evidence(method: Method, tau: Array, cov: Array) -> Array:
    """What exact calibration ranks, (kinds, trials)."""
    if isinstance(method, Adaptive):
        return method.evidence(tau, cov)
    picked = method(tau, cov)
    ordered = isinstance(method, OST | Nonnegative)
    return (-picked.log_pvalue if ordered else picked.statistic)[None]
