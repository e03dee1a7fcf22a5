"""Tests of means, which need no kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nosplit._checks import (
    Seed,
    check_covariance,
    check_flags,
    check_int,
    check_matrix,
    check_vector,
    new_key,
    resolve,
    seeded,
)
from nosplit._types import Array
from nosplit.api._request import MethodName, as_method
from nosplit.core.exchange import signs
from nosplit.core.forms import Scores
from nosplit.core.moments import Moments
from nosplit.core.statistics import Statistics
from nosplit.data.series import block_length, check_rows
from nosplit.errors import Caveat, InputError
from nosplit.inference.bootstrap import calibrate_means
from nosplit.inference.calibrations import (
    ASYMPTOTIC,
    BOOTSTRAP,
    CAUTIOUS,
    SERIES,
    Exact,
    resolve_calibration,
)
from nosplit.inference.caveats import dropped, issued
from nosplit.inference.closed import closed_form
from nosplit.inference.columns import ColumnTable, PairTable
from nosplit.inference.evidence import conclude_by
from nosplit.inference.questions import MEAN, NORMAL, Exchanged, Question
from nosplit.inference.result import How, KernelSelection, TestResult
from nosplit.methods import OST, Adaptive, ChiBar, Method, Naive, Selection, Split
from nosplit.methods.laws import Flips, law_of
from nosplit.methods.split import split_at

__all__ = ["joint_normal_test", "mean_test"]

CalibrationOfMeans = Literal["auto", "exact", "asymptotic", "bootstrap", "cautious"]
CALIBRATIONS: dict[str, Exact | str] = {
    name: name for name in ("auto", ASYMPTOTIC, BOOTSTRAP, CAUTIOUS, "exact")
}
# Range of the largest value of a column: squares of its sums must be finite and above 0.
SMALLEST, LARGEST = 1e-140, 1e140
# Rows whose signs are drawn together: 1,000 draws of them take 4 MB.
ROWS_AT_ONCE = 1 << 10


def mean_test(
    h: ArrayLike,
    *,
    method: Method | MethodName = "auto",
    calibration: Exact | CalibrationOfMeans = "auto",
    symmetric: bool = False,
    series: bool | int = False,
    shuffle: bool = True,
    rng: Seed = 0,
) -> TestResult:
    """Test E h = 0 against E h ≥ 0, h ≠ 0, for independent rows of any base functions.

    The theory of the paper needs no kernel: any d statistics that are jointly normal in the limit
    will do, such as differences of features or of the logits of classifiers. With
    `symmetric=True` the test is exact if each row is symmetric about zero under the null
    hypothesis, given the others. Otherwise no exact test of a mean exists: the level holds in the
    limit, and a warning says if rows are too few or too skewed for that.

    Parameters
    ----------
    h : array, shape (n, d)
        Independent rows of values, one column per base function.
    method : str or Method, default "auto"
        As in `two_sample_test`. "auto" is "adaptive" if the calibration is exact, otherwise "ost".
    calibration : str or Exact, default "auto"
        "exact" permutes the signs of rows, and needs `symmetric`. "asymptotic" is the closed form,
        "bootstrap" the bootstrap-t, which allows for skewed rows, and "cautious" the same with a
        long tail that may have been missed. "auto" is exact if `symmetric`; otherwise the closed
        form, the bootstrap if rows are skewed, or the cautious one if they are few or very skewed.
    symmetric : bool, default False
        Whether rows are symmetric about zero under the null hypothesis.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Means of blocks of rows are
        tested instead of rows; an int sets the length of blocks.
    shuffle : bool, default True
        Whether the two parts of `Split` are drawn at random.
    rng : int, Generator or None, default 0
        The seed, as in `two_sample_test`.

    Returns
    -------
    TestResult
        As from `two_sample_test`; every row counts as a pair.

    Examples
    --------
    Is the effect of a treatment on any of three outcomes positive?

    >>> import numpy as np
    >>> effect = np.random.default_rng(0).normal([0.3, 0.0, 0.1], 1.0, size=(300, 3))
    >>> res = mean_test(effect)
    >>> res.reject(0.05), res.how.method
    (True, 'ost')

    Differences of matched rows are symmetric if nothing differs, such as those of the logits of
    two classifiers on the same cases:

    >>> logits = np.random.default_rng(1).normal(size=(2, 100, 3))
    >>> res = mean_test(logits[0] - logits[1], symmetric=True)
    >>> res.reject(0.05), res.how.calibration
    (False, 'exact')
    """
    values, chosen = _checked_rows(h), as_method(method)
    check_flags(symmetric=symmetric, shuffle=shuffle)
    kind = _resolve_calibration(calibration, symmetric, chosen)
    exact = isinstance(kind, Exact)
    declared = series if isinstance(series, bool) else check_int(series, "series", least=1)
    generator, seed = seeded(rng)
    rows, design, caveats = values, None, [] if declared else check_rows(values)
    if declared:
        rows, design = _block_means(values, declared, exact)
    own = chosen or (Adaptive() if exact else OST())
    if isinstance(kind, Exact):
        found = _sign_test(rows, own, kind.n_resamples, generator)
        label = "exact" if design is None else SERIES
    else:
        own = own.ost if isinstance(own, Adaptive) else own
        if isinstance(own, Split) and shuffle:
            rows = rows[generator.permutation(len(rows))]
        found, label = _moment_test(rows, own, kind, generator)
    n, used = len(rows), len(rows) * (1 if design is None else design.count)
    draws = None if found.drawn is None else len(found.drawn.values) - 1
    how = How(
        own.name, "rows", label, draws, 0.5**n if exact else 0.0, seed, n, n, used,
        len(values) - used, design=design,
    )  # fmt: skip
    return found.result(MEAN, how, caveats)


def joint_normal_test(
    tau: ArrayLike, cov: ArrayLike, *, method: Method | MethodName = "auto"
) -> TestResult:
    """Test μ = 0 against μ ≥ 0 for one vector τ ~ N(μ, Σ).

    Parameters
    ----------
    tau : array, shape (d,)
        The vector, with its √n (Section 3 of the paper).
    cov : array, shape (d, d)
        Its covariance matrix Σ, which may be singular.
    method : str or Method, default "auto"
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
    chosen = as_method(method) or OST()
    if isinstance(chosen, Split):
        raise InputError(
            "`method` must not be Split if only statistics are given: it needs the rows. Use "
            'method="ost", which learns and tests on all of the data.'
        )
    how = How(chosen.name, "given", ASYMPTOTIC, None, 0.0, None, 1, 1, 1, 0)
    return _Found(tau, cov, chosen(tau, cov)).result(NORMAL, how)


class _Found(NamedTuple):
    """Statistics, the selection of a method, and the evidence that was drawn, if any."""

    tau: Array
    cov: Array
    picked: Selection
    drawn: Flips | None = None
    caveats: Sequence[Caveat] = ()

    def result(self, question: Question, how: How, more: Sequence[Caveat] = ()) -> TestResult:
        """Put the result together; without drawn evidence it is the closed form."""
        names, picked = tuple(f"base {i}" for i in range(len(self.tau))), self.picked
        law, statistic = law_of(picked), float(picked.statistic)
        log_pvalue = float(picked.log_pvalue)
        if self.drawn is not None:
            law, statistic = self.drawn, float(self.drawn.values[0])
            log_pvalue = law.log_sf(statistic)
        selection = KernelSelection(
            names, self.tau, self.cov, picked.weights, picked.kept, int(picked.dof),
            picked.lower_end,
        )  # fmt: skip
        return TestResult(
            statistic, log_pvalue, law, question, ColumnTable(), PairTable(), None, selection, how,
            issued([*more, *self.caveats]),
        )  # fmt: skip


def _moment_test(
    rows: Array, method: Method, calibration: str, rng: np.random.Generator
) -> tuple[_Found, str]:
    """Test by the closed form of the moments, or by resampling rows; also name the calibration."""
    parts = split_at(method, len(rows))
    closed = closed_form(method, [Moments.from_values(rows[r.start : r.stop]) for r in parts])
    label, drawn, caveats = calibrate_means(rows, method, calibration, Exact().n_resamples, rng)
    tau, cov = closed.total.tau, closed.total.cov
    return _Found(tau, cov, closed.selection, drawn, [*closed.caveats, *caveats]), label


def _sign_test(rows: Array, method: Method, n_resamples: int, rng: np.random.Generator) -> _Found:
    """Rank the evidence of the data among that under permutations of the signs of rows."""
    drawn = Statistics(_signed_means(rows, n_resamples, rng))
    tau, cov = np.sqrt(len(rows)) * rows.mean(axis=0), drawn.cov
    evidence = conclude_by(method, {"kernels": drawn}).evidence
    return _Found(tau, cov, method(tau, cov), Flips(evidence), dropped(cov))


def _signed_means(rows: Array, n_resamples: int, rng: np.random.Generator) -> Array:
    """Compute √n times the mean of rows under all draws of their signs, (F, d), the data first."""
    total: Any = 0.0
    for some in np.array_split(rows, -(-len(rows) // ROWS_AT_ONCE)):
        # A list of all signs holds the last one fixed: that of a row of zeros.
        exchange = signs(len(some) + 1, n_resamples, new_key(rng))
        atoms = np.concatenate([some, np.zeros_like(some[:1])])
        total = total + Scores(atoms, np.arange(rows.shape[1])).under(exchange)
    return np.asarray(total * (2.0 / math.sqrt(len(rows))))  # scores are halves of differences


# -- checks ----------------------------------------------------------------------------------------


def _checked_rows(h: ArrayLike) -> Array:
    """Check that rows can be tested."""
    values = check_matrix(h, "h")
    if len(values) < 2:
        raise InputError(f"`h` must have at least 2 rows, got {len(values)}.")
    size = np.abs(values).max(axis=0)
    if not size.any():
        raise InputError("`h` is 0 in all rows: there is nothing to test.")
    bad = (size > 0) & ((size < SMALLEST) | (size > LARGEST))
    if bad.any():
        raise InputError(
            f"`h` must have values between {SMALLEST:g} and {LARGEST:g} in size in each column, "
            f"or zeros only, got {size[bad][0]:g}. Choose other units."
        )
    return values


def _block_means(values: Array, series: bool | int, exact: bool) -> tuple[Array, Exchanged]:
    """Means of blocks of consecutive rows; rows beyond the last whole block are left out."""
    length = block_length(values) if series is True else int(series)
    words = "no block of rows is longer than the dependence between rows"
    if length is not None:
        words = f"means of blocks of {length:,} rows are tested"
    length = len(values) if length is None else length
    blocks = len(values) // length
    if blocks < (1 if exact else 2):
        raise InputError(
            f"`h` has too few rows for `series`: {words}, and it has {len(values):,}. Use more "
            "rows, or series= with a smaller length of blocks."
        )
    means = values[: blocks * length].reshape(blocks, length, -1).mean(axis=1)
    return np.asarray(means), Exchanged("series", words, "blocks", length)


def _check_range(tau: Array, cov: Array) -> None:
    """Refuse a vector that N(0, Σ) could never give, since Σ has no variance in its direction."""
    live = np.diagonal(cov) > 0
    sd = np.sqrt(np.where(live, np.diagonal(cov), 1.0))
    t, (values, axes) = np.where(live, tau / sd, 0.0), np.linalg.eigh(cov / sd[:, None] / sd)
    outside = axes[:, values <= 1e-9 * values[-1]].T @ t
    if np.linalg.norm(outside) > 1e-3 * np.linalg.norm(t):
        raise InputError(
            "`tau` must lie in the range of `cov`, which is singular: no vector with this "
            "covariance matrix has these values. Are they of the same statistics?"
        )


def _resolve_calibration(
    calibration: Exact | str, symmetric: bool, method: Method | None
) -> Exact | str:
    """Check that the calibration goes with the rows and with the method."""
    calibration = resolve(calibration, CALIBRATIONS, "calibration")
    resampled = calibration in (BOOTSTRAP, CAUTIOUS)
    kind = calibration if resampled else resolve_calibration(calibration)
    closed = isinstance(method, Naive | Split) or (resampled and isinstance(method, ChiBar))
    if kind == "auto" and symmetric and not closed:
        return Exact()
    if isinstance(kind, Exact) and not symmetric:
        raise InputError(
            "`calibration` can be exact only if rows are symmetric about zero under the null "
            'hypothesis: say so with symmetric=True, or use calibration="asymptotic".'
        )
    if closed and (resampled or isinstance(kind, Exact)):
        form = calibration if resampled else "exact"
        raise InputError(
            f'`method="{type(method).__name__.lower()}"` has no {form} form. Use '
            'calibration="asymptotic", or another method.'
        )
    return kind
