"""Estimate the level of a test on data like yours, under a merged null (Appendix D.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import Seed, check_alpha, check_flags, check_int, check_rng
from nosplit._old.data.files.whole import n_rows_in
from nosplit._old.data.samples import in_hand, read_samples
from nosplit._old.designs.asked import DesignLabels, leaving_out
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import sizes_of
from nosplit._old.inference.planning.limits import as_method, settle
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.pairs.draws import SwappedPairs
from nosplit._old.pairs.loop import accumulate_draws
from nosplit._old.power.nulls import null_of, swapped_pairs
from nosplit._types import Array
from nosplit._warn import unwarned
from nosplit.api.two_sample import two_sample_test
from nosplit.core.pairings import Pairing
from nosplit.data.options import Options, by_policy
from nosplit.data.samples import Samples
from nosplit.families.paired import paired_units
from nosplit.inference.calibrations import ASYMPTOTIC, Exact
from nosplit.kernels.recipes import Kernels, Recipe
from nosplit.methods import Method, Split

__all__ = ["CalibrationCheck", "calibration_check", "wilson"]

# Replicates from one random split of the merged sample, by random signs.
SIGNS_PER_SPLIT = 49
# Rows of the merged sample that bandwidths are fitted to.
SOME_ROWS = 500


def wilson(hits: float, trials: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a proportion.

    Examples
    --------
    >>> low, high = wilson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0215, 0.1118)
    """
    rate, z = hits / trials, 1.959963984540054
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
    n_seen, n_rows : int
        Rows of both samples that were merged, out of so many: large files are not read whole.
    """

    pvalues: Array
    alpha: float
    rate: float
    low: float
    high: float
    n_seen: int = 0
    n_rows: int = 0

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
        splits = len(self.pvalues)
        return (
            f"Type-I error {self.rate:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}) at "
            f"level {self.alpha:g},\nfrom {self.pvalues.size} null samples on "
            f"{splits} split{'s' * (splits > 1)} of the merged data.{self._some()}\n{verdict}"
        )

    def _some(self) -> str:
        if self.n_seen >= self.n_rows:
            return ""
        return (
            f"\n{self.n_seen:,} of {self.n_rows:,} rows, drawn at random, were looked at: the "
            "files are too large to be\nread whole, and tests of all rows have more pairs."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON; the p-values as a histogram of twenty bars."""
        counts, _ = np.histogram(self.pvalues, np.linspace(0.0, 1.0, 21))
        return {
            "alpha": self.alpha,
            "rate": self.rate,
            "low": self.low,
            "high": self.high,
            "holds": self.holds,
            "trials": self.pvalues.size,
            "splits": len(self.pvalues),
            "rows_seen": self.n_seen,
            "rows": max(self.n_seen, self.n_rows),
            "histogram": counts.tolist(),
        }


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
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    paired: bool = False,
    strata: Any = None,
    groups: Any = None,
    workers: int | None = None,
) -> CalibrationCheck:
    """Estimate a test's Type-I error on data like yours (the advice of Appendix D.1).

    The samples are merged and split again at random many times. For samples of equal size, each
    split serves 50 times: random swaps inside its units are as good as another split, and change
    only the signs of values that are already there.

    Parameters
    ----------
    x, y : array_like, tables or paths of files
        The samples, as for `two_sample_test`; of files too large for memory, a part.
    alpha : float
        Level to check.
    trials : int
        Number of null samples.
    kernels, method, pairs, calibration, budget, rng, workers
        As in `two_sample_test`; the asymptotic calibration is checked unless told otherwise.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`.
    paired, strata, groups
        As in `two_sample_test`: null samples are then those that its exchanges give, inside pairs,
        inside strata or of whole groups, and not random splits. With strata or groups exact
        calibration is what is checked, the only one there is.

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
    trials = check_int(trials, "trials", least=1)
    alpha, generator = check_alpha(alpha), check_rng(rng)
    check_flags(paired=paired)
    labels = DesignLabels.of(strata, groups, nan_policy, paired=paired)

    def read(policy: str) -> tuple[Samples, tuple[Any, Any]]:
        settings = leaving_out(Options.of(scale, columns, exclude, policy), labels.names)
        given = in_hand(x, y, all_rows=paired or labels.given)
        return read_samples(*given, settings, paired=paired), given

    data, given = by_policy(nan_policy, read)
    in_files = n_rows_in(x, y)
    x, y = data.x, data.y
    chosen, recipe = as_method(method), data.recipe(kernels)
    null = null_of(data, given, labels, generator) if labels.given else None
    sizes = sizes_of(len(x), len(y), x.shape[1], recipe) if null is None else null.sizes(recipe)
    if null is not None:
        calibration = "exact" if calibration == ASYMPTOTIC else calibration
    how = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    merged = np.concatenate([x, y])
    reuse = (
        null is None and len(x) == len(y) and how.n_resamples == 0 and not isinstance(chosen, Split)
    )
    count = -(-trials // (SIGNS_PER_SPLIT + 1)) if reuse else trials
    options: dict[str, Any] = {
        "kernels": _as_kernels(recipe, merged),
        "method": method,
        "pairs": how.pairing,
        "calibration": how.calibration,
        "workers": workers,
    }
    pvalues = []
    for _ in range(count):
        more: dict[str, Any] = {"paired": paired}
        if null is not None:
            a, b, more = null.draw(generator)
        elif paired:
            a, b = swapped_pairs(x, y, generator)
        else:
            shuffled = merged[generator.permutation(len(merged))]
            a, b = shuffled[: len(x)], shuffled[len(x) :]
        if reuse:
            pvalues.append(_by_signs(a, b, recipe, chosen, how, generator, workers))
        else:
            pvalues.append(np.array([_quiet(a, b, generator, options | more)]))
    return replace(_summary(np.stack(pvalues), alpha), n_seen=len(merged), n_rows=in_files)


def _as_kernels(recipe: Recipe, merged: NDArray[Any]) -> Kernels:
    """The kernels that tests of splits take: for tables, fitted to the merged rows at once."""
    if recipe.default and recipe.columns is None:
        return None
    if recipe.given or recipe.columns is not None:
        return recipe.fit(merged[:: -(-len(merged) // SOME_ROWS)])
    return recipe.make


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
    units = SwappedPairs(**vars(paired_units(x, y, recipe)))
    draws = units.draws(SIGNS_PER_SPLIT, rng)
    part = accumulate_draws(units, how.pairing, draws, workers=workers)
    n = part.moments.n
    mean = part.sums / n
    # Signs leave every h h' alone, so the centred estimate of each replicate is at hand.
    cov = part.second / n - mean[:, :, None] * mean[:, None, :]
    picked = settle(method, how.calibration)(np.sqrt(n) * mean, cov)
    # As `TestResult.pvalue`: the smallest number stands for less.
    return np.maximum(np.exp(picked.log_pvalue), np.nextafter(0.0, 1.0))


def _quiet(x: NDArray[Any], y: NDArray[Any], rng: np.random.Generator, options: Any) -> float:
    """p-value of a whole test, without the warnings that each trial would repeat."""
    with unwarned():
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
