"""Two samples in the order of their rows, which may depend on those before them.

Where they do, blocks of rows change places. Where they only might, there are two tests: one that
exchanges rows, and is exact if these are independent, sorted or not, and one that exchanges blocks,
and is right for a series that forgets in fewer rows. The larger p-value holds for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nosplit.data.serial import Likeness
from nosplit.errors import Caveat
from nosplit.inference.calibrations import APPROXIMATE, BLOCKS
from nosplit.inference.caveats import dependent_rows, perhaps_dependent
from nosplit.inference.outcome import Tested
from nosplit.sketch.dealing import BLOCK_LAGS

__all__ = ["in_their_order"]


def in_their_order(
    test: Callable[[int], Tested],
    sizes: tuple[int, ...],
    lag: int,
    likeness: Likeness,
    *,
    blocks: bool = True,
    labels: bool = False,
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
    labels : bool
        Whether labels of blocks are permuted where rows are only doubted, and not swapped.
    """
    if lag:
        block = max(BLOCK_LAGS * lag, likeness.block_in(sizes)) if blocks else 1
        return _noting(test(block), dependent_rows(lag, block), BLOCKS if blocks else None)
    tested, block, how = test(1), 1, None
    if likeness.doubted and blocks:
        block = likeness.block_in(sizes, labels=labels)
        if block > 1:
            tested = max(tested, test(block), key=lambda found: found.outcome.log_pvalue)
        how = BLOCKS if block > 1 else APPROXIMATE
    return _noting(tested, perhaps_dependent(block) if likeness.suspected else None, how)


def _noting(tested: Tested, caveat: Caveat | None, calibration: str | None) -> Tested:
    outcome = tested.outcome.noting([] if caveat is None else [caveat])
    if outcome.calibration == "exact":
        outcome = replace(outcome, calibration=calibration or "exact")
    return replace(tested, outcome=outcome)
