"""The map of a sketch on a device: the same numbers of a row as in memory, as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from nosplit.sketch.maps import STEP, SketchMap

__all__ = ["DeviceMap", "mixed_words"]

# As in `loops/sketch`: spreads beyond which a value counts as this far.
FAR = 2.0**20


@dataclass(frozen=True, eq=False)
class DeviceMap:
    """A map, and a device that rows lie on."""

    map: SketchMap
    device: torch.device

    def _on(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @cached_property
    def center(self) -> torch.Tensor:
        """Centers, which are subtracted from columns, (p,)."""
        return self._on(self.map.center)

    @cached_property
    def scale(self) -> torch.Tensor:
        """Factors by which centred columns are multiplied, (p,)."""
        return self._on(1.0 / self.map.spread)

    @cached_property
    def turns(self) -> torch.Tensor:
        """Turns for a spread of each column, (p, F)."""
        return self._on(self.map.turns[self.map.places])

    @cached_property
    def edges(self) -> torch.Tensor:
        """Edges of bins filled up with infinity, (p, 127): a value has no place beyond the last."""
        return self._on(self.map.edges.edges[:, :-1])

    @cached_property
    def starts(self) -> torch.Tensor:
        """Place of the first bin of each column, (p,)."""
        return self._on(self.map.edges.starts)

    @cached_property
    def counted(self) -> torch.Tensor:
        """Numbers of categories of each column; -1 for numbers, (p,)."""
        return self._on(self.map.edges.counted)

    @cached_property
    def scores(self) -> torch.Tensor:
        """Two scores of every bin of every column in steps, and so many twos, (twos p, bins, 2)."""
        return self._on(self.map.score_steps)

    @cached_property
    def products(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Places of the two scores of a row that each product is made of, (4 Q,) each."""
        left, right = 2 * self.map.products[:, :1], 2 * self.map.products[:, 1:]
        each = left + np.array([0, 0, 1, 1]), right + np.array([0, 1, 0, 1])
        one, other = (self._on(places.ravel().astype(np.int64)) for places in each)
        return one, other

    # -- what the fused kernels take ---------------------------------------------------------

    @cached_property
    def turned(self) -> torch.Tensor:
        """Turns with the columns of a frequency side by side, in two parts, (2, F, p).

        Both are rounded to the ten binary digits of the matrix units.
        """
        turned = self.turns.T.contiguous()
        high = _ten_digits(turned)
        return torch.stack([high, _ten_digits(turned - high)])

    @cached_property
    def halves(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The same as half floats, and factors of frequencies by which products are too small.

        Turns of a frequency are lifted by a power of two, their largest to between 128 and 256.
        """
        turned = self.turns.T.double()
        largest = turned.abs().amax(dim=1, keepdim=True).clamp(min=2.0**-100)
        lift = torch.exp2(7.0 - largest.log2().floor())
        high = (turned * lift).half()
        rest = (turned * lift - high.double()).half()
        return torch.stack([high, rest]), (1.0 / lift[:, 0]).float()

    def moves(self, kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """Centers and scales for rows of a type: those of single ones in two parts, (2, p)."""
        if kind == torch.float64:
            return self.center, self.scale
        return _in_two(self.center), _in_two(self.scale)

    def edges_of(self, kind: torch.dtype) -> torch.Tensor:
        """Edges for rows of a type, (p, most), rounded down for single ones.

        A single value is above an edge exactly if it is above the next smaller single number.
        """
        most = max(1, max(len(bins.edges) for bins in self.map.bins))
        edges = self.map.edges.edges[:, :most]
        if kind == torch.float64:
            return self._on(edges)
        with np.errstate(over="ignore"):
            single = edges.astype(np.float32)
        down = np.nextafter(single, np.float32(-np.inf))
        return self._on(np.where(single > edges, down, single))

    @cached_property
    def offsets(self) -> torch.Tensor:
        """Place of the first bin of each column, and the end of the last, (p + 1,)."""
        return self._on(np.append(self.map.edges.starts, self.map.n_bins))

    @cached_property
    def linear(self) -> torch.Tensor:
        """Place of the sum of each column in a cell; -1 for those without one, (p,)."""
        places = np.full(self.map.p, -1, np.int64)
        known = self.map.coordinates
        places[known] = 2 * self.map.n_waves + np.arange(len(known))
        return self._on(places)

    @cached_property
    def multiplied(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both twos of scores that are multiplied with one another, (Q,) each."""
        twos = self.map.products.astype(np.int64).reshape(-1, 2)
        return self._on(twos[:, 0]), self._on(twos[:, 1])

    # -- numbers of rows ---------------------------------------------------------------------

    def standardised(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows moved and scaled, as float32."""
        scaled = (rows.double() - self.center) * self.scale
        return scaled.clamp_(-FAR, FAR).float()

    def waves(self, rows: torch.Tensor, scaled: torch.Tensor) -> torch.Tensor:
        """Cosines and sines of the turns of each row, in steps, (n, 2 F)."""
        turns = scaled @ self.turns
        turns -= turns.round()
        if len(self.map.hashed):
            turns += self._phases(rows)
        angle = (2.0 * torch.pi) * turns
        return (torch.cat([angle.cos(), angle.sin()], dim=1) * STEP).to(torch.int32)

    def coordinates(self, scaled: torch.Tensor) -> torch.Tensor:
        """Standardised columns that linear kernels look at, in steps."""
        columns = self._on(self.map.coordinates)
        return (scaled[:, columns].double() * STEP).round().to(torch.int64)

    def places(self, rows: torch.Tensor) -> torch.Tensor:
        """Number of the bin of every column of each row, (n, p)."""
        values = rows.double().T.contiguous()
        places = torch.searchsorted(self.edges, values)
        if bool((self.counted >= 0).any()):
            last = self.counted[:, None]
            inside = places.clamp(max=self.edges.shape[1] - 1)
            known = (places < last) & (self.edges.gather(1, inside) == values)
            places = torch.where((last < 0) | known, places, last)
        return places.T

    def pairs(self, places: torch.Tensor) -> torch.Tensor:
        """Products of the scores of pairs of columns, (n, 4 Q)."""
        two = torch.arange(len(self.scores), device=self.device)
        own = self.scores[two, places[:, two % self.map.p]].reshape(len(places), -1)
        left, right = self.products
        return own[:, left] * own[:, right]

    def landmarks(self, rows: torch.Tensor) -> torch.Tensor:
        """Values at landmarks of kernels that are no mixture of waves, in steps; by NumPy."""
        return self._on(self.map.at_landmarks(rows.double().cpu().numpy()))

    # -- categories --------------------------------------------------------------------------

    def _phases(self, rows: torch.Tensor) -> torch.Tensor:
        """Phases of the values of categories, in turns, (n, F)."""
        phases = self._on(self.map.phases.astype(np.int64))
        total = torch.zeros((len(rows), phases.shape[1]), dtype=torch.int64, device=self.device)
        for column, own in zip(self.map.hashed.tolist(), phases, strict=True):
            place = int(self.map.places[column])
            total += _hashed(rows[:, column].double(), place)[:, None] * own
        return (total & 0xFFFFFFFF).float() * 2.0**-32


def _ten_digits(values: torch.Tensor) -> torch.Tensor:
    """Single numbers rounded to ten binary digits after the first."""
    return ((values.view(torch.int32) + 4096) & -8192).view(torch.float32)


def _in_two(values: torch.Tensor) -> torch.Tensor:
    """Single numbers nearest to double ones, and what is left."""
    high = values.float()
    return torch.stack([high, (values - high.double()).float()])


def _hashed(values: torch.Tensor, place: int) -> torch.Tensor:
    """32 well-mixed bits of each value, as in `loops/sketch`."""
    word = (values + 0.0).view(torch.int64) + _signed(place * 0x9E3779B97F4A7C15)
    return _shifted(mixed_words(word), 32)


def mixed_words(words: torch.Tensor) -> torch.Tensor:
    """Well-mixed bits of 64 each (the last steps of SplitMix64)."""
    words = (words ^ _shifted(words, 30)) * _signed(0xBF58476D1CE4E5B9)
    words = (words ^ _shifted(words, 27)) * _signed(0x94D049BB133111EB)
    return words ^ _shifted(words, 31)


def _signed(word: int) -> int:
    """64 bits as a number with a sign."""
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


def _shifted(word: torch.Tensor, by: int) -> torch.Tensor:
    """Shifted to the right, zeros coming in."""
    return (word >> by) & ((1 << (64 - by)) - 1)
