"""Several kernels evaluated together on the same pairs of rows.

Built-in kernels become a short program for the compiled loops: base quantities are computed once,
and a bandwidth whose exponent is 2^k times another's takes powers instead of an exponential.
Anything else (a user's own kernel, a sum, a product) is called as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._types import Array
from nosplit.kernels import (
    IMQ,
    Gaussian,
    Kernel,
    Laplace,
    Layout,
    Linear,
    Matern,
    Polynomial,
    Shared,
    tile_base,
)

__all__ = [
    "DIFFERENCE_SIGNS",
    "Bank",
    "difference_tile",
    "fill_called_differences",
    "kernel_bases",
    "middle",
    "rows_tile",
]

# As in `loops/bases` and `loops/values`, which are not imported before they are needed (numba).
GAUSSIAN, LAPLACE, IMQ_, MATERN12, MATERN32, MATERN52, POLYNOMIAL, SQUARED = range(8)
SQ, L1, DOT = range(3)

# Squarings in a row: each doubles the relative error, 2^8 roundings are below 1e-13.
MOST_SQUARINGS = 8
# Columns from which one matrix product beats a loop over differences.
WIDE = 32
# Rows of a sample that its middle is found from, about.
SOME = 32
# Squared lengths of rows this many times the smallest are not for matrix products: where some
# rows are that far out, the middle may be too, and rows that are centred by it lose their digits.
FAR_OUT = 1e8


@dataclass(frozen=True)
class Operation:
    """One kernel for the compiled loops."""

    kernel: int
    kind: int
    base: int
    p1: float
    p2: float = 0.0

    @property
    def chains(self) -> bool:
        """Whether its values are exp(-p1 * base), so that grids share one exponential."""
        return self.kind in (GAUSSIAN, LAPLACE)


def _operation(index: int, kernel: Kernel) -> Operation | None:
    match kernel:
        case Gaussian(bandwidth):
            return Operation(index, GAUSSIAN, SQ, 0.5 / bandwidth**2)
        case Laplace(bandwidth):
            return Operation(index, LAPLACE, L1, 1.0 / bandwidth)
        case IMQ(bandwidth, exponent):
            return Operation(index, IMQ_, SQ, 1.0 / bandwidth**2, exponent)
        case Matern(bandwidth, nu):
            kind = {0.5: MATERN12, 1.5: MATERN32, 2.5: MATERN52}[nu]
            return Operation(index, kind, SQ, float(np.sqrt(2.0 * nu)) / bandwidth)
        case Polynomial(degree, offset):
            return Operation(index, POLYNOMIAL, DOT, float(degree), offset)
    return None


@dataclass(frozen=True)
class Bank:
    """The kernels of a test.

    Parameters
    ----------
    kernels : sequence of Kernel
        The base kernels, in the order of the test's coordinates.
    """

    kernels: tuple[Kernel, ...]

    def __len__(self) -> int:
        return len(self.kernels)

    @cached_property
    def operations(self) -> list[Operation]:
        """Operations of the compiled loops, coarse bandwidths first."""
        found = [_operation(i, k) for i, k in enumerate(self.kernels)]
        return sorted((o for o in found if o), key=lambda o: (o.kind, o.p1))

    @cached_property
    def linear(self) -> list[int]:
        """Indices of the linear kernels: their pair values are inner products of unit features."""
        return [i for i, k in enumerate(self.kernels) if isinstance(k, Linear)]

    @cached_property
    def linear_rows(self) -> NDArray[np.int64]:
        """`linear`, for the compiled loops."""
        return np.array(self.linear, dtype=np.int64)

    @cached_property
    def others(self) -> list[int]:
        """Indices of the kernels that are called as they are."""
        known = {o.kernel for o in self.operations}.union(self.linear)
        return [i for i in range(len(self.kernels)) if i not in known]

    def called(
        self, layout: Layout, pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]]
    ) -> Iterator[tuple[int, list[Array]]]:
        """Index of each of the `others`, and its values on each of the pairs of rows."""
        if self.others:
            shared = [Shared(layout, a, b) for a, b in pairs]
            for u in self.others:
                yield u, [rows.values(self.kernels[u]) for rows in shared]

    @cached_property
    def want(self) -> NDArray[np.bool_]:
        """Mask of the base quantities that the compiled loops need."""
        bases = {o.base for o in self.operations}
        return np.array([b in bases for b in (SQ, L1, DOT)])

    @cached_property
    def program(self) -> tuple[NDArray[Any], ...]:
        """The operations as arrays: kinds, bases, p1, p2, rows (see `loops/values`)."""
        ops = self.operations
        kinds, p1 = [o.kind for o in ops], [o.p1 for o in ops]
        depth = [0] * len(ops)
        for i in range(1, len(ops)):
            if not ops[i].chains or ops[i].kind != ops[i - 1].kind:
                continue
            times = _power_of_two(ops[i].p1 / ops[i - 1].p1)
            if times is not None and depth[i - 1] + times <= MOST_SQUARINGS:
                kinds[i], p1[i], depth[i] = SQUARED, times, depth[i - 1] + times
        return (
            np.array(kinds, dtype=np.int64),
            np.array([o.base for o in ops], dtype=np.int64),
            np.array(p1, dtype=np.float64),
            np.array([o.p2 for o in ops], dtype=np.float64),
            np.array([o.kernel for o in ops], dtype=np.int64),
        )

    def evaluate(
        self, bases: Sequence[Array], weights: Array, out: Array, at: int = 0, pairs: int = -1
    ) -> None:
        """Rows of `out`, (d, M), that the program covers, from base quantities, (C, M) each.

        Of the first pairs, into `out` from column `at` on; of all, unless it says how many.
        """
        if not self.operations:
            return
        from nosplit.backend.numba.values import evaluate, evaluate_others, room_for

        sq, l1, dot = bases
        more = weights, room_for(), out, at, out.shape[1] if pairs < 0 else pairs
        exponentials = {o.chains for o in self.operations}
        if True in exponentials:
            evaluate(self.program, sq, l1, *more)
        if False in exponentials:
            evaluate_others(self.program, sq, dot, *more)

    def empty_bases(self, combinations: int, pairs: int) -> tuple[Array, Array, Array]:
        """Room for the base quantities that are wanted."""
        sq, l1, dot = (np.empty((combinations, pairs if w else 0)) for w in self.want)
        return sq, l1, dot

    def centre(self, *samples: NDArray[Any]) -> Array | None:
        """The middle of all samples, from some rows, where `tile_bases` takes one.

        Tiles whose values are added must have the same, or swaps change more than signs: rows are
        taken at the same places of samples that are as long.
        """
        wide = samples[0].shape[1] >= WIDE and samples[0].dtype == np.float64
        if not (self.want[SQ] and wide):
            return None
        return middle(*(rows[:: max(1, len(rows) // SOME)] for rows in samples))

    def tile_bases(
        self, a: NDArray[Any], b: NDArray[Any], out: Sequence[Array], centre: Array | None = None
    ) -> None:
        """Base quantities of all rows of a with all rows of b, each (A, B), into `out`.

        Distances are found by matrix products if there is a `centre`.
        """
        from nosplit.backend.numba.bases import tile_l1, tile_sq

        bt = np.ascontiguousarray(b.T)
        if self.want[SQ] and (centre is None or not _wide_sq(a, b, centre, out[SQ])):
            tile_sq(a, bt, out[SQ])
        if self.want[L1]:
            tile_l1(a, bt, out[L1])
        if self.want[DOT]:
            out[DOT][...] = tile_base("dot", a, b)


def _power_of_two(ratio: float) -> int | None:
    if not 0.0 < ratio < np.inf:  # bandwidths from one end of the range to the other
        return None
    times = round(float(np.log2(ratio)))
    return times if times >= 1 and abs(ratio / 2.0**times - 1.0) < 4e-16 else None


def middle(*samples: NDArray[Any]) -> Array:
    """Medians of the columns of all samples together: a few rows far out do not move them."""
    rows = np.concatenate(samples)
    half = len(rows) // 2
    return np.asarray(np.partition(rows, half, axis=0)[half], dtype=np.float64)


@np.errstate(over="ignore", invalid="ignore")
def _wide_sq(a: NDArray[Any], b: NDArray[Any], centre: Array, out: Array) -> bool:
    """Squared distances by a matrix product, put right where it cancels; False if it cannot be.

    Rows are centred first; an entry below 5 % of the squared lengths it is a difference of is
    computed again from the differences.
    """
    from nosplit.backend.numba.bases import mend_sq

    a, b = a - centre, b - centre
    left, right = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    lengths = np.concatenate([left, right])
    least = np.min(lengths, where=lengths > 0.0, initial=np.inf)
    if not lengths.max() <= FAR_OUT * least:  # nor where one is infinite or not a number
        return False
    np.matmul(a, b.T, out=out)
    mend_sq(a, b, left, right, out)
    return True


def kernel_bases(kernels: Sequence[Kernel]) -> int:
    """Number of different base quantities: 2 if there are both Laplace kernels and others."""
    return len({isinstance(k, Laplace) for k in kernels}) or 1


# -- differences of rows ---------------------------------------------------------------------------

# Signs of the four products in k(x, x') + k(y, y') - k(x, y') - k(y, x').
DIFFERENCE_SIGNS = np.array([[1.0], [1.0], [-1.0], [-1.0]])


def rows_tile(bank: Bank, left: Array, right: Array, centre: Array | None, origin: Array) -> Array:
    """Kernel values of all rows of the left with all rows of the right, (d, a, b)."""
    shape = len(left), len(right)
    K = np.empty((len(bank), *shape))
    if bank.operations:
        bases = bank.empty_bases(1, shape[0] * shape[1])
        bank.tile_bases(left, right, [q.reshape(shape) if q.size else q for q in bases], centre)
        bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
    if bank.linear:
        K[bank.linear] = (left - origin) @ (right - origin).T
    for u, (k,) in bank.called("tile", ((left, right),)):
        K[u] = k
    return K


def difference_tile(
    bank: Bank,
    left: Sequence[NDArray[Any]],
    right: Sequence[NDArray[Any]],
    centre: Array | None,
) -> Array:
    """Values h of all pairs of units of the left, rows of x and of y, with those of the right."""
    (xa, ya), (xb, yb) = left, right
    shape = len(xa), len(xb)
    h = np.empty((len(bank), *shape))
    if bank.operations:
        bases = bank.empty_bases(4, shape[0] * shape[1])
        for c, (a, b) in enumerate(((xa, xb), (ya, yb), (xa, yb), (ya, xb))):
            tiles = [q[c].reshape(shape) if q.size else q for q in bases]
            bank.tile_bases(a, b, tiles, centre)
        bank.evaluate(bases, DIFFERENCE_SIGNS, h.reshape(len(bank), -1))
    if bank.linear:
        first, second = (np.subtract(u, v, dtype=np.float64) for u, v in ((xa, ya), (xb, yb)))
        h[bank.linear] = first @ second.T
    fill_called_differences(bank, "tile", (xa, ya), (xb, yb), h)
    return h


def fill_called_differences(
    bank: Bank,
    layout: Any,
    left: Sequence[NDArray[Any]],
    right: Sequence[NDArray[Any]],
    h: Array,
) -> None:
    """Write values of kernels that are not compiled into h."""
    (xa, ya), (xb, yb) = left, right
    for u, k in bank.called(layout, ((xa, xb), (xa, yb), (ya, yb), (ya, xb))):
        h[u] = (k[0] - k[1]) + (k[2] - k[3])
