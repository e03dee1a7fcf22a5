"""Parts that the accumulators of all families share: results, merging, saving."""

from __future__ import annotations

import os
from abc import ABC
from typing import Any, ClassVar, Self

from nosplit._old.engines.streams.saved.document import FileError, read_document, write_document
from nosplit._old.engines.streams.state import Rows
from nosplit._old.inference.planning.limits import Limits
from nosplit.core.moments import Moments
from nosplit.core.pairings import Adjacent, Sketch
from nosplit.errors import InputError
from nosplit.inference.questions import Question
from nosplit.inference.result import TestResult
from nosplit.methods import Method

__all__ = ["DRAWS", "LIMIT", "Accumulator"]

# Rows of a side that may wait, and random draws of a result.
LIMIT, DRAWS = 100_000, 9_999
LIMITS = Limits("of a stream", (Sketch(), Adjacent()), closed=True)


class Accumulator(ABC):
    """Base of the accumulators; `update` is theirs."""

    family: ClassVar[str]
    question: ClassVar[Question]

    # Those of adjacent pairs or of blocks; both have the same use.
    _flow: Any
    _state: Any
    # The kernels as they were given.
    _given: Any

    @classmethod
    def _public(cls) -> type[Accumulator]:
        """The public class: that of the family."""
        return next(kind for kind in cls.__mro__ if "family" in vars(kind))

    @classmethod
    def _kind(cls, pairs: Any) -> type[Any]:
        """The class for these pairs, which are checked: `_sketch_or_adjacent` has both."""
        if cls is not cls._public():
            return cls
        sketch, adjacent = cls._sketch_or_adjacent()
        return adjacent if isinstance(LIMITS.check_pairs(pairs), Adjacent) else sketch

    @classmethod
    def _sketch_or_adjacent(cls) -> tuple[type[Any], type[Any]]:
        """Sketches and adjacent pairs have little in common but their use: a class for each."""
        raise NotImplementedError

    @classmethod
    def like(cls, other: Self) -> Self:
        """An empty accumulator with the settings, the kernels and the map of another."""
        return type(other)._like(other)

    @classmethod
    def _like(cls, other: Self) -> Self:
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """Keywords of the constructor, as plain values."""
        raise NotImplementedError

    def _compared(self) -> dict[str, Any]:
        """Settings that must be the same in accumulators that are added."""
        return self._settings()

    # -- what is known so far ------------------------------------------------------------------

    @property
    def kernels(self) -> tuple[Any, ...] | None:
        """The kernels, or None as long as there are too few rows to choose their bandwidths."""
        return None if self._state.bank is None else tuple(self._state.bank.kernels)

    @property
    def pairs(self) -> str:
        """Short name of the pairs."""
        return str(self._flow.pairs)

    @property
    def moments(self) -> Moments:
        """Moments of all pairs that can be made of the rows so far."""
        total: Moments = self._flow.total(self._flow.flush(self._state))
        return total

    @property
    def n_dropped(self) -> int:
        """Rows that were dropped, as `limit` rows of their side were waiting already."""
        return int(self._state.n_dropped)

    @property
    def n_waiting(self) -> int:
        """Rows that wait for others."""
        raise NotImplementedError

    def counts(self) -> dict[str, int]:
        """Number of pairs and units, and what became of the rows, both sides together."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return (
            f"{self._name}(pairs={self.pairs!r}, n_pairs={self._n_pairs}, "
            f"n_waiting={self.n_waiting}, n_dropped={self.n_dropped})"
        )

    @property
    def _n_pairs(self) -> int:
        """Pairs that were made so far."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        """The public name of the class."""
        return self._public().__name__

    def _n_rows(self, sides: Rows | None) -> int:
        return sum(map(len, sides or ()))

    # -- results -------------------------------------------------------------------------------

    def result(self, method: Method | str = "auto", *, n_resamples: int = DRAWS) -> TestResult:
        """Test with what has come so far; the accumulator stays as it is.

        Every look is one more chance of a false alarm: a stream that is looked at until it
        rejects will reject. Fix the number of rows beforehand, or share the level between the
        looks (for k of them, reject at alpha / k).

        Parameters
        ----------
        method : Method or name
            As in the test of arrays; a split needs the data, and is refused.
        n_resamples : int
            Number of resamples of a sketch: p is at least 1 / (n_resamples + 1).

        Returns
        -------
        TestResult
            Its calibration is "exact", or "wild" for goodness of fit, or "asymptotic" for adjacent
            pairs. Rows that wait, were dropped or had missing values are counted in `n_left_out`.
        """
        raise NotImplementedError

    def _described(self, state: Any) -> dict[str, Any]:
        """Fields of the result that describe the columns."""
        raise NotImplementedError

    def fix_kernels(self) -> tuple[Any, ...]:
        """Choose the kernels' bandwidths now, from the rows so far, and return the kernels."""
        self._state = self._flow.flush(self._state)
        if self.kernels is None:
            raise InputError(
                "`kernels` cannot be chosen from the rows so far: two units are needed. `update` "
                "with more rows first."
            )
        return self.kernels

    # -- merging -------------------------------------------------------------------------------

    def __iadd__(self, other: Self) -> Self:
        if isinstance(other, self._public()) and type(other) is not type(self):
            raise InputError(
                "Accumulators must have the same `pairs` to be added, got "
                f"{self.pairs!r} and {other.pairs!r}."
            )
        if type(other) is not type(self):
            return NotImplemented
        if other is self:
            raise InputError("An accumulator must not be added to itself: rows would count twice.")
        self._check_settings(other)
        self._check_kernels(other)
        self._check_widths(other)
        flow = self._flow
        if self._state.waiting is None:  # what the first rows bring
            flow = flow.taught_by(other._flow)
        self._state = flow.merge(self._state, other._state)
        self._flow = flow
        return self

    def _check_settings(self, other: Self) -> None:
        ours, theirs = ({"pairs": a.pairs, **a._compared()} for a in (self, other))
        empty = self._state.waiting is None, other._state.waiting is None
        for name, one in ours.items():
            two = theirs[name]
            if one == two or (one is None and empty[0]) or (two is None and empty[1]):
                continue
            got = ", got others" if name.startswith("encoding") else f", got {one!r} and {two!r}"
            raise InputError(
                f"Accumulators must have the same `{name}` to be added{got}. "
                f"`{self._name}.like(first)` makes one that fits."
            )

    def _check_kernels(self, other: Self) -> None:
        """Refuse other kernels."""
        raise NotImplementedError

    def _check_widths(self, other: Self) -> None:
        """Refuse rows of other widths."""
        raise NotImplementedError

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the accumulator to a small file of JSON, in place of what was there.

        The file holds the moments, the kernels by their names and parameters, and the rows that
        wait. Kernels whose bandwidths were still to be chosen are chosen now. If writing fails,
        the old file stays as it was.
        """
        body = {"family": self.family, **self._body()}
        self._check_body(path, body)
        write_document(path, body)

    def _body(self) -> dict[str, Any]:
        """Settings, kernels and state as plain values."""
        raise NotImplementedError

    def _check_body(self, path: str | os.PathLike[str], body: dict[str, Any]) -> None:
        """Refuse to write what would be refused when it is read."""
        raise NotImplementedError

    @classmethod
    def _from_body(cls, body: dict[str, Any], known: dict[str, Any]) -> Self:
        """The accumulator that `_body` described."""
        raise NotImplementedError

    @classmethod
    def _restored(cls, path: str | os.PathLike[str], **known: Any) -> Self:
        """The accumulator in a file."""
        body = read_document(path)
        if body.get("family") != cls.family:
            raise FileError(
                f"`{path}` must hold a {cls.__name__}, got the family "
                f"{str(body.get('family'))[:40]!r}."
            )
        try:
            pairs = body["settings"]["pairs"]
            kind = cls._kind(Sketch(**pairs) if isinstance(pairs, dict) else pairs)
            found: Self = kind._from_body(body, known)
            return found
        except (InputError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise FileError(f"`{path}` is damaged: {error}") from error
        except RecursionError as error:
            raise FileError(f"`{path}` is damaged: kernels are nested too deep.") from error
