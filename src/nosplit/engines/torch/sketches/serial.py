"""Whether rows on a device depend on those before them; as `data/serial` in memory.

Neighbours are compared on the device. Only columns in which they are alike travel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from nosplit._support.types import Index
from nosplit.data.likeness import Likeness, can_be_suspected, likeness_of
from nosplit.data.serial import correlated_rows, serial_lags, serial_rows, sure_of
from nosplit.engines.torch.devices import as_array

__all__ = ["lag_inside", "lag_of", "likeness_in"]

# Values of neighbours that are ranked at once.
AT_ONCE = 1 << 24


def lag_of(*samples: torch.Tensor) -> int:
    """The largest lag at which rows of a sample still depend on one another; 0 for independence."""
    return max(_lag(rows, rows.__getitem__) for rows in samples)


def likeness_in(*samples: torch.Tensor, along: bool = True) -> Likeness:
    """Likeness of rows to those next to them (`data/likeness`), if they are few: these travel."""
    few = [rows for rows in samples if can_be_suspected(len(rows), rows.shape[1])]
    return likeness_of(*(as_array(rows).astype(np.float64) for rows in few), along=along)


def lag_inside(rows: torch.Tensor, strata: Index) -> int:
    """The same of rows about the mean of their stratum."""
    codes = torch.from_numpy(np.unique(strata, return_inverse=True)[1]).to(rows.device)
    counts = torch.bincount(codes)
    sums = torch.zeros((len(counts), rows.shape[1]), dtype=torch.float64, device=rows.device)
    step = max(1, AT_ONCE // rows.shape[1])
    for part, own in zip(rows.split(step), codes.split(step), strict=True):
        sums.index_add_(0, own, part.double())
    means = sums / counts[:, None]
    return _lag(rows, lambda places: rows[places] - means[codes[places]])


def _lag(rows: torch.Tensor, take: Callable[[torch.Tensor], torch.Tensor]) -> int:
    """The lag of rows, of which `take` brings some as they are looked at."""
    (n, p), device = rows.shape, rows.device
    starts, lags = serial_lags(n)
    if not len(starts):
        return 0
    first = torch.tensor(starts, device=device)
    both = take(first), take(first + int(lags[0]))
    step, sure = max(1, AT_ONCE // len(starts)), sure_of(len(starts), p)
    alike = [
        _alike(both[0][:, j : j + step].double(), both[1][:, j : j + step].double(), sure)
        for j in range(0, p, step)
    ]
    columns = torch.nonzero(torch.cat(alike))[:, 0]
    if not len(columns):
        return 0
    some = torch.tensor(serial_rows(n), device=device)  # copied: it must not be written to
    looked_at = as_array(take(some)[:, columns]).astype(np.float64)
    return correlated_rows(looked_at, n, p)


def _alike(here: torch.Tensor, later: torch.Tensor, sure: float) -> torch.Tensor:
    """Columns in which waves of the ranks of rows and of those after them may be correlated.

    A little more readily than in memory, where the columns that are found are looked at again.
    """
    pool = here.T.contiguous().sort(dim=1).values
    waves = []
    for rows in (here, later):
        values = rows.T.contiguous()
        low = torch.searchsorted(pool, values)
        high = torch.searchsorted(pool, values, right=True)
        rank = (low + high) / (2.0 * pool.shape[1])
        both = torch.stack([torch.cos(torch.pi * k * rank) for k in (1.0, 2.0)])
        waves.append(both - both.mean(dim=2, keepdim=True))
    scale = torch.sqrt((waves[0] ** 2).mean(dim=2) * (waves[1] ** 2).mean(dim=2))
    products = (waves[0] * waves[1]).mean(dim=2)
    likeness = torch.where(scale > 1e-12, products / scale, torch.zeros_like(scale))
    return (likeness.abs() > 0.99 * sure).any(dim=0)
