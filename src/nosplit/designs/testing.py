"""From rows and their design to what a test ranks: exact kernels on all pairs, or cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import new_key
from nosplit._support.types import Array, Index
from nosplit.data.tables.encoding import Encoding
from nosplit.designs.cells import MOST_PLACES, Places, deal_units, sums_of_places
from nosplit.designs.design import Design
from nosplit.designs.draws import BlockDraws, SampleDraws
from nosplit.designs.pairs import UnitDraws, label_statistics, sample_statistics, unit_gram
from nosplit.errors import InputError
from nosplit.inference.calibrating.evidence import column_evidence
from nosplit.inference.outcome import Outcome, Tested
from nosplit.inference.planning.plan import Plan
from nosplit.inference.statistics import test_draws
from nosplit.kernels import Kernel
from nosplit.kernels.bank import Bank
from nosplit.kernels.defaults.recipes import Recipe, check_own_kernel
from nosplit.kernels.derived.eigenbases import SCALE_ROWS, sorted_rows, spread_out
from nosplit.methods import Adaptive, Method
from nosplit.pairs.loop import one_blas_thread
from nosplit.pairs.pairing import Sketch
from nosplit.pairs.statistics import DrawnStatistics
from nosplit.sketch.cells import sketch_statistics
from nosplit.sketch.dealing import pilot_size
from nosplit.sketch.maps import fit_map
from nosplit.sketch.rows import look_under

__all__ = ["test_design", "test_samples"]


@dataclass(frozen=True, eq=False)
class _Units:
    """Rows that are in units, and how they are to be looked at."""

    rows: NDArray[Any]
    unit: Index
    means: bool
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
    rows: NDArray[Any],
    design: Design,
    recipe: Recipe,
    encoding: Encoding | None,
    plan: Plan,
    method: Method | None,
    rng: np.random.Generator,
    workers: int | None,
) -> Tested:
    """Test two samples whose units change places inside blocks.

    Parameters
    ----------
    rows : array, shape (n + m, p)
        Rows of x, then of y.
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
    workers : int, optional
        Threads; all cores by default.
    """
    dealt = design.unit >= 0
    units = _Units(rows[dealt], design.unit[dealt], design.means, recipe, encoding)
    if isinstance(plan.pairing, Sketch):
        most = min(MOST_PLACES, 2 * plan.pairing.cells)
        places = deal_units(design.starts, design.counts, rng, most)
        left_over = int(np.count_nonzero(places.place[units.unit] < 0))
        draws = BlockDraws(places.starts, places.counts, plan.flips, new_key(rng))
        drawn, kernels = _sketched(units, draws, places, plan.pairing, rng, workers)
    else:
        left_over = 0
        draws = BlockDraws(design.starts, design.counts, plan.flips, new_key(rng))
        drawn, kernels = _complete(units, draws, method, workers)
    outcome = _ranked(drawn, method, recipe, plan)
    used = design.n_used - left_over
    return Tested(outcome, kernels, draws.n_units, used, encoding, recipe.default)


test_design.__test__ = False  # type: ignore[attr-defined]


def test_samples(
    rows: NDArray[Any],
    sizes: Index,
    recipe: Recipe,
    encoding: Encoding | None,
    plan: Plan,
    method: Method | None,
    rng: np.random.Generator,
    workers: int | None,
) -> Tested:
    """Test several samples, of which the rows lie one after the other, by permuting all labels."""
    units = _Units(rows, np.arange(len(rows)), False, recipe, encoding)
    if isinstance(plan.pairing, Sketch):
        places = _evenly(sizes, plan.pairing.cells, rng)
        counts = np.diff(places.starts)
        draws = SampleDraws(counts, plan.flips, new_key(rng))
        drawn, kernels = _sketched(units, draws, places, plan.pairing, rng, workers)
        used = int(np.count_nonzero(places.place >= 0))
    else:
        draws, used = SampleDraws(sizes, plan.flips, new_key(rng)), len(rows)
        drawn, kernels = _complete(units, draws, method, workers)
    outcome = _ranked(drawn, method, recipe, plan)
    return Tested(outcome, kernels, draws.n_units, used, encoding, recipe.default)


test_samples.__test__ = False  # type: ignore[attr-defined]


def _ranked(drawn: DrawnStatistics, method: Method | None, recipe: Recipe, plan: Plan) -> Outcome:
    """Rank the data among its draws; kernels that were asked for are all that is ranked."""
    outcome = test_draws(drawn if recipe.default else drawn.of_kernels(), method, plan.pairs)
    if not recipe.default and drawn.columns is not None:
        return replace(outcome, columns=column_evidence(drawn.columns))
    return outcome


def _complete(
    units: _Units, draws: BlockDraws | SampleDraws, method: Method | None, workers: int | None
) -> tuple[DrawnStatistics, tuple[Kernel, ...]]:
    """Exact kernels on all pairs of units, and what columns and flattened spectra show."""
    rows = np.asarray(units.rows, dtype=np.float64)
    kernels = _fitted(units.recipe, rows)
    K = unit_gram(rows, Bank(kernels), units.unit, workers)
    weights = np.concatenate([draws.weights(*chunk) for chunk in draws.chunks()])
    if isinstance(draws, BlockDraws):
        tau, cov = label_statistics(K, draws, weights)
    else:
        tau, cov = sample_statistics(K, draws, weights)
    N = draws.n_units
    drawn = DrawnStatistics(tau, (cov + cov.T) / 2.0, N, N * (N - 1) // 2)
    if not units.recipe.default or not isinstance(method or Adaptive(), Adaptive):
        return drawn, kernels
    known = UnitDraws(draws, weights, workers, units.unit)
    seen = look_under(known, rows, categorical=units.categorical, owners=units.owners)
    return DrawnStatistics(drawn.tau, drawn.cov, N, drawn.n_pairs, *seen), kernels


def _fitted(recipe: Recipe, rows: Array) -> tuple[Kernel, ...]:
    """Kernels with bandwidths from the pooled rows, in an order that says nothing of labels."""
    ordered, _ = sorted_rows(rows)
    some = ordered[spread_out(len(ordered), SCALE_ROWS)]
    try:
        kernels = recipe.of_rare(some).fit(some)
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "the samples")) from None
    for kernel in kernels:
        check_own_kernel(kernel, some[:2], some[:4])
    return kernels


def _sketched(
    units: _Units,
    draws: BlockDraws | SampleDraws,
    places: Places,
    pairing: Sketch,
    rng: np.random.Generator,
    workers: int | None,
) -> tuple[DrawnStatistics, tuple[Kernel, ...]]:
    """Sums of features and bins in the places of cells.

    Scales and bins are those of some rows that are picked whatever their labels: rows marked at
    random change places with their marks, so that the test stays exact though they are tested, too.
    """
    N = len(units.rows)
    pilot = np.sort(rng.choice(N, min(N, 2 * pilot_size(N // 2)), replace=False))
    some = np.asarray(units.rows[pilot], dtype=np.float64)
    sketch = fit_map(
        some,
        units.recipe.of_rare(some),
        categorical=units.categorical,
        frequencies=pairing.frequencies or 64,
        cells=places.cells,
        key=new_key(rng),
    )
    features, bins = sums_of_places(
        sketch, units.rows, units.unit, places, means=units.means, workers=workers
    )
    with one_blas_thread():
        drawn = sketch_statistics(
            sketch,
            draws,
            draws.units(features),
            draws.units(bins),
            bins.sum(axis=0),
            units.owners,
            workers,
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
