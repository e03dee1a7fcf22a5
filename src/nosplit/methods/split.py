"""Data splitting, the baseline of the paper (Section 3, Appendix D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import check_fraction, numeric
from nosplit.errors import InputError
from nosplit.methods._base import Selection, checked
from nosplit.methods.best import Best
from nosplit.methods.nonnegative import Nonnegative
from nosplit.methods.ost import OST
from nosplit.methods.tails import log_ndtr
from nosplit.methods.wald import Wald

__all__ = ["Inner", "Split", "split_at"]

Inner = OST | Nonnegative | Wald | Best


@dataclass(frozen=True)
class Split:
    """Learn the combination on a fraction of the data and test on the rest.

    Parameters
    ----------
    fraction : float
        Share of the units that goes into learning.
    method : OST, Nonnegative, Wald or Best
        What learns the combination.

    Examples
    --------
    The two parts' statistics are the last axis but one:

    >>> import numpy as np
    >>> out = Split(0.5)([[2.0, 1.0], [1.5, 1.0]], np.eye(2))
    >>> round(float(out.statistic), 4)
    1.7889
    """

    fraction: float = 0.5
    method: Inner = OST()

    def __post_init__(self) -> None:
        check_fraction(self.fraction, "fraction")
        if not isinstance(self.method, Inner):
            raise InputError(
                "`method` of a Split must be OST(), Nonnegative(), Wald() or Best(), "
                f"got {self.method!r}."
            )

    @property
    def name(self) -> str:
        """Short name of the method."""
        inner = "" if isinstance(self.method, OST) else f"{self.method.name}_"
        return f"{inner}split{self.fraction:g}"

    def __call__(self, tau: ArrayLike, cov: ArrayLike) -> Selection:
        """Learn on tau[..., 0, :], test on tau[..., 1, :]; `cov` is that of each of them."""
        tau = numeric(tau, "tau")
        if tau.ndim < 2 or tau.shape[-2] != 2:
            raise InputError(
                "`tau` must hold the training and the test statistics, shape (..., 2, d), got "
                f"{tau.shape}. Splitting needs the data: use `two_sample_test` or `mean_test`."
            )
        learned = self.method(tau[..., 0, :], cov)
        held_out, cov = checked(tau[..., 1, :], cov)
        beta = _moderate(learned.weights, cov)
        statistic = np.einsum("...i,...i->...", beta, held_out)
        variance = np.einsum("...i,...ij,...j->...", beta, cov, beta)
        # A learned combination of zero (nothing to learn from) never rejects.
        blind = variance <= 0
        statistic = np.where(blind, -np.inf, statistic / np.sqrt(np.where(blind, 1.0, variance)))
        return Selection(
            statistic,
            log_ndtr(-statistic),
            learned.weights,
            learned.active,
            np.ones_like(learned.dof),
            np.full_like(statistic, -np.inf),
        )


def split_at(method: object, n_units: int) -> list[range]:
    """Return all units, or the two parts of a split, the first with an even number of units."""
    if not isinstance(method, Split):
        return [range(n_units)]
    cut = 2 * round(method.fraction * n_units / 2.0)
    if cut < 2 or n_units - cut < 2:
        raise InputError(
            f"`method` splits {n_units} units into {cut} and {n_units - cut}; each part needs 2."
        )
    return [range(cut), range(cut, n_units)]


def _moderate(beta: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """β scaled so that β'Σβ neither overflows nor underflows (the statistic does not change)."""
    sd = np.sqrt(np.diagonal(cov, axis1=-2, axis2=-1))
    size = np.max(np.abs(beta) * sd, axis=-1, keepdims=True)
    return np.asarray(beta / np.where(size > 0, size, 1.0))
