"""Columns and flattened spectra of rows on a device, under draws.

As `sketch/rows` in memory: all that rows are looked at with is made of the pooled rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import torch

from nosplit._old.engines.torch.pairs.looks import Looks, TensorSwaps
from nosplit._old.engines.torch.pairs.spectral import default_features, sorted_tensor
from nosplit._old.pairs.statistics import ColumnDraws, Seen
from nosplit._old.sketch.bins import (
    MOST_BINS,
    ROWS_A_CATEGORY,
    ColumnBins,
    bin_scores,
    edge_table,
    fit_bins,
    joined_bins,
    number_of_bins,
)
from nosplit._old.sketch.columns.distances import (
    COLUMNS,
    FEWEST,
    STEPS,
    distance_axes,
    squares,
)
from nosplit._old.sketch.columns.waves import wave_lenses, waves_of_ranks
from nosplit._old.sketch.lenses import in_steps, lenses_of_bins, of_lenses
from nosplit._old.sketch.rows import (
    MOST_COLUMNS,
    NOTHING,
    column_groups,
    live_statistics,
)
from nosplit._old.sketch.swaps import Swaps
from nosplit._old.sketch.units import Lens, lenses_in_turn
from nosplit._types import Array

__all__ = ["look_at_tensors", "look_under_draws"]

# Counts that are kept at once: of units in bins.
COUNTS = 1 << 28


def look_at_tensors(
    x: torch.Tensor,
    y: torch.Tensor,
    weights: torch.Tensor,
    *,
    categorical: Sequence[int] = (),
    owners: Sequence[int] | None = None,
) -> Seen:
    """Look at columns and flattened spectra under every draw.

    Parameters
    ----------
    x, y : tensor, shape (n, p) and (m, p)
        The samples; where units have signs, row i of both is one.
    weights : tensor, shape (F, n) or (F, n + m)
        Signs of units under each draw, the observed one first; or 1 for rows labelled x and 0 for
        others.
    categorical : sequence of int
        Columns whose values are compared for equality only.
    owners : sequence of int, optional
        The column that each column of the rows belongs to, where one has several.
    """
    labels = weights.shape[1] > len(x)
    swaps = Swaps(len(x), len(y), len(weights) - 1, 0, labels=labels)
    looks = Looks(TensorSwaps(swaps), weights)
    return look_under_draws(looks, torch.cat([x, y]), categorical=categorical, owners=owners)


def look_under_draws(
    looks: Looks,
    rows: torch.Tensor,
    *,
    categorical: Sequence[int] = (),
    owners: Sequence[int] | None = None,
) -> Seen:
    """Look at columns and flattened spectra of pooled rows under draws of any kind."""
    pooled = rows.double()
    p = pooled.shape[1]
    names = range(p) if owners is None else owners
    numbers = [j for j in range(p) if j not in set(categorical)]
    own = pooled[:, numbers] if categorical else pooled
    tau, cov = _spectral_looks(looks, own)
    bins = _fit(pooled, set(categorical))
    places = _places(pooled, bins)
    columns = _column_looks(looks, bins, places, names)
    pairs = _pair_looks(looks, bins, places, names)
    return Seen(tau, cov, columns, pairs, _distance_looks(looks, own))


def _spectral_looks(looks: Looks, pooled: torch.Tensor) -> tuple[Array, Array]:
    """Statistics of kernels with flattened spectra, and their covariance matrix."""
    if not pooled.shape[1]:
        return NOTHING
    rows, place = sorted_tensor(pooled)
    bases = default_features(rows)
    if not bases:
        return NOTHING
    units = looks.units(torch.cat([features for features, _ in bases], dim=1)[place])
    lenses = lenses_in_turn(units.steps, [gains for _, gains in bases])
    N = looks.draws.n_units
    m = N * (N - 1) // 2
    seen = looks.see(units, lenses, looks.means(units, lenses))
    tau = seen / (2.0 * np.sqrt(m) * looks.draws.spread)
    cov = looks.covariance(units, lenses, m)
    return live_statistics(tau, cov)


# -- columns -----------------------------------------------------------------------------------


def _fit(pooled: torch.Tensor, categorical: set[int]) -> list[ColumnBins]:
    """The bins that `fit_bins` makes of every column, whose quantiles are read off sorted rows."""
    n, p = pooled.shape
    count = number_of_bins(n, p)
    most = min(MOST_BINS, 2 * count + 2)
    count = max(2, min(most, count))
    ordered = pooled.sort(dim=0).values
    levels = np.arange(1, count) / count
    at = np.quantile(np.arange(n), levels, method="inverted_cdf").astype(np.int64)
    middle = ordered[torch.from_numpy(at).to(pooled.device)].cpu().numpy()
    # Values that so many rows share: the first of each run of them.
    often = max(2, n // count)
    run = ordered[: n - often + 1] == ordered[often - 1 :]
    run[1:] &= ordered[1 : n - often + 1] != ordered[: n - often]
    place = torch.nonzero(run)
    columns, shared = place[:, 1].cpu().numpy(), ordered[: len(run)][run].cpu().numpy()
    found = []
    for j in range(p):
        if j in categorical:
            column = pooled[:, j].cpu().numpy()
            own = fit_bins(column, categories=True, most=MOST_BINS, fewest=ROWS_A_CATEGORY)
        else:
            own = joined_bins(middle[:, j], shared[columns == j], most)
        found.append(own)
    return found


def _places(pooled: torch.Tensor, bins: Sequence[ColumnBins]) -> torch.Tensor:
    """Number of the bin of every column of each row, (n, p)."""
    table = edge_table(bins)
    edges = torch.from_numpy(table.edges[:, :-1].copy()).to(pooled.device)
    last = torch.from_numpy(table.counted)[:, None]
    values, last = pooled.T.contiguous(), last.to(pooled.device)
    places = torch.searchsorted(edges, values)
    inside = places.clamp(max=edges.shape[1] - 1)
    known = (last < 0) | ((places < last) & (edges.gather(1, inside) == values))
    return torch.where(known, places, last).T


def _column_looks(
    looks: Looks, bins: Sequence[ColumnBins], places: torch.Tensor, names: Sequence[int]
) -> ColumnDraws:
    groups = column_groups(bins, max(512, min(8192, COUNTS // looks.bytes_a_bin(len(places)))))
    parts = [_group(looks, bins, places, names, group) for group in groups]
    return ColumnDraws.joined(parts)


def _group(
    looks: Looks,
    bins: Sequence[ColumnBins],
    places: torch.Tensor,
    names: Sequence[int],
    group: range,
) -> ColumnDraws:
    """Statistics of some columns, from counts of units in their bins."""
    ends = np.cumsum([len(bins[j]) for j in group])
    starts = np.concatenate([[0], ends[:-1]])
    at = places[:, group.start : group.stop] + torch.from_numpy(starts).to(places.device)
    units = looks.counted(at, int(ends[-1]))
    pooled = torch.bincount(at.ravel(), minlength=int(ends[-1])).double().cpu().numpy()
    lenses: list[Lens] = []
    which: list[int] = []
    for j, start in zip(group, starts, strict=True):
        where = slice(int(start), int(start) + len(bins[j]))
        found = lenses_of_bins(
            where, pooled[where], categories=bins[j].categories, alone=len(bins) == 1
        )
        lenses += [in_steps(lens, units.steps[where]) for lens in found]
        which += [names[j]] * len(found)
    return looks.columns(units, lenses, of_lenses(which, lenses))


def _pair_looks(
    looks: Looks, bins: Sequence[ColumnBins], places: torch.Tensor, names: Sequence[int]
) -> ColumnDraws | None:
    """Look at pairs of columns that do not belong together: of numbers, at several scales."""
    varying = torch.nonzero((places != places[0]).any(dim=0)).ravel().tolist()
    both = [(j, k) for j, k in combinations(varying, 2) if names[j] != names[k]]
    if not both or len(varying) > MOST_COLUMNS:
        return None
    numbers = not any(own.categories for own in bins)
    if numbers:
        columns = zip(places.T, bins, strict=True)
        counts = [torch.bincount(at, minlength=len(own)).cpu().numpy() for at, own in columns]
        table = waves_of_ranks(counts, len(both))
    else:
        table = bin_scores(bins, 0).astype(np.float64)
    scores = torch.from_numpy(table).to(places.device)
    own = scores[torch.arange(len(bins), device=places.device), places]
    left, right = own[:, [j for j, _ in both]], own[:, [k for _, k in both]]
    units = looks.units((left[:, :, :, None] * right[:, :, None, :]).reshape(len(own), -1))
    if numbers:
        lenses, which = wave_lenses(units.steps, table.shape[2])
    else:
        lenses = lenses_in_turn(units.steps, [np.ones((4, 1))] * len(both))
        which = np.arange(len(both))
    found = looks.columns(units, lenses, which)
    return replace(found, both=[(names[j], names[k]) for j, k in both])


def _distance_looks(looks: Looks, rows: torch.Tensor) -> Array | None:
    """Look at how far rows lie from the middle; None if no two columns tell."""
    distances = _distances_on(rows)
    if distances is None:
        return None
    _, at, repeats = distances.unique(return_inverse=True, return_counts=True)
    axes = torch.from_numpy(distance_axes(repeats.cpu().numpy())).to(rows.device)
    units = looks.units(axes[at])
    lenses = lenses_in_turn(units.steps, [np.ones((2, 1))])
    return looks.see(units, lenses, looks.means(units, lenses))[:, 0]


def _distances_on(rows: torch.Tensor) -> torch.Tensor | None:
    """Find what `distances_of` does, on a device."""
    n = len(rows)
    known = torch.from_numpy(squares(n)).to(rows.device)
    place = torch.arange(n, device=rows.device)[:, None]
    total, telling = torch.zeros(n, dtype=torch.float64, device=rows.device), 0
    for part in rows.split(COLUMNS, dim=1):
        ordered, order = part.sort(dim=0)
        new, ends = ordered[1:] != ordered[:-1], torch.ones_like(order[:1], dtype=torch.bool)
        first = torch.where(torch.cat([ends, new]), place, 0).cummax(dim=0).values
        last = torch.where(torch.cat([new, ends]), place, n - 1)
        values = known[first + last.flip(0).cummin(dim=0).values.flip(0) + 1]
        values = values - values.mean(dim=0)
        size = values.square().mean(dim=0).sqrt()
        own = (new.sum(dim=0) >= FEWEST - 1) & (size > 0.0)
        steps = torch.round(values * torch.where(own, STEPS / size, 0.0))
        total += torch.empty_like(steps).scatter_(0, order, steps).sum(dim=1)
        telling += int(own.sum())
    return total if telling > 1 else None
