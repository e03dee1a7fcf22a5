"""The paper's NAIVE baseline: what goes wrong without the correction."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from nosplit.methods._base import Selection
from nosplit.methods.ost import OST
from nosplit.methods.split import Inner
from nosplit.methods.tails import log_ndtr

__all__ = ["Naive"]


@dataclass(frozen=True)
class Naive:
    """Learn on all the data, then test on it as if nothing had been learned.

    Not a test: its false alarms exceed the level. It is here to show by how much.

    Parameters
    ----------
    method : OST, Nonnegative, Wald or Best
        What picks the combination.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(np.exp(Naive()([1.0, 1.0], np.eye(2)).log_pvalue)), 4)
    0.0786
    """

    method: Inner = OST()

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "naive" if isinstance(self.method, OST) else f"naive({self.method.name})"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply it to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        picked = self.method(tau, cov)
        return replace(
            picked,
            log_pvalue=log_ndtr(-picked.statistic),
            dof=np.ones_like(picked.dof),
            truncation=np.full_like(picked.statistic, -np.inf),
        )
