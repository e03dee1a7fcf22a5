"""The unconditional twin of OST: a chi-bar-squared null law (Kudô 1963)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from nosplit._lazy import special
from nosplit._types import Array
from nosplit.methods._base import Batch, Selection, prepare
from nosplit.methods.ost import combination, project
from nosplit.methods.tails import log_chi_sf
from nosplit.methods.whitening import Whitened, Whitening

__all__ = ["ChiBar", "log_chibar_sf"]


def log_chibar_sf(x: ArrayLike, mixture: Array) -> Array:
    """Log tail of a mixture of chi laws with 0, 1, …, d degrees of freedom; 1 at x = 0."""
    x = np.asarray(x, dtype=np.float64)
    dof = np.arange(1, mixture.shape[-1])
    with np.errstate(divide="ignore"):
        terms = log_chi_sf(x[..., None], dof) + np.log(mixture[..., 1:])
    return np.where(x > 0, np.minimum(special.logsumexp(terms, axis=-1), 0.0), 0.0)


@dataclass(frozen=True)
class ChiBar:
    """Project as OST does, without conditioning on the active set.

    The projection's length has a mixture of chi laws as its null law. The weights of the mixture
    are the chances of each dimension of the face it lies on, found by seeded simulation.

    Parameters
    ----------
    whitening : Whitening
        How Σ is inverted.
    draws : int
        Number of simulated vectors for the weights.

    Examples
    --------
    >>> import numpy as np
    >>> out = ChiBar()([2.0], [[1.0]])
    >>> round(float(np.exp(out.log_pvalue)), 3)
    0.023
    """

    whitening: Whitening = field(default_factory=Whitening)
    draws: int = 20_000

    @property
    def name(self) -> str:
        """Short name of the method."""
        return "chibar"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Apply the test to τ, (..., d), with Σ, (d, d) or (..., d, d)."""
        batch = prepare(tau, cov, self.whitening)
        white = batch.white
        found = project(batch)
        inside = found.statistic > 0
        statistic = np.where(inside, found.statistic, 0.0)
        mixture = np.stack([self._mixture(white.one(k)) for k in range(len(white.rank))])
        return Selection(
            statistic,
            log_chibar_sf(statistic, mixture),
            combination(white, np.where(inside[:, None], found.direction, 0.0)),
            found.active & inside[:, None],
            np.where(inside, found.dof, 0),
            np.full_like(statistic, np.nan),
            np.broadcast_to(mixture, (len(statistic), mixture.shape[1])),
        ).reshape(batch.shape)

    def lengths(self, tau: ArrayLike, cov: ArrayLike) -> Array:
        """The statistic alone, without its null law: all that draws are ranked by."""
        batch = prepare(tau, cov, self.whitening)
        return np.asarray(np.maximum(project(batch).statistic, 0.0).reshape(batch.shape))

    def _mixture(self, white: Whitened) -> Array:
        """Chances of the dimensions 0…d of the face, from `draws` standard normal vectors.

        Half a count is added to each, so that no tail is called impossible; even and odd
        dimensions have half of the mass each (a property of every cone that is not a subspace).
        """
        d, rank = white.scale.shape[1], int(white.rank[0])
        z = np.random.default_rng(0).standard_normal((self.draws, d))
        found = project(Batch(white.colour(z) * white.scale, white, (self.draws,)))
        face = np.where(found.statistic > 0, found.dof, 0)
        counts = np.bincount(face, minlength=d + 1) + 0.5
        counts[rank + 1 :] = 0.0
        parity = np.arange(d + 1) % 2
        return np.asarray(counts / (2.0 * np.bincount(parity, counts)[parity]))
