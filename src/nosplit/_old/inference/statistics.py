"""Statistics of pairs → outcome: closed forms, and ranks among draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nosplit._old.inference.calibrating.evidence import (
    column_evidence,
    own_pvalue,
    pair_evidence,
    rank_all,
)
from nosplit._old.inference.outcome import Outcome
from nosplit._old.inference.planning.limits import Limits, as_method, settle
from nosplit._old.pairs.statistics import DrawnStatistics, Seen
from nosplit._types import Array
from nosplit.core.moments import Moments
from nosplit.core.pairings import Pairing, pairing_name
from nosplit.core.statistics import NOT_FINITE
from nosplit.errors import DroppedKernelWarning, InputError, NonFiniteError
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.caveats import dropped, few_effective, kernel_numbers, unsafe
from nosplit.inference.closed import (
    NO_EVIDENCE,
    check_values,
    closed_form,
    nothing_selected,
)
from nosplit.methods import Adaptive, Method
from nosplit.methods.laws import Flips

__all__ = [
    "all_alike",
    "closed_outcome",
    "exact_outcome",
    "no_evidence",
    "of_parts",
    "one_labelling",
    "sum_of_parts",
    "test_draws",
    "test_moments",
]

# What to do where the normal approximation is poor, without the data.
MORE = "more rows"


MOMENTS = Limits("where only moments are kept", closed=True)
SKETCHES = Limits("with a sketch")


def test_moments(
    moments: Moments,
    method: Method | str,
    pairing: Pairing,
    n_units: int,
    *,
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
    effective : array, shape (d,), or None
        Effective number of pairs of every kernel, if values are skewed.
    """
    chosen = settle(as_method(method), ASYMPTOTIC)
    MOMENTS.check_method(chosen)
    d = len(moments.mean)
    caveats = unsafe(pairing, n_units, moments.n, d, MORE)
    outcome = replace(closed_outcome(chosen, [moments]), pairs=pairing_name(pairing)).noting(
        caveats
    )
    if effective is not None:
        outcome = outcome.noting(few_effective(effective, np.diagonal(outcome.cov) > 0, MORE))
    return outcome


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
    SKETCHES.check_method(chosen)
    if not any(map(np.any, _all_statistics(drawn))):
        flips = Flips(np.zeros(len(drawn.tau)))
        return replace(no_evidence(chosen, drawn.tau.shape[1], drawn.n_pairs, flips), pairs=pairs)
    _check_drawn(drawn)
    return replace(_ranked_draws(drawn, chosen), pairs=pairs)


test_draws.__test__ = False  # type: ignore[attr-defined]


def _all_statistics(drawn: DrawnStatistics) -> Iterator[Array]:
    """All statistics under every draw."""
    yield from (drawn.tau, drawn.flat_tau)
    for part in (drawn.columns, drawn.pairs):
        if part is not None:
            yield part.values
    if drawn.distances is not None:
        yield drawn.distances


def _check_drawn(drawn: DrawnStatistics) -> None:
    """Check that statistics are finite, and that what has no variance has none at all."""
    if not (np.isfinite(drawn.tau[0]).all() and np.isfinite(drawn.cov).all()):
        raise NonFiniteError(NOT_FINITE)
    dead = np.diagonal(drawn.cov) <= 0  # below 0 by rounding
    if dead.all() or np.any(drawn.cov[dead]):
        raise InputError(
            f"The values of kernel number {kernel_numbers(dead)} are all the same, or too small "
            "to be squared. Rescale the data, for example to unit variance."
        )


@np.errstate(over="ignore", invalid="ignore")  # found in the total
def sum_of_parts(moments: list[Moments]) -> Moments:
    """Moments of all units, from those of the parts of a split."""
    return sum(moments[1:], start=moments[0])


def of_parts(tau: list[Array]) -> Array:
    """(F, d), or (F, 2, d) for the two parts of a split."""
    return tau[0] if len(tau) == 1 else np.stack(tau, axis=-2)


def one_labelling(drawn: DrawnStatistics, method: Method | None, pairs: str) -> Outcome:
    """Return p = 1 where all permutations are the same, but for the names of the samples."""
    flips = Flips(np.zeros(len(drawn.tau)))
    outcome = all_alike(method or Adaptive(), drawn.tau.shape[1], drawn.n_pairs, flips)
    columns = () if drawn.columns is None else column_evidence(drawn.columns)
    return replace(outcome, pairs=pairs, columns=columns)


def all_alike(method: Method, d: int, n_pairs: int, flips: Flips | None) -> Outcome:
    """Return p = 1: every permutation gives the same."""
    calibration = ASYMPTOTIC if flips is None else "exact"
    none = np.zeros(d)
    picked = nothing_selected(d)
    return Outcome(method, picked, none, np.zeros((d, d)), n_pairs, calibration, flips)


def no_evidence(method: Method, d: int, n_pairs: int, flips: Flips | None = None) -> Outcome:
    """Return p = 1 if all values are 0, and say so."""
    outcome = all_alike(method, d, n_pairs, flips)
    return outcome.noting([(DroppedKernelWarning, NO_EVIDENCE)])


def exact_outcome(
    method: Method, tau: Array, cov: Array, total: Moments, n_units: int, seen: Seen | None = None
) -> Outcome:
    """Rank the statistics of the data, `tau[0]`, among those under draws."""
    if not np.any(cov) and not np.any(tau):
        return no_evidence(method, len(total.mean), total.n, Flips(np.zeros(len(tau))))
    check_values(total, cov)
    cov = (cov + cov.T) / 2.0
    drawn = DrawnStatistics(tau, cov, n_units, total.n, *(seen or ()))
    return replace(_ranked_draws(drawn, method), tau=total.tau)


def _ranked_draws(drawn: DrawnStatistics, method: Method) -> Outcome:
    """Rank the data among its draws."""
    flips, picked = rank_all(method, drawn), method(drawn.tau[0], drawn.cov)
    outcome = Outcome(method, picked, drawn.tau[0], drawn.cov, drawn.n_pairs, "exact", flips)
    outcome = outcome.noting(dropped(drawn.cov))
    if drawn.columns is None:
        return outcome
    return replace(
        outcome,
        columns=column_evidence(drawn.columns),
        together=() if drawn.pairs is None else pair_evidence(drawn.pairs),
        apart=None if drawn.distances is None else own_pvalue(drawn.distances),
    )


def closed_outcome(method: Method, moments: list[Moments]) -> Outcome:
    """Test by the closed form of a method, with the moments of all units or of a split's parts."""
    found = closed_form(method, moments)
    total = found.total
    outcome = Outcome(method, found.selection, total.tau, total.cov, total.n)
    return outcome.noting(found.caveats)
