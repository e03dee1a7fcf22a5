"""From units and a plan to an outcome: accumulate the pairs, and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._support.checks import resolve
from nosplit._support.terminal import progress_bar
from nosplit._support.types import Array
from nosplit.errors import (
    DroppedKernelWarning,
    InputError,
    NonFiniteError,
    NotATestWarning,
)
from nosplit.inference.bootstrap import (
    BOOTSTRAP,
    MOST_ROWS,
    rank_bootstrap,
    skew_caveats,
    skewness,
)
from nosplit.inference.calibrations import ASYMPTOTIC, Exact
from nosplit.inference.caveats import (
    MORE,
    dropped,
    few_effective,
    few_rows,
    kernel_numbers,
    near_copies,
    small_test_part,
    too_alike,
    trusted,
    unequal_caveats,
    unsafe,
)
from nosplit.inference.evidence import column_evidence, rank_all
from nosplit.inference.outcome import Outcome
from nosplit.inference.planning.plan import Plan, pairing_name
from nosplit.methods import (
    METHODS,
    OST,
    Adaptive,
    Best,
    Method,
    Naive,
    Nonnegative,
    Selection,
    Split,
    Wald,
)
from nosplit.methods._base import nothing_seen
from nosplit.methods.normal.laws import Flips
from nosplit.pairs.draws import BLOCK, Signs
from nosplit.pairs.effective import effective_pairs
from nosplit.pairs.loop import accumulate, accumulate_draws
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Complete, Pairing
from nosplit.pairs.protocols import Testable
from nosplit.pairs.statistics import DrawnStatistics, Seen

NOT_FINITE = (
    "The kernels' values are not finite: the data is too large for them, or a kernel returns nan "
    "or inf. Rescale the data, for example to unit variance."
)

__all__ = [
    "as_method",
    "run",
    "sees_all",
    "settle",
    "split_at",
    "test_draws",
    "test_moments",
    "test_rows",
]


def as_method(method: Method | str) -> Method | None:
    """The method that a name is short for; None for "auto"."""
    if isinstance(method, str) and method == "auto":
        return None
    found = resolve(method, {"auto": OST(), **METHODS}, "method")
    if isinstance(found, type) or not isinstance(found, Method):
        raise InputError(f"`method` must be a name or a method such as OST(), got {found!r}.")
    return found


def settle(method: Method | None, calibration: Exact | str) -> Method:
    """What "auto" is: adaptive where calibration is exact, and OST elsewhere."""
    if method is None:
        return Adaptive() if isinstance(calibration, Exact) else OST()
    return method


def sees_all(default: bool, method: Method | None, how: Plan) -> bool:
    """Whether a test looks at columns and flattened spectra, too.

    Kernels that were asked for (not `default`) are all that is looked at: who asks for a linear
    one asks whether means differ, and no column must answer more than that.
    """
    adaptive = isinstance(settle(method, how.calibration), Adaptive)
    everything = isinstance(how.pairing, Complete) and isinstance(how.calibration, Exact)
    return default and adaptive and everything


def split_at(method: Method, n_units: int) -> list[range]:
    """All units, or the two parts of a split, the first with an even number of units."""
    if not isinstance(method, Split):
        return [range(n_units)]
    cut = 2 * round(method.fraction * n_units / 2.0)
    if cut < 2 or n_units - cut < 2:
        raise InputError(
            f"`method` splits {n_units} units into {cut} and {n_units - cut}; each part needs 2."
        )
    return [range(cut), range(cut, n_units)]


def run(
    units: Testable,
    method: Method | None,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    look: Callable[[Any], Seen] | None = None,
) -> Outcome:
    """Accumulate the pairs that the plan names, and test.

    Where the closed form is not to be trusted with the data, and the plan knows another way, that
    is taken. What decides is unchanged by relabelling, so the other way stays exact. `look` says
    what else is seen under the draws that it is given, for exact calibration.
    """
    if isinstance(how.calibration, Exact):
        chosen = settle(method, how.calibration)
        return _run_exact(units, chosen, how, rng, workers, progress, look)
    effective = effective_pairs(units, how.pairing)
    if how.otherwise is not None and effective is not None and not trusted(effective):
        return run(units, method, how.otherwise, rng, workers, progress)
    outcome = _run_closed(units, settle(method, how.calibration), how, workers, progress)
    if method is None and not np.any(outcome.tau > 0):
        outcome = replace(outcome, selection=nothing_seen(outcome.selection))
    found = too_alike(outcome)
    if effective is not None:
        found += few_effective(effective, np.diagonal(outcome.cov) > 0)
    return outcome.noting(found)


def _run_exact(
    units: Testable,
    method: Method,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
    progress: bool,
    look: Callable[[Any], Seen] | None,
) -> Outcome:
    ranges = split_at(method, units.n_units)
    draws = units.draws(how.flips, rng)
    with progress_bar(progress, _n_pairs(how, ranges)) as step:
        done = [
            accumulate_draws(units.part(r), how.pairing, draws.of(r), workers=workers, step=step)
            for r in ranges
        ]
    total = _sum([part.moments for part in done])
    tau = _stack([part.sums / np.sqrt(part.moments.n) for part in done])
    second = np.sum([part.second for part in done], axis=0)
    seen = None if look is None else look(draws)
    outcome = _exact(method, tau, second / total.n, total, units.n_units, seen)
    return replace(outcome, pairs=how.pairs)


def _run_closed(
    units: Testable, method: Method, how: Plan, workers: int | None, progress: bool
) -> Outcome:
    ranges = split_at(method, units.n_units)
    with progress_bar(progress, _n_pairs(how, ranges)) as step:
        moments = [
            accumulate(units.part(r), how.pairing, workers=workers, step=step) for r in ranges
        ]
    outcome = replace(_asymptotic(method, moments), pairs=how.pairs)
    if not np.any(outcome.cov):  # no evidence: nothing is approximated
        return outcome
    n_pairs = how.pairing.n_pairs(units.n_units)
    outcome = outcome.noting(unsafe(how.pairing, units.n_units, n_pairs, len(outcome.tau)))
    if len(ranges) > 1 and not outcome.caveats:
        return outcome.noting(small_test_part(how.pairing, len(ranges[1])))
    return outcome


def _n_pairs(how: Plan, parts: list[range]) -> int:
    return sum(how.pairing.n_pairs(len(part)) for part in parts)


def test_moments(
    moments: Moments,
    method: Method | str,
    pairing: Pairing,
    n_units: int,
    *,
    unequal: bool,
    effective: Array | None,
) -> Outcome:
    """Test with moments of pairs that were accumulated elsewhere: in a stream, on other machines.

    Parameters
    ----------
    moments : Moments
        Of the values of all pairs.
    method : Method or name
        As in `two_sample_test`; a split needs the data, and is refused.
    pairing : Pairing
        Which pairs they are, for what must be said of the normal approximation.
    n_units : int
        Units they were made of.
    unequal : bool
        Whether units hold more rows of one sample than of the other.
    effective : array, shape (d,), or None
        Effective number of pairs of every kernel, where values are skewed.
    """
    chosen = settle(as_method(method), ASYMPTOTIC)
    if isinstance(chosen, Split):
        raise InputError(
            "`method` must not be a Split: it needs the data, and only moments are kept. Use "
            'method="ost", which learns and tests on all of it.'
        )
    d = len(moments.mean)
    caveats = unsafe(pairing, n_units, moments.n, d, MORE)
    outcome = replace(_asymptotic(chosen, [moments]), pairs=pairing_name(pairing)).noting(caveats)
    if effective is not None:
        outcome = outcome.noting(few_effective(effective, np.diagonal(outcome.cov) > 0, MORE))
    return outcome.noting(unequal_caveats(outcome, n_units, MORE)) if unequal else outcome


test_moments.__test__ = False  # type: ignore[attr-defined]


def test_draws(drawn: DrawnStatistics, method: Method | None, pairs: str) -> Outcome:
    """Test with statistics under every draw, as sketches give them.

    Parameters
    ----------
    drawn : DrawnStatistics
        The statistics of kernels and of columns.
    method : Method or None
        As in `two_sample_test`; None is adaptive, to which flattened kernels and columns belong.
    pairs : str
        Short name of the pairing.
    """
    chosen = method or Adaptive()
    if isinstance(chosen, Split | Naive):
        raise InputError(
            f"`method` {chosen.name!r} does not go with a sketch. Use the default, or "
            'method="ost", which learns and tests on all of the data.'
        )
    _check_drawn(drawn)
    return replace(_ranked(drawn, chosen), pairs=pairs)


test_draws.__test__ = False  # type: ignore[attr-defined]


def _check_drawn(drawn: DrawnStatistics) -> None:
    """Check that statistics are finite, and that what has no variance has none at all."""
    if not (np.isfinite(drawn.tau[0]).all() and np.isfinite(drawn.cov).all()):
        raise NonFiniteError(NOT_FINITE)
    dead = np.diagonal(drawn.cov) == 0
    if dead.all() or np.any(drawn.cov[dead]):
        raise InputError(
            f"The values of kernel number {kernel_numbers(dead)} are all the same, or too small "
            "to be squared. Rescale the data, for example to unit variance."
        )


@np.errstate(over="ignore", invalid="ignore")  # as in `accumulate`: found in the total
def test_rows(
    values: Array, method: Method | None, calibration: Exact | str, rng: np.random.Generator
) -> Outcome:
    """Test with rows of values as they are: every row is a pair of its own.

    `calibration` may be "auto" for the closed form, or the bootstrap where rows are skewed.
    """
    chosen = settle(method, calibration)
    if not np.any(values):
        raise InputError("`h` is 0 in all rows: The values of all pairs are the same.")
    parts = split_at(chosen, len(values))
    moments = [Moments.from_values(values[r.start : r.stop]) for r in parts]
    if isinstance(calibration, Exact):
        signs = Signs(len(values), calibration.flips, rng, products=False)
        tau = _stack([_signed_rows(values, r, signs) / np.sqrt(len(r)) for r in parts])
        total = _sum(moments)
        outcome = _exact(chosen, tau, total.second_moment, total, len(values))
    else:
        outcome = _calibrated(_asymptotic(chosen, moments), values, calibration, rng)
    return replace(outcome, pairs="rows")


def _calibrated(
    outcome: Outcome, values: Array, calibration: str, rng: np.random.Generator
) -> Outcome:
    """The outcome with the bootstrap in place of the closed form if asked for or called for."""
    d = len(outcome.tau)
    few = few_rows(len(values), d)
    skewed = skewness(values)
    can = isinstance(outcome.method, OST | Nonnegative | Wald | Best) and len(values) <= MOST_ROWS
    called_for = bool(few or skew_caveats(skewed, ASYMPTOTIC))
    if calibration == BOOTSTRAP or (calibration == "auto" and can and called_for):
        flips = rank_bootstrap(values, outcome.method, Exact().flips, rng)
        outcome = replace(outcome, flips=flips, calibration=BOOTSTRAP)
    return outcome.noting([*few, *skew_caveats(skewed, outcome.calibration)])


test_rows.__test__ = False  # type: ignore[attr-defined]


def _signed_rows(values: Array, rows: range, signs: Signs) -> Array:
    """Sums of ε_i h_i over some rows, for all draws, (F, d)."""
    blocks = [rows[i : i + BLOCK] for i in range(0, len(rows), BLOCK)]
    parts = [signs.columns(b) @ values[b.start : b.stop] for b in blocks]
    return np.asarray(np.sum(parts, axis=0))


@np.errstate(over="ignore", invalid="ignore")  # found in the total
def _sum(moments: list[Moments]) -> Moments:
    return sum(moments[1:], start=moments[0])


def _stack(tau: list[Array]) -> Array:
    """(F, d), or (F, 2, d) for the two parts of a split."""
    return tau[0] if len(tau) == 1 else np.stack(tau, axis=-2)


def _no_evidence(method: Method, total: Moments, flips: Flips | None = None) -> Outcome:
    """All values are 0: every relabelling gives the same, and p is 1."""
    d = len(total.mean)
    zero, none = np.zeros(()), np.zeros(d)
    picked = Selection(zero, zero, none, none > 0, np.zeros((), dtype=int), zero)
    calibration = ASYMPTOTIC if flips is None else "exact"
    outcome = Outcome(method, picked, none, np.zeros((d, d)), total.n, calibration, flips)
    text = (
        "The values of all pairs are 0, so p is 1: the data is constant or nearly so, there are "
        "too few pairs, or no kernel's bandwidth fits the data's scale."
    )
    return outcome.noting([(DroppedKernelWarning, text)])


def _exact(
    method: Method, tau: Array, cov: Array, total: Moments, n_units: int, seen: Seen | None = None
) -> Outcome:
    if not np.any(cov) and not np.any(tau):
        return _no_evidence(method, total, Flips(np.zeros(len(tau))))
    _check_values(total, cov)
    cov = (cov + cov.T) / 2.0
    drawn = DrawnStatistics(tau, cov, n_units, total.n, *(seen or ()))
    return replace(_ranked(drawn, method), tau=total.tau)


def _ranked(drawn: DrawnStatistics, method: Method) -> Outcome:
    """Rank the data among its draws."""
    flips, picked = rank_all(method, drawn), method(drawn.tau[0], drawn.cov)
    outcome = Outcome(method, picked, drawn.tau[0], drawn.cov, drawn.n_pairs, "exact", flips)
    outcome = outcome.noting(dropped(drawn.cov))
    if drawn.columns is None:
        return outcome
    return replace(outcome, columns=column_evidence(drawn.columns))


def _asymptotic(method: Method, moments: list[Moments]) -> Outcome:
    total = _sum(moments)
    if not np.any(total.cov) and not np.any(total.mean):
        return _no_evidence(method, total)
    _check_values(total, total.cov)
    selection = method(_stack([m.tau for m in moments]), total.cov)
    outcome = Outcome(method, selection, total.tau, total.cov, total.n)
    found = dropped(total.cov) + near_copies(total.cov)
    if isinstance(method, Naive):
        text = "`naive` does not control the level: its p-values are too small."
        found.append((NotATestWarning, text))
    return outcome.noting(found)


def _check_values(total: Moments, cov: Array) -> None:
    """Check that the pairs' values have a covariance matrix that a test can use."""
    if not (np.isfinite(total.mean).all() and np.isfinite(cov).all()):
        raise NonFiniteError(NOT_FINITE)
    dead = np.diagonal(cov) == 0
    if dead.all():
        raise InputError(
            "The values of all pairs are the same: the data is constant, there are too few pairs, "
            "or no kernel's bandwidth fits the data's scale."
        )
    if np.any(dead & (total.mean != 0)) or np.any(cov[dead]):
        raise InputError(
            f"The values of kernel number {kernel_numbers(dead)} are the same for all pairs, or "
            "too small to be squared. Rescale the data, drop the kernel, or use "
            "calibration='exact'."
        )
