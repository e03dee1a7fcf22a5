"""All rows of two samples of different sizes, each with a label: tiles on a device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from nosplit._old.engines.torch.pairs.values import tensor_kernel_values
from nosplit._old.engines.torch.products import tensor_signed_sums
from nosplit._old.families.pooled import TILE as LEVEL
from nosplit._old.families.pooled import labelled_statistics
from nosplit._types import Array
from nosplit.kernels import Linear
from nosplit.kernels.bank import Bank

__all__ = ["TensorPooled"]

# Rows of a tile of the kernel matrix.
TILE = {"cpu": 256, "cuda": 2048}


@dataclass(frozen=True, eq=False)
class TensorPooled:
    """Rows of both samples, in an order that says nothing of their labels.

    Parameters
    ----------
    rows : tensor, shape (N, p)
        The rows.
    bank : Bank
        The kernels.
    """

    rows: torch.Tensor
    bank: Bank

    @property
    def n_pairs(self) -> int:
        """Pairs of rows."""
        return len(self.rows) * (len(self.rows) - 1) // 2

    def under(self, weights: torch.Tensor) -> tuple[Array, Array]:
        """Statistics under every draw, (F, d), and their covariance matrix, (d, d).

        `weights` are 1 for rows called x and 0 for others, (F, N).
        """
        N, d = len(self.rows), len(self.bank)
        device = self.rows.device
        side = TILE["cuda" if self.rows.is_cuda else "cpu"]
        cuts = [slice(i, min(i + side, N)) for i in range(0, N, side)]
        values = torch.zeros((len(weights), d), dtype=torch.float64, device=device)
        sums = torch.zeros((N, d), dtype=torch.float64, device=device)
        products = torch.zeros((d, d), dtype=torch.float64, device=device)
        # Kernels less a constant, which changes no statistic: less is lost to rounding.
        ends = slice(0, min(LEVEL, N)), slice((N - 1) // LEVEL * LEVEL, N)
        level = self.values(*ends).double().mean(dim=(1, 2), keepdim=True).to(self.rows.dtype)
        for i, a in enumerate(cuts):
            for b in cuts[i:]:
                K = self.values(a, b) - level
                twice = 2.0 if a != b else 1.0
                if a == b:
                    K.diagonal(dim1=1, dim2=2).zero_()
                values += twice * tensor_signed_sums(weights[:, a], K, weights[:, b])
                K = K.double()
                sums[a] += K.sum(dim=2).T
                if a != b:
                    sums[b] += K.sum(dim=1).T
                each = K.transpose(0, 1)
                products += twice * (each @ each.transpose(1, 2)).sum(dim=0)
        share = float(weights[0].sum()) / N
        weighted = torch.cat([part.double() @ sums for part in weights.split(1 << 10)])
        found = [part.cpu().numpy() for part in (values, weighted, sums, products)]
        return labelled_statistics(found[0], found[1], found[2], found[3], share)

    def values(self, a: slice, b: slice) -> torch.Tensor:
        """Kernel values of all rows of a with all rows of b, (d, A, B)."""
        kernels, rows, centred = self.bank.kernels, self.rows, self._centred
        plain = iter(
            tensor_kernel_values(
                [k for k in kernels if not isinstance(k, Linear)], "tile", rows[a], rows[b]
            )
        )
        product = centred[a] @ centred[b].T if self.bank.linear else None
        return torch.stack(
            [
                product if isinstance(k, Linear) and product is not None else next(plain)
                for k in kernels
            ]
        )

    @cached_property
    def _centred(self) -> torch.Tensor:
        """Rows about their mean, for linear kernels: no statistic changes, and less is lost."""
        return self.rows - self.rows.mean(dim=0)
