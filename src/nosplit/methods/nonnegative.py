"""The best combination with β ≥ 0 (Gretton et al. 2012; Appendix D.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from nosplit.methods._base import Selection, canonical, log_null_sf, prepare
from nosplit.methods.whitening import Whitening, unit

__all__ = ["Nonnegative"]


@dataclass(frozen=True)
class Nonnegative:
    """Learn β* with β ≥ 0, so that the combined kernel is positive definite.

    Theorem 1 in its canonical form, with Σ itself in the place of Σ⁻¹.

    Parameters
    ----------
    whitening : Whitening
        How Σ is truncated.

    Examples
    --------
    >>> import numpy as np
    >>> out = Nonnegative()([3.0, -1.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> print(f"{out.statistic:.3f}, p = {np.exp(out.log_pvalue):.5f}, l = {out.dof}")
    3.000, p = 0.00135, l = 1
    """

    whitening: Whitening = field(default_factory=Whitening)

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "nonnegative"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the test to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        batch = prepare(tau, cov, self.whitening)
        white = batch.white
        best = canonical(white.gram, white.colour(white.whiten(batch.tau)), white.dependent)
        return Selection(
            best.statistic,
            log_null_sf(best.statistic, best.dof, best.truncation),
            unit(best.alpha / white.scale),
            best.alpha > 0,
            best.dof,
            best.truncation,
        ).reshape(batch.shape)
