"""Calibrations: the ways to a p-value, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Never

from nosplit._checks import check_int, resolve
from nosplit.errors import InputError

__all__ = [
    "ASYMPTOTIC",
    "BOOTSTRAP",
    "CAUTIOUS",
    "EXACT",
    "SERIES",
    "SIMULATE",
    "WILD",
    "Exact",
    "Wild",
    "resolve_calibration",
    "resolve_goodness_of_fit",
]

ASYMPTOTIC, EXACT = "asymptotic", "exact"
# Blocks of consecutive rows are permuted: valid if the dependence is shorter than a block.
SERIES = "series"

# Resamples of rows, of means: also with rows of a tail that may have been missed.
BOOTSTRAP, CAUTIOUS = "bootstrap", "cautious"

# Random draws of a test: more take memory by the gigabyte.
MOST_DRAWS = 10_000_000


@dataclass(frozen=True, init=False)
class _Resampling:
    n_resamples: int

    def __init__(self, n_resamples: int = 999, **unknown: Never) -> None:
        if unknown:
            raise TypeError(
                f"{type(self).__name__} takes `n_resamples` alone, got {', '.join(unknown)}."
            )
        if check_int(n_resamples, "n_resamples", least=19) > MOST_DRAWS:
            raise InputError(f"`n_resamples` must be at most {MOST_DRAWS:,}, got {n_resamples:,}.")
        object.__setattr__(self, "n_resamples", int(n_resamples))


@dataclass(frozen=True, init=False)
class Exact(_Resampling):
    """Calibration by random sign flips or label permutations: exact at every sample size.

    Exact where rows are independent and the null lets rows change places: x with y between two
    samples, y among the observations of a unit for two variables. P(p ≤ α) ≤ α is then true over
    the data and the random draws together. Given a seed it is nearly true for 999 draws, and less
    so for few; where there are fewer than 20 times as many patterns as draws, none is drawn twice.
    Rows in time order are declared by `series=True`; see `two_sample_test`.

    Parameters
    ----------
    n_resamples : int, default 999
        Number of random permutations. All of them are used instead if there are no more.

    Examples
    --------
    >>> Exact(n_resamples=1999)
    Exact(n_resamples=1999)
    """


WILD = "wild"


@dataclass(frozen=True, init=False)
class Wild(_Resampling):
    """Calibration of a goodness-of-fit test by random signs: the wild bootstrap.

    There is no symmetry behind it, so its level is right only in the limit.

    Parameters
    ----------
    n_resamples : int, default 999
        Number of vectors of random signs.

    Examples
    --------
    >>> Wild(n_resamples=1999)
    Wild(n_resamples=1999)
    """


SIMULATE = "simulate"


def resolve_calibration(calibration: Exact | str) -> Exact | str:
    """An `Exact` object, "asymptotic" or "auto"."""
    if isinstance(calibration, Exact):
        return calibration
    known: dict[str, Exact | str] = {"auto": "auto", ASYMPTOTIC: ASYMPTOTIC, "exact": Exact()}
    if not isinstance(calibration, str):
        raise InputError(f"`calibration` must be a name or Exact(...), got {calibration!r}.")
    if calibration in known:
        return known[calibration]
    return resolve(calibration, known, "calibration")


def resolve_goodness_of_fit(calibration: Exact | Wild | str) -> Exact | Wild | str:
    """An `Exact` (for samples drawn from the model) or `Wild` object, "asymptotic" or "auto"."""
    known: dict[str, Exact | Wild | str] = {
        "auto": "auto",
        ASYMPTOTIC: ASYMPTOTIC,
        WILD: Wild(),
        SIMULATE: Exact(),
        "exact": Exact(),
    }
    if isinstance(calibration, (Exact, Wild)):
        return calibration
    if not isinstance(calibration, str):
        raise InputError(
            f"`calibration` must be a name, Wild(...) or Exact(...), got {calibration!r}."
        )
    return (
        known[calibration] if calibration in known else resolve(calibration, known, "calibration")
    )
