"""Null samples of a design: the data with its exchanges made at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import new_key
from nosplit._old.designs.asked import DesignLabels
from nosplit._old.designs.draws import BlockDraws
from nosplit._old.inference.planning.costs import Sizes, design_sizes
from nosplit._types import Index
from nosplit.data.samples import Samples
from nosplit.families.design import Design, design_of
from nosplit.kernels.recipes import Recipe

__all__ = ["DesignNull", "null_of", "swapped_pairs"]


@dataclass(frozen=True, eq=False)
class DesignNull:
    """Rows of both samples, their design, and the numbers of their strata and groups."""

    rows: NDArray[Any]
    n: int
    design: Design
    labels: dict[str, Index]

    def sizes(self, recipe: Recipe) -> Sizes:
        """Sizes on which the cost of a test depends."""
        n, m = self.n, len(self.rows) - self.n
        return design_sizes(n, m, self.rows.shape[1], recipe, self.design.n_units)

    def draw(
        self, rng: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[Any], dict[str, tuple[Index, Index]]]:
        """Two samples whose units have changed places, and the labels of their rows."""
        # With no draws wanted besides the data, labellings are never listed one by one.
        draws = BlockDraws(self.design.starts, self.design.counts[:, 0], 0, new_key(rng))
        is_x = draws.weights(1, 1)[0] > 0
        used = self.design.unit >= 0
        x = used & is_x[self.design.unit]
        y = used & ~is_x[self.design.unit]
        labels = {name: (codes[x], codes[y]) for name, codes in self.labels.items()}
        return self.rows[x], self.rows[y], labels


def null_of(
    data: Samples, samples: tuple[Any, Any], labels: DesignLabels, rng: np.random.Generator
) -> DesignNull:
    """The null samples of two samples with strata, groups or both."""
    strata, groups = labels.of_rows(data.kept, samples)
    design = design_of((len(data.x), len(data.y)), strata, groups, rng)
    known = {"strata": strata, "groups": groups}
    codes = {name: own.codes for name, own in known.items() if own is not None}
    return DesignNull(np.concatenate([data.x, data.y]), len(data.x), design, codes)


def swapped_pairs(
    x: NDArray[Any], y: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both rows of every pair, in an order that chance decides."""
    swap = (rng.random(len(x)) < 0.5)[:, None]
    return np.where(swap, y, x), np.where(swap, x, y)
