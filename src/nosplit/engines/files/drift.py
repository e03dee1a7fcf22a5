"""Files whose rows are in some order that mixing could not undo: a check beside the test.

In one pass, rows are tested against rows that are read at about the same time. If those of x are
sorted and those of y are not, they differ at any time, though the files hold the same rows. Means
of the columns tell: how much they differ between x and y may not depend on time. This is seen long
before `pairs/neighbours` sees correlations, and biases tests of millions of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nosplit._support.lazy import special
from nosplit._support.types import Array
from nosplit.engines.files.columns import Numbers
from nosplit.errors import DependentRowsWarning, NosplitWarning

__all__ = ["Drift", "Features"]

FALSE_ALARM = 1e-3
# Rows of a block that are looked at: enough to see a bias of a tenth of the standard error; and
# the fewest that are.
LOOKED_AT, FEWEST = 4096, 16


class Features(NamedTuple):
    """Means of some numbers, and of their squares, over n rows.

    The numbers are those of the columns, and how far they are from the middle, both bounded:
    their means are then normal, whatever the tails of the data.
    """

    means: Array
    squares: Array
    n: int

    @classmethod
    def of(cls, numbers: Numbers, centers: Array, factors: Array) -> Features:
        """Of p columns, centred and scaled: 2p numbers. Of many rows, the first are looked at."""
        from nosplit._support.loops.columns import bounded_sums

        n, sums = min(numbers.size, LOOKED_AT), np.empty((3, len(centers)))
        bounded_sums(numbers.addresses, n, centers, factors, sums)
        return cls(sums[:2] / n, sums[[2, 2]] / n, n)


class Drift:
    """How the means of x and y differ, block by block. Constant memory.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def block(mean):
    ...     rows = rng.normal(mean, size=1000)
    ...     return Features(rows.mean(keepdims=True), np.array([np.mean(rows**2)]), 1000)
    >>> steady, drifting = Drift(), Drift()
    >>> for t in np.linspace(-0.3, 0.3, 50):
    ...     steady.add(block(t), block(t))
    ...     drifting.add(block(t), block(0.0))
    >>> steady.caveats(), drifting.caveats()[0][0].__name__
    ([], 'DependentRowsWarning')
    """

    def __init__(self) -> None:
        self.blocks = 0
        self.rows = np.zeros(2)
        self.weight = 0.0
        self.sums: Array = np.zeros(())
        self.squares: Array = np.zeros(())

    def add(self, x: Features, y: Features) -> None:
        """Add a block. Of only a few rows, means need not be normal: it does not count."""
        if min(x.n, y.n) < FEWEST:
            return
        difference, weight = x.means - y.means, x.n * y.n / (x.n + y.n)
        own = [x.n * x.means, x.n * x.squares, y.n * y.means, y.n * y.squares]
        self.sums = self.sums + np.stack([*own, weight * difference])
        self.squares = self.squares + weight * difference**2
        self.rows += x.n, y.n
        self.weight += weight
        self.blocks += 1

    def caveats(self) -> list[tuple[type[NosplitWarning], str]]:
        """What to say of samples that differ at some time, and less or not at all at another.

        For independent rows, differences of means are normal, and their sum of squares is
        chi-squared. The threshold leaves one false alarm in a thousand over all columns.
        """
        if self.blocks < 2:
            return []
        n, m = self.rows
        x, xx, y, yy = self.sums[:4] / np.array([n, n, m, m]).reshape(4, *[1] * self.squares.ndim)
        variance = (m * (xx - x**2) + n * (yy - y**2)) / (n + m)  # of a difference of weight 1
        excess = self.squares - self.sums[4] ** 2 / self.weight
        varies = variance > 1e-12 * (xx + yy)
        ratio = np.divide(excess, variance, out=np.zeros_like(excess), where=varies)
        if special.chdtrc(self.blocks - 1, ratio.max()) * ratio.size > FALSE_ALARM:
            return []
        text = (
            "The rows look sorted: how the samples differ depends on where in the files one looks, "
            "and the test takes rows to be in random order. It may find differences in the order "
            "of rows alone."
        )
        return [(DependentRowsWarning, text)]
