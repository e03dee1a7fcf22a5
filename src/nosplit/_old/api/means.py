"""Tests of means that need no kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import (
    Seed,
    check_covariance,
    check_flag,
    check_matrix,
    check_rng,
    check_vector,
    resolve,
    seed_of,
)
from nosplit._old.designs.asked import check_series
from nosplit._old.inference.calibrating.bootstrap import BOOTSTRAP, CAUTIOUS
from nosplit._old.inference.outcome import Outcome, Tested, to_result
from nosplit._old.inference.planning.limits import Limits, as_method, check_naive, settle
from nosplit._old.inference.rows import test_rows
from nosplit._types import Array
from nosplit.data.series import block_length, check_rows
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, SERIES, Exact, resolve_calibration
from nosplit.inference.questions import MEAN, NORMAL
from nosplit.inference.result import TestResult
from nosplit.methods import ChiBar, Method, Naive, Split

__all__ = ["joint_normal_test", "mean_test"]

# Calibrations by their names.
CALIBRATIONS: dict[str, Exact | str] = {
    name: name for name in ("auto", ASYMPTOTIC, BOOTSTRAP, CAUTIOUS, "exact")
}
WITHOUT_ROWS = Limits("where only their means are given", closed=True)


def mean_test(
    h: ArrayLike,
    *,
    method: Method | str = "auto",
    calibration: Exact | str = "auto",
    symmetric: bool = False,
    series: bool | int = False,
    rng: Seed = 0,
    shuffle: bool = True,
) -> TestResult:
    """Test E h = 0 against E h ≥ 0, h ≠ 0, for independent rows of any base functions.

    The paper's theory needs no kernel: any d statistics that are jointly normal in the limit will
    do, such as the differences of a classifier's logits or of features. With `symmetric=True` the
    test is exact when every row has the law of its negative under the null, given the others, on
    average over the random flips. Without it there is no exact test of a mean: the level is right
    in the limit, and a warning says where rows are too few or too skewed for that.

    Parameters
    ----------
    h : array_like, shape (n, d)
        Independent rows of values, one column a base function.
    method : Method or name
        As in `two_sample_test`; "auto" is OST, or adaptive under exact calibration.
    calibration : Exact or name
        "asymptotic" (closed form), "bootstrap" (bootstrap-t, which allows for skewed rows),
        "cautious" (the same, which also allows for a long tail that was not seen) or "exact",
        possible only if `symmetric`. "auto": exact if `symmetric`; else the closed form, the
        bootstrap where rows are skewed, or the cautious one where they are few or very skewed.
    symmetric : bool
        Whether rows have the same law as their negatives under the null.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Means of blocks of rows then
        take the place of rows; an int sets the length of blocks.
    rng : int, Generator or None
        Source of the flips and of the split.
    shuffle : bool
        Whether `Split` takes its parts from shuffled rows.

    Returns
    -------
    TestResult
        As from `two_sample_test`; every row is a pair of its own.

    Examples
    --------
    Is a treatment's effect on any of three outcomes positive? No kernel is involved:

    >>> import numpy as np
    >>> effect = np.random.default_rng(0).normal([0.3, 0.0, 0.1], 1.0, size=(300, 3))
    >>> res = mean_test(effect)
    >>> res.reject(0.05), res.how.method
    (True, 'ost')

    Differences of matched rows have the law of their negatives when nothing differs, so flips of
    their signs are exact. Here the logits of two classifiers on the same cases:

    >>> logits = np.random.default_rng(1).normal(size=(2, 100, 3))
    >>> res = mean_test(logits[0] - logits[1], symmetric=True)
    >>> res.reject(0.05), res.how.calibration
    (False, 'exact')
    """
    values = check_matrix(h, "h")
    if len(values) < 2:
        raise InputError(f"`h` must have at least 2 rows, got {len(values)}.")
    generator, chosen = check_rng(rng), as_method(method)
    kind = _mean_calibration(calibration, check_flag(symmetric, "symmetric"), chosen)
    names = tuple(f"base {i}" for i in range(values.shape[1]))
    shuffled = check_flag(shuffle, "shuffle")

    rows = values
    caveats = check_rows(values)
    if declared := check_series(series):
        length = block_length(values) if declared is True else declared
        rows, caveats = _block_means(values, length), []
    order = generator.permutation(len(rows)) if shuffled else np.arange(len(rows))
    outcome = test_rows(rows[order], chosen, kind, generator).noting(caveats)
    if declared and outcome.calibration == "exact":
        outcome = replace(outcome, calibration=SERIES)
    n_used = len(values) if rows is values else len(rows) * (len(values) // len(rows))
    result = Tested(outcome, names, len(rows), n_used).result(MEAN, len(values))
    return result.done(seed=seed_of(rng, generator))


def _block_means(values: Array, length: int | None) -> Array:
    """Means of blocks of consecutive rows; rows beyond the last whole block are left out."""
    blocks = 0 if length is None else len(values) // length
    if length is None or blocks < 2:
        raise InputError(
            "`h` has too few rows for blocks that are longer than the dependence between rows. Use "
            "more rows, or series= with a smaller length of blocks."
        )
    return np.asarray(values[: blocks * length].reshape(blocks, length, -1).mean(axis=1))


def joint_normal_test(
    tau: ArrayLike, cov: ArrayLike, *, method: Method | str = "auto"
) -> TestResult:
    """Test μ = 0 against μ ≥ 0 for one vector τ ~ N(μ, Σ).

    Parameters
    ----------
    tau : array_like, shape (d,)
        The vector, with its √n (Section 3 of the paper).
    cov : array_like, shape (d, d)
        Its covariance matrix Σ, which may be singular.
    method : Method or name
        "ost" (and "auto"), "nonnegative", "wald", "best", "chibar" or "naive".

    Returns
    -------
    TestResult
        As from `two_sample_test`.

    Examples
    --------
    >>> joint_normal_test([3.0, 4.0], [[1.0, 0.0], [0.0, 1.0]], method="wald").statistic
    5.0
    """
    tau = check_vector(tau, "tau")
    cov = check_covariance(cov, len(tau))
    _check_range(tau, cov)
    chosen = settle(as_method(method), ASYMPTOTIC)
    WITHOUT_ROWS.check_method(chosen)
    outcome = Outcome(chosen, chosen(tau, cov), tau, cov, 1, pairs="given")
    return to_result(
        outcome,
        question=NORMAL,
        kernels=tuple(f"base {i}" for i in range(len(tau))),
        n_units=1,
        n_used=1,
        n_left_out=0,
    )


def _check_range(tau: Array, cov: Array) -> None:
    """Refuse a vector that N(0, Σ) could never give, since Σ has no variance in its direction."""
    sd = np.sqrt(np.diagonal(cov))
    t = np.divide(tau, sd, out=np.zeros_like(tau), where=sd > 0)
    values, axes = np.linalg.eigh(
        cov / np.where(sd > 0, sd, 1.0)[:, None] / np.where(sd > 0, sd, 1.0)
    )
    outside = axes[:, values <= 1e-9 * values[-1]].T @ t
    if np.linalg.norm(outside) > 1e-3 * np.linalg.norm(t):
        raise InputError(
            "`tau` must lie in the range of `cov`, which is singular: no vector with this "
            "covariance matrix has these values. Are they of the same statistics?"
        )


def _mean_calibration(
    calibration: Exact | str, symmetric: bool, method: Method | None
) -> Exact | str:
    """Exact flips need rows that are symmetric under the null."""
    calibration = resolve(calibration, CALIBRATIONS, "calibration")
    if calibration in (BOOTSTRAP, CAUTIOUS):
        if isinstance(method, Naive | Split | ChiBar):
            raise InputError(
                f"`calibration` must not be {calibration!r} with method {method.name!r}, which "
                "draws of its own or has no law. Use OST, Wald, Nonnegative or Best."
            )
        return calibration
    kind = resolve_calibration(calibration)
    if kind == "auto":
        return Exact() if symmetric and not isinstance(method, Naive) else "auto"
    if isinstance(kind, Exact) and not symmetric:
        raise InputError(
            "`calibration` can be exact only if rows have the same law as their negatives under "
            "the null: say so with symmetric=True, or use calibration='asymptotic'."
        )
    if isinstance(kind, Exact):
        check_naive(method)
    return kind
