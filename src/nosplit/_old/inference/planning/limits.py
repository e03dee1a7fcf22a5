"""Limits of a request: methods by name, and what each way of seeing the data cannot do."""

from __future__ import annotations

from dataclasses import dataclass

from nosplit._checks import resolve
from nosplit.core.pairings import Pairing, as_pairing, pairing_name
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_calibration
from nosplit.methods import METHODS, OST, Adaptive, Method, Naive, Split

__all__ = ["Limits", "as_method", "check_naive", "settle"]


def as_method(method: Method | str) -> Method | None:
    """The method that a name is short for; None for "auto"."""
    if isinstance(method, str) and method == "auto":
        return None
    found = resolve(method, {"auto": OST(), **METHODS}, "method")
    if isinstance(found, type) or not isinstance(found, Method):
        raise InputError(f"`method` must be a name or a method such as OST(), got {found!r}.")
    return found


def settle(method: Method | None, calibration: Exact | str) -> Method:
    """Settle "auto": adaptive where calibration is exact, and OST elsewhere."""
    if method is None:
        return Adaptive() if isinstance(calibration, Exact) else OST()
    return method


def check_naive(method: Method | None) -> None:
    """Refuse the method without an exact form, where p-values are exact."""
    if isinstance(method, Naive):
        raise InputError('`method` naive has no exact form. Use calibration="asymptotic".')


@dataclass(frozen=True)
class Limits:
    """The limits of an engine, which sees data through sums only.

    A split needs the rows again, and is refused everywhere.

    Attributes
    ----------
    where : str
        The engine, as messages name it: "on a cluster".
    pairs : tuple of Pairing
        Pairs that it can look at.
    closed : bool
        Whether there are closed forms, or p-values from draws only.
    """

    where: str
    pairs: tuple[Pairing, ...] = ()
    closed: bool = False

    def check_method(self, method: Method | None) -> None:
        """Refuse a method that needs the rows, or has no exact form where there is no other."""
        if isinstance(method, Split) or (isinstance(method, Naive) and not self.closed):
            why = "needs the rows" if isinstance(method, Split) else "has no exact form"
            raise InputError(
                f"`method` must not be {type(method).__name__} {self.where}: it {why}. Use the "
                'default, or method="ost", which learns and tests on all of the data.'
            )

    def check_pairs(self, pairs: Pairing | str | int) -> Pairing | None:
        """The pairs asked for, None for "auto"; an error for those that it cannot look at."""
        found = as_pairing(pairs)
        if found is not None and type(found) not in map(type, self.pairs):
            *most, last = (f'"{pairing_name(p)}"' for p in self.pairs)
            names = f"{', '.join(most)} or {last}" if most else last
            raise InputError(f"`pairs` {self.where} must be {names}, got {pairing_name(found)!r}.")
        return found

    def check(
        self, method: Method | None, pairs: Pairing | str | int, calibration: Exact | str
    ) -> Pairing | None:
        """Check all that is asked for; the pairs, or None for "auto"."""
        self.check_method(method)
        found = self.check_pairs(pairs)
        if not self.closed and resolve_calibration(calibration) == ASYMPTOTIC:
            raise InputError(
                f"`calibration` {self.where} must be exact, got {calibration!r}: no closed form is "
                "known. Leave it out."
            )
        return found
