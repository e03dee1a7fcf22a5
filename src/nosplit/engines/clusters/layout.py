"""Which rows of two samples make which block of units, from their positions alone.

Rows are numbered through all partitions. Unit i holds the same rows as it does locally, so the
cut into partitions and blocks decides where work is done and never which pairs are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nosplit.errors import InputError
from nosplit.pairs.pairing import Adjacent, Band, Blocks, Job, Pairing, Window, as_pairing

__all__ = ["Block", "Reach", "as_local_pairing", "make_blocks", "overlaps", "spread"]


@dataclass(frozen=True)
class Block:
    """Consecutive units whose pairs are looked at in one place.

    Parameters
    ----------
    number : int
        Its place in the sum.
    units : range
        The units whose pairs these are.
    runs : tuple of range
        All units it reads: its own and, for a window, those that they are paired with.
    """

    number: int
    units: range
    runs: tuple[range, ...]


@dataclass(frozen=True)
class Reach:
    """The pairs (i, i + r), i < own and r = 1…R, of at least own + R units: no wrap-around."""

    own: int
    R: int

    def n_pairs(self, n_units: int) -> int:
        """Number of pairs."""
        return self.own * self.R

    def jobs(self, n_units: int, size: int) -> Iterator[Job]:
        """The pairs, cut into jobs of about `size` pairs."""
        step = max(size // self.R, self.R)
        for start in range(0, self.own, step):
            yield Band(range(start, min(start + step, self.own)), self.R)


def as_local_pairing(pairs: Pairing | str | int) -> Pairing:
    """A pairing of units that lie near one another: only these can be cut into blocks."""
    pairing = Adjacent() if isinstance(pairs, str) and pairs == "auto" else as_pairing(pairs)
    if not isinstance(pairing, Adjacent | Window | Blocks):
        raise InputError(
            '`pairs` must be "adjacent", an int (a window) or Blocks(...) on a cluster, where '
            f"units far apart never meet, got {pairs!r}."
        )
    return pairing


def make_blocks(n_units: int, pairing: Pairing, cuts: Iterable[int]) -> list[Block]:
    """Blocks of units that between them have all the pairs, cut near `cuts`."""
    if pairing.n_pairs(n_units) == 0:
        raise InputError("There are no pairs: at least two units are needed.")
    owned = _cut(n_units, cuts, _step(pairing))
    if not isinstance(pairing, Window):
        # The last unit may be without a partner.
        owned = [own for own in owned if pairing.n_pairs(len(own))]
    return [Block(k, own, _read(own, n_units, pairing)) for k, own in enumerate(owned)]


def _step(pairing: Pairing) -> int:
    """Blocks begin at multiples of this, so that no pair lies across two of them."""
    return pairing.size if isinstance(pairing, Blocks) else 2


def _cut(n_units: int, cuts: Iterable[int], step: int) -> list[range]:
    """Consecutive ranges of units, cut at the first multiples of `step` from each of `cuts` on."""
    inside = {-(-cut // step) * step for cut in cuts}
    edges = [0, *sorted(e for e in inside if 0 < e < n_units), n_units]
    return [range(a, b) for a, b in pairwise(edges)]


def _read(own: range, n_units: int, pairing: Pairing) -> tuple[range, ...]:
    """A block's own units and, for a window, the R after them, from the first again at the end."""
    if not isinstance(pairing, Window):
        return (own,)
    stop = own.stop + pairing.R
    if stop <= n_units:
        return (range(own.start, stop),)
    return range(own.start, n_units), range(stop - n_units)


def overlaps(rows: range, lengths: Sequence[int]) -> list[tuple[int, range]]:
    """Where consecutive rows lie: partition, and rows counted from its first.

    Examples
    --------
    >>> overlaps(range(3, 8), [5, 0, 5])
    [(0, range(3, 5)), (2, range(0, 3))]
    """
    ends = np.cumsum(lengths)
    found = []
    for k in range(int(np.searchsorted(ends, rows.start, side="right")), len(ends)):
        first = int(ends[k]) - lengths[k]
        if first >= rows.stop:
            break
        inside = range(max(rows.start - first, 0), min(rows.stop - first, lengths[k]))
        if len(inside):
            found.append((k, inside))
    return found


def spread(n_units: int, total: int, runs: int = 32) -> list[range]:
    """About `total` units in a few runs, spread over all units: always the same for the same N.

    A run begins at another place of its stretch each time (multiples of the golden ratio), so
    that runs do not keep step with partitions that are sorted inside.
    """
    length = -(-total // runs)
    if n_units <= runs * length:
        return [range(n_units)]
    golden = (np.arange(runs) * 0.6180339887498949) % 1.0
    stretch = n_units / runs
    starts = (np.arange(runs) * stretch + golden * (stretch - length)).astype(np.int64)
    return [range(int(s), int(s) + length) for s in starts]
