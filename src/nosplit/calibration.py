"""How far a test can be trusted on data like yours: its level under a merged null."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._validation import check_alpha, check_finite, check_int, check_rng
from nosplit.accumulate import accumulate_draws
from nosplit.api import Seed, check_samples, fitted_units, sizes_of, two_sample_test
from nosplit.methods import Method, Split
from nosplit.mmd import Paired
from nosplit.pairing import Pairing
from nosplit.plan import Plan, choose
from nosplit.randomization import Exact
from nosplit.recipes import Kernels, Recipe, as_recipe
from nosplit.steps import as_method, settle

__all__ = ["CalibrationCheck", "calibration_check", "wilson"]

Array = NDArray[np.float64]

# Replicates from one random split of the merged sample, by random signs.
SIGNS_PER_SPLIT = 49


def wilson(hits: float, trials: float, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's 95 % interval for a proportion.

    Examples
    --------
    >>> low, high = wilson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0215, 0.1118)
    """
    rate = hits / trials
    centre = rate + z * z / (2.0 * trials)
    spread = z * math.sqrt(rate * (1.0 - rate) / trials + z * z / (4.0 * trials * trials))
    scale = 1.0 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


@dataclass(frozen=True, eq=False)
class CalibrationCheck:
    """Type-I error on random splits of the merged samples.

    Attributes
    ----------
    pvalues : array, shape (splits, replicates)
        p-values under the merged null.
    alpha : float
        The level that was checked.
    rate, low, high : float
        Share of p-values up to `alpha`, with a 95 % interval.
    """

    pvalues: Array
    alpha: float
    rate: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the level is not exceeded beyond chance: `low` ≤ `alpha`."""
        return self.low <= self.alpha

    def __str__(self) -> str:
        verdict = (
            "The level holds, as far as this many splits can tell."
            if self.holds
            else "The level does not hold: use calibration='exact', fewer kernels or fewer pairs."
        )
        return (
            f"Type-I error {self.rate:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}) at "
            f"level {self.alpha:g},\nfrom {self.pvalues.size} null samples on "
            f"{len(self.pvalues)} splits of the merged data.\n{verdict}"
        )


def calibration_check(
    x: ArrayLike,
    y: ArrayLike,
    *,
    alpha: float = 0.05,
    trials: int = 1000,
    kernels: Kernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "asymptotic",
    budget: float = 1.0,
    rng: Seed = 0,
    workers: int | None = None,
) -> CalibrationCheck:
    """Estimate a test's Type-I error on data like yours (the advice of Appendix D.1).

    The samples are merged and split again at random many times. For samples of equal size, each
    split serves 50 times: random swaps inside its units are as good as another split, and change
    only the signs of values that are already there.

    Parameters
    ----------
    x, y : array_like
        The samples, as for `two_sample_test`.
    alpha : float
        Level to check.
    trials : int
        Number of null samples.
    kernels, method, pairs, calibration, budget, rng, workers
        As in `two_sample_test`; the asymptotic calibration is checked unless told otherwise.

    Returns
    -------
    CalibrationCheck
        With `rate`, its interval `low` to `high`, `holds` and the `pvalues`.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).normal(size=(2, 2000))
    >>> check = calibration_check(x, y, kernels="paper2", pairs="linear")
    >>> check.holds
    True
    """
    x, y = check_samples(x, y)
    alpha, generator = check_alpha(alpha), check_rng(rng)
    check_finite(x, "x")
    check_finite(y, "y")
    trials = check_int(trials, "trials", least=1)
    chosen, recipe = as_method(method), as_recipe(kernels)
    sizes = sizes_of(len(x), len(y), x.shape[1], recipe)
    how = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    merged = np.concatenate([x, y])
    reuse = len(x) == len(y) and how.flips == 0 and not isinstance(chosen, Split)
    count = -(-trials // (SIGNS_PER_SPLIT + 1)) if reuse else trials
    options: dict[str, Any] = {
        "kernels": kernels,
        "method": method,
        "pairs": how.pairing,
        "calibration": how.calibration,
        "workers": workers,
    }
    pvalues = []
    for _ in range(count):
        shuffled = merged[generator.permutation(len(merged))]
        a, b = shuffled[: len(x)], shuffled[len(x) :]
        if reuse:
            pvalues.append(_by_signs(a, b, recipe, chosen, how, generator, workers))
        else:
            pvalues.append(np.array([_quiet(a, b, generator, options)]))
    return _summary(np.stack(pvalues), alpha)


def _by_signs(
    x: NDArray[Any],
    y: NDArray[Any],
    recipe: Recipe,
    method: Method | None,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
) -> Array:
    """p-values of the closed form for one split under random swaps inside its units."""
    units = fitted_units(x, y, recipe)
    assert isinstance(units, Paired)
    draws = units.draws(SIGNS_PER_SPLIT, rng)
    part = accumulate_draws(units, how.pairing, draws, workers=workers)
    n = part.moments.n
    mean = part.sums / n
    # Signs leave every h h' alone, so the centred estimate of each replicate is at hand.
    cov = part.second / n - mean[:, :, None] * mean[:, None, :]
    picked = settle(method, how.calibration)(np.sqrt(n) * mean, cov)
    return np.exp(picked.log_pvalue)


def _quiet(x: NDArray[Any], y: NDArray[Any], rng: np.random.Generator, options: Any) -> float:
    """p-value of a whole test, without the warnings that each trial would repeat."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return two_sample_test(x, y, rng=rng, shuffle=False, **options).pvalue


def _summary(pvalues: Array, alpha: float) -> CalibrationCheck:
    """Rate and interval; replicates of one split may agree, which widens the interval."""
    hits = pvalues <= alpha
    rate, trials = float(hits.mean()), hits.size
    effective = float(trials)
    if len(hits) > 1 and 0.0 < rate < 1.0:
        between = float(np.var(hits.mean(axis=1), ddof=1)) / len(hits)
        effective = min(trials, max(len(hits), rate * (1.0 - rate) / max(between, 1e-300)))
    low, high = wilson(rate * effective, effective)
    return CalibrationCheck(pvalues, alpha, rate, low, high)
