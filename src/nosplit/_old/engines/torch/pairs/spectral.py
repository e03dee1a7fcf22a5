"""Flattened spectra of pooled rows on a device: the features of `kernels/derived/eigenbases`."""

from __future__ import annotations

import numpy as np
import torch

from nosplit._old.engines.torch.pairs.values import tensor_kernel_values
from nosplit._old.engines.torch.sketches.maps import mixed_words
from nosplit._types import Array
from nosplit.kernels import Gaussian
from nosplit.kernels.eigenbases import (
    FAMILY,
    JITTER,
    RANK,
    SCALE_ROWS,
    SHARE,
    UNEVEN,
    gains_of,
    leading_count,
    n_landmarks,
    spread_out,
    widths_of,
)

__all__ = ["default_features", "sorted_tensor"]


def sorted_tensor(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows in the order of `sorted_rows`, and the place of each of the given rows in it."""
    keys = _keys_of_rows(rows)
    found, order = keys.sort(stable=True)
    if bool((found[1:] == found[:-1]).any()):
        order = torch.arange(len(rows), device=rows.device)
        for column in reversed(range(rows.shape[1])):
            order = order[rows[order, column].sort(stable=True).indices]
        order = order[keys[order].sort(stable=True).indices]
    ordered = rows[order]
    new = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
    new[1:] = (ordered[1:] != ordered[:-1]).any(dim=1)
    number = torch.arange(len(rows), device=rows.device)
    place = torch.empty_like(order)
    place[order] = torch.where(new, number, torch.zeros_like(number)).cummax(dim=0).values
    return ordered, place


def _keys_of_rows(rows: torch.Tensor) -> torch.Tensor:
    """A number for each row, mixed from its ranks in all columns."""
    keys = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    for column in rows.T:
        values, order = column.sort(stable=True)
        ranks = torch.zeros_like(keys)
        ranks[order[1:]] = (values[1:] != values[:-1]).cumsum(dim=0)
        own = mixed_words(ranks)
        keys += mixed_words(own + mixed_words(own.sum(dim=0, keepdim=True)))
    return keys


def default_features(rows: torch.Tensor) -> list[tuple[torch.Tensor, Array]]:
    """Features of sorted rows in each default eigenbasis, (n, R), and gains of their squares."""
    ordered = rows.sort(dim=0).values
    live = (ordered[-1] > ordered[0]).cpu().numpy()
    if not live.any():
        return []
    spreads = _spreads(rows, ordered).cpu().numpy()
    if not spreads[live].max() > UNEVEN * spreads[live].min():
        return _of_scale(rows, medians=True)
    scaled = rows / torch.from_numpy(spreads).to(rows.device)
    return _of_scale(rows, medians=False) + _of_scale(scaled, medians=False)


def _spreads(rows: torch.Tensor, ordered: torch.Tensor) -> torch.Tensor:
    """Interquartile range of each column over 1.349; its standard deviation where that is 0."""
    n = len(ordered)
    quartiles = []
    for level in (0.25, 0.75):
        at = level * (n - 1)
        low, high = ordered[int(at)], ordered[min(int(at) + 1, n - 1)]
        quartiles.append(low + (high - low) * (at - int(at)))
    spread = (quartiles[1] - quartiles[0]) / 1.349
    spread = torch.where(spread > 0, spread, rows.std(dim=0, correction=0))
    return torch.where(spread > 0, spread, torch.ones_like(spread))


def _of_scale(rows: torch.Tensor, *, medians: bool) -> list[tuple[torch.Tensor, Array]]:
    """Features in the bases of rows of one scale."""
    n = len(rows)
    marks, some = (
        torch.from_numpy(spread_out(n, most)).to(rows.device)
        for most in (n_landmarks(n), SCALE_ROWS)
    )
    landmarks = rows[marks]
    distances = _exact_distances(rows[some], landmarks).T.cpu().numpy()
    found = []
    for width in widths_of(distances, medians=medians):
        K = tensor_kernel_values([Gaussian(width)], "tile", rows, landmarks)[0]
        found.append(_features(K, marks))
    return found


def _exact_distances(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")


def _features(K: torch.Tensor, marks: torch.Tensor) -> tuple[torch.Tensor, Array]:
    """Leading eigenvectors of a kernel on pooled rows (Nyström), from values at the landmarks."""
    core = K[marks]
    core = (core + core.T) / 2.0
    core += torch.eye(len(core), dtype=core.dtype, device=core.device) * (
        JITTER * core.trace() / len(core)
    )
    factor = torch.linalg.cholesky(core)
    inverse = torch.linalg.solve_triangular(factor, torch.eye(len(core)).to(factor), upper=False)
    features = K @ inverse.T
    mean = features.mean(dim=0)
    moment = features.T @ features - len(K) * torch.outer(mean, mean)
    eigenvalues, vectors = torch.linalg.eigh(moment)
    values = eigenvalues.flip(0).cpu().numpy()
    rank = leading_count(values, max(2, min(int(SHARE * (len(K) // 2)), RANK, len(values))))
    values = values[:rank]
    keep = values > max(1e-7 * values[0], np.finfo(float).tiny)
    keep[0] = True
    kept = torch.from_numpy(np.flatnonzero(keep)).to(K.device)
    vectors = vectors.flip(1)[:, kept]
    largest = np.maximum(values[keep], np.finfo(float).tiny)
    return features @ vectors - mean @ vectors, gains_of(largest, FAMILY)
