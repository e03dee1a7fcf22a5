"""The map of a sketch on a device: the same numbers of a row as in memory, as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from nosplit._old.sketch.maps import SketchMap
from nosplit.core.feature_map import STEP

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
