"""From samples to rejections: (τ, Σ) once per trial, then every method on the whole batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit import Moments
from nosplit._old.experiments.running.work import Cell, Count
from nosplit.kernels import Kernel, ProfileKernel, aligned_base
from nosplit.methods import OST, Best, Naive, Nonnegative, Split, Wald, Whitening

__all__ = [
    "ALPHA",
    "METHODS",
    "SPLITS",
    "Statistics",
    "count_rejections",
    "pair_values",
    "stack",
]

Array = NDArray[np.float64]

ALPHA = 0.05
SPLITS = (0.1, 0.3, 0.5, 0.8)

# The authors' rule for nearly singular matrices, so that rates can be laid beside theirs.
_AUTHORS = Whitening(standardise=False, rcond=1e-6)

# Every method by the name it has in the tables.
METHODS: Mapping[str, Any] = {
    "ost": OST(_AUTHORS),
    "ost_default": OST(),
    "wald": Wald(Whitening(rcond=1e-6)),
    "naive": Naive(OST(_AUTHORS)),
    **{f"split{f:g}": Split(f, OST(_AUTHORS)) for f in SPLITS},
    "nonnegative": Nonnegative(),
    "best": Best(),
    "best_naive": Naive(Best()),
    **{f"best_split{f:g}": Split(f, Best()) for f in SPLITS},
}


def pair_values(x: Array, y: Array, kernels: Sequence[Kernel]) -> Array:
    """Values h of the paper's pairs z_i = (x_i, x_{m+i}, y_i, y_{m+i}), shape (d, m)."""
    m = len(x) // 2
    (xa, xb), (ya, yb) = ((s[:m], s[m : 2 * m]) for s in (x, y))
    combinations = ((xa, xb), (ya, yb), (xa, yb), (ya, xb))
    h = np.empty((len(kernels), m))
    for row, k in zip(h, kernel_values(kernels, combinations), strict=True):
        row[:] = k[0] + k[1] - k[2] - k[3]
    return h


def kernel_values(
    kernels: Sequence[Kernel], combinations: Sequence[tuple[Array, Array]]
) -> Iterator[Array]:
    """Values of each kernel in turn on aligned rows, shape (combinations, m)."""
    bases: dict[str, Array] = {}
    for kernel in kernels:
        if not isinstance(kernel, ProfileKernel):
            yield np.stack([kernel.aligned(a, b) for a, b in combinations])
            continue
        if kernel.base not in bases:
            # Distances are the costly part of wide data: once for all kernels that use them.
            bases[kernel.base] = np.stack(
                [aligned_base(kernel.base, a, b) for a, b in combinations]
            )
        yield kernel.profile(bases[kernel.base])


@dataclass(frozen=True)
class Statistics:
    """Statistics of some trials, as all methods see them.

    Attributes
    ----------
    tau : array, shape (T, d)
        Base statistics of the whole sample.
    cov : array, shape (T, d, d)
        Σ̂ of the whole sample.
    parts : array, shape (T, S, 2, d)
        Base statistics of the training and the test part of every split.
    """

    tau: Array
    cov: Array
    parts: Array

    @classmethod
    def of_values(cls, h: Array) -> Statistics:
        """A single trial with pair values h, (d, m).

        A split takes the first pairs for training. Pairs are independent and alike, so this is
        what pairing the rows of each part among themselves would give.
        """
        total = Moments.from_columns(h)
        cuts = [round(f * h.shape[1]) for f in SPLITS]
        sums = np.add.reduceat(h, [0, *cuts], axis=1).cumsum(axis=1)
        parts = [
            (sums[:, i] / math.sqrt(cut), (sums[:, -1] - sums[:, i]) / math.sqrt(total.n - cut))
            for i, cut in enumerate(cuts)
        ]
        return cls(total.tau[None], total.cov[None], np.array(parts)[None])

    def of_kernels(self, columns: Sequence[int]) -> Statistics:
        """The statistics of some of the kernels."""
        cov = self.cov[:, columns][:, :, columns]
        return Statistics(self.tau[:, columns], cov, self.parts[..., columns])

    def apply(self, method: Any) -> Any:
        """The outcome of a method for every trial."""
        if isinstance(method, Split):
            return method(self.parts[:, SPLITS.index(method.fraction)], self.cov)
        return method(self.tau, self.cov)


def stack(trials: Iterable[Statistics]) -> Statistics:
    """Trials put together."""
    done = list(trials)
    return Statistics(
        np.concatenate([s.tau for s in done]),
        np.concatenate([s.cov for s in done]),
        np.concatenate([s.parts for s in done]),
    )


def count_rejections(
    statistics: Statistics,
    sets: Mapping[int, Sequence[int]],
    methods: Iterable[str],
    cell: Cell,
) -> tuple[Count, ...]:
    """Rejections of every method with every set of kernels."""
    counts = []
    names = tuple(methods)
    for d, columns in sets.items():
        chosen = statistics.of_kernels(columns)
        for name in names:
            log_pvalue = chosen.apply(METHODS[name]).log_pvalue
            rejected = int(np.count_nonzero(log_pvalue <= math.log(ALPHA)))
            counts.append(Count(cell.dataset, d, cell.n, name, len(log_pvalue), rejected))
    return tuple(counts)
