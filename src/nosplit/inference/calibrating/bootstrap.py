"""Rows of values as they come: whether the closed form fits them, and what to do where not.

The closed form takes √n · mean to be normal given Σ̂. Rows that are skewed break that: the mean is
large just when the long tail was missed, and then Σ̂ is small. The first error is of the size of the
skewness over √n. Bootstrap-t (Hall 1992, section 3.5) makes it again in the sample, and takes it
away: rows are drawn with replacement from the centred ones, and mean, Σ̂ and evidence made anew.
"""

from __future__ import annotations

import math

import numpy as np

from nosplit._support.types import Array
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.inference.calibrating.ranking import rank_draws
from nosplit.methods import Method
from nosplit.methods.normal.laws import Flips
from nosplit.methods.normal.whitening import Whitening
from nosplit.pairs.moments import Moments

__all__ = ["BOOTSTRAP", "MOST_ROWS", "rank_bootstrap", "skew_caveats", "skewness"]

BOOTSTRAP = "bootstrap"
# Skewness over √n up to which the closed form is trusted (its level is then below .06), and up to
# which the bootstrap is.
CLOSED, RESAMPLED = 0.05, 0.15
# More rows than this are not drawn again a thousand times.
MOST_ROWS = 20_000
# Numbers held at once: draws × rows, or draws × d².
_ROOM = 1 << 22


def skewness(values: Array) -> float:
    """Skewness of the rows over √n, in the worst direction: the size of the first error.

    The spectral norm of E w ⊗ w ⊗ w as a d × d² matrix, of whitened rows w, less what normal rows
    show by chance. It bounds that of every combination of the columns, the learned one among them.
    """
    moments = Moments.from_values(values)
    w = Whitening()(moments.cov).whiten(values - moments.mean)
    n, d = w.shape
    third = np.zeros((d, d * d))
    for rows in np.array_split(w, 1 + n * d * d // _ROOM):
        third += rows.T @ (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), d * d)
    worst = float(np.linalg.norm(third / n, ord=2))
    return math.sqrt(max(worst**2 - 6.0 * d / n, 0.0) / n)


def skew_caveats(size: float, calibration: str) -> list[Caveat]:
    """Warn of rows that are too skewed for a calibration."""
    bootstrap = calibration == BOOTSTRAP
    if size <= (RESAMPLED if bootstrap else CLOSED):
        return []
    how, remedy = "normal approximation", "use calibration='bootstrap', or more rows"
    if bootstrap:
        how, remedy = "bootstrap", "use more rows, or transform them"
    text = (
        f"The rows are skewed for the {how} (skewness / √n = {size:.2f}): {remedy}. Rows that have "
        "the law of their negatives under the null can be tested exactly with symmetric=True."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def rank_bootstrap(values: Array, method: Method, flips: int, rng: np.random.Generator) -> Flips:
    """The evidence of the rows, and of rows drawn again from the centred ones.

    Draws in which a column does not vary count as stronger evidence than the observed: all that
    can be said of them is that the column's mean over its spread has no bound.
    """
    moments = Moments.from_values(values)
    tau, cov = _bootstrap_statistics(values - moments.mean, flips, rng)
    least = 1e-9 * np.diagonal(moments.cov)
    varied = np.all(np.diagonal(cov, axis1=1, axis2=2) >= least, axis=1)
    tau = np.concatenate([moments.tau[None], tau[varied]])
    cov = np.concatenate([moments.cov[None], cov[varied]])
    found = rank_draws(method, tau, cov)
    return Flips(np.concatenate([found.values, np.full(np.count_nonzero(~varied), np.inf)]))


def _bootstrap_statistics(
    centred: Array, flips: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """√n · mean and Σ̂ of rows drawn with replacement, (B, d) and (B, d, d)."""
    n, d = centred.shape
    products = (centred[:, :, None] * centred[:, None, :]).reshape(n, d * d)
    share = np.full(n, 1.0 / n)
    tau, cov = np.empty((flips, d)), np.empty((flips, d, d))
    step = max(1, _ROOM // n)
    for start in range(0, flips, step):
        stop = min(start + step, flips)
        times = rng.multinomial(n, share, size=stop - start) / n
        mean = times @ centred
        second = (times @ products).reshape(-1, d, d)
        tau[start:stop] = math.sqrt(n) * mean
        cov[start:stop] = second - mean[:, :, None] * mean[:, None, :]
    return tau, cov
