"""The request of a caller: samples and checked options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nosplit._checks import (
    Seed,
    check_budget,
    check_flags,
    check_int,
    resolve,
    seeded,
)
from nosplit.core.pairings import Complete, Pairing, Sketch, as_pairing
from nosplit.data.labels import label_policy
from nosplit.data.options import AUTO, Options
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, Wild, resolve_calibration
from nosplit.methods import METHODS, Method, Naive, Split

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries
    from numpy.typing import ArrayLike

    Sample = ArrayLike | IntoDataFrame | IntoSeries | PathLike[str]
else:
    Sample = Any

__all__ = [
    "CalibrationName",
    "LabelsOfRows",
    "MethodName",
    "NanPolicy",
    "PairsName",
    "Request",
    "Sample",
    "as_method",
]

LabelsOfRows = str | Sequence[Any] | None
MethodName = Literal[
    "auto", "adaptive", "ost", "nonnegative", "wald", "best", "split", "chibar", "naive"
]
PairsName = Literal["auto", "complete", "sketch", "linear", "adjacent"]
CalibrationName = Literal["auto", "exact", "asymptotic"]
NanPolicy = Literal["auto", "raise", "omit", "indicate"]


@dataclass(frozen=True, eq=False)
class Request:
    """The data of a test, and how to test.

    Attributes
    ----------
    x, y : array, data frame, path, profile, …
        The samples or variables; several samples and their labels; a sample and its model.
    options : Options
        Treatment of the columns.
    kernels : kernels of the family
        The kernels; None for the default.
    method : Method or None
        The method; None for the default.
    pairs : Pairing or None
        The pairs of units; None for the default.
    calibration : Exact, Wild or str
        An object, "asymptotic" or "auto"; other names are resolved by the family.
    paired : bool
        Whether row i of x belongs to row i of y.
    strata, groups : str or sequences, optional
        Labels of the rows.
    series : bool or int
        Whether rows are in time order; an int sets the rows of a block.
    names : tuple of str
        Names of the samples, for printing.
    budget : float
        Nominal seconds of one core.
    shuffle : bool
        Whether rows are paired at random.
    rng : Generator
        Source of randomness.
    seed : int or None
        Its seed; None if the caller gave a Generator.
    workers : int, optional
        Number of threads.
    device : str or torch.device, optional
        Where to compute.
    """

    x: Any
    y: Any
    options: Options
    kernels: Any
    method: Method | None
    pairs: Pairing | None
    calibration: Exact | Wild | str
    paired: bool
    strata: LabelsOfRows
    groups: LabelsOfRows
    series: bool | int
    names: tuple[str, ...]
    budget: float
    shuffle: bool
    rng: np.random.Generator
    seed: int | None
    workers: int | None
    device: Any

    @classmethod
    def of(
        cls,
        x: Any,
        y: Any,
        *,
        kernels: Any = None,
        method: Method | str = AUTO,
        pairs: Pairing | str | int = AUTO,
        calibration: Exact | Wild | str = AUTO,
        paired: bool = False,
        strata: LabelsOfRows = None,
        groups: LabelsOfRows = None,
        series: bool | int = False,
        columns: Any = None,
        exclude: Any = None,
        scale: str | bool | None = None,
        nan_policy: str = AUTO,
        names: Sequence[str] | None = None,
        budget: float = 1.0,
        shuffle: bool = True,
        rng: Seed = 0,
        workers: int | None = None,
        device: Any = None,
    ) -> Request:
        """Check the options of a call."""
        check_flags(shuffle=shuffle, paired=paired)
        if workers is not None:
            check_int(workers, "workers", least=1)
        options = Options.of(scale, columns, exclude, nan_policy)
        labelled = strata is not None or groups is not None
        declared = _checked_series(series)
        _check_designs(paired, labelled, declared)
        generator, seed = seeded(rng)
        found = cls(
            x,
            y,
            options,
            kernels,
            as_method(method),
            None if isinstance(pairs, str) and pairs == AUTO else as_pairing(pairs),
            calibration if isinstance(calibration, Wild) else resolve_calibration(calibration),
            paired,
            strata,
            groups,
            declared,
            _two_names(names),
            check_budget(budget),
            shuffle,
            generator,
            seed,
            workers,
            device,
        )
        found._check_engine()
        return found

    @property
    def labelled(self) -> tuple[str, ...]:
        """Columns that hold labels: they are not compared."""
        return tuple(dict.fromkeys(v for v in (self.strata, self.groups) if isinstance(v, str)))

    @property
    def designed(self) -> bool:
        """Whether a design restricts the permutations."""
        return (
            self.paired
            or self.strata is not None
            or self.groups is not None
            or self.series is not False
        )

    @property
    def label_policy(self) -> str:
        """Policy for rows without a label."""
        return label_policy(self.options.nan_policy)

    @property
    def by_pairs(self) -> bool:
        """Whether the paper's estimates over pairs are asked for, with their closed forms."""
        some = self.pairs is not None and not isinstance(self.pairs, Complete)
        closed = self.calibration == ASYMPTOTIC or isinstance(self.method, Naive | Split)
        return some or closed

    @property
    def automatic(self) -> bool:
        """Whether everything that says how to compare is left to the library."""
        left = (self.kernels, self.method, self.pairs, self.options.scale)
        picked = (self.options.columns, self.options.exclude)
        return (
            all(value is None for value in (*left, *picked))
            and self.calibration == AUTO
            and self.options.nan_policy in (AUTO, "raise")  # which changes no result
            and self.budget == 1.0
        )

    def _check_engine(self) -> None:
        """Check that pairs, calibration, method and design go together."""
        if isinstance(self.pairs, Sketch) and self.calibration != ASYMPTOTIC:
            return
        exact = isinstance(self.calibration, Exact | Wild)
        how = "wild gives signs to" if isinstance(self.calibration, Wild) else "exact permutes"
        if self.calibration == ASYMPTOTIC and isinstance(self.pairs, Complete):
            raise InputError(
                '`calibration="asymptotic"` needs pairs with a normal limit, and all pairs have '
                'none. Use pairs="linear", a window such as pairs=5, or calibration="exact".'
            )
        if exact and isinstance(self.method, Naive | Split):
            name = type(self.method).__name__.lower()
            raise InputError(
                f'`method="{name}"` has no exact form. Use calibration="asymptotic", or another '
                "method."
            )
        if exact and self.by_pairs:
            raise InputError(
                f"`calibration` {how} all rows, so `pairs` must be all of them, got "
                f'{self.pairs!r}. Leave `pairs` out, or use calibration="asymptotic".'
            )
        if self.by_pairs and (
            self.strata is not None or self.groups is not None or self.series is not False
        ):
            raise InputError(
                "`strata`, `groups` and `series` permute rows, which the closed forms of the paper "
                "do not. Leave out `pairs` and `calibration`, and use another method than "
                '"naive" or "split".'
            )


def as_method(method: Method | str) -> Method | None:
    """Return the method of a name; None for "auto"."""
    if isinstance(method, str) and method == AUTO:
        return None
    found = resolve(method, {AUTO: Naive(), **METHODS}, "method")
    if isinstance(found, type) or not isinstance(found, Method):
        raise InputError(f"`method` must be a name or a method such as OST(), got {found!r}.")
    return found


def _checked_series(series: bool | int) -> bool | int:
    if isinstance(series, bool | np.bool_):
        return bool(series)
    return check_int(series, "series", least=1)


def _check_designs(paired: bool, labelled: bool, series: bool | int) -> None:
    if paired and labelled:
        raise InputError(
            "`paired` rows are compared inside pairs, so `strata` and `groups` do not go with "
            "paired=True. Pairs that belong together: give groups= alone, in which each group "
            "has rows of both samples; x and y are then swapped inside groups."
        )
    if labelled and series is not False:
        raise InputError(
            "`series` permutes blocks of consecutive rows, so `strata` and `groups` do not go "
            "with it."
        )


def _two_names(names: Sequence[str] | None) -> tuple[str, str]:
    if names is None:
        return "x", "y"
    if isinstance(names, str) or len(names) != 2:
        raise InputError(f"`names` must be two names, one of each sample, got {names!r}.")
    first, second = map(str, names)
    return first, second
