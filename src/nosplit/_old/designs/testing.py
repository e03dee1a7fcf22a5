"""From rows and their design to what a test ranks: exact kernels on all pairs, or cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nosplit._checks import new_key
from nosplit._old.designs.cells import MOST_PLACES, CellRows, Places, deal_units, sums_of_places
from nosplit._old.designs.draws import BlockDraws, SampleDraws
from nosplit._old.inference.calibrating.evidence import column_evidence
from nosplit._old.inference.outcome import Outcome, Tested
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.statistics import one_labelling, test_draws
from nosplit._old.pairs.statistics import DrawnStatistics
from nosplit._old.sketch.cells import Means, View, sketch_statistics
from nosplit._old.sketch.dealing import pilot_size
from nosplit._old.sketch.maps import fit_map
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array, Index
from nosplit.backend.threads import one_blas_thread
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Encoding
from nosplit.families.design import Design
from nosplit.kernels import Kernel
from nosplit.kernels.recipes import Recipe
from nosplit.methods import Method

__all__ = ["UnitRows", "test_design", "test_samples"]


class UnitRows(CellRows, Protocol):
    """Rows that are in units, wherever they lie."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws, (F, statistics) each."""
        ...

    def some(self, rows: Index) -> Array:
        """Rows of given numbers, ascending, in memory."""
        ...


@runtime_checkable
class ExactRows(Protocol):
    """Rows whose units are compared one by one, too: those on a device."""

    def complete(
        self, recipe: Recipe, encoding: Encoding | None, draws: BlockDraws, method: Method | None
    ) -> tuple[DrawnStatistics, tuple[Kernel, ...]]:
        """Exact kernels on all pairs of units, and what columns and flattened spectra show."""
        ...


@dataclass(frozen=True, eq=False)
class _Compared:
    """Rows in units, and what they are compared by."""

    rows: UnitRows
    recipe: Recipe
    encoding: Encoding | None

    @property
    def categorical(self) -> tuple[int, ...]:
        """Columns whose values are compared for equality only."""
        return () if self.encoding is None else self.encoding.categorical

    @property
    def owners(self) -> Any:
        """The column that each column of the rows belongs to."""
        return None if self.encoding is None else self.encoding.owners


def test_design(
    rows: UnitRows,
    design: Design,
    recipe: Recipe,
    encoding: Encoding | None,
    plan: Plan,
    method: Method | None,
    rng: np.random.Generator,
) -> Tested:
    """Test two samples whose units change places inside blocks.

    Parameters
    ----------
    rows : UnitRows
        Rows of x, then of y, that are in units.
    design : Design
        Their units and blocks.
    recipe : Recipe
        The kernels.
    encoding : Encoding or None
        How tables became rows.
    plan : Plan
        All pairs, or a sketch, and how many draws.
    method : Method or None
        As in `two_sample_test`.
    rng : Generator
        Source of the draws.
    """
    compared = _Compared(rows, recipe, encoding)
    if isinstance(plan.pairing, Sketch):
        most = min(MOST_PLACES, 2 * plan.pairing.cells)
        places = deal_units(design.starts, design.counts[:, 0], rng, most)
        left_over = int(np.count_nonzero(places.place[rows.unit] < 0))
        draws = BlockDraws(places.starts, places.counts, plan.n_resamples, new_key(rng))
        drawn, kernels = _sums_in_places(
            compared, draws, places, plan.pairing, rng, means=design.means
        )
    else:
        assert isinstance(rows, ExactRows)
        left_over = 0
        draws = BlockDraws(design.starts, design.counts[:, 0], plan.n_resamples, new_key(rng))
        drawn, kernels = rows.complete(recipe, encoding, draws, method)
    if draws.relabellings <= 1.0:
        outcome = one_labelling(drawn, method, plan.pairs)
    else:
        outcome = _ranked_design(drawn, method, recipe, plan)
    outcome = replace(outcome, relabellings=draws.relabellings)
    used = design.n_used - left_over
    return Tested(outcome, kernels, draws.n_units, used, encoding, recipe.default)


test_design.__test__ = False  # type: ignore[attr-defined]


def test_samples(
    rows: UnitRows,
    sizes: Index,
    recipe: Recipe,
    encoding: Encoding | None,
    plan: Plan,
    method: Method | None,
    rng: np.random.Generator,
) -> Tested:
    """Test several samples, of which the rows lie one after the other, by sums of cells."""
    assert isinstance(plan.pairing, Sketch)
    compared = _Compared(rows, recipe, encoding)
    places = _evenly(sizes, plan.pairing.cells, rng)
    draws = SampleDraws(np.diff(places.starts), plan.n_resamples, new_key(rng))
    drawn, kernels = _sums_in_places(compared, draws, places, plan.pairing, rng, means=False)
    used = int(np.count_nonzero(places.place >= 0))
    outcome = replace(_ranked_design(drawn, method, recipe, plan), relabellings=draws.relabellings)
    return Tested(outcome, kernels, draws.n_units, used, encoding, recipe.default)


test_samples.__test__ = False  # type: ignore[attr-defined]


def _ranked_design(
    drawn: DrawnStatistics, method: Method | None, recipe: Recipe, plan: Plan
) -> Outcome:
    """Rank the data among its draws; kernels that were asked for are all that is ranked."""
    outcome = test_draws(drawn if recipe.default else drawn.of_kernels(), method, plan.pairs)
    if not recipe.default and drawn.columns is not None:
        return replace(outcome, columns=column_evidence(drawn.columns))
    return outcome


def _sums_in_places(
    compared: _Compared,
    draws: BlockDraws | SampleDraws,
    places: Places,
    pairing: Sketch,
    rng: np.random.Generator,
    *,
    means: bool,
) -> tuple[DrawnStatistics, tuple[Kernel, ...]]:
    """Sums of features and bins in the places of cells.

    Scales and bins are those of some rows that are picked whatever their labels: rows marked at
    random change places with their marks, so that the test stays exact though they are tested, too.
    """
    N = compared.rows.n
    pilot = np.sort(rng.choice(N, min(N, 2 * pilot_size(N // 2)), replace=False))
    some = compared.rows.some(pilot)
    sketch = fit_map(
        some,
        compared.recipe.of_rare(some),
        categorical=compared.categorical,
        frequencies=pairing.frequencies or 64,
        cells=places.cells,
        key=new_key(rng),
    )
    features, bins = sums_of_places(sketch, compared.rows, places, means=means)
    with one_blas_thread():
        drawn = sketch_statistics(
            sketch,
            draws,
            draws.units(features),
            draws.units(bins),
            bins.sum(axis=0),
            compared.owners,
            see=compared.rows.see,
        )
    return drawn, sketch.kernels


def _evenly(sizes: Index, cells: int, rng: np.random.Generator) -> Places:
    """Cells of as many rows in all samples: rows are dealt at random, a few are left over."""
    c = max(1, min(int(sizes.sum()) // max(cells, 10 * len(sizes)), int(sizes.min()) // 4))
    counts = sizes // c
    starts = np.concatenate([[0], np.cumsum(counts)])
    parts = []
    for first, size, count in zip(starts, sizes, counts, strict=False):
        place = rng.permutation(size) // c
        parts.append(np.where(place < count, first + place, -1))
    return Places(np.concatenate(parts), starts, counts)
