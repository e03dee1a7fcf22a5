"""Requests of callers about columns: which, how scaled, and how missing values are treated."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from nosplit._checks import repeated, resolve
from nosplit.errors import InputError, MissingValuesError

__all__ = ["AUTO", "POLICIES", "ROBUST", "Options", "by_policy", "wanted"]

T = TypeVar("T")

# "auto": missing values of tables are compared as well; in arrays they are an error.
AUTO = "auto"
POLICIES = {name: name for name in (AUTO, "raise", "omit", "indicate")}


ROBUST, NONE = "robust", "none"


@dataclass(frozen=True)
class Options:
    """Treatment of the columns: checked values of the keywords of the test functions."""

    scale: str | None
    columns: tuple[str, ...] | None
    exclude: tuple[str, ...] | None
    nan_policy: str

    @classmethod
    def of(cls, scale: Any, columns: Any, exclude: Any, nan_policy: Any) -> Options:
        """Check the keywords."""
        if scale is not None and not isinstance(scale, str | bool | np.bool_):
            raise InputError(f"`scale` must be True, False, 'robust' or 'none', got {scale!r}.")
        if isinstance(scale, bool | np.bool_):
            scale = ROBUST if scale else NONE
        if scale is not None:
            resolve(scale, {ROBUST: ROBUST, NONE: NONE}, "scale")
        if not isinstance(nan_policy, str):
            raise InputError(f"`nan_policy` must be a name, got {nan_policy!r}.")
        policy = resolve(nan_policy, POLICIES, "nan_policy")
        return cls(scale, wanted(columns, "columns"), wanted(exclude, "exclude"), policy)

    @property
    def idle(self) -> bool:
        """Whether they leave arrays as they are."""
        picks = self.columns is not None or self.exclude is not None
        return self.scale in (None, NONE) and self.nan_policy in (AUTO, "raise") and not picks

    def leaving_out(self, names: Iterable[str]) -> Options:
        """The same options with some more columns left out."""
        more = tuple(names)
        if not more:
            return self
        return replace(self, exclude=tuple(dict.fromkeys((*(self.exclude or ()), *more))))


def by_policy(
    nan_policy: str, attempt: Callable[[str], T], rng: np.random.Generator | None = None
) -> T:
    """Do `attempt` with a policy; "auto" is "raise", and "indicate" where tables have gaps.

    Gaps are met while rows are read, wherever they lie, so that tables without any cost nothing.

    Parameters
    ----------
    nan_policy : str
        A policy, or "auto".
    attempt : callable
        Does it all, with the policy that it is given.
    rng : Generator, optional
        The generator that it draws from: it draws the same again.
    """
    if not isinstance(nan_policy, str):
        raise InputError(f"`nan_policy` must be a name, got {nan_policy!r}.")
    if resolve(nan_policy, POLICIES, "nan_policy") != AUTO:
        return attempt(nan_policy)
    before = copy.deepcopy(rng)
    with suppress(MissingValuesError):
        return attempt("raise")
    if rng is not None and before is not None:
        rng.bit_generator.state = before.bit_generator.state
    return attempt("indicate")


def wanted(names: Any, keyword: str) -> tuple[str, ...] | None:
    """Names that `columns=` or `exclude=` lists; positions of an array are names too ("0")."""
    if names is None:
        return None
    if isinstance(names, str | int | np.integer) or not isinstance(names, Iterable):
        names = (names,)
    found = tuple(str(name) for name in names)
    if twice := repeated(found):
        raise InputError(f"`{keyword}` must name every column once, got {twice[0]!r} twice.")
    if keyword == "columns" and not found:
        raise InputError("`columns` must name at least one column, got none.")
    return found
