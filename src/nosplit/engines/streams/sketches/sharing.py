"""Parts that accumulators of sketches share, whatever their family: counts, draws, merging."""

from __future__ import annotations

import os
from typing import Any, Self

from nosplit._support.checks import check_int, check_rng
from nosplit.engines.streams.base import Accumulator
from nosplit.errors import InputError
from nosplit.pairs.pairing import Pairing, Sketch

__all__ = ["SketchingAccumulator", "sketch_settings"]

# Blocks of a long stream, at the least; twice as many at the most.
CELLS = 512


def sketch_settings(pairs: Pairing | str, limit: int, rng: Any) -> tuple[Sketch, int, int, int]:
    """The sketch, the rows that may wait, and keys of the map and of the draws."""
    pairing = pairs if isinstance(pairs, Sketch) else Sketch(CELLS)
    key, draws = (int(k) for k in check_rng(rng).integers(2**53, size=2))
    return pairing, check_int(limit, "limit", least=1), key, draws


class SketchingAccumulator(Accumulator):
    """An accumulator of sums in blocks; its flow and its state are a family's."""

    # Of the same use as those of moments.
    _flow: Any
    _state: Any

    @property
    def n_waiting(self) -> int:
        """Rows that wait for others."""
        return int(self._flow.n_waiting(self._state))

    def counts(self) -> dict[str, int]:
        """Number of pairs and units, and what became of the rows."""
        return {
            **self._flow.tally(self._state),
            "n_waiting": self.n_waiting,
            "n_dropped": self.n_dropped,
            "n_omitted": self._state.n_omitted,
        }

    @property
    def _n_pairs(self) -> int:
        return int(self._flow.tally(self._state)["n_pairs"])

    @property
    def _named(self) -> Any:
        """The kernels as they were asked for."""
        raise NotImplementedError

    @property
    def _width(self) -> Any:
        """Columns of the rows, once they are known."""
        raise NotImplementedError

    def _same_map(self, other: Self) -> bool:
        """Whether the maps of both are the same."""
        raise NotImplementedError

    def __iadd__(self, other: Self) -> Self:
        flow = self._flow
        took = super().__iadd__(other)
        if took is self and flow is not other._flow and self._state.bank is other._state.bank:
            # The map came from the other: whatever is made like this one is like that one.
            self._flow = other._flow
        return took

    def _check_kernels(self, other: Self) -> None:
        known = [a._state.bank is not None for a in (self, other)]
        if all(known):
            same = self._state.bank is other._state.bank or self._same_map(other)
        else:  # rows that have no map yet take the other's, if they have no kernels of their own
            given = [a._named for a in (self, other)]
            unfixed = [k for k, has in zip(given, known, strict=True) if not has]
            same = given[0] == given[1] or unfixed == [None]
        if not same:
            raise InputError(
                "Accumulators must have the same kernels and the same map to be added, and these "
                "have not: bandwidths, scales and bins come from the first rows of each. Make the "
                f"others with {self._name}.like(first)."
            )

    def _check_widths(self, other: Self) -> None:
        ours, theirs = self._width, other._width
        if None not in (ours, theirs) and ours != theirs:
            raise InputError(
                "Accumulators must be of rows with the same number of columns to be added, got "
                f"{ours} and {theirs}."
            )

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Sums of bounded numbers can always be read back."""
