"""Two-sample units: MMD.

Equal sizes: a unit is a pair (x, y) with Ψ = φ(x) - φ(y), and two units give
h = k(x, x') + k(y, y') - k(x, y') - k(y, x'). Swapping x and y of a unit changes the sign of its Ψ.

Unequal sizes: a unit holds a rows of one sample and b of the other, with weights w = 1/a and -1/b;
h = w'Kw on the block of kernel values. Permuting the labels permutes the weights inside a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit.bank import SQ, Bank
from nosplit.flips import (
    BLOCK,
    Part,
    Signs,
    block_columns,
    enumerated,
    generator,
    signed_part,
    tile_columns,
)
from nosplit.moments import Moments
from nosplit.order import Order
from nosplit.pairing import Aligned, Band, Job, Tile

__all__ = ["MOST_ROWS", "Grouped", "Paired", "two_sample_units"]

Array = NDArray[np.float64]

# Rows of the larger sample in a unit: a share of 1 + 1/16 of the smallest possible variance.
MOST_ROWS = 16
SIGNS = np.array([[1.0], [1.0], [-1.0], [-1.0]])


def _take(sample: NDArray[Any], order: Order, positions: range) -> NDArray[Any]:
    """Rows at the given positions, contiguous; without a copy where they lie so."""
    rows = order.rows(positions)
    if isinstance(rows, slice):
        return np.ascontiguousarray(sample[rows])
    from nosplit._loops import gather

    out = np.empty((len(rows), sample.shape[1]), dtype=sample.dtype)
    gather(np.ascontiguousarray(sample), rows, out)
    return out


@dataclass(frozen=True, eq=False)
class Paired:
    """N units of one row each of x and y.

    Parameters
    ----------
    x, y : array, shape (n, p)
        The samples.
    x_order, y_order : Order
        Row of each sample in each unit.
    bank : Bank
        The kernels.
    units : range
        Which positions are units of this object.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    x_order: Order
    y_order: Order
    bank: Bank
    units: range

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.units)

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 2.0

    def part(self, units: range) -> Paired:
        """Some of the units, as units of their own."""
        chosen = self.units[units.start : units.stop]
        return Paired(self.x, self.y, self.x_order, self.y_order, self.bank, chosen)

    def rows(self, unit: int) -> NDArray[Any]:
        """All rows of one unit, for the median heuristic."""
        return np.concatenate(self._rows(range(unit, unit + 1)))

    def _rows(self, units: range) -> tuple[NDArray[Any], NDArray[Any]]:
        positions = self.units[units.start : units.stop : units.step]
        return (_take(self.x, self.x_order, positions), _take(self.y, self.y_order, positions))

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random swaps of x and y inside units."""
        return SignDraws(self, Signs(self.n_units, flips, rng))

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                return self._aligned(*self._rows(a), *self._rows(b))
            case Band(units, R):
                return self._band(units, R)
            case Tile(a, b):
                return self._tile(*self._rows(a), *self._rows(b))

    def _band(self, units: range, R: int) -> Array:
        """Values of (i, i + r mod N), lag by lag, from rows that are read once."""
        x, y = self._rows(range(units.start, min(units.stop + R, self.n_units)))
        if units.stop + R > self.n_units:
            more = self._rows(range(units.stop + R - self.n_units))
            x, y = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
        n = len(units)
        lags = [self._aligned(x[:n], y[:n], x[r : r + n], y[r : r + n]) for r in range(1, R + 1)]
        return np.concatenate(lags, axis=1)

    def _aligned(
        self, xa: NDArray[Any], ya: NDArray[Any], xb: NDArray[Any], yb: NDArray[Any]
    ) -> Array:
        bank, m = self.bank, len(xa)
        combinations = ((xa, xb), (ya, yb), (xa, yb), (ya, xb))
        h = np.empty((len(bank), m))
        if bank.operations or bank.linear:
            from nosplit._loops import aligned_bases, two_sample_bases

            bases = bank.empty_bases(4, m)
            sq, cross = bases[SQ] if bank.want[SQ] else np.empty((4, m)), np.empty(m)
            two_sample_bases(xa, xb, ya, yb, sq, cross)
            rest = bank.want.copy()
            rest[SQ] = False
            if rest.any():
                for c, (a, b) in enumerate(combinations):
                    aligned_bases(a, b, rest, *(base[c] for base in bases))
            bank.evaluate(bases, SIGNS, h)
            h[bank.linear] = cross
        for i in bank.others:
            k = bank.kernels[i].aligned
            h[i] = k(xa, xb) + k(ya, yb) - k(xa, yb) - k(ya, xb)
        return h

    def _tile(
        self, xa: NDArray[Any], ya: NDArray[Any], xb: NDArray[Any], yb: NDArray[Any]
    ) -> Array:
        bank, shape = self.bank, (len(xa), len(xb))
        h = np.empty((len(bank), *shape))
        if bank.operations:
            bases = bank.empty_bases(4, shape[0] * shape[1])
            for c, (a, b) in enumerate(((xa, xb), (ya, yb), (xa, yb), (ya, xb))):
                bank.tile_bases(a, b, [q[c].reshape(shape) if q.size else q for q in bases])
            bank.evaluate(bases, SIGNS, h.reshape(len(bank), -1))
        if bank.linear:
            left, right = (np.subtract(u, v, dtype=np.float64) for u, v in ((xa, ya), (xb, yb)))
            h[bank.linear] = left @ right.T
        for i in bank.others:
            k = bank.kernels[i].tile
            h[i] = k(xa, xb) + k(ya, yb) - k(xa, yb) - k(ya, xb)
        return h


@dataclass(frozen=True, eq=False)
class SignDraws:
    """Random swaps of x and y inside units: signs of their values."""

    units: Paired
    signs: Signs

    @property
    def exhaustive(self) -> bool:
        """Whether all patterns are used."""
        return self.signs.exhaustive

    def part(self, job: Job) -> Part:
        """Sums of the signed values over the pairs of a job, for all draws."""
        return signed_part(self.units.values(job), job, self.signs)


@dataclass(frozen=True, eq=False)
class Grouped:
    """N units of several rows each, for samples of different sizes.

    Unit i holds the rows `starts[i]:starts[i + 1]` of the order of each sample. Units are padded
    to the same number s of rows by repeating one with weight 0.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    x_order: Order
    y_order: Order
    bank: Bank
    x_starts: NDArray[np.int64]
    y_starts: NDArray[np.int64]

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.x_starts) - 1

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together, on average."""
        used = self.x_starts[-1] - self.x_starts[0] + self.y_starts[-1] - self.y_starts[0]
        return float(used / self.n_units)

    def part(self, units: range) -> Grouped:
        """Some of the units, as units of their own."""
        cut = slice(units.start, units.stop + 1)
        return Grouped(
            self.x,
            self.y,
            self.x_order,
            self.y_order,
            self.bank,
            self.x_starts[cut],
            self.y_starts[cut],
        )

    def draws(self, flips: int, rng: np.random.Generator) -> Labels:
        """Random permutations of the labels inside units."""
        return Labels(self, flips, rng)

    @cached_property
    def sides(self) -> tuple[int, int]:
        """Most rows of x and of y in a unit."""
        return int(np.diff(self.x_starts).max()), int(np.diff(self.y_starts).max())

    @property
    def size(self) -> int:
        """Rows of a padded unit."""
        return sum(self.sides)

    def rows(self, unit: int) -> NDArray[Any]:
        """All rows of one unit, for the median heuristic."""
        return np.concatenate(
            [_take(s, o, range(int(st[unit]), int(st[unit + 1]))) for s, o, st in self._samples()]
        )

    def _samples(self) -> tuple[tuple[NDArray[Any], Order, NDArray[np.int64]], ...]:
        return (self.x, self.x_order, self.x_starts), (self.y, self.y_order, self.y_starts)

    def padded(self, units: range) -> NDArray[Any]:
        """Rows of the units, (T, s, p): first those of x, then those of y."""
        blocks = []
        for (sample, order, starts), side in zip(self._samples(), self.sides, strict=True):
            first, last = int(starts[units.start]), int(starts[units.stop])
            rows = _take(sample, order, range(first, last))
            place = starts[units.start : units.stop, None] - first + np.arange(side)
            place = np.minimum(place, starts[units.start + 1 : units.stop + 1, None] - first - 1)
            blocks.append(rows[place])
        return np.concatenate(blocks, axis=1)

    def counts(self, units: range) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of x and of y in each unit."""
        cut = slice(units.start, units.stop + 1)
        return np.diff(self.x_starts[cut]), np.diff(self.y_starts[cut])

    def present(self, units: range) -> NDArray[np.bool_]:
        """Which of a padded unit's rows are not padding, (T, s)."""
        return np.concatenate(
            [
                np.arange(side) < count[:, None]
                for count, side in zip(self.counts(units), self.sides, strict=True)
            ],
            axis=1,
        )

    def weights(self, units: range) -> Array:
        """Observed weights 1/a, -1/b and 0, (T, s)."""
        a, b = (c[:, None].astype(float) for c in self.counts(units))
        left, right = self.sides
        sign = np.concatenate(
            [np.repeat(1.0 / a, left, axis=1), np.repeat(-1.0 / b, right, axis=1)], axis=1
        )
        return np.asarray(sign * self.present(units))

    def _round(self, units: range, of: Callable[[range], NDArray[Any]]) -> NDArray[Any]:
        """`of` the units, which may run past the last one, to the first again."""
        n, stop = self.n_units, units[-1] + 1
        if stop <= n:
            return of(range(units.start, stop))[:: units.step]
        return np.concatenate([of(range(units.start, n)), of(range(stop - n))])

    def wrapped(self, units: range) -> NDArray[Any]:
        """`padded`, of units that may run past the last one, to the first again."""
        return self._round(units, self.padded)

    def wrapped_weights(self, units: range) -> Array:
        """`weights`, of units that may run past the last one."""
        return self._round(units, self.weights)

    def wrapped_present(self, units: range) -> NDArray[np.bool_]:
        """`present`, of units that may run past the last one."""
        return self._round(units, self.present)

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job: (d, M), or (d, A, B) for a tile."""
        match job:
            case Aligned(a, b):
                rows, w = self.wrapped, self.wrapped_weights
                return self._aligned(rows(a), w(a), rows(b), w(b))
            case Band(units, R):
                n, both = len(units), range(units.start, units.stop + R)
                rows, w = self.wrapped(both), self.wrapped_weights(both)
                lags = (
                    self._aligned(rows[:n], w[:n], rows[r : r + n], w[r : r + n])
                    for r in range(1, R + 1)
                )
                return np.concatenate(list(lags), axis=1)
            case Tile(a, b):
                K = self.block(self.padded(a), self.padded(b))
                wa, wb = self.weights(a), self.weights(b)
                return np.einsum("ai,daibj,bj->dab", wa, K, wb, optimize=True)

    def _aligned(self, za: NDArray[Any], wa: Array, zb: NDArray[Any], wb: Array) -> Array:
        """Values of aligned units: all combinations of their rows, with the weights' products."""
        bank, (m, s, _) = self.bank, za.shape
        weights = (wa.T[:, None, :] * wb.T[None, :, :]).reshape(s * s, m)
        h = np.zeros((len(bank), m))
        if bank.operations:
            bank.evaluate(self._aligned_bases(za, zb), weights, h)
        if bank.linear:
            features = [np.einsum("ts,tsp->tp", w, z - za[0, 0]) for w, z in ((wa, za), (wb, zb))]
            h[bank.linear] = np.einsum("tp,tp->t", *features)
        for i in bank.others:
            k = bank.kernels[i].aligned
            pairs = enumerate(np.ndindex(s, s))
            h[i] = sum(weights[c] * k(za[:, p], zb[:, q]) for c, (p, q) in pairs)
        return h

    def _aligned_bases(self, za: NDArray[Any], zb: NDArray[Any]) -> tuple[Array, Array, Array]:
        """Base quantities of all combinations of rows of aligned units, (s², T)."""
        from nosplit._loops import aligned_bases

        m, s, _ = za.shape
        bases = self.bank.empty_bases(s * s, m)
        left = [np.ascontiguousarray(za[:, i]) for i in range(s)]
        right = [np.ascontiguousarray(zb[:, j]) for j in range(s)]
        for c, (i, j) in enumerate(np.ndindex(s, s)):
            aligned_bases(left[i], right[j], self.bank.want, *(q[c] for q in bases))
        return bases

    def aligned_block(self, za: NDArray[Any], zb: NDArray[Any]) -> Array:
        """Kernel values of all combinations of rows of aligned units, (d, s, s, T)."""
        bank, (m, s, _) = self.bank, za.shape
        K = np.empty((len(bank), s, s, m))
        if bank.operations:
            bases = [q.reshape(1, -1) for q in self._aligned_bases(za, zb)]
            bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
        if bank.linear:
            origin = self.x[0].astype(np.float64)
            K[bank.linear] = np.einsum("tip,tjp->ijt", za - origin, zb - origin)
        for u in bank.others:
            for i, j in np.ndindex(s, s):
                K[u, i, j] = bank.kernels[u].aligned(za[:, i], zb[:, j])
        return K

    def block(self, za: NDArray[Any], zb: NDArray[Any]) -> Array:
        """Kernel values of all rows of A units with all rows of B units, (d, A, s, B, s).

        The linear kernel is that of rows moved by a constant: the same h for every labelling.
        """
        bank = self.bank
        a, b = za.reshape(-1, za.shape[2]), zb.reshape(-1, zb.shape[2])
        shape = (len(a), len(b))
        K = np.empty((len(bank), *shape))
        if bank.operations:
            bases = bank.empty_bases(1, shape[0] * shape[1])
            bank.tile_bases(a, b, [q.reshape(shape) if q.size else q for q in bases])
            bank.evaluate(bases, np.ones((1, 1)), K.reshape(len(bank), -1))
        if bank.linear:
            origin = self.x[0].astype(np.float64)
            K[bank.linear] = (a - origin) @ (b - origin).T
        for i in bank.others:
            K[i] = bank.kernels[i].tile(a, b)
        return K.reshape(len(bank), za.shape[0], za.shape[1], zb.shape[0], zb.shape[1])


@dataclass(frozen=True, eq=False)
class Labels:
    """Permutations of the labels inside each unit of `Grouped` units.

    The smaller sample has one row in each unit, so a labelling says which of the unit's rows that
    is. All labellings are used if there are no more than asked for.

    Parameters
    ----------
    units : Grouped
        The units.
    flips : int
        Number of random draws besides the observed one.
    rng : Generator
        Source of the key.
    """

    units: Grouped
    flips: int
    rng: np.random.Generator
    exhaustive: bool = field(init=False)
    _block: Callable[[int], Array] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key = int(self.rng.integers(2**63))
        counts = self._rows_in_unit(range(self.units.n_units))
        if len(counts) * np.log(2.0) <= np.log(self.flips + 1.0):
            choices = enumerated([list(range(c)) for c in counts[:, 0]], self.flips + 1)
        else:
            choices = None

        def all_of_them(block: int) -> Array:
            return self._weights(range(len(counts)), np.array(choices))

        def random(block: int) -> Array:
            units = range(block * BLOCK, min((block + 1) * BLOCK, self.units.n_units))
            high = self._rows_in_unit(units).T
            places = generator(key, block).integers(high, size=(self.flips + 1, len(units)))
            places[0] = 0
            return self._weights(units, places)

        object.__setattr__(self, "exhaustive", choices is not None)
        draw = random if choices is None else all_of_them
        object.__setattr__(self, "_block", lru_cache(8)(draw))

    def _rows_in_unit(self, units: range) -> NDArray[np.int64]:
        return self.units.present(units).sum(axis=1, keepdims=True)

    def _weights(self, units: range, places: NDArray[np.int64]) -> Array:
        """Weights (F, T, s) when the lone row stands `places` rows after where it was observed."""
        observed, present = self.units.weights(units), self.units.present(units)
        lone = 0 if self.units.sides[0] == 1 else self.units.size - 1
        common = np.where(present, -observed[:, [lone]] / (present.sum(axis=1)[:, None] - 1), 0.0)
        # Rows of a unit, the lone one first, then the others in order.
        order = np.argsort(~present * 2 + (np.arange(present.shape[1]) != lone), kind="stable")
        chosen = np.take_along_axis(order[None], places[:, :, None], axis=2)
        weights = np.broadcast_to(common, (len(places), *common.shape)).copy()
        np.put_along_axis(weights, chosen, observed[None, :, [lone]], axis=2)
        return weights

    def columns(self, units: range) -> Array:
        """Weights of the rows of the given units, (F, T, s)."""
        return block_columns(self._block, units, self.units.n_units)

    def part(self, job: Job) -> Part:
        """Sums of w'Kw over the pairs of a job, for all draws, and the average of hh'."""
        match job:
            case Tile(a, b):
                return self._tile(a, b)
            case Aligned(a, b):
                return self._aligned(a, b)
            case Band(units, R):
                lags = (range(units.start + r, units.stop + r) for r in range(1, R + 1))
                return reduce(add, (self._aligned(units, lag) for lag in lags))

    def _tile(self, a: range, b: range) -> Part:
        units = self.units
        K = units.block(units.padded(a), units.padded(b))
        if a == b:
            below = np.tril(np.ones((len(a), len(b)), dtype=bool))
            K.transpose(0, 1, 3, 2, 4)[:, below] = 0.0
        d, A, s, B, _ = K.shape
        flat = K.reshape(d, A * s, B * s)
        wa, wb = self.columns(a), self.columns(b)
        wa, wb = wa.reshape(len(wa), -1), wb.reshape(len(wb), -1)
        sums = np.stack([np.einsum("fj,fj->f", wa @ k, wb) for k in flat], axis=1)
        h = np.einsum("ai,daibj,bj->dab", units.weights(a), K, units.weights(b), optimize=True)
        moments = Moments.from_columns(tile_columns(h, Tile(a, b)))
        centred = self._centred(K.transpose(0, 2, 4, 1, 3), a, b, tile=True)
        return Part(moments, sums, centred @ centred.T)

    def _aligned(self, a: range, b: range) -> Part:
        units = self.units
        K = units.aligned_block(units.wrapped(a), units.wrapped(b))
        wa, wb = self.columns(a), self.columns(b)
        places = list(np.ndindex(K.shape[1:3]))
        sums = sum((wa[:, :, i] * wb[:, :, j]) @ K[:, i, j].T for i, j in places)
        ua, ub = units.wrapped_weights(a), units.wrapped_weights(b)
        h = np.einsum("ti,dijt,tj->dt", ua, K, ub, optimize=True)
        centred = self._centred(K, a, b, tile=False)
        return Part(Moments.from_columns(h), np.asarray(sums), centred @ centred.T)

    def _centred(self, K: Array, a: range, b: range, *, tile: bool) -> Array:
        """√(γ_a γ_b) J K J, flattened to (d, ·): its products are the average of hh'."""
        left, right = (self.units.wrapped_present(u).T for u in (a, b))
        if tile:
            masks = left[:, None, :, None], right[None, :, None, :]
        else:
            masks = left[:, None, :], right[None, :, :]
        for axis, mask in enumerate(masks, start=1):
            count = mask.sum(axis=axis - 1, keepdims=True)
            mean = np.sum(K, axis=axis, keepdims=True, where=mask[None]) / count
            scale = np.sqrt((1.0 / (count - 1) + 1.0) / (count - 1))
            K = np.where(mask, (K - mean) * scale, 0.0)
        return K.reshape(len(K), -1)


def two_sample_units(
    x: NDArray[Any], y: NDArray[Any], x_order: Order, y_order: Order, bank: Bank
) -> Paired | Grouped:
    """N = min(n, m) units; the larger sample is dealt out evenly, at most 16 rows to a unit."""
    n, m = len(x), len(y)
    if n == m:
        return Paired(x, y, x_order, y_order, bank, range(n))
    N = min(n, m)
    starts = [np.arange(N + 1) * min(size, MOST_ROWS * N) // N for size in (n, m)]
    return Grouped(x, y, x_order, y_order, bank, *starts)
