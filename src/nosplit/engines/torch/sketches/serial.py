"""Whether rows on a device depend on those before them; as `data/serial` in memory.

Neighbours are compared on the device. Only columns in which they are alike travel.
"""

from __future__ import annotations

import numpy as np
import torch

from nosplit.data.serial import correlated_rows, serial_lags, serial_rows, sure_of
from nosplit.engines.torch.devices import as_array

__all__ = ["lag_of"]

# Values of neighbours that are ranked at once.
AT_ONCE = 1 << 24


def lag_of(*samples: torch.Tensor) -> int:
    """The largest lag at which rows of a sample still depend on one another; 0 for independence."""
    return max(_lag(rows) for rows in samples)


def _lag(rows: torch.Tensor) -> int:
    n, device = len(rows), rows.device
    starts, lags = serial_lags(n)
    if not len(starts):
        return 0
    first = torch.tensor(starts, device=device)
    both = rows[first], rows[first + int(lags[0])]
    step, sure = max(1, AT_ONCE // len(starts)), sure_of(len(starts), rows.shape[1])
    alike = [
        _alike(both[0][:, j : j + step].double(), both[1][:, j : j + step].double(), sure)
        for j in range(0, rows.shape[1], step)
    ]
    columns = torch.nonzero(torch.cat(alike))[:, 0]
    if not len(columns):
        return 0
    some = torch.tensor(serial_rows(n), device=device)  # copied: it must not be written to
    looked_at = as_array(rows[some][:, columns]).astype(np.float64)
    return correlated_rows(looked_at, n, rows.shape[1])


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
