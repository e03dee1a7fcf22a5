"""Rows of values as they come: whether the closed form fits them, and what to do where not.

The closed form takes √n · mean to be normal given Σ̂. Rows that are skewed break that: the mean is
large just when the long tail was missed, and then Σ̂ is small. The first error is of the size of the
skewness over √n. Bootstrap-t (Hall 1992, section 3.5) makes it again in the sample, and takes it
away: rows are drawn with replacement from the centred ones, and mean, Σ̂ and evidence made anew.

What the bootstrap cannot know is a tail that was missed. The cautious one asks whether such a tail
would explain what was found: some rows of every column that lie beyond its lower end are drawn from
as well, and the largest p-value counts. How far beyond, the rows show: where their lower end is as
far from the median as the upper one, not at all.
"""

from __future__ import annotations

import math

import numpy as np

from nosplit._old.inference.calibrating.ranking import rank_draws
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.errors import Caveat, UnsafeAsymptoticsWarning
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.kernels.orders import column_order
from nosplit.methods import Method, Wald
from nosplit.methods.laws import Flips
from nosplit.methods.whitening import Whitening

__all__ = [
    "BOOTSTRAP",
    "CAUTIOUS",
    "MOST_ROWS",
    "rank_bootstrap",
    "rank_cautiously",
    "skew_caveats",
    "skewness",
]

BOOTSTRAP, CAUTIOUS = "bootstrap", "cautious"
# Skewness over √n up to which the closed form is trusted (its level is then below .06), and up to
# which the bootstrap is.
CLOSED, RESAMPLED = 0.05, 0.15
# Rows of a column's tail that may have been missed, by as many as are expected of it (all of them
# are missed with probabilities of .4, .05 and .001). They are farther from the median than the
# lowest row, by the ratio of both ends to a power that is 1 up to so many rows, and falls to ½;
# and by so many times at the most.
UNSEEN, SEEN_LITTLE, FARTHEST = (1, 3, 7), 20, 16.0
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
    if size <= (CLOSED if calibration == ASYMPTOTIC else RESAMPLED):
        return []
    how, remedy = {
        ASYMPTOTIC: ("normal approximation", "use calibration='bootstrap', or more rows"),
        BOOTSTRAP: ("bootstrap", "use more rows, or calibration='cautious'"),
        CAUTIOUS: ("bootstrap", "p allows for an unseen tail; with more rows it need not"),
    }[calibration]
    text = (
        f"The rows are skewed for the {how} (skewness / √n = {size:.2f}): {remedy}. Rows that have "
        "the law of their negatives under the null can be tested exactly with symmetric=True."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def rank_cautiously(values: Array, method: Method, flips: int, rng: np.random.Generator) -> Flips:
    """Rank by the bootstrap with and without rows that were not seen: the one of the largest p."""
    order = column_order(values)  # the same draws, whatever the order of columns
    beyond = _lower_tails(values)[order]
    if isinstance(method, Wald):  # means below 0 count as those above
        beyond = np.concatenate([beyond, -_lower_tails(-values)[order]])
    ranked = [rank_bootstrap(values, method, flips, rng)]
    ranked += [rank_bootstrap(values, method, flips, rng, np.tile(beyond, (k, 1))) for k in UNSEEN]
    return max(ranked, key=lambda found: np.count_nonzero(found.values >= found.values[0]))


def _lower_tails(values: Array) -> Array:
    """Rows beyond the lower end of one column each, and at the means of the others, (d, d)."""
    n, d = values.shape
    middle = np.median(values, axis=0)
    down, up = middle - values.min(axis=0), values.max(axis=0) - middle
    power = min(1.0, max(0.5, SEEN_LITTLE / n))
    ratio = np.divide(down, up, out=np.full(d, np.inf), where=up > 0)
    far = np.minimum(np.maximum(ratio, 1.0) ** power, FARTHEST)
    rows = np.tile(values.mean(axis=0), (d, 1))
    np.fill_diagonal(rows, middle - far * down)
    return rows


def rank_bootstrap(
    values: Array,
    method: Method,
    flips: int,
    rng: np.random.Generator,
    unseen: Array | None = None,
) -> Flips:
    """The evidence of the rows, and of rows drawn again from the centred ones.

    Draws in which a column does not vary count as stronger evidence than the observed: all that
    can be said of them is that the column's mean over its spread has no bound. Rows that were not
    seen are drawn from, too.
    """
    moments = Moments.from_values(values)
    rows = values if unseen is None else np.concatenate([values, unseen])
    tau, cov = _bootstrap_statistics(rows - rows.mean(axis=0), len(values), flips, rng)
    least = 1e-9 * np.diagonal(moments.cov)
    varied = np.all(np.diagonal(cov, axis1=1, axis2=2) >= least, axis=1)
    tau = np.concatenate([moments.tau[None], tau[varied]])
    cov = np.concatenate([moments.cov[None], cov[varied]])
    found = rank_draws(method, tau, cov)
    return Flips(np.concatenate([found.values, np.full(np.count_nonzero(~varied), np.inf)]))


def _bootstrap_statistics(
    centred: Array, n: int, flips: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """√n · mean and Σ̂ of n rows drawn with replacement, (B, d) and (B, d, d)."""
    count, d = centred.shape
    products = (centred[:, :, None] * centred[:, None, :]).reshape(count, d * d)
    share = np.full(count, 1.0 / count)
    tau, cov = np.empty((flips, d)), np.empty((flips, d, d))
    step = max(1, _ROOM // count)
    for start in range(0, flips, step):
        stop = min(start + step, flips)
        times = rng.multinomial(n, share, size=stop - start) / n
        mean = times @ centred
        second = (times @ products).reshape(-1, d, d)
        tau[start:stop] = math.sqrt(n) * mean
        cov[start:stop] = second - mean[:, :, None] * mean[:, None, :]
    return tau, cov
