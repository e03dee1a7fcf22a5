"""Units in blocks on a device: means over groups of rows, and labels that change places.

As `designs/pairs` in memory. Means are taken over runs of one length at a time, so that a device
adds them in the same order every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from nosplit._old.designs.draws import BlockDraws
from nosplit._old.engines.torch.devices import tensor_on
from nosplit._old.engines.torch.pairs.pooled import TILE, TensorPooled
from nosplit._old.engines.torch.products import tensor_signed_sums
from nosplit._types import Array, Index
from nosplit.kernels.bank import Bank

__all__ = ["TensorBlocks", "TensorRuns", "block_statistics", "tensor_gram"]

# Numbers that are worked on in double precision at once.
AT_ONCE = {"cpu": 1 << 21, "cuda": 1 << 26}


class TensorRuns:
    """Runs of numbers, one after the other, of given lengths."""

    def __init__(self, lengths: Index, device: torch.device) -> None:
        self.count = len(lengths)
        starts = np.cumsum(lengths) - lengths
        self._alike = []
        for length in np.unique(lengths):
            which = np.flatnonzero(lengths == length)
            places = starts[which][:, None] + np.arange(length)
            self._alike.append((tensor_on(which, device), tensor_on(places, device)))

    def means(self, values: torch.Tensor) -> torch.Tensor:
        """Means over runs of the last numbers but one, (..., runs, k)."""
        shape = (*values.shape[:-2], self.count, values.shape[-1])
        found = torch.empty(shape, dtype=values.dtype, device=values.device)
        for which, places in self._alike:
            found[..., which, :] = values[..., places, :].mean(dim=-2)
        return found

    def centred(self, values: torch.Tensor) -> torch.Tensor:
        """Values about the means of their runs, of the last numbers but one."""
        found = torch.empty_like(values)
        for _, places in self._alike:
            own = values[..., places, :]
            found[..., places, :] = own - own.mean(dim=-2, keepdim=True)
        return found


@dataclass(frozen=True, eq=False)
class TensorBlocks:
    """Draws of labels of units inside blocks; units are means of rows.

    Parameters
    ----------
    draws : BlockDraws
        The draws.
    unit : array of int
        The unit of each row.
    device : device
        Where.
    """

    draws: BlockDraws
    unit: Index
    device: torch.device

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.draws.n_units

    @property
    def spread(self) -> float:
        """Mean square of a weight: `about_mean` has it in it already, as blocks differ in it."""
        return 1.0

    @property
    def share(self) -> float:
        """Mean over all draws of a squared sum, over the sum of squares of `about_mean`."""
        return 1.0

    @cached_property
    def order(self) -> torch.Tensor:
        """Rows of the first unit, then those of the second, and so on."""
        return tensor_on(np.argsort(self.unit, kind="stable"), self.device)

    @cached_property
    def _groups(self) -> TensorRuns:
        return TensorRuns(np.bincount(self.unit), self.device)

    @cached_property
    def runs(self) -> TensorRuns:
        """The blocks: units lie block by block."""
        return TensorRuns(self.draws.sizes, self.device)

    @cached_property
    def _root(self) -> torch.Tensor:
        return tensor_on(np.sqrt(self.draws.variances), self.device)

    def own(self, values: torch.Tensor) -> torch.Tensor:
        """Means of the rows of each unit, about the mean of its block, which no draw moves."""
        values = values[self.order].double()
        if len(values) > self.n_units:
            values = self._groups.means(values)
        return self.runs.centred(values)

    def centre(self, units: torch.Tensor) -> torch.Tensor:
        """Mean over all draws of sums of units, whole numbers, that are labelled x."""
        return tensor_on(self.draws.shares, self.device) @ units.double()

    def about_mean(self, along: torch.Tensor) -> torch.Tensor:
        """Units about the mean of their block, times the spread of their labels."""
        return self._root[:, None] * self.runs.centred(along)


def tensor_gram(rows: torch.Tensor, bank: Bank, unit: Index) -> torch.Tensor:
    """Kernel values of all pairs of units, (d, U, U): means over their rows.

    `unit` is the unit of each row; all rows are in one.
    """
    order = np.argsort(unit, kind="stable")
    own, sizes = unit[order], np.bincount(unit)
    N, U = len(own), len(sizes)
    pooled = TensorPooled(rows[tensor_on(order, rows.device)], bank)
    side = TILE["cuda" if rows.is_cuda else "cpu"]
    cuts = [slice(i, min(i + side, N)) for i in range(0, N, side)]
    spans = [slice(int(own[c.start]), int(own[c.stop - 1]) + 1) for c in cuts]
    shares = None if U == N else [_shares_in_means(own[c], sizes, rows) for c in cuts]
    K = torch.zeros((len(bank), U, U), dtype=rows.dtype, device=rows.device)
    for i, (a, left) in enumerate(zip(cuts, spans, strict=True)):
        for j, (b, right) in enumerate(zip(cuts[i:], spans[i:], strict=True), start=i):
            values = pooled.values(a, b)
            if shares is not None:
                values = shares[i] @ values @ shares[j].T
            K[:, left, right] += values
            if a != b:
                K[:, right, left] += values.transpose(1, 2)
    return K


def _shares_in_means(own: Index, sizes: Index, rows: torch.Tensor) -> torch.Tensor:
    """The share of each row of a tile in the mean of its unit, (units, rows)."""
    first = int(own[0])
    shares = np.zeros((int(own[-1]) - first + 1, len(own)))
    shares[own - first, np.arange(len(own))] = 1.0 / sizes[own]
    return tensor_on(shares, rows.device).to(rows.dtype)


def block_statistics(
    K: torch.Tensor, blocks: TensorBlocks, weights: torch.Tensor
) -> tuple[Array, Array]:
    """Statistics of kernels under labels permuted inside blocks, (F, d), and their covariance.

    As `label_statistics` in memory; `K`, values of all pairs of units, is overwritten. Weights are
    1 for units labelled x and 0 for others, (F, U).
    """
    draws, N = blocks.draws, blocks.n_units
    m = N * (N - 1) // 2
    share, variance = (tensor_on(v, K.device) for v in (draws.shares, draws.variances))
    # As signs, samples that call each other's names tie exactly where blocks have as many of both.
    even = bool(np.all(draws.shares == 0.5))
    signs, scale = (2 * weights - 1, 0.25) if even else (weights, 1.0)
    # A unit with itself is no pair: the squares of labels less their means are left out.
    alone = (1.0 - 2.0 * share) * K.diagonal(dim1=1, dim2=2).double()
    _centre_blocks(K, blocks)
    total = scale * _signed_values(K, signs)
    total -= torch.cat([part.double() @ alone.T for part in weights.split(1 << 10)])
    total -= K.diagonal(dim1=1, dim2=2).double() @ variance - alone @ share
    K.diagonal(dim1=1, dim2=2).zero_()
    pairs = tensor_on(draws.starts[:-1][draws.sizes == 2], K.device)
    K[:, pairs, pairs + 1] = 0.0  # which no draw changes
    K[:, pairs + 1, pairs] = 0.0
    tau = total / (2.0 * float(np.sqrt(m)))
    return tau.cpu().numpy(), (_weighted_products(K, variance.sqrt()) / (2.0 * m)).cpu().numpy()


def _centre_blocks(K: torch.Tensor, blocks: TensorBlocks) -> None:
    """Make values those about the means of the blocks of both units, in place."""
    for values in (K, K.transpose(1, 2)):
        for part in values.split(_step(K), dim=2):
            part.copy_(blocks.runs.centred(part.double()))


def _signed_values(K: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
    """Sums of values of all pairs of units, times the weights of both, (F, d)."""
    side = TILE["cuda" if K.is_cuda else "cpu"]
    N = K.shape[1]
    cuts = [slice(i, min(i + side, N)) for i in range(0, N, side)]
    total = torch.zeros((len(signs), len(K)), dtype=torch.float64, device=K.device)
    for i, a in enumerate(cuts):
        for b in cuts[i:]:  # the values are symmetric
            twice = 1.0 if a == b else 2.0
            total += twice * tensor_signed_sums(signs[:, a], K[:, a, b], signs[:, b])
    return total


def _weighted_products(K: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
    """Sums of products of weighted values of two kernels, for all of them."""
    step = _step(K)
    total = torch.zeros((len(K), len(K)), dtype=torch.float64, device=K.device)
    for start in range(0, K.shape[1], step):
        some = slice(start, start + step)
        each = (K[:, some].double() * (root[some, None] * root)).transpose(0, 1)
        total += (each @ each.transpose(1, 2)).sum(dim=0)
    return total


def _step(K: torch.Tensor) -> int:
    """Units that are worked on at once."""
    return max(1, AT_ONCE[K.device.type] // int(K.shape[0] * K.shape[1]))
