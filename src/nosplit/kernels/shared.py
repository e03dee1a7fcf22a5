"""Several kernels on the same rows: what they have in common is computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, cast

from nosplit.kernels._base import Base, Kernel, Layout, Rows, Values, layout_base
from nosplit.kernels.algebra import Product, ProfileKernel, Scaled, Sum
from nosplit.kernels.categories import Agreement, Hamming, agreements
from nosplit.kernels.on_columns import Mixed, OnColumns

__all__ = ["Shared"]


@dataclass(frozen=True, eq=False)
class Shared:
    """Values of kernels on the rows of a and b, to be read and not written.

    Distances are computed once for all kernels on the same columns, and a kernel on some columns
    once for all products it is part of.

    Parameters
    ----------
    layout : {"aligned", "tile"}
        Values k(a_i, b_i), or k(a_i, b_j).
    a, b : array
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit.kernels import Gaussian, Linear
    >>> rows = np.array([[0.0], [2.0]])
    >>> shared = Shared("tile", rows, rows)
    >>> shared.values(Linear() * Gaussian(1.0))[1, 1]
    np.float64(4.0)
    """

    layout: Layout
    a: Rows
    b: Rows
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def values(self, kernel: Kernel) -> Values:
        """Values of one kernel."""
        match kernel:
            case OnColumns():
                # By identity: a kernel of one's own need not be hashable.
                made = self._once(id(kernel), lambda: self._on(kernel).values(kernel.kernel))
                return cast(Values, made)
            case ProfileKernel():
                base: Base = kernel.base
                return kernel.profile(
                    self._once(base, lambda: layout_base(base, self.layout, self.a, self.b))
                )
            case Agreement() | Hamming():
                shares = self._once("shares", lambda: agreements(self.layout, self.a, self.b))
                return kernel.of_shares(shares, self.a.shape[1])
            case Mixed():
                parts = (self.values(kernel.numbers), self.values(kernel.categories))
                return kernel.combined(*parts)
            case Sum() | Product():
                return reduce(kernel.operation, map(self.values, kernel.kernels))
            case Scaled():
                return kernel.factor * self.values(kernel.kernel)
        call = kernel.aligned if self.layout == "aligned" else kernel.tile
        return call(self.a, self.b)

    def _on(self, kernel: OnColumns) -> Shared:
        """The same rows, of some columns only."""

        def make() -> Shared:
            return Shared(self.layout, kernel.pick(self.a), kernel.pick(self.b))

        return cast(Shared, self._once(kernel.columns, make))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]
