"""Designs that are planned: known by their numbers alone."""

from __future__ import annotations

from dataclasses import dataclass

from nosplit._checks import check_flag, check_int
from nosplit._old.inference.planning.costs import DesignSizes, Sizes
from nosplit.errors import InputError

__all__ = ["PlannedDesign"]


@dataclass(frozen=True)
class PlannedDesign:
    """Whether rows are paired, and how many strata, groups and samples there are."""

    paired: bool = False
    strata: int | None = None
    groups: int | None = None
    samples: int | None = None

    @classmethod
    def of(
        cls,
        test: str,
        paired: bool,
        strata: int | None,
        groups: int | None,
        samples: int | None,
    ) -> PlannedDesign:
        """Check the keywords of `plan`."""
        counts = [
            None if value is None else check_int(value, name, least=least)
            for value, name, least in (
                (strata, "strata", 1),
                (groups, "groups", 2),
                (samples, "samples", 2),
            )
        ]
        found = cls(check_flag(paired, "paired"), *counts)
        if (samples is not None) != (test == "k_sample"):
            raise InputError('`samples` goes with test="k_sample", which needs it.')
        if test != "two_sample" and (paired or groups is not None):
            raise InputError(f"`paired` and `groups` do not go with test={test!r}.")
        if test == "goodness_of_fit" and strata is not None:
            raise InputError(f"`strata` do not go with test={test!r}.")
        if paired and found.exchanges:
            raise InputError("`paired` rows have no `strata` or `groups` besides their pairs.")
        return found

    @property
    def exchanges(self) -> bool:
        """Whether labels change places, inside blocks or among samples."""
        return any(count is not None for count in (self.strata, self.groups, self.samples))

    def each(self, n: int) -> tuple[int, ...]:
        """Rows of each of several samples of n rows in all."""
        samples = self.samples or 1
        return (n // samples,) * samples

    @property
    def words(self) -> str:
        """Words on what changes places."""
        if self.paired:
            return "x and y are swapped inside pairs."
        if self.samples is not None:
            return f"Rows are permuted among {self.samples} samples."
        if self.groups is not None:
            return f"{self.groups:,} groups are permuted, those of the same size."
        return "" if self.strata is None else f"Rows are permuted inside {self.strata:,} strata."

    def sizes(self, rows: Sizes) -> Sizes:
        """Sizes on which the cost depends, from those without the design."""
        if self.paired and rows.n != rows.m:
            raise InputError(f"`paired` samples must be of one size, got {rows.n} and {rows.m}.")
        if not self.exchanges:
            return rows
        total = rows.n + rows.m
        return DesignSizes(
            rows.n,
            rows.m,
            rows.p,
            rows.d,
            rows.bases,
            min(self.groups or total, total),
            self.samples or 2,
            default=rows.default,
        )
