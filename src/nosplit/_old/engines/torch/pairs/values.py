"""Kernel values of rows on a device, of all rows with all others or of row i with row i."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import sqrt
from typing import Any, Literal

import numpy as np
import torch

from nosplit.kernels import (
    IMQ,
    Combination,
    Delta,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Mixed,
    OnColumns,
    Polynomial,
    Product,
    Scaled,
    Sum,
)
from nosplit.kernels.spectral import FittedSpectral

__all__ = ["Layout", "tensor_kernel_values", "tensor_pair_values"]

Layout = Literal["tile", "aligned"]


class _Bases:
    """Squared distances, L1 distances and inner products of rows, each computed once."""

    def __init__(self, layout: Layout, a: torch.Tensor, b: torch.Tensor) -> None:
        self.layout, self.a, self.b = layout, a, b
        self._found: dict[str, torch.Tensor] = {}

    def __getitem__(self, base: str) -> torch.Tensor:
        if base not in self._found:
            find = {"sq": self._distances, "l1": self._distances, "dot": self._products}[base]
            self._found[base] = find(base)
        return self._found[base]

    def _products(self, base: str) -> torch.Tensor:
        return self.a @ self.b.T if self.layout == "tile" else (self.a * self.b).sum(dim=1)

    def _distances(self, base: str) -> torch.Tensor:
        """Distances by differences, not by products: nothing is lost for rows that are close."""
        if self.layout == "aligned":
            apart = self.a - self.b
            return (apart * apart if base == "sq" else apart.abs_()).sum(dim=1)
        if base == "l1":
            return torch.cdist(self.a, self.b, p=1.0)
        mode = "donot_use_mm_for_euclid_dist"
        return torch.cdist(self.a, self.b, compute_mode=mode).square_()


def tensor_kernel_values(
    kernels: Sequence[Kernel], layout: Layout, a: torch.Tensor, b: torch.Tensor
) -> list[torch.Tensor]:
    """Values of every kernel; base quantities are shared."""
    bases = _Bases(layout, a, b)
    return [_value(kernel, bases) for kernel in kernels]


def _value(kernel: Kernel, bases: _Bases) -> torch.Tensor:
    match kernel:
        case Gaussian(width):
            return torch.exp(bases["sq"] * (-0.5 / width**2))
        case Laplace(width):
            return torch.exp(bases["l1"] * (-1.0 / width))
        case IMQ(width, exponent):
            inside = 1.0 + bases["sq"] / width**2
            return inside.rsqrt_() if exponent == -0.5 else inside**exponent
        case Matern(width, nu):
            s = bases["sq"].sqrt() * (sqrt(2.0 * nu) / width)
            factor = {0.5: 1.0, 1.5: 1.0 + s}.get(nu, 1.0 + s + s * s / 3.0)
            return factor * torch.exp(-s)
        case Linear():
            return bases["dot"]
        case Polynomial(degree, offset):
            return (bases["dot"] + offset) ** degree
        case Delta():
            return (bases["sq"] == 0.0).to(bases.a.dtype)
        case Sum(parts):
            return reduce(torch.add, [_value(part, bases) for part in parts])
        case Product(parts):
            return reduce(torch.mul, [_value(part, bases) for part in parts])
        case Scaled(factor, inner):
            return factor * _value(inner, bases)
        case Combination(parts, weights):
            both = zip(weights, parts, strict=True)
            return reduce(torch.add, [w * _value(part, bases) for w, part in both])
        case OnColumns(inner, columns):
            some = list(columns)
            return _value(inner, _Bases(bases.layout, bases.a[:, some], bases.b[:, some]))
        case Mixed(numbers, categories):
            k, c = _value(numbers, bases), _value(categories, bases)
            return k + c + k * c
        case FittedSpectral() if kernel.basis is not None:
            return _spectral_values(kernel, bases)
    return _values_of_callers(kernel, bases)


def _spectral_values(kernel: FittedSpectral, bases: _Bases) -> torch.Tensor:
    """A flattened kernel, by its features at landmarks: in double, as small eigenvalues ask for."""
    basis, device = kernel.basis, bases.a.device
    assert basis is not None
    gains = basis.gains([(kernel.regularisation, 1.0)])[:, 0]
    parts = basis.landmarks, basis.turn, basis.centre, basis.scales, gains
    landmarks, turn, centre, scales, gain = (
        torch.from_numpy(np.ascontiguousarray(part, dtype=np.float64)).to(device) for part in parts
    )
    left, right = (
        _value(basis.kernel, _Bases("tile", rows.double() / scales, landmarks)) @ turn - centre
        for rows in (bases.a, bases.b)
    )
    left = left * gain
    values = left @ right.T if bases.layout == "tile" else (left * right).sum(dim=1)
    return values.to(bases.a.dtype)


def _values_of_callers(kernel: Kernel, bases: _Bases) -> torch.Tensor:
    """A kernel of a caller's own, which takes arrays."""
    a, b = (rows.cpu().numpy() for rows in (bases.a, bases.b))
    values: Any = kernel.tile(a, b) if bases.layout == "tile" else kernel.aligned(a, b)
    found = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64))
    return found.to(bases.a.device, bases.a.dtype)


def tensor_pair_values(
    kernels: Sequence[Kernel],
    layout: Layout,
    left: tuple[torch.Tensor, torch.Tensor],
    right: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """Values h = k(x, x') + k(y, y') - k(x, y') - k(y, x') of units (x, y) and (x', y')."""
    (xa, ya), (xb, yb) = left, right
    plain = [k for k in kernels if not isinstance(k, Linear)]
    total: list[torch.Tensor] = []
    for a, b, sign in ((xa, xb, 1), (xa, yb, -1), (ya, yb, 1), (ya, xb, -1)):
        values = tensor_kernel_values(plain, layout, a, b)
        both = zip(total, values, strict=True)
        total = [t.add(v, alpha=sign) for t, v in both] if total else values
    found = iter(total)
    parts = [next(found) if not isinstance(k, Linear) else None for k in kernels]
    if any(part is None for part in parts):
        # The linear kernel's value is the product of the units' differences: nothing cancels.
        linear = tensor_kernel_values([Linear()], layout, xa - ya, xb - yb)[0]
        parts = [linear if part is None else part for part in parts]
    return torch.stack([part for part in parts if part is not None])
