"""Columns and flattened spectra, which tests of all pairs look at if no kernels are named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_finite
from nosplit.data.tables.encoding import Encoding
from nosplit.errors import InputError
from nosplit.families.pooled import Pooled, label_draws, relabellings
from nosplit.families.two_sample import Grouped, Paired
from nosplit.inference.outcome import Outcome
from nosplit.inference.planning.plan import Plan
from nosplit.inference.statistics import test_draws
from nosplit.kernels import Kernel
from nosplit.kernels.bank import Bank
from nosplit.kernels.defaults.recipes import Recipe
from nosplit.kernels.derived.eigenbases import SCALE_ROWS, spread_out
from nosplit.kernels.derived.orders import sorted_rows
from nosplit.pairs.draws import SignDraws
from nosplit.pairs.statistics import DrawnStatistics, Seen
from nosplit.sketch.rows import look_at_rows

__all__ = ["look_for", "pooled_outcome"]


def look_for(
    units: Paired | Grouped, encoding: Encoding | None, workers: int | None
) -> Callable[[SignDraws], Seen]:
    """A function that looks at columns and flattened spectra of equal samples under given draws."""
    assert isinstance(units, Paired)

    def look(draws: SignDraws) -> Seen:
        signs = draws.signs.columns(range(units.n_units))
        return _seen_in_memory(*units.ordered, signs, encoding, workers)

    return look


def _seen_in_memory(
    x: NDArray[Any],
    y: NDArray[Any],
    weights: NDArray[Any],
    encoding: Encoding | None,
    workers: int | None,
) -> Seen:
    return look_at_rows(
        x,
        y,
        weights,
        categorical=() if encoding is None else encoding.categorical,
        owners=None if encoding is None else encoding.owners,
        workers=workers,
    )


def pooled_outcome(
    x: NDArray[Any],
    y: NDArray[Any],
    recipe: Recipe,
    encoding: Encoding | None,
    how: Plan,
    rng: np.random.Generator,
    workers: int | None,
) -> tuple[Outcome, tuple[Kernel, ...]]:
    """Test samples by permuting the labels of rows; and the kernels."""
    check_finite(x, "x")
    check_finite(y, "y")
    rows, place = sorted_rows(np.concatenate([x, y]).astype(np.float64))
    try:
        kernels = recipe.fit(rows[spread_out(len(rows), SCALE_ROWS)])
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "`x` and `y`")) from None
    weights = label_draws(len(x), len(y), how.n_resamples, rng)
    pooled = Pooled(rows, Bank(kernels))
    order = np.argsort(place, kind="stable")
    tau, cov = pooled.under(np.ascontiguousarray(weights[:, order]), workers)
    seen = _seen_in_memory(x, y, weights, encoding, workers)
    drawn = DrawnStatistics(tau, cov, len(rows), pooled.n_pairs, *seen)
    outcome = test_draws(drawn, None, how.pairs)
    return replace(outcome, relabellings=relabellings(len(x), len(y))), kernels
