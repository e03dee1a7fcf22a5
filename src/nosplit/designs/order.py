"""Two samples in the order of their rows, which may depend on those before them.

Where they do, blocks of rows change places. Where they only might, rows do, which is exact if they
are independent, sorted or not, and p-values allow for series: they are the mean over what rows may
be, never smaller than if they were independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nosplit.data.likeness import Likeness, doubt_of
from nosplit.inference.calibrations import APPROXIMATE, BLOCKS, Exact
from nosplit.inference.caveats import dependent_rows, perhaps_dependent
from nosplit.inference.outcome import Outcome, Tested
from nosplit.inference.result import TestResult
from nosplit.sketch.dealing import BLOCK_LAGS

__all__ = ["MORE_DRAWS", "allowing", "in_their_order", "wants_more_draws"]

# Draws of few rows whose p-value is the smallest there is, or nearly: so many of the first draws
# show as much as the data. They are worth it if p could not be so small as the last, and can be.
MORE_DRAWS, FEWEST_SHOW, MOST_AGAIN, WORTH = Exact(9_999), 3, 240, 0.05


def in_their_order(
    test: Callable[[int], Tested],
    sizes: tuple[int, ...],
    lag: int,
    likeness: Likeness,
    *,
    blocks: bool = True,
) -> Tested:
    """Exchange rows, or blocks of them where rows depend on those before them.

    Parameters
    ----------
    test : callable
        Exchanges blocks of so many rows.
    sizes : tuple of int
        Rows of the samples, or of the only one.
    lag : int
        Up to which lag rows depend on one another for certain; 0 if they do not.
    likeness : Likeness
        How much rows are like those next to them, if not for certain.
    blocks : bool
        Whether blocks can be exchanged; a closed form of pairs is only warned of.
    """
    if lag:
        block = max(BLOCK_LAGS * lag, likeness.block_in(sizes)) if blocks else 1
        tested = test(block)
        outcome = tested.outcome.noting([dependent_rows(lag, block)])
        if blocks and outcome.calibration == "exact":
            outcome = replace(outcome, calibration=BLOCKS)
        return replace(tested, outcome=outcome)
    tested = test(1)
    if not blocks:
        caveats = [perhaps_dependent()] if likeness.suspected else []
        return replace(tested, outcome=tested.outcome.noting(caveats))
    return replace(tested, outcome=allowing(tested.outcome, likeness))


def allowing(outcome: Outcome, *variables: Likeness, samples: int = 2, advice: str = "") -> Outcome:
    """The outcome of rows that may be a series, in all of the variables.

    P-values of draws allow for that, the more samples are compared, the more; those of closed forms
    only where there is a warning, too, to which `advice` may be added.
    """
    suspected = all(own.suspected for own in variables)
    doubt = doubt_of(*variables)
    if doubt is None or (outcome.flips is None and not suspected):
        return outcome
    doubt = replace(doubt, times=samples / 2.0)
    outcome = outcome.doubting(doubt).noting(
        [perhaps_dependent(doubt, advice)] if suspected else []
    )
    if doubt.likely and outcome.calibration == "exact":
        return replace(outcome, calibration=APPROXIMATE)
    return outcome


def wants_more_draws(result: TestResult) -> bool:
    """Whether nothing would be rejected at .05 with so few draws, and may be with more.

    Of a series whose sums vary twice as much .001 is .03, and .0001 is .01. The order of rows
    decides whether that matters, and not their labels. If so, the p-value of the first draws, p,
    stands if it is above a limit c, and is replaced by that of more draws, q, if not: at most t < c
    only if q ≤ t, and at most t ≥ c only if p ≤ t.
    """
    if result.doubt is None or result.flips is None or result.n_used > MOST_AGAIN:
        return False
    if result.pairs != "complete":
        return False
    if result.design is not None and result.design.kind == "pairs":
        return False  # of a single series, which stays on one side more often than two stay apart
    first, draws = result.pvalue_if_independent, result.flips + 1
    few = result.flips == Exact().flips and first * draws < FEWEST_SHOW + 0.5
    least, then = result.doubt.pvalues([1.0 / draws, 1.0 / (MORE_DRAWS.flips + 1)])
    return few and bool(then <= WORTH < least)
