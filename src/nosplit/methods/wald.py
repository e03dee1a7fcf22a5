"""The Wald test: the best combination of all (Section 3.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nosplit.methods._base import Selection, prepare
from nosplit.methods.tails import log_chi_sf
from nosplit.methods.whitening import Whitening, unit

__all__ = ["Wald"]


@dataclass(frozen=True)
class Wald:
    """Allow every combination β; the statistic ‖Σ^(-1/2) τ‖ has a chi law with rank(Σ) degrees.

    Parameters
    ----------
    whitening : Whitening
        How Σ is inverted.

    Examples
    --------
    >>> out = Wald()([3.0, 4.0], [[1.0, 0.0], [0.0, 1.0]])
    >>> float(out.statistic), int(out.dof)
    (5.0, 2)
    """

    whitening: Whitening = field(default_factory=Whitening)

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "wald"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the test to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        batch = prepare(tau, cov, self.whitening)
        w = batch.white.whiten(batch.tau)
        statistic = np.linalg.norm(w, axis=1)
        dof = np.broadcast_to(batch.white.rank, statistic.shape)
        live = np.diagonal(batch.white.gram, axis1=1, axis2=2) > 0
        return Selection(
            statistic,
            log_chi_sf(statistic, dof),
            unit(batch.white.weights(w)),
            np.array(np.broadcast_to(live, w.shape)),
            np.array(dof),
            np.full_like(statistic, np.nan),
        ).reshape(batch.shape)
