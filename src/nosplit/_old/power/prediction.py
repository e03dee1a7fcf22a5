"""Power planning: how often a test of a given size will find a difference like the pilot's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nosplit._checks import Seed, check_alpha, check_fraction, check_int, check_rng, new_key
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import Sizes
from nosplit._old.inference.planning.limits import as_method, settle
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.power.alternative import Alternative
from nosplit._old.power.level import wilson
from nosplit._old.power.rates import CLOSED, NORMAL, RESAMPLED, SUMMED, Rate, rejection_rate
from nosplit._old.power.results import PowerCurve, PowerPrediction, SampleSize
from nosplit.core.pairings import Complete, Pairing
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_calibration
from nosplit.inference.caveats import fewest_pairs, safe_window, smallest_safe_pairs, width
from nosplit.kernels.bank import kernel_bases
from nosplit.methods import Best, Method, Naive

__all__ = ["power_curve", "predict_power", "sample_size"]

# Said of the best of several kernels over complete pairs, and rows of a pilot that say more.
TOO_LOW = (
    "The pilot of {} rows says less about the best of several kernels than about all of them: the "
    "power is more likely above the interval than below it."
)
LARGE_PILOT = 1_000


def predict_power(
    alternative: Alternative,
    *,
    n: int,
    alpha: float = 0.05,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    trials: int = 4000,
    rng: Seed = 0,
) -> PowerPrediction:
    """Predict how often `two_sample_test` finds a difference with samples of `n` rows each.

    By a closed form where there is one: a single kernel or fixed combination (equation 1 of the
    paper), and the Wald test over pairs that share no unit (a noncentral chi-squared law).
    Elsewhere the statistics τ are simulated: from their normal limit, whose covariance under the
    alternative is Σ plus what pairs with a common unit share; for complete pairs, which have no
    such limit, from the resampled units of a pilot, with their flips; for the default test, with
    all else that it looks at, from sums over cells of the pilot.

    Parameters
    ----------
    alternative : Alternative
        What the test is up against: `nosplit.pilot(x, y)`, or given as `Alternative(mu, cov)`.
    n : int
        Rows of each sample.
    alpha : float
        Level of the test.
    method, pairs, calibration, budget
        As in `two_sample_test`: "auto" is what that test would do at this size. For an alternative
        that was given, "auto" is linear pairs and the asymptotic calibration.
    trials : int
        Number of simulated tests.
    rng : int, Generator or None
        Source of the simulation.

    Returns
    -------
    PowerPrediction
        With `power` and its interval `low` to `high`, which is wide for a small pilot.

    Examples
    --------
    >>> from nosplit.power import Alternative
    >>> one = predict_power(Alternative([0.1], [[1.0]]), n=2000)
    >>> print(f"{one.power:.3f} {one.how}")
    0.935 closed form
    """
    study = _Study.checked(alternative, alpha, method, pairs, calibration, budget, trials, rng)
    return study.predict(check_int(n, "n", least=2))


def power_curve(
    alternative: Alternative,
    *,
    sizes: Sequence[int],
    alpha: float = 0.05,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    trials: int = 4000,
    rng: Seed = 0,
) -> PowerCurve:
    """Predict power at several sizes; the same random numbers serve all of them.

    Parameters
    ----------
    alternative : Alternative
        As in `predict_power`.
    sizes : sequence of int
        Rows of each sample.
    alpha, method, pairs, calibration, budget, trials, rng
        As in `predict_power`.

    Returns
    -------
    PowerCurve
        With arrays `sizes`, `power`, `low` and `high`.

    Examples
    --------
    >>> from nosplit.power import Alternative
    >>> print(power_curve(Alternative([0.1], [[1.0]]), sizes=[500, 1000, 2000]))
           n  power  95 % interval
         500   0.47  0.47 to 0.47
       1,000   0.72  0.72 to 0.72
       2,000   0.94  0.94 to 0.94
    """
    study = _Study.checked(alternative, alpha, method, pairs, calibration, budget, trials, rng)
    checked = [check_int(n, "sizes", least=2) for n in _listed(sizes)]
    return PowerCurve(tuple(study.predict(n) for n in checked))


def sample_size(
    alternative: Alternative,
    *,
    power: float = 0.8,
    limit: int = 1_000_000,
    alpha: float = 0.05,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    trials: int = 4000,
    rng: Seed = 0,
) -> SampleSize:
    """Find the smallest size at which a test is predicted to have a wanted power.

    By bisection, with the same random numbers at every size: to the row where the power is a
    closed form, to half a per cent of `n` where it is simulated, and to two per cent for complete
    pairs, with a quarter of the trials.

    Parameters
    ----------
    alternative : Alternative
        As in `predict_power`.
    power : float
        The wanted power, above `alpha`.
    limit : int
        Largest size to consider.
    alpha, method, pairs, calibration, budget, trials, rng
        As in `predict_power`.

    Returns
    -------
    SampleSize
        With `n` and, for the error of the pilot, its interval `low` to `high`.

    Examples
    --------
    >>> from nosplit.power import Alternative
    >>> sample_size(Alternative([0.1], [[1.0]]), power=0.8).n
    1238
    """
    study = _Study.checked(alternative, alpha, method, pairs, calibration, budget, trials, rng)
    target, limit = check_fraction(power, "power"), check_int(limit, "limit", least=2)
    if target <= study.alpha:
        raise InputError(f"`power` must be above `alpha` = {study.alpha:g}, got {target:g}.")
    n = study.search(alternative, target, limit)
    if n is None:
        raise InputError(
            f"`power` = {target:g} is not reached with up to `limit` = {limit:,} rows of each "
            f"sample: the predicted power there is {study.predict(limit).power:.2f}."
        )
    if alternative.bounds is None:
        return SampleSize(n, n, n, target, study.predict(n))
    high, low = (study.search(side, target, limit, start=n) for side in alternative.bounds)
    high = None if high is None else max(high, n)
    return SampleSize(n, min(low or n, n), high, target, study.predict(n))


def _listed(sizes: Any) -> list[Any]:
    found = list(sizes) if np.iterable(sizes) and not isinstance(sizes, str) else []
    if not found:
        raise InputError(f"`sizes` must be a sequence of ints, got {sizes!r}.")
    return found


@dataclass(frozen=True, eq=False)
class _Study:
    """A test to be planned, at sizes yet to be said."""

    alternative: Alternative
    alpha: float
    method: Method | None
    pairs: Pairing | str | int
    calibration: Exact | str
    budget: float
    trials: int
    seed: int

    @classmethod
    def checked(
        cls,
        alternative: Alternative,
        alpha: float,
        method: Method | str,
        pairs: Pairing | str | int,
        calibration: Exact | str,
        budget: float,
        trials: int,
        rng: Seed,
    ) -> _Study:
        if not isinstance(alternative, Alternative):
            raise InputError(
                "`alternative` must be `nosplit.pilot(x, y)` or "
                f"`nosplit.power.Alternative(mu, cov)`, got {type(alternative).__name__}."
            )
        chosen, kind = as_method(method), resolve_calibration(calibration)
        if isinstance(chosen, Naive):
            raise InputError(
                "`method` naive is not a test: it rejects more often than its level without any "
                "difference, so how often it rejects is not power."
            )
        if alternative.n_rows is None:  # a size says nothing about the cost of data unseen
            pairs = "linear" if isinstance(pairs, str) and pairs == "auto" else pairs
            kind = ASYMPTOTIC if kind == "auto" else kind
        seed = new_key(check_rng(rng))
        trials = check_int(trials, "trials", least=100)
        return cls(alternative, check_alpha(alpha), chosen, pairs, kind, budget, trials, seed)

    def plan(self, n: int) -> Plan:
        """The test at this size; an error if there cannot be one."""
        it = self.alternative
        bases = kernel_bases(it.kernels)
        sizes = Sizes(n, n, it.columns, it.d, bases)
        how = choose(
            sizes,
            pairs=self.pairs,
            calibration=self.calibration,
            method=self.method,
            budget=self.budget,
        )
        if how.n_resamples and self.alpha * (how.n_resamples + 1) < 1.0:
            raise InputError(
                f"`alpha` = {self.alpha:g} is below the smallest p-value of {how.n_resamples} "
                "permutations: the test cannot reject. Use Exact(n_resamples=...) with more."
            )
        if how.n_resamples and self.alpha < _smallest_p(how):
            raise InputError(
                f"`n` = {n} is too small for an exact test at level {self.alpha:g}: its smallest "
                f"p-value is {_smallest_p(how):g}."
            )
        if not how.n_resamples and how.n_pairs < fewest_pairs(it.d):
            raise InputError(
                f"`n` = {n} gives {how.n_pairs} pairs, too few for asymptotic calibration with "
                f"{it.d} kernels, which needs at least {fewest_pairs(it.d)}."
            )
        return how

    def rate(self, alternative: Alternative, how: Plan, trials: int | None = None) -> Rate:
        """Predicted power against an alternative."""
        method = settle(self.method, how.calibration)
        rng = np.random.default_rng(self.seed)
        return rejection_rate(alternative, method, how, self.alpha, trials or self.trials, rng)

    def predict(self, n: int) -> PowerPrediction:
        how = self.plan(n)
        rate = self.rate(self.alternative, how)
        power, found = rate.power, rate.how
        sides = self.alternative.bounds
        shortest, longest = (self.rate(side, how) for side in sides) if sides else (rate, rate)
        low, high = shortest.power, longest.power
        if found != CLOSED:
            low = max(0.0, wilson(low * self.trials, self.trials)[0] - shortest.error)
            high = min(1.0, wilson(high * self.trials, self.trials)[1] + longest.error)
        return PowerPrediction(
            power=power,
            low=min(low, power),
            high=max(high, power),
            n=n,
            alpha=self.alpha,
            method=settle(self.method, how.calibration).name,
            pairs=how.pairs,
            calibration="exact" if how.n_resamples else ASYMPTOTIC,
            how=found,
            warnings=_warnings(how, self.alternative.d) + self._too_low(how),
        )

    def _too_low(self, how: Plan) -> tuple[str, ...]:
        """A word on evidence of which the pilot says too little."""
        it, method = self.alternative, settle(self.method, how.calibration)
        if not isinstance(how.pairing, Complete):
            return ()
        if isinstance(method, Best) and it.d > 1 and (it.n_rows or 0) < LARGE_PILOT:
            return (TOO_LOW.format(it.n_rows),)
        return ()

    def search(
        self, alternative: Alternative, target: float, limit: int, start: int = 64
    ) -> int | None:
        """The smallest n with this power, None if it is above the limit; doubling, then halving."""
        low, high = 1, min(start, limit)
        power, share = self._quick(alternative, high, last=high == limit)
        if power >= target:
            low = high // 2
            while low > 1 and self._quick(alternative, low)[0] >= target:
                low, high = low // 2, low
        while power < target:
            if high == limit:
                return None
            low, high = high, min(2 * high, limit)
            power, share = self._quick(alternative, high, last=high == limit)
        while high - low > max(1.0, share * high):
            middle = (low + high) // 2
            if self._quick(alternative, middle)[0] >= target:
                high = middle
            else:
                low = middle
        return high

    def _quick(self, alternative: Alternative, n: int, last: bool = False) -> tuple[float, float]:
        """Power at n, 0 where n is too small for the test, and to what share of n it tells one."""
        try:
            how = self.plan(n)
            slow = isinstance(how.pairing, Complete)
            rate = self.rate(alternative, how, max(100, self.trials // 4) if slow else None)
        except InputError:
            if last:
                raise
            return 0.0, 0.0
        return rate.power, {CLOSED: 0.0, NORMAL: 0.005, RESAMPLED: 0.02, SUMMED: 0.02}[rate.how]


def _smallest_p(how: Plan) -> float:
    """The smallest p-value of so many units: no more sign patterns than this differ in effect."""
    return float(2.0 ** -min(how.n_pairs, how.n_units - 1))


def _warnings(how: Plan, d: int) -> tuple[str, ...]:
    """Warnings where the normal law that the prediction, or the test itself, rests on is poor."""
    found = []
    if how.n_pairs < smallest_safe_pairs(d) and not isinstance(how.pairing, Complete):
        found.append(
            f"{how.n_pairs} pairs are few for the normal approximation with {d} kernels (at least "
            f"{smallest_safe_pairs(d)} are safe)."
        )
    wide = not isinstance(how.pairing, Complete) and width(how.pairing) > math.isqrt(how.n_units)
    if wide or (not how.n_resamples and width(how.pairing) > safe_window(how.n_units)):
        found.append(
            f"Units take part in many pairs for n = {how.n_units}: statistics are skewed, and "
            "power is less certain than the interval says."
        )
    return tuple(found)
