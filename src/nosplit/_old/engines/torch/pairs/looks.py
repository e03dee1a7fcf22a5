"""Squared lengths of sums along lenses under known draws, on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from nosplit._old.engines.torch.products import exact_product
from nosplit._old.pairs.statistics import ColumnDraws
from nosplit._old.sketch.lenses import CONSTANT
from nosplit._old.sketch.swaps import Swaps
from nosplit._old.sketch.units import EXACT, Lens
from nosplit._types import Array, Index

__all__ = ["Looks", "TensorSwaps", "TensorUnits", "UnitDraw"]

# Draws looked at together, and numbers along lenses that are kept at once.
DRAWS, SEEN = 1 << 13, 1 << 26


@dataclass(frozen=True, eq=False)
class TensorUnits:
    """Units in whole numbers of at most `largest`, and the value of a step of each column."""

    values: torch.Tensor
    steps: Array
    largest: int


class UnitDraw(Protocol):
    """The work of draws on units on a device; as `CellDraws` in memory."""

    @property
    def n_units(self) -> int:
        """Number of units."""
        ...

    @property
    def spread(self) -> float:
        """Mean square of a weight, less what all have in common."""
        ...

    @property
    def share(self) -> float:
        """Mean over all draws of a squared sum, over the sum of squares about what is common."""
        ...

    def own(self, values: torch.Tensor) -> torch.Tensor:
        """Numbers of units from those of rows."""
        ...

    def centre(self, units: torch.Tensor) -> torch.Tensor | float:
        """Mean over all draws of weighted sums of units."""
        ...

    def about_mean(self, along: torch.Tensor) -> torch.Tensor:
        """Units about what no draw moves; they are the last numbers but one."""
        ...


@dataclass(frozen=True, eq=False)
class TensorSwaps:
    """Swaps of rows of two samples, or labels of all of them."""

    swaps: Swaps

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.swaps.n_units

    @property
    def spread(self) -> float:
        """Mean square of a weight, less what all have in common."""
        return self.swaps.spread

    @property
    def share(self) -> float:
        """Mean over all draws of a squared sum, over the sum of squares about what is common."""
        N = self.n_units
        return 1.0 if self.swaps.paired else N / (N - 1) * self.spread

    def own(self, values: torch.Tensor) -> torch.Tensor:
        """Differences of rows, or all rows."""
        n = self.swaps.n_x
        return values[:n] - values[n:] if self.swaps.paired else values

    def centre(self, units: torch.Tensor) -> torch.Tensor | float:
        """Mean over all draws of weighted sums of units."""
        if self.swaps.paired:
            return 0.0
        return units.sum(dim=0).double() * (self.swaps.n_x / self.n_units)

    def about_mean(self, along: torch.Tensor) -> torch.Tensor:
        """Units about what no draw moves: 0 for differences, their mean for rows."""
        return along if self.swaps.paired else along - along.mean(dim=-2, keepdim=True)


@dataclass(frozen=True, eq=False)
class Looks:
    """Weights of units under all draws, (F, N), on a device."""

    draws: UnitDraw
    weights: torch.Tensor

    def units(self, values: torch.Tensor) -> TensorUnits:
        """Numbers of units in the whole steps that are used in memory."""
        own = self.draws.own(values)
        steps = own.abs().amax(dim=0) * (self.draws.n_units / EXACT)
        steps = torch.where(steps == 0.0, torch.ones_like(steps), steps)
        whole = torch.round(own / steps).to(torch.int32)
        return TensorUnits(whole, steps.cpu().numpy(), EXACT // self.draws.n_units + 1)

    def bytes_a_bin(self, rows: int) -> int:
        """Bytes of the counts of so many rows in a bin: whole numbers, or means about means."""
        return self.draws.n_units if isinstance(self.draws, TensorSwaps) else 16 * rows

    def counted(self, places: torch.Tensor, width: int) -> TensorUnits:
        """Counts of units in bins, of which `places` are those of rows, (rows, columns)."""
        counts = torch.zeros((len(places), width), dtype=torch.int8, device=places.device)
        counts.scatter_add_(1, places, torch.ones_like(places, dtype=torch.int8))
        if isinstance(self.draws, TensorSwaps):
            return TensorUnits(self.draws.own(counts), np.ones(width), 1)
        return self.units(counts)

    def see(self, units: TensorUnits, lenses: Sequence[Lens], means: torch.Tensor) -> Array:
        """Squared lengths of sums less their means, under all draws, (F, statistics)."""
        lenses = [self._on(lens) for lens in lenses]
        centre = self.draws.centre(units.values)
        parts = []
        for start in range(0, len(self.weights), DRAWS):
            some = self.weights[start : start + DRAWS]
            sums = exact_product(some, units.values, units.largest) - centre
            seen = [(_along(sums, lens) ** 2) @ lens.gains for lens in lenses]
            parts.append((torch.cat(seen, dim=1) - means).cpu().numpy())
        return np.concatenate(parts)

    def means(self, units: TensorUnits, lenses: Sequence[Lens]) -> torch.Tensor:
        """Means over all draws of what lenses show."""
        found = []
        for lens in map(self._on, lenses):
            along = self.draws.about_mean(_along(units.values, lens))
            found.append(self.draws.share * (along * along).sum(dim=0) @ lens.gains)
        return torch.cat(found)

    def covariance(self, units: TensorUnits, lenses: Sequence[Lens], m: int) -> Array:
        """Second moments of pair values, over pairs of different units: m⁻¹ Σ_{a<b} h_u h_v."""
        lenses = [self._on(lens) for lens in lenses]
        along = [self.draws.about_mean(_along(units.values, lens)) for lens in lenses]
        both = list(zip(along, lenses, strict=True))
        own = torch.cat([(a * a) @ lens.gains for a, lens in both], dim=1)
        rows = [
            torch.cat([u.gains.T @ (a.T @ b) ** 2 @ v.gains for b, v in both], dim=1)
            for a, u in both
        ]
        cov = (torch.cat(rows) - own.T @ own) / (2.0 * m)
        return np.asarray(((cov + cov.T) / 2.0).cpu().numpy())

    def columns(self, units: TensorUnits, lenses: Sequence[Lens], which: Index) -> ColumnDraws:
        """Statistics of columns in standard deviations, and gamma laws like theirs.

        Lenses of one shape are looked through together.
        """
        ends = np.cumsum([lens.gains.shape[1] for lens in lenses])
        values = np.zeros((len(self.weights), len(which)))
        first, second = np.zeros(len(which)), np.zeros(len(which))
        sums = exact_product(self.weights, units.values, units.largest)
        sums -= self.draws.centre(units.values)
        for some in self._alike(lenses):
            view = _SameLenses([lenses[i] for i in some], sums.device)
            along = self.draws.about_mean(view.along(units.values))
            moment, own = along.transpose(1, 2) @ along, (along * along) @ view.gains
            size = (along * along).sum(dim=1)[:, None] @ view.gains
            spare = (view.gains * ((moment * moment) @ view.gains)).sum(dim=1)
            spare -= (own * own).sum(dim=1)
            seen = (view.along(sums) ** 2) @ view.gains - self.draws.share * size
            kept = np.concatenate([np.arange(ends[i] - seen.shape[2], ends[i]) for i in some])
            values[:, kept] = seen.transpose(0, 1).flatten(1).cpu().numpy()
            first[kept] = self.draws.spread * size.ravel().cpu().numpy()
            second[kept] = 2.0 * self.draws.spread**2 * spare.ravel().cpu().numpy()
        live = second > CONSTANT * first * first
        second = np.where(live, second, 1.0)
        values = np.where(live, values / np.sqrt(second), 0.0)
        shapes = np.where(live, first * first / second, 1.0)
        shows = np.array([name for lens in lenses for name in lens.shown], dtype=str)
        return ColumnDraws(values, shapes, which, shows)

    def _alike(self, lenses: Sequence[Lens]) -> Iterator[list[int]]:
        """Numbers of lenses of one shape, so few at a time that what they show stays small."""
        shapes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for i, lens in enumerate(lenses):
            shapes.setdefault((lens.axes.shape, lens.gains.shape), []).append(i)
        for (shape, _), every in shapes.items():
            width = max(shape) * max(self.draws.n_units, len(self.weights))
            step = max(1, SEEN // width)
            yield from (every[i : i + step] for i in range(0, len(every), step))

    def _on(self, lens: Lens) -> Any:
        device = self.weights.device
        axes, gains = (torch.from_numpy(part).to(device) for part in (lens.axes, lens.gains))
        return Lens(lens.where, axes, gains)


def _along(numbers: torch.Tensor, lens: Any) -> torch.Tensor:
    """Numbers along the axes of a lens of tensors."""
    own = numbers[:, lens.where].double()
    return own * lens.axes if lens.axes.ndim == 1 else own @ lens.axes


class _SameLenses:
    """Lenses of one shape on runs of numbers, as tensors."""

    def __init__(self, lenses: Sequence[Lens], device: torch.device) -> None:
        first = np.array([_start(lens) for lens in lenses])
        places = first[:, None] + np.arange(len(lenses[0].axes))
        self.places = torch.from_numpy(places).to(device)
        axes, gains = ([getattr(lens, name) for lens in lenses] for name in ("axes", "gains"))
        self.axes, self.gains = (torch.from_numpy(np.stack(v)).to(device) for v in (axes, gains))

    def along(self, numbers: torch.Tensor) -> torch.Tensor:
        """Numbers along the axes of each lens, (lenses, rows, axes)."""
        own = numbers[:, self.places.ravel()].reshape(len(numbers), *self.places.shape)
        own = own.permute(1, 0, 2).double()
        return own * self.axes[:, None, :] if self.axes.ndim == 2 else own @ self.axes


def _start(lens: Lens) -> int:
    return int(lens.where.start if isinstance(lens.where, slice) else lens.where[0])
