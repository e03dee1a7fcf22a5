"""From the blocks of a stream to a result: first make sure that blocks do not depend on others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.changes import with_changes
from nosplit.engines.streams.sketches.cells import BlockSums
from nosplit.errors import Caveat, DependentRowsWarning
from nosplit.inference.calibrations import BLOCKS
from nosplit.inference.outcome import Outcome
from nosplit.inference.statistics import test_draws
from nosplit.methods import Method
from nosplit.pairs.loop import one_blas_thread
from nosplit.sketch.cells import drawn_statistics
from nosplit.sketch.order import neighbours_alike

__all__ = ["Settled", "outcome_of", "pairs_alike", "settle_blocks", "sides_alike", "slots_alike"]

# How rare blocks as alike as these must be before they are taken to be dependent, and how common
# afterwards, before merged ones are taken to be independent. And how rare before they are doubted:
# then merged ones are drawn, too, and the larger p-value counts.
FALSE_ALARM, AT_EASE, DOUBT = 1e-3, 0.2, 0.05
# Dependence that is too weak to be seen still shows in the level: blocks are merged as many times
# more as make them this much longer.
MARGIN = 4
# Blocks that are left, at least: of rows that differ at one time and not at another, and of series
# in time, where fewer blocks are needed that are longer than what they depend on.
FEWEST_BLOCKS, FEWEST_OF_SERIES = 30, 8
# Random orders that slots are compared with, and axes that they are looked at along.
SLOT_ORDERS, SLOT_AXES = 1999, 16


class Mergeable(Protocol):
    """Blocks of a stream, in the order of time."""

    @property
    def length(self) -> int:
        """Number of units in a full block."""
        ...

    def __len__(self) -> int: ...

    def halved(self) -> Self:
        """Neighbours merged two by two."""
        ...


B = TypeVar("B", bound=Mergeable)


@dataclass(frozen=True)
class Settled(Generic[B]):
    """Blocks to be drawn, whether neighbours were alike, and whether that is mended.

    `merged` are others to be drawn as well, where neighbours might be.
    """

    blocks: B
    dependent: bool = False
    mended: bool = True
    merged: B | None = None

    def caveats(self, of: str = "pairs in a row", drawn: str = "were swapped") -> list[Caveat]:
        """Caveats on rows that depend on earlier ones: what blocks hold, and what was done."""
        if not self.dependent:
            return []
        shown = f"{len(self.blocks)} blocks of {self.blocks.length} {of}"
        if self.mended:
            text = (
                "The rows depend on those that came shortly before them, or are in some order. "
                f"{shown} {drawn} as a whole, several times as long as the dependence "
                "reaches: the p-value is approximate."
            )
        else:
            text = (
                "The rows depend on those that came before them over a large part of the stream, "
                "are sorted, or differ from what they should be at one time and not at another: "
                f"even {shown} may be alike, and too few for what they depend on. Do not rely on "
                "the p-value: rows in random order, or a longer stream, give one that can be "
                "relied on."
            )
        return [(DependentRowsWarning, text)]


def settle_blocks(
    blocks: B, alike: Callable[[B], float], series: Callable[[B], bool], least: int = 1
) -> Settled[B]:
    """Merge neighbours until they are no longer alike, and some more.

    `alike` says how sure it is that neighbours are: a p-value. `series` says whether that is since
    rows depend on those before them, and not since they differ at one time from what they should
    be. Where it is known how long blocks must be `least`, they are merged until they are.

    Blocks are left as they are unless they are alike beyond doubt: then the test is exact. The
    check itself adds at most its own rate of false alarms to the level. Where they are doubted,
    there are merged ones besides.
    """
    known = least > 1
    fewest = FEWEST_OF_SERIES if known and series(blocks) else FEWEST_BLOCKS
    while blocks.length < least and len(blocks) >= 2 * fewest:
        blocks = blocks.halved()
    found = alike(blocks)
    if found > FALSE_ALARM:
        merged = _longer_blocks(blocks) if found <= DOUBT and not known else None
        return Settled(blocks, known, blocks.length >= least, merged)
    if series(blocks):
        fewest = FEWEST_OF_SERIES
    mended, margin = False, MARGIN
    while not (mended and margin == 1) and len(blocks) >= 2 * fewest:
        blocks = blocks.halved()
        if mended:
            margin //= 2
        else:
            mended = alike(blocks) > AT_EASE
    return Settled(blocks, True, mended and margin == 1)


def _longer_blocks(blocks: B) -> B | None:
    """Blocks that are some times as long; None if there are too few of them."""
    if len(blocks) < MARGIN * FEWEST_BLOCKS:
        return None
    for _ in range(MARGIN.bit_length() - 1):
        blocks = blocks.halved()
    return blocks


def pairs_alike(blocks: BlockSums) -> float:
    """P-value of the hypothesis that neighbouring blocks of pairs are no more alike than others."""
    return neighbours_alike(blocks.sketch, *blocks.pairs)


def sides_alike(blocks: BlockSums) -> bool:
    """Whether neighbouring blocks are alike in x alone and in y alone, as those of series are.

    Where the samples have the same law, so have their series. A difference that comes late shows
    in one of them.
    """
    return all(neighbours_alike(blocks.sketch, side) <= FALSE_ALARM for side in blocks.pairs)


def slots_alike(blocks: BlockSums, key: int) -> float:
    """P-value of the hypothesis that the slots of a block are no more alike than others.

    Rows of the larger sample that come one after the other go to the slots of one block, and what
    they have in common the rows of the other sample have not: weak dependence shows here first.
    Sums over slots are longer than those over as many cells of any blocks; chance is what cells in
    random order have, so that rare values and long tails do no harm.
    """
    rng, full = np.random.default_rng([key, 0x5107]), blocks.counts == blocks.length
    sides = [
        (side.features[np.repeat(full, size)], size)
        for side, size in zip(blocks.cells, blocks.ratio, strict=True)
        if size > 1 and np.count_nonzero(full) > 1
    ]
    found = [_alike_in_order(features, size, rng) for features, size in sides]
    return min(1.0, len(found) * min(found)) if found else 1.0


def _alike_in_order(features: NDArray[np.int64], size: int, rng: np.random.Generator) -> float:
    """P-value of cells whose sums over so many in a row are longer than in random order."""
    cells = features - features.mean(axis=0)
    spread = cells.std(axis=0)
    axes = rng.standard_normal((cells.shape[1], SLOT_AXES))
    cells = cells @ (axes / np.where(spread > 0, spread, 1.0)[:, None])
    orders = (rng.permutation(len(cells)) for _ in range(SLOT_ORDERS))
    least = _length_of_sums(cells, size)
    longer = sum(_length_of_sums(cells[order], size) >= least for order in orders)
    return (1 + longer) / (1 + SLOT_ORDERS)


def _length_of_sums(cells: Array, size: int) -> float:
    return float(np.square(cells.reshape(-1, size, cells.shape[1]).sum(axis=1)).sum())


def outcome_of(
    blocks: BlockSums,
    method: Method | None,
    *,
    flips: int,
    key: int,
    encoding: Encoding | None,
) -> tuple[Outcome, int]:
    """Settle, draw and rank: the outcome, and the number of units it is of."""
    with one_blas_thread():
        # Where slots are alike, they cannot change places one by one.
        whole = slots_alike(blocks, key) <= FALSE_ALARM
        least = MARGIN * blocks.length if whole else 1
        settled = settle_blocks(blocks, pairs_alike, sides_alike, least)
        blocks = settled.blocks
        both = [blocks] if settled.merged is None else [blocks, settled.merged]
        each = [
            drawn_statistics(
                own.sketch,
                *(own.pairs if whole else own.cells),
                flips=flips,
                key=key,
                owners=None if encoding is None else encoding.owners,
                groups=len(own),
            )
            for own in both
        ]
    tests = [(test_draws(drawn, method, "sketch"), drawn.n_units) for drawn in each]
    outcome, n_units = max(tests, key=lambda test: test[0].log_pvalue)
    counts = np.stack([side.bins.sum(axis=0, dtype=np.float64) for side in blocks.cells])
    outcome = with_changes(outcome, blocks.sketch.bins, counts, encoding)
    if settled.dependent or settled.merged is not None:
        outcome = replace(outcome, calibration=BLOCKS)
    return outcome.noting(settled.caveats()), n_units
