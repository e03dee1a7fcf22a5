"""Quadratic forms of exact kernels, tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nosplit._types import Array
from nosplit.core.exchange import Exchange, Weights

__all__ = ["Gram", "signed_sums"]

TILE = 256  # atoms on a side of a tile
STRIP = 64  # columns of a triangle that are multiplied at once
EXACT = 1 << 24  # integers up to here are exact in float32


@dataclass(frozen=True, eq=False)
class Gram:
    """Quadratic forms of kernel values of pairs of atoms, which are never kept.

    Parameters
    ----------
    n, d : int
        Atoms and kernels.
    tile : callable
        Computes the values of two ranges of atoms, (d, a, b).
    """

    n: int
    d: int
    tile: Callable[[range, range], Array]

    def under(self, exchange: Exchange) -> Array:
        """Compute ½ (w - s)'K(w - s) under every draw, (F, d), up to a constant."""
        contrasts = len(exchange.share)
        total = np.zeros((exchange.n_draws, contrasts, self.d))
        linear = np.zeros((contrasts, self.n, self.d))
        cuts = [range(i, min(i + TILE, self.n)) for i in range(0, self.n, TILE)]
        # Kernels less a constant, which changes no statistic of labels: less is lost to rounding.
        level = np.zeros((self.d, 1, 1))
        if exchange.label is not None:
            some = self.tile(cuts[0], cuts[-1])
            if len(cuts) == 1:  # pairs of different atoms, as narrow kernels are 0 there
                some = some[:, *np.triu_indices(self.n, 1)]
            level = some.reshape(self.d, -1).mean(axis=1)[:, None, None]
        for i, a in enumerate(cuts):
            for b in cuts[i:]:
                self._add_tile(exchange, a, b, level, total, linear)
        if not exchange.even:
            for g in range(contrasts):
                weights = exchange.part(g, range(self.n)).astype(np.float64)
                total[:, g] -= (1.0 - weights if g and g == contrasts - 1 else weights) @ linear[g]
        return np.asarray(
            np.einsum("fgu,g->fu", total, exchange.scale * (0.25 if exchange.even else 1.0))
        )

    def _add_tile(
        self,
        exchange: Exchange,
        a: range,
        b: range,
        level: Array,
        total: Array,
        linear: Array,
    ) -> None:
        """Add the pairs of a tile; of a tile on the diagonal those above it, and the diagonal."""
        K = self.tile(a, b) - level
        diagonal = np.einsum("uii->iu", K).copy() if a == b else None
        K = np.triu(K, 1) if a == b else K
        last = total.shape[1] - 1
        # The last of several labels has the atoms of no other: one product less.
        others = [1.0 - exchange.part(last, b)] if last else []
        for g in range(max(last, 1)):
            left, rights = exchange.part(g, a), [exchange.part(g, b), *others]
            for u in range(self.d):
                sums = signed_sums(left, K[u], rights, upper=a == b)
                for k, own in zip((g, last), sums, strict=False):
                    total[:, k, u] += own
        if exchange.even:  # squares of weights are 1: the diagonal is a constant
            return
        for g in range(last + 1):
            # The part of the products that is linear in the weights, as their mean is not 0.
            share = 1.0 - exchange.share[g] if g and g == last else exchange.share[g]
            linear[g, a.start : a.stop] += (K @ share[b.start : b.stop]).T
            linear[g, b.start : b.stop] += (share[a.start : a.stop] @ K).T
            if diagonal is not None:
                linear[g, a.start : a.stop] += (share[a.start : a.stop] - 0.5)[:, None] * diagonal


def signed_sums(
    Ea: Weights, H: Array, Ebs: Sequence[Weights], *, upper: bool = False
) -> list[Array]:
    """Sums of ε_a ε_b h(a, b) of a tile under each draw, for weights ε that are 0, 1 or -1.

    The weights of b may be several.

    Values are rounded to whole steps so large that their sums are exact in float32, at three times
    the speed: no draw changes the rounding, and draws that tie, tie exactly. Of an `upper` triangle
    most of what is below the diagonal is not multiplied.
    """
    step = np.abs(H).max() * (len(H) / EXACT)
    step = step if step > np.finfo(np.float64).tiny else 1.0
    whole, width = np.rint(H / step).astype(np.float32), H.shape[1]
    halves = np.empty((len(Ea), width), np.float32)
    strip = STRIP if upper else max(width, 1)
    for start in range(0, width, strip):
        end = min(start + strip, width)
        above = end if upper else len(H)
        np.matmul(Ea[:, :above], whole[:above, start:end], out=halves[:, start:end])
    products = (np.multiply(halves, Eb, out=halves if len(Ebs) == 1 else None) for Eb in Ebs)
    return [step * np.asarray(own.sum(axis=1, dtype=np.float64)) for own in products]
