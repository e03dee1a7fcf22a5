"""Input checks, in one place: every message names the argument, the rule and what came."""

from __future__ import annotations

import difflib
import math
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._lazy import is_tensor, tensor_as_array
from nosplit._types import Array
from nosplit._warn import warn
from nosplit.errors import InputError, NonFiniteError, NosplitWarning

__all__ = [
    "Seed",
    "all_equal",
    "check_alpha",
    "check_budget",
    "check_covariance",
    "check_finite",
    "check_flag",
    "check_flags",
    "check_fraction",
    "check_int",
    "check_joint",
    "check_matrix",
    "check_rng",
    "check_sample",
    "check_varies",
    "check_vector",
    "constant_and_equal",
    "densified",
    "naming",
    "new_key",
    "repeated",
    "resolve",
    "seed_of",
    "seeded",
]

# Samples of more bytes than this are not read for the check alone: see `api/ways/pairs`.
LARGE = 1 << 20
# Entries up to which a sparse matrix is made dense.
MOST_DENSE = 50_000_000
# Whole numbers up to here are floats, too.
LARGEST_WHOLE = 1 << 53
T = TypeVar("T")

# Variances that have a reciprocal in double precision, with room for a factor of 10,000.
VARIANCES = (1e-304, 1e304)

# Standardised statistics whose squares stay in range whatever a covariance of rcond 1e-14 does.
FARTHEST = 1e140

Seed = int | np.random.Generator | None


def resolve(value: T | str, known: Mapping[str, T], name: str) -> T:
    """Turn a string into the object it is short for; suggest the nearest name if misspelt."""
    if not isinstance(value, str):
        return value
    if value in known:
        return known[value]
    near = difflib.get_close_matches(value, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"`{name}` must be one of {_quoted(known)}, got {value!r}.{hint}")


def repeated(names: Iterable[str]) -> list[str]:
    """Names that are there more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(n) for n in names)


def densified(value: Any, name: str) -> Any:
    """A sparse matrix as an array, if it is small enough; anything else as it is."""
    if hasattr(value, "data_vars") and hasattr(value, "to_dataframe"):
        raise InputError(
            f"`{name}` must be an array or a table, got a {type(value).__name__} of several arrays."
            f" Give one of them, or `{name}.to_dataframe()`."
        )
    if not hasattr(value, "toarray") or isinstance(value, np.ndarray):
        return value
    if math.prod(value.shape) > MOST_DENSE:
        raise InputError(
            f"`{name}` must have at most {MOST_DENSE:,} entries as a sparse matrix, which is made "
            f"dense, got {' × '.join(f'{n:,}' for n in value.shape)}. Reduce its columns first."
        )
    return value.toarray()


def numeric(value: ArrayLike, name: str) -> NDArray[Any]:
    """An array of float64 or float32 of any shape, whatever is in it."""
    if is_tensor(value):
        value = tensor_as_array(value, name)
    value = densified(value, name)
    if np.ma.is_masked(value):
        raise InputError(f"`{name}` must not have masked entries. Remove or fill in those first.")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        reason = str(error).rstrip(".")
        raise InputError(f"`{name}` must be a rectangular array of numbers: {reason}.") from error
    if array.dtype.kind in "biu":
        _warn_of_rounding(array, name)
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        hint = " Text is compared in tables: put it into a data frame." * (array.dtype.kind in "US")
        raise InputError(
            f"`{name}` must hold real numbers, got dtype {array.dtype}{_of(value)}.{hint}"
        )
    if array.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # what float64 cannot hold becomes infinite
            array = array.astype(np.float64)
    return array


def _warn_of_rounding(array: NDArray[Any], name: str) -> None:
    """Say where whole numbers are too large for floats to tell them apart."""
    if array.dtype.itemsize < 8 or array.size == 0 or array.dtype.kind == "b":
        return
    if max(int(array.max()), -int(array.min())) > LARGEST_WHOLE:
        text = (
            f"`{name}` holds whole numbers beyond 2⁵³, which are rounded. Subtract a common offset "
            "first, or leave out what only names rows."
        )
        warn(text, NosplitWarning)


def _of(value: object) -> str:
    """Name the type of an object whose dtype does not tell it."""
    return "" if isinstance(value, list | tuple | np.ndarray) else f" ({type(value).__name__})"


def all_equal(rows: NDArray[Any], row: NDArray[Any]) -> bool:
    """Whether all rows are `row`; stops at the first block with another."""
    blocks = (rows[i : i + 4096] for i in range(0, len(rows), 4096))
    return all(bool((block == row).all()) for block in blocks)


def check_varies(rows: NDArray[Any], name: str) -> None:
    """Check that rows are not all the same."""
    if all_equal(rows, rows[0]):
        raise InputError(f"`{name}` is constant: all rows are the same.")


def constant_and_equal(largest: float) -> InputError:
    """The error for two samples of one and the same value, which is of this size."""
    if largest >= LARGEST_WHOLE:  # 2⁵³ + 1 is rounded to 2⁵³
        return InputError(
            "`x` and `y` hold numbers from 2⁵³ on that are equal once they are rounded to floats. "
            "Subtract a common offset from both first."
        )
    return InputError("`x` and `y` are constant and equal: there is nothing to compare.")


def check_finite(array: NDArray[Any], name: str, hint: str = "") -> None:
    """Sums are finite exactly when all entries are (or overflow); look closer only if not."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(np.sum(array, dtype=np.float64))
    if not suspicious:
        return
    for start in range(0, len(array), 65536):
        bad = ~np.isfinite(array[start : start + 65536])
        if bad.any():
            where = np.argwhere(bad)[0]
            where[0] += start
            count = sum(
                int(np.count_nonzero(~np.isfinite(array[i : i + 65536])))
                for i in range(0, len(array), 65536)
            )
            raise InputError(
                f"`{name}` must be finite, got {array[tuple(where)]} at index "
                f"{tuple(int(i) for i in where)} ({count} such values in all). "
                f"Remove or fill in those rows first{hint * bool(np.isnan(array[tuple(where)]))}."
            )


def check_vector(value: ArrayLike, name: str, *, size: int | None = None) -> Array:
    """A finite vector, of the given size if one is asked for."""
    array = numeric(value, name).astype(np.float64, copy=False)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`{name}` must be a non-empty vector, got shape {array.shape}.")
    if size is not None and len(array) != size:
        raise InputError(f"`{name}` must have {size} entries, got {len(array)}.")
    check_finite(array, name)
    return array


def check_matrix(value: ArrayLike, name: str, *, columns: int | None = None) -> Array:
    """A finite matrix with at least one row, with the given number of columns if asked for."""
    array = numeric(value, name).astype(np.float64, copy=False)
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"`{name}` must be a non-empty matrix, got shape {array.shape}.")
    if columns is not None and array.shape[1] != columns:
        raise InputError(f"`{name}` must have {columns} columns, got {array.shape[1]}.")
    check_finite(array, name)
    return array


def check_covariance(value: ArrayLike, size: int, name: str = "cov") -> Array:
    """A symmetric matrix with a diagonal ≥ 0 (whitening checks that it is semidefinite)."""
    array = check_matrix(value, name, columns=size)
    if array.shape[0] != size:
        raise InputError(f"`{name}` must be {size} × {size}, got shape {array.shape}.")
    check_symmetric(array[None], name)
    return array


def check_symmetric(cov: Array, name: str = "cov") -> None:
    """Check a batch (K, d, d) of covariance matrices on the scale of their own diagonals."""
    diagonal = np.diagonal(cov, axis1=1, axis2=2)
    if np.any(diagonal < 0):
        raise InputError(f"`{name}` must have a diagonal ≥ 0, got {diagonal.min():g}.")
    live = diagonal > 0
    extreme = live & ((diagonal < VARIANCES[0]) | (diagonal > VARIANCES[1]))
    if np.any(extreme):
        raise InputError(
            f"`{name}` must have variances of 0 or from {VARIANCES[0]:g} to {VARIANCES[1]:g}, "
            f"got {diagonal[extreme][0]:g}. Choose other units."
        )
    if np.any(cov[np.broadcast_to(~live[:, :, None], cov.shape)] != 0):
        raise InputError(f"`{name}` has a variance of 0 with a covariance other than 0.")
    sd = np.sqrt(np.where(live, diagonal, 1.0))
    with np.errstate(over="ignore"):
        correlation = cov / sd[:, :, None] / sd[:, None, :]
    if np.any(np.abs(correlation) > 1.0 + 1e-6):
        raise InputError(
            f"`{name}` must be positive semidefinite, got a correlation of "
            f"{np.abs(correlation).max():.6g}."
        )
    difference = np.abs(correlation - correlation.transpose(0, 2, 1))
    if np.any(difference > 1e-6):
        raise InputError(
            f"`{name}` must be symmetric, got entries that differ by {difference.max():.2g} "
            "on the correlation scale."
        )


def check_joint(tau: Array, cov: Array, names: tuple[str, str] = ("tau", "cov")) -> None:
    """Check that statistics (B, d) fit their covariances (K, d, d): no certainty, no overflow."""
    tau_name, cov_name = names
    check_symmetric(cov, cov_name)
    diagonal = np.diagonal(cov, axis1=1, axis2=2)
    dead = diagonal == 0
    if np.any(dead.all(axis=1)):
        raise InputError(f"`{cov_name}` must have a positive variance, got zeros only.")
    if np.any(dead & (tau != 0)):
        raise InputError(
            f"`{tau_name}` has an entry other than 0 where `{cov_name}` has a variance of 0."
        )
    with np.errstate(over="ignore"):
        farthest = np.max(np.abs(tau) / np.sqrt(np.where(dead, 1.0, diagonal)), initial=0.0)
    if farthest > FARTHEST:
        raise InputError(
            f"`{tau_name}` must be within {FARTHEST:g} standard deviations of 0, got {farthest:g}. "
            f"Does `{cov_name}` belong to it?"
        )


def check_sample(
    value: ArrayLike, name: str, *, smallest: int = 2, finite: bool = True
) -> NDArray[Any]:
    """A sample as an (n, p) array of float64 (or float32, which stays as it is)."""
    array = numeric(value, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(
            f"`{name}` must be a vector or an (n, p) array, got {array.ndim} dimensions."
            + " Flatten each observation to one row first." * (array.ndim > 2)
        )
    if array.shape[1] == 0:
        raise InputError(f"`{name}` must have at least one column, got shape {array.shape}.")
    if len(array) < smallest:
        raise InputError(f"`{name}` must have at least {smallest} rows, got {len(array)}.")
    if finite and array.nbytes <= LARGE:
        check_finite(array, name, "; nan_policy='omit' leaves out rows with nan")
    return array


def check_alpha(alpha: float) -> float:
    """A level strictly between 0 and 1."""
    return check_fraction(alpha, "alpha")


def check_fraction(value: float, name: str) -> float:
    """A number strictly between 0 and 1."""
    if not isinstance(value, (int, float, np.floating)) or not 0.0 < float(value) < 1.0:
        raise InputError(f"`{name}` must be strictly between 0 and 1, got {value!r}.")
    return float(value)


def check_int(value: int, name: str, *, least: int) -> int:
    """An integer of at least `least`, and of a size that can be counted to."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"`{name}` must be an int ≥ {least}, got {value!r}.")
    if value > 2**53:
        raise InputError(f"`{name}` must be an int ≤ 2**53, got more.")
    return int(value)


def check_flag(value: bool, name: str) -> bool:
    """Check that a value is True or False: a string such as "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"`{name}` must be True or False, got {value!r}.")
    return bool(value)


def check_flags(**flags: bool) -> None:
    """Several flags at once."""
    for name, value in flags.items():
        check_flag(value, name)


def check_budget(budget: float) -> float:
    """A positive number of seconds; more than 10⁹ is as good as no limit."""
    number = isinstance(budget, (int, float, np.number)) and not isinstance(budget, bool)
    if not (number and budget > 0):
        raise InputError(f"`budget` must be a positive number of nominal seconds, got {budget!r}.")
    return float(min(budget, 1e9))


def check_rng(rng: Seed) -> np.random.Generator:
    """A generator from a seed ≥ 0, or from a fresh one for None, or the generator itself."""
    rng = secrets.randbits(53) if rng is None else rng  # JSON has whole numbers of 53 bits
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return np.random.default_rng(int(rng))
    raise InputError(f"`rng` must be an int ≥ 0, a numpy Generator or None, got {rng!r}.")


def seed_of(rng: Seed, generator: np.random.Generator) -> int | None:
    """The seed of a generator that `check_rng` made; None if it came from the caller."""
    return None if rng is generator else int(generator.bit_generator.seed_seq.entropy)  # type: ignore[attr-defined]


def seeded(rng: Seed) -> tuple[np.random.Generator, int | None]:
    """Return the generator of a call and its seed; a caller's own is advanced by one integer."""
    generator = check_rng(rng)
    seed = seed_of(rng, generator)
    return (np.random.default_rng(new_key(generator)) if seed is None else generator), seed


def new_key(rng: np.random.Generator) -> int:
    """A key of random draws that are made elsewhere, or later."""
    return int(rng.integers(2**63))


@contextmanager
def naming(**samples: NDArray[Any]) -> Iterator[None]:
    """Name the sample that is not finite, where values made of it are found not to be.

    Large samples are not read twice: their finiteness shows in the values.
    """
    try:
        yield
    except NonFiniteError:
        for name, rows in samples.items():
            check_finite(rows, name)
        raise
