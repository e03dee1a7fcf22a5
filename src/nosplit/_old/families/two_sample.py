"""Two-sample units under random swaps of x and y, which change the sign of their Ψ."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._old.pairs.draws import SignDraws, Signs
from nosplit.families.paired import Paired, paired_units
from nosplit.kernels.recipes import Recipe

__all__ = ["SwappedPairs", "fitted_units"]


@dataclass(frozen=True, eq=False)
class SwappedPairs(Paired):
    """The same units; `block` consecutive ones are swapped together in a series."""

    block: int = 1

    def draws(self, flips: int, rng: np.random.Generator) -> SignDraws:
        """Random swaps of x and y inside units."""
        return SignDraws(self, Signs(self.n_units, flips, rng, block=self.block))


def fitted_units(
    x: NDArray[Any],
    y: NDArray[Any],
    recipe: Recipe,
    rng: np.random.Generator | None = None,
    *,
    paired: bool = False,
    block: int = 1,
) -> SwappedPairs:
    """Make units with their kernels; see `paired_units`."""
    units = paired_units(x, y, recipe, rng, paired=paired)
    known = {field.name: getattr(units, field.name) for field in fields(units)}
    return SwappedPairs(**known, block=block)
