"""From units and a plan to a result: the steps that all families share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import resolve
from nosplit.errors import (
    DroppedKernelWarning,
    InputError,
    NearCopyWarning,
    NonFiniteError,
    NosplitWarning,
    NotATestWarning,
    UnsafeAsymptoticsWarning,
)
from nosplit.inference.plan import (
    ASYMPTOTIC,
    Plan,
    pairing_name,
    safe_when_unequal,
    safe_window,
    smallest_safe_pairs,
    width,
)
from nosplit.inference.ranking import Exact, rank_draws
from nosplit.inference.result import Question, TestResult
from nosplit.methods import METHODS, OST, Adaptive, Method, Naive, Selection, Split
from nosplit.methods.laws import Flips, law_of
from nosplit.methods.whitening import Whitening
from nosplit.pairs.draws import BLOCK, Signs
from nosplit.pairs.loop import Draws, Units, accumulate, accumulate_draws
from nosplit.pairs.moments import Moments
from nosplit.pairs.pairing import Pairing

__all__ = [
    "SMALLEST_PAIRS",
    "Outcome",
    "as_method",
    "progress_bar",
    "run",
    "settle",
    "split_at",
    "stein_caveats",
    "test_moments",
    "test_rows",
    "to_result",
    "unequal_caveats",
]

Array = NDArray[np.float64]
U = TypeVar("U", bound="Testable")

# Pairs a kernel from which the closed form is called safe for Stein values. They are skewed, those
# of two samples are not: more are needed than there (docs/goodness_of_fit.md).
SMALLEST_PAIRS = 500


class Testable(Units, Protocol):
    """Units that can be cut into parts and drawn again under the null."""

    def part(self: U, units: range) -> U:
        """Some of the units, as units of their own."""
        ...

    def draws(self, flips: int, rng: np.random.Generator) -> Draws:
        """Random draws under the null."""
        ...


@dataclass
class Outcome:
    """What the statistics made of the moments, on its way to a `TestResult`."""

    method: Method
    selection: Selection
    tau: Array
    cov: Array
    n_pairs: int
    calibration: str = ASYMPTOTIC
    flips: Flips | None = None
    pairs: str = ""
    caveats: list[tuple[type[NosplitWarning], str]] = field(default_factory=list)


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
) -> Outcome:
    """Accumulate the pairs that the plan names, and test."""
    chosen = settle(method, how.calibration)
    ranges = split_at(chosen, units.n_units)
    parts = [units.part(r) for r in ranges]
    with progress_bar(progress, sum(how.pairing.n_pairs(p.n_units) for p in parts)) as step:
        if isinstance(how.calibration, Exact):
            draws = units.draws(how.calibration.flips, rng)
            done = [
                accumulate_draws(p, how.pairing, draws.of(r), workers=workers, step=step)
                for p, r in zip(parts, ranges, strict=True)
            ]
            total = _sum([part.moments for part in done])
            tau = _stack([part.sums / np.sqrt(part.moments.n) for part in done])
            second = np.sum([part.second for part in done], axis=0)
            outcome = _exact(chosen, tau, second / total.n, total)
        else:
            moments = [accumulate(p, how.pairing, workers=workers, step=step) for p in parts]
            outcome = _asymptotic(chosen, moments)
            n_pairs = how.pairing.n_pairs(units.n_units)
            outcome.caveats += _unsafe(how.pairing, units.n_units, n_pairs, len(outcome.tau))
    outcome.pairs = how.pairs
    return outcome


def test_moments(
    moments: Moments, method: Method | str, pairing: Pairing, n_units: int, *, unequal: bool
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
    """
    chosen = settle(as_method(method), ASYMPTOTIC)
    if isinstance(chosen, Split):
        raise InputError(
            "`method` must not be a Split: it needs the data, and only moments are kept. Use "
            'method="ost", which learns and tests on all of it.'
        )
    d = len(moments.mean)
    caveats = _unsafe(pairing, n_units, moments.n, d, MORE)
    outcome = _asymptotic(chosen, [moments])
    outcome.pairs = pairing_name(pairing)
    outcome.caveats += caveats
    if unequal:
        outcome.caveats += unequal_caveats(outcome, n_units, MORE)
    return outcome


test_moments.__test__ = False  # type: ignore[attr-defined]


@np.errstate(over="ignore", invalid="ignore")  # as in `accumulate`: found in the total
def test_rows(
    values: Array, method: Method | None, calibration: Exact | str, rng: np.random.Generator
) -> Outcome:
    """Test with rows of values as they are: every row is a pair of its own."""
    chosen = settle(method, calibration)
    parts = split_at(chosen, len(values))
    moments = [Moments.from_values(values[r.start : r.stop]) for r in parts]
    if isinstance(calibration, Exact):
        signs = Signs(len(values), calibration.flips, rng)
        tau = _stack([_signed_rows(values, r, signs) / np.sqrt(len(r)) for r in parts])
        total = _sum(moments)
        outcome = _exact(chosen, tau, total.second_moment, total)
    else:
        outcome = _asymptotic(chosen, moments)
        outcome.caveats += _few_pairs(outcome.n_pairs, len(outcome.tau))
    outcome.pairs = "rows"
    return outcome


test_rows.__test__ = False  # type: ignore[attr-defined]


def _signed_rows(values: Array, rows: range, signs: Signs) -> Array:
    """Sums of ε_i h_i over some rows, for all draws, (F, d)."""
    blocks = [rows[i : i + BLOCK] for i in range(0, len(rows), BLOCK)]
    parts = [signs.columns(b) @ values[b.start : b.stop] for b in blocks]
    return np.asarray(np.sum(parts, axis=0))


def _sum(moments: list[Moments]) -> Moments:
    return sum(moments[1:], start=moments[0])


def _stack(tau: list[Array]) -> Array:
    """(F, d), or (F, 2, d) for the two parts of a split."""
    return tau[0] if len(tau) == 1 else np.stack(tau, axis=-2)


def _exact(method: Method, tau: Array, cov: Array, total: Moments) -> Outcome:
    _check_values(total, cov)
    cov = (cov + cov.T) / 2.0
    flips = rank_draws(method, tau, cov)
    outcome = Outcome(method, method(tau[0], cov), total.tau, cov, total.n, "exact", flips)
    outcome.caveats += _dropped(cov)
    return outcome


def _asymptotic(method: Method, moments: list[Moments]) -> Outcome:
    total = _sum(moments)
    _check_values(total, total.cov)
    selection = method(_stack([m.tau for m in moments]), total.cov)
    outcome = Outcome(method, selection, total.tau, total.cov, total.n)
    outcome.caveats += _dropped(total.cov) + _near_copies(total.cov)
    if isinstance(method, Naive):
        outcome.caveats.append(
            (NotATestWarning, "`naive` does not control the level: its p-values are too small.")
        )
    return outcome


def _check_values(total: Moments, cov: Array) -> None:
    """Check that the pairs' values have a covariance matrix that a test can use."""
    if not (np.isfinite(total.mean).all() and np.isfinite(cov).all()):
        raise NonFiniteError(
            "The kernels' values are not finite: the data is too large for them, or a kernel "
            "returns nan or inf. Rescale the data, for example to unit variance."
        )
    dead = np.diagonal(cov) == 0
    if dead.all():
        raise InputError(
            "The values of all pairs are the same: the data is constant, there are too few pairs, "
            "or no kernel's bandwidth fits the data's scale."
        )
    if np.any(dead & (total.mean != 0)) or np.any(cov[dead]):
        raise InputError(
            f"The values of kernel number {_numbers(dead)} are the same for all pairs, or too "
            "small to be squared. Rescale the data, drop the kernel, or use calibration='exact'."
        )


def _numbers(which: NDArray[np.bool_]) -> str:
    return ", ".join(str(i) for i in np.flatnonzero(which))


# --- what to know before relying on a result -----------------------------------------------------

Caveat = tuple[type[NosplitWarning], str]

# What to do where the normal approximation is poor: with the data, and without it.
EXACTLY, MORE = "calibration='exact'", "more rows"


def _dropped(cov: Array) -> list[Caveat]:
    dead = np.diagonal(cov) == 0
    if not dead.any():
        return []
    text = f"Kernels without variance were dropped: number {_numbers(dead)}."
    return [(DroppedKernelWarning, text)]


def _near_copies(cov: Array) -> list[Caveat]:
    sd = np.sqrt(np.diagonal(cov))
    safe = np.where(sd > 0, sd, 1.0)
    distance = 1.0 - cov / safe[:, None] / safe
    close = np.argwhere(np.triu((distance < 1e-3) & (distance > Whitening().rcond), 1))
    if not len(close):
        return []
    names = ", ".join(f"{i} and {j}" for i, j in close)
    text = (
        f"Kernels are nearly copies of one another (numbers {names}): the p-value reacts to "
        "rounding. Drop one of each pair."
    )
    return [(NearCopyWarning, text)]


def _few_pairs(n_pairs: int, d: int, remedy: str = EXACTLY) -> list[Caveat]:
    if n_pairs <= d:
        raise InputError(
            f"{n_pairs} pairs are too few for asymptotic calibration with {d} kernels, which needs "
            f"more than {d}. Use {remedy}, more pairs or fewer kernels."
        )
    if n_pairs >= smallest_safe_pairs(d):
        return []
    text = (
        f"{n_pairs} pairs are few for the normal approximation with {d} kernels (at least "
        f"{smallest_safe_pairs(d)} are safe): use {remedy} or fewer kernels."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def _unsafe(
    pairing: Pairing, n_units: int, n_pairs: int, d: int, remedy: str = EXACTLY
) -> list[Caveat]:
    caveats = _few_pairs(n_pairs, d, remedy)
    safe = safe_window(n_units)
    if width(pairing) > safe:
        text = (
            f"{n_units} units are few for the normal approximation with so many pairs each: a "
            f"window of {safe} is the widest that is safe. Use {remedy} or fewer pairs."
        )
        caveats.append((UnsafeAsymptoticsWarning, text))
    return caveats


def unequal_caveats(outcome: Outcome, n_units: int, remedy: str = EXACTLY) -> list[Caveat]:
    """What to know of an asymptotic test of samples of different sizes."""
    n_pairs, d = outcome.n_pairs, len(outcome.tau)
    if outcome.calibration != ASYMPTOTIC or safe_when_unequal(n_units, n_pairs, d):
        return []
    text = (
        f"{n_units} units and {n_pairs} pairs are few for the normal approximation with samples "
        f"of different sizes, if the data is skewed: use {remedy}."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def stein_caveats(outcome: Outcome) -> list[Caveat]:
    """What to say of too few pairs for the closed form, where nothing has been said yet."""
    needed = SMALLEST_PAIRS * len(outcome.tau)
    said = any(category is UnsafeAsymptoticsWarning for category, _ in outcome.caveats)
    if said or outcome.calibration != ASYMPTOTIC or outcome.n_pairs >= needed:
        return []
    text = (
        f"{outcome.n_pairs} pairs are few for the normal approximation of {len(outcome.tau)} Stein "
        f"statistics (at least {needed} are safe): use calibration='wild' or 'simulate', or more "
        "pairs."
    )
    return [(UnsafeAsymptoticsWarning, text)]


def to_result(
    outcome: Outcome,
    *,
    question: Question,
    kernels: Sequence[Any],
    n_units: int,
    n_used: int,
    n_left_out: int,
    columns: tuple[str, ...] | None = None,
    encoding: Any = None,
) -> TestResult:
    """Issue the warnings and put the result together."""
    for category, text in outcome.caveats:
        warnings.warn(text, category, stacklevel=3)
    picked = outcome.selection
    law = outcome.flips or law_of(picked)
    statistic = float(outcome.flips.values[0]) if outcome.flips else float(picked.statistic)
    truncated = not np.isnan(picked.truncation) and picked.mixture is None
    return TestResult(
        statistic=statistic,
        log_pvalue=law.log_sf(statistic) if outcome.flips else float(picked.log_pvalue),
        weights=picked.weights,
        active=tuple(int(i) for i in np.flatnonzero(picked.active)),
        dof=int(picked.dof),
        truncation=float(picked.truncation) if truncated else None,
        tau=outcome.tau,
        cov=outcome.cov,
        kernels=tuple(kernels),
        method=outcome.method.name,
        pairs=outcome.pairs,
        calibration=outcome.calibration,
        n_units=n_units,
        n_pairs=outcome.n_pairs,
        n_used=n_used,
        n_left_out=n_left_out,
        null=law,
        question=question,
        flips=len(outcome.flips.values) - 1 if outcome.flips else None,
        warnings=tuple(f"{c.__name__}: {text}" for c, text in outcome.caveats),
        columns=columns,
        encoding=encoding,
    )


@contextmanager
def progress_bar(show: bool, total: int) -> Iterator[Callable[[int], None] | None]:
    """A progress bar on standard error, if asked for and somebody can see it."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("pairs", total=total)
        yield lambda done: bar.update(task, advance=done)
