"""Selection of one base statistic (Section 3.1, Corollary 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nosplit.methods._base import Selection, prepare
from nosplit.methods.polyhedral import select_one
from nosplit.methods.tails import log_truncated_sf
from nosplit.methods.whitening import Whitening

__all__ = ["Best"]


@dataclass(frozen=True)
class Best:
    """Test with the single base statistic whose standardised value is largest.

    The null law is the standard normal truncated below at 𝒱⁻, an instance of
    `polyhedral_truncation`. Σ is not inverted; `whitening` is there for the common interface.

    Parameters
    ----------
    whitening : Whitening
        How Σ is standardised.

    Examples
    --------
    >>> import numpy as np
    >>> out = Best()([13.5, 12.0], [[1.0, 0.5], [0.5, 1.0]])
    >>> print(f"p = {np.exp(out.log_pvalue):.1e}, truncated at {out.truncation}")
    p = 1.8e-16, truncated at 10.5
    """

    whitening: Whitening = field(default_factory=Whitening)

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "best"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the test to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        batch = prepare(tau, cov, self.whitening)
        one = select_one(batch.white.matrix, batch.t)
        active = np.zeros(batch.tau.shape, dtype=bool)
        active[np.arange(len(active)), one.winner] = True
        return Selection(
            one.statistic,
            log_truncated_sf(one.statistic, one.truncation),
            active.astype(np.float64),
            active,
            np.ones(len(active), dtype=int),
            one.truncation,
        ).reshape(batch.shape)
