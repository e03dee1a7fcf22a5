"""Tests of means of independent rows without symmetry: closed form, bootstrap-t, and caution.

The closed form takes √n · mean to be normal given Σ̂. If rows are skewed, the mean is large just
when the long tail was missed, and then Σ̂ is small: the first error is of the size of the skewness
over √n. Bootstrap-t (Hall 1992, section 3.5) repeats that error in the sample and removes it: rows
are drawn with replacement from the centred ones, and mean, Σ̂ and evidence computed anew.

The bootstrap does not know a tail that was missed. The cautious one asks whether such a tail would
explain the result: it also draws from some rows beyond the lower end of each column, and takes the
largest p-value. The lower end is extended by its distance from the median over that of the upper
end, so not at all if they are equal.
"""

from __future__ import annotations

import math

import numpy as np

from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.inference.calibrations import ASYMPTOTIC, BOOTSTRAP, CAUTIOUS
from nosplit.inference.evidence import drawn_evidence
from nosplit.kernels.orders import column_order
from nosplit.methods import OST, Best, Method, Nonnegative, Wald
from nosplit.methods.laws import Flips
from nosplit.methods.whitening import Whitening

__all__ = ["calibrate_means"]

# Skewness over √n up to which the closed form is trusted (its level is then below .06), and up to
# which the bootstrap is.
CLOSED, RESAMPLED = 0.05, 0.15
# Fewest rows of d values of any law for which the error of the mean is trusted: 150 + 50 d.
ROWS, ROWS_A_COLUMN = 150, 50
# Rows of a column's tail that may have been missed, by their expected number (all of them are
# missed with probabilities of .4, .05 and .001). They are farther from the median than the lowest
# row by the ratio of both ends to a power that is 1 up to 20 rows and falls to ½, and by a factor
# of 16 at most.
MISSED, FEW_ROWS, MAX_FARTHER = (1, 3, 7), 20, 16.0
# Most rows that "auto" resamples.
MAX_ROWS = 20_000
# Numbers held at once: draws × rows, or draws × d².
MAX_NUMBERS = 1 << 22


def calibrate_means(
    values: Array, method: Method, calibration: str, n_resamples: int, rng: np.random.Generator
) -> tuple[str, Flips | None, list[Caveat]]:
    """Choose the calibration of a test of means, draw its resamples, and list caveats.

    "auto" is the closed form, the bootstrap if rows are skewed, and the cautious one if they are
    few or very skewed.
    The evidence of the data and of the resamples is None for the closed form.
    """
    n, d = values.shape
    if n <= d:
        raise InputError(
            f"`h` must have more rows than columns, got {n} rows and {d} columns. Use more rows or "
            "fewer columns, or symmetric=True if rows are symmetric about zero under the null "
            "hypothesis."
        )
    few, size = n < ROWS + ROWS_A_COLUMN * d, skewness(values)
    can = isinstance(method, OST | Nonnegative | Wald | Best) and n <= MAX_ROWS
    if calibration == "auto" and can and (few or size > CLOSED):
        calibration = CAUTIOUS if few or size > RESAMPLED else BOOTSTRAP
    calibration = ASYMPTOTIC if calibration == "auto" else calibration
    caveats = _few_rows(n, d, calibration) if few else []
    caveats += _skewed_rows(size, calibration)
    if calibration == ASYMPTOTIC:
        return calibration, None, caveats
    rank = rank_bootstrap if calibration == BOOTSTRAP else rank_cautiously
    return calibration, rank(values, method, n_resamples, rng), caveats


def _few_rows(n: int, d: int, calibration: str) -> list[Caveat]:
    """Warn of few rows: a long tail may have been missed, and no statistic would show it."""
    then = "p allows for some of that" if calibration == CAUTIOUS else "p may then be far too small"
    text = (
        f"{n} rows are few for a test of {d} means (at least {ROWS + ROWS_A_COLUMN * d} are safe): "
        f"a long tail may have been missed, and {then}. Use more rows, or symmetric=True if rows "
        "are symmetric about zero under the null hypothesis."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def skewness(values: Array) -> float:
    """Compute the skewness of rows over √n in the worst direction: the size of the first error.

    The spectral norm of E w ⊗ w ⊗ w as a d × d² matrix, of whitened rows w, less what normal rows
    show by chance. It bounds that of every combination of the columns, the learned one among them.
    """
    moments = Moments.from_values(values)
    w = Whitening()(moments.cov).whiten(values - moments.mean)
    n, d = w.shape
    third = np.zeros((d, d * d))
    for rows in np.array_split(w, 1 + n * d * d // MAX_NUMBERS):
        third += rows.T @ (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), d * d)
    worst = float(np.linalg.norm(third / n, ord=2))
    return math.sqrt(max(worst**2 - 6.0 * d / n, 0.0) / n)


def _skewed_rows(size: float, calibration: str) -> list[Caveat]:
    """Warn of rows that are too skewed for a calibration."""
    if size <= (CLOSED if calibration == ASYMPTOTIC else RESAMPLED):
        return []
    how, remedy = {
        ASYMPTOTIC: ("normal approximation", "use calibration='bootstrap', or more rows"),
        BOOTSTRAP: ("bootstrap", "use more rows, or calibration='cautious'"),
        CAUTIOUS: ("bootstrap", "p allows for a tail that may have been missed"),
    }[calibration]
    text = (
        f"The rows are skewed for the {how} (skewness / √n = {size:.2f}): {remedy}. Rows that are "
        "symmetric about zero under the null hypothesis can be tested exactly: symmetric=True."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def rank_cautiously(
    values: Array, method: Method, n_resamples: int, rng: np.random.Generator
) -> Flips:
    """Rank by the bootstrap with and without missed rows, and keep the largest p-value."""
    order = column_order(values)  # so that the order of columns does not change the resamples
    beyond = _lower_tails(values)[order]
    if isinstance(method, Wald):  # means below 0 count as those above
        beyond = np.concatenate([beyond, -_lower_tails(-values)[order]])
    ranked = [rank_bootstrap(values, method, n_resamples, rng)]
    for k in MISSED:
        rows = np.tile(beyond, (k, 1))
        ranked.append(rank_bootstrap(values, method, n_resamples, rng, rows))
    return max(ranked, key=lambda found: np.count_nonzero(found.values >= found.values[0]))


def _lower_tails(values: Array) -> Array:
    """Make rows beyond the lower end of one column each, at the means of the others, (d, d)."""
    n, d = values.shape
    middle = np.median(values, axis=0)
    down, up = middle - values.min(axis=0), values.max(axis=0) - middle
    power = min(1.0, max(0.5, FEW_ROWS / n))
    ratio = np.divide(down, up, out=np.full(d, np.inf), where=up > 0)
    far = np.minimum(np.maximum(ratio, 1.0) ** power, MAX_FARTHER)
    rows = np.tile(values.mean(axis=0), (d, 1))
    np.fill_diagonal(rows, middle - far * down)
    return rows


def rank_bootstrap(
    values: Array,
    method: Method,
    n_resamples: int,
    rng: np.random.Generator,
    missed: Array | None = None,
) -> Flips:
    """Compute the evidence of the rows, and of resamples of the centred rows and of `missed` ones.

    Resamples in which a column does not vary count as stronger evidence than the data, since the
    column's mean over its spread has no bound there.
    """
    moments = Moments.from_values(values)
    rows = values if missed is None else np.concatenate([values, missed])
    tau, cov = _bootstrap_statistics(rows - rows.mean(axis=0), len(values), n_resamples, rng)
    least = 1e-9 * np.diagonal(moments.cov)
    varied = np.all(np.diagonal(cov, axis1=1, axis2=2) >= least, axis=1)
    tau = np.concatenate([moments.tau[None], tau[varied]])
    cov = np.concatenate([moments.cov[None], cov[varied]])
    evidence = drawn_evidence(method, tau, cov)
    return Flips(np.concatenate([evidence, np.full(np.count_nonzero(~varied), np.inf)]))


def _bootstrap_statistics(
    centred: Array, n: int, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Compute √n · mean and Σ̂ of n rows drawn with replacement, (B, d) and (B, d, d)."""
    count, d = centred.shape
    products = (centred[:, :, None] * centred[:, None, :]).reshape(count, d * d)
    share = np.full(count, 1.0 / count)
    tau, cov = np.empty((n_resamples, d)), np.empty((n_resamples, d, d))
    step = max(1, MAX_NUMBERS // count)
    for start in range(0, n_resamples, step):
        stop = min(start + step, n_resamples)
        times = rng.multinomial(n, share, size=stop - start) / n
        mean = times @ centred
        second = (times @ products).reshape(-1, d, d)
        tau[start:stop] = math.sqrt(n) * mean
        cov[start:stop] = second - mean[:, :, None] * mean[:, None, :]
    return tau, cov
