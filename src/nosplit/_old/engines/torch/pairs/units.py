"""Pairs of two-sample units on a device: tiles of all pairs, and pairs one by one.

Values are computed in tiles and never leave the device; sums under random signs are products of
matrices of whole numbers, exact in every order, so that draws that tie, tie exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from nosplit._old.engines.torch.pairs.values import tensor_pair_values
from nosplit._old.engines.torch.products import tensor_signed_sums, unpacked_signs
from nosplit._old.pairs.draws import BLOCK, Part, Signs
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.core.pairings import Aligned, Job, Tile
from nosplit.kernels.bank import Bank

__all__ = ["TensorDraws", "TensorPairs"]

# Pairs of a job: what keeps a device busy, and bounds what it holds.
PAIRS = {"cpu": 1 << 15, "cuda": 1 << 21}
# Pairs of a product of values, which a device makes many of at a time.
SUMMED = 1 << 12


@dataclass(frozen=True, eq=False)
class TensorPairs:
    """N units of one row each of x and y, in the order of the units.

    Parameters
    ----------
    x, y : tensor, shape (N, p)
        The samples.
    bank : Bank
        The kernels.
    """

    x: torch.Tensor
    y: torch.Tensor
    bank: Bank

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.x)

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 2.0

    @property
    def pairs_at_once(self) -> int:
        """Pairs of a job."""
        return PAIRS["cuda" if self.x.is_cuda else "cpu"]

    def part(self, units: range) -> TensorPairs:
        """Some of the units, as units of their own."""
        return replace(self, x=self.x[units.start : units.stop], y=self.y[units.start : units.stop])

    def draws(self, flips: int, rng: np.random.Generator) -> TensorDraws:
        """Random swaps of x and y inside units."""
        return TensorDraws(self, Signs(self.n_units, flips, rng), {})

    def values(self, job: Job) -> Array:
        """Values h of the pairs of a job, in memory: (d, M), or (d, A, B) for a tile."""
        return np.asarray(self.on_device(job).double().cpu().numpy())

    def on_device(self, job: Job) -> torch.Tensor:
        """Values h of the pairs of a job."""
        kernels = self.bank.kernels
        if isinstance(job, Tile):
            return tensor_pair_values(kernels, "tile", self._rows(job.a), self._rows(job.b))
        if isinstance(job, Aligned):
            return tensor_pair_values(kernels, "aligned", self._rows(job.a), self._rows(job.b))
        here = self._rows(job.units)
        lags = [
            tensor_pair_values(kernels, "aligned", here, self._shifted(job.units, lag))
            for lag in range(1, job.R + 1)
        ]
        return torch.cat(lags, dim=1)

    def _rows(self, units: range) -> tuple[torch.Tensor, torch.Tensor]:
        where = slice(units.start, units.stop, units.step)
        return self.x[where], self.y[where]

    def _shifted(self, units: range, lag: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of the units so many places on, round again after the last."""
        where = torch.arange(units.start + lag, units.stop + lag, device=self.x.device)
        where %= self.n_units
        return self.x[where], self.y[where]

    def moments(self, job: Job) -> Moments:
        """Moments of the values of a job."""
        return moments_of(self.on_device(job), job)


def moments_of(values: torch.Tensor, job: Job) -> Moments:
    """Moments of values, (d, M), or (d, A, B) for a tile, summed in double precision."""
    tile = (values if values.ndim == 3 else values[:, None]).double()
    if isinstance(job, Tile) and job.a == job.b:
        mask = torch.ones_like(tile[0]).triu_(1)
        mean = (tile * mask).sum(dim=(1, 2)) / job.n_pairs
        centred = (tile - mean[:, None, None]) * mask
    else:
        mean = tile.mean(dim=(1, 2))
        centred = tile - mean[:, None, None]
    flat = centred.reshape(len(centred), -1)
    rows = torch.nn.functional.pad(flat, (0, -flat.shape[1] % SUMMED))
    rows = rows.reshape(len(flat), -1, SUMMED).transpose(0, 1)
    scatter = (rows @ rows.transpose(1, 2)).sum(dim=0)
    return Moments(job.n_pairs, mean.cpu().numpy(), ((scatter + scatter.T) / 2.0).cpu().numpy())


@dataclass(frozen=True, eq=False)
class TensorDraws:
    """Random signs of units, and sums of values under them."""

    units: TensorPairs
    signs: Signs
    kept: dict[tuple[int, int, int], torch.Tensor]

    @property
    def relabellings(self) -> float:
        """Patterns that may differ in their statistics."""
        return self.signs.relabellings

    def of(self, units: range) -> TensorDraws:
        """The same draws, for some of the units."""
        return TensorDraws(self.units.part(units), self.signs.of(units), {})

    def columns(self, units: range) -> torch.Tensor:
        """Signs of some units on the device, (F, T): made once for all tiles."""
        key = (units.start, units.stop, units.step)
        if key not in self.kept:
            self.kept[key] = self._signs(units)
        return self.kept[key]

    def part(self, job: Job) -> Part:
        """Sums of the signed values over the pairs of a tile, for all draws."""
        assert isinstance(job, Tile)  # other pairs have closed forms
        values = self.units.on_device(job)
        moments = moments_of(values, job)
        second = moments.n * moments.second_moment
        if job.a == job.b:
            values = values.triu(1)
        sums = tensor_signed_sums(self.columns(job.a), values, self.columns(job.b))
        return Part(moments, sums.cpu().numpy(), second)

    def _signs(self, units: range) -> torch.Tensor:
        """Signs of some units; random ones travel eight to a byte."""
        signs, device = self.signs, self.units.x.device
        if signs.key is None or units.step != 1:
            found = np.ascontiguousarray(signs.columns(units).astype(np.int8))
            return torch.from_numpy(found).to(device)
        places = signs.units[units.start : units.stop]
        blocks = range(places.start // BLOCK, -(-places.stop // BLOCK))
        packed = np.concatenate([signs.bits(signs.key, b) for b in blocks], axis=1)
        first = places.start - blocks.start * BLOCK
        drawn = unpacked_signs(torch.from_numpy(packed).to(device), first + len(places))[:, first:]
        return torch.cat([torch.ones_like(drawn[:1]), drawn])
