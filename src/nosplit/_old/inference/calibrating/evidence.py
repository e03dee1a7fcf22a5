"""Kinds of evidence, ranked together on the same draws.

Each draw has its ranks under several kinds of evidence: kernels learned together; kernels with
flattened spectra, learned together and one by one; single columns; pairs of columns; places and
spreads of all columns; distances of rows from the middle; the shape of a single column; and a
little of everything. Whatever is made of the ranks, the place of the data among its draws is exact.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nosplit._old.inference.calibrating.ranking import Joining, hedged, rank_draws
from nosplit._old.pairs.statistics import (
    FINE,
    PLACE,
    SMOOTH,
    SPREAD,
    ColumnDraws,
    DrawnStatistics,
    own_tails,
)
from nosplit._types import Array
from nosplit.inference.change import Change, Described
from nosplit.inference.effect import Separation
from nosplit.inference.rank import own_pvalues, step_down
from nosplit.methods import Adaptive, Method
from nosplit.methods.laws import Flips

# A spread of draws that is rounding.
ALIKE = 1e-9
# The largest adjusted p-value of a pair of columns that is told.
LOOSEST = 0.1
# Bits of a covariance that do not depend on the order of sums.
BITS = 40
# How much kinds of evidence count, and the power of ranks, chosen on problems whose power is not
# reported. Kernels of numbers do not see categories: where there are some, single columns and pairs
# of them count more. Few units show simple differences at best, and more of them finer ones: what
# is of few numbers counts less the more units there are, within bounds. (That was added after a
# problem whose power is reported: docs/measured/power.md.) How much the fewer units there are,
# powers say. What one of few columns shows, kernels see, too: it counts less the fewer there are.
# Where columns widen together, distances from the middle show it better than spreads, which count
# half beside them.
WEIGHTS = {
    "learned": 6.0,
    "learned, flattened": 4.0,
    "largest, flattened": 4.0,
    "largest column": 3.0,
    "largest pair": 4.0,
    "broad": 4.0,
    "place": 6.0,
    "spread": 2.0,
    "distance": 2.0,
    "smooth": 4.0,
}
WITH_CATEGORIES = {"largest column": 8.0, "largest pair": 6.0}
SIMPLE = ("broad", "place", "spread", "distance")
SOME_UNITS, LEAST, MOST = 200, 0.3, 3.0
BESIDE_DISTANCES = 0.5
WITH_FEW = {
    "place": 1.0,
    "spread": 0.75,
    "learned": 0.25,
    "broad": 0.25,
    "largest pair": -0.5,
}
SOME_COLUMNS = 6
POWER = 0.75

__all__ = [
    "ColumnEvidence",
    "PairEvidence",
    "column_evidence",
    "joining_of",
    "kinds_of",
    "own_pvalue",
    "pair_evidence",
    "rank_all",
]


@dataclass(frozen=True)
class ColumnEvidence(Described):
    """The evidence of a column by itself.

    Attributes
    ----------
    pvalue : float
        Its own p-value.
    adjusted : float
        The p-value that holds for all columns together (Westfall and Young, step-down).
    statistic : float
        How far the best of its statistics lies beyond what chance gives, as a normal score.
    change : Change or None
        What changed, where that was looked at.
    separation : Separation or None
        Balanced accuracy of the best rule on the column.
    """

    pvalue: float
    adjusted: float
    statistic: float = 0.0
    change: Change | None = None
    separation: Separation | None = None


class PairEvidence(NamedTuple):
    """The evidence of a pair of columns: that they go together in another way, or differ.

    Attributes
    ----------
    columns : pair of int
        The two.
    pvalue : float
        Their own p-value.
    adjusted : float
        The p-value that holds for all pairs together (Westfall and Young, step-down).
    change : Change or None
        How they go together, where that was looked at.
    """

    columns: tuple[int, int]
    pvalue: float
    adjusted: float
    change: Change | None = None


def rank_all(method: Method, drawn: DrawnStatistics) -> Flips:
    """The evidence under every draw; `Adaptive` joins all kinds there are."""
    seen = drawn.flat_tau.size or drawn.columns is not None
    drawn = replace(drawn, cov=_without_rounding(drawn.cov))
    if drawn.flat_cov.size:
        drawn = replace(drawn, flat_cov=_without_rounding(drawn.flat_cov))
    if not isinstance(method, Adaptive) or not seen:
        return rank_draws(method, drawn.tau, drawn.cov)
    kinds = kinds_of(method, drawn)
    return Flips(hedged(np.stack(list(kinds.values())), joining_of(kinds, drawn, drawn.n_units)))


def _without_rounding(cov: Array) -> Array:
    """A covariance matrix to 40 bits: the same, to the last bit, whichever draw was the data.

    Where it is nearly singular, the last bits decide which kernels are in the learned combination.
    """
    size, power = np.frexp(cov)
    return np.asarray(np.ldexp(np.rint(np.ldexp(size, BITS)), power - BITS))


def kinds_of(
    method: Adaptive, drawn: DrawnStatistics, like: DrawnStatistics | None = None
) -> dict[str, Array]:
    """The kinds of evidence under every draw, (F,) each: larger is stronger.

    A learned combination of kernels, one of kernels with flattened spectra, the best of these, the
    best column, the best pair of columns, where all columns of numbers lie and how wide they are,
    how far rows lie from the middle, and a broad difference, a little in every kernel and every
    column. A single column needs fewer: with it, flattened kernels and bins are of one kind; its
    shape is another. Tails of columns, and what is a little, are told by the draws themselves, or
    by those of the null law that they are to be ranked among (`like`).
    """
    learned, best, broad = method.evidence(drawn.tau, drawn.cov)
    kinds, columns = {"learned": learned}, drawn.columns
    single = columns is not None and columns.n_columns == 1
    if drawn.flat_tau.size:
        flat, largest, _ = method.evidence(drawn.flat_tau, drawn.flat_cov)
        if columns is not None and single:
            fine = columns.showing(FINE) if FINE in columns.shows else columns.values
            kinds["largest, flattened"] = np.maximum(largest, fine.max(axis=1))
        else:
            kinds |= {"learned, flattened": flat, "largest, flattened": largest}
    if columns is None:
        return kinds | {"largest": best, "broad": broad}
    for name in (PLACE, SPREAD, SMOOTH):
        shown = columns.showing(name)
        if shown.size:
            kinds[name] = shown.mean(axis=1)
    parts = null_parts = (broad, _first_of_columns(columns).mean(axis=1))
    if like is not None and like.columns is not None:
        null_broad = method.evidence(like.tau, like.cov)[2]
        null_parts = null_broad, _first_of_columns(like.columns).mean(axis=1)
        tails = own_tails(columns.scores, like.columns.scores)
    else:
        tails = columns.tails
    units = [_unit(part, null) for part, null in zip(parts, null_parts, strict=True)]
    if not single or PLACE in kinds:
        kinds["broad"] = units[1] if single else units[0] + units[1]
    if not single or PLACE not in kinds:
        kinds["largest column"] = tails.max(axis=1)
    if drawn.pairs is not None and drawn.pairs.n_columns:
        kinds["largest pair"] = drawn.pairs.scores.max(axis=1)
    if drawn.distances is not None:
        kinds["distance"] = drawn.distances
    return kinds


def joining_of(kinds: Collection[str], drawn: DrawnStatistics, n_units: int) -> Joining:
    """The way kinds of so many units are joined: alike, but where it is known what columns show."""
    columns = drawn.columns
    if columns is None or not columns.shows.any():
        return Joining(np.ones(len(kinds)))
    varying = columns.columns[columns.values.any(axis=0)]
    numbers = np.isin(varying, columns.columns[columns.shows == PLACE])
    weights = WEIGHTS if numbers.all() else WEIGHTS | WITH_CATEGORIES
    share = SOME_UNITS / n_units
    if share > 1.0:
        times = {kind: min(share**power, MOST) for kind, power in WITH_FEW.items()}
    else:
        times = dict.fromkeys(SIMPLE, max(share, LEAST))
    if "distance" in kinds:
        times["spread"] = BESIDE_DISTANCES * times.get("spread", 1.0)
    if numbers.all():
        times["largest column"] = min(1.0, len(np.unique(varying)) / SOME_COLUMNS)
    counts = [weights[kind] * times.get(kind, 1.0) for kind in kinds]
    return Joining(np.array(counts), POWER)


def _unit(values: Array, null: Array) -> Array:
    """Values as they would have mean 0 and variance 1 over the draws; zeros if these are alike.

    They are on the scale of standard deviations: what varies by next to nothing is rounding.
    """
    spread = null.std()
    return (values - null.mean()) / spread if spread > ALIKE else np.zeros_like(values)


def _first_of_columns(drawn: ColumnDraws) -> Array:
    """The first statistic of each column: of numbers the cumulative one."""
    return drawn.values[:, drawn.starts]


def column_evidence(drawn: ColumnDraws) -> tuple[ColumnEvidence, ...]:
    """Exact p-values of all columns, and those adjusted for looking at all of them."""
    scores = drawn.scores
    numbers = np.stack([own_pvalues(scores), step_down(drawn.tails), scores[0]], axis=1)
    return tuple(ColumnEvidence(*own) for own in numbers.tolist())


def pair_evidence(drawn: ColumnDraws) -> tuple[PairEvidence, ...]:
    """Exact p-values of the pairs of columns that hold, or nearly, among all of them.

    Columns may be of several numbers, and have several pairs of these: the best of them counts.
    Tests of fit do not tell which columns a pair is of.
    """
    if not drawn.both:
        return ()
    scores = drawn.scores
    found: dict[tuple[int, int], PairEvidence] = {}
    each = zip(drawn.both, own_pvalues(scores).tolist(), step_down(scores).tolist(), strict=True)
    for pair in sorted((PairEvidence(*own) for own in each), key=lambda pair: pair.adjusted):
        if pair.adjusted <= LOOSEST and pair.columns[0] != pair.columns[1]:
            found.setdefault(pair.columns, pair)
    return tuple(found.values())


def own_pvalue(values: Array) -> float:
    """The p-value of one kind of evidence by itself, of its values under every draw."""
    return float(own_pvalues(values[:, None])[0])
