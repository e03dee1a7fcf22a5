"""Kinds of evidence, ranked together on the same draws.

Each draw has the best of its ranks under several kinds of evidence: kernels learned together,
one by one and on average; kernels with flattened spectra; single columns. Whatever is ranked, the
rank of the data among its draws is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nosplit._support.types import Array
from nosplit.inference.ranking import hedged, rank_draws, ranks
from nosplit.methods import Adaptive, Method
from nosplit.methods.laws import Flips
from nosplit.methods.tails import log_chi_sf
from nosplit.pairs.statistics import ColumnDraws, DrawnStatistics

# Points at which the tail of a law is computed: it is close to a line between them.
KNOTS = 128

__all__ = ["ColumnEvidence", "column_evidence", "rank_all"]


@dataclass(frozen=True)
class ColumnEvidence:
    """What a column shows by itself.

    Attributes
    ----------
    pvalue : float
        Its own p-value.
    adjusted : float
        The p-value that holds for all columns together (Westfall and Young, step-down).
    told_apart : float or None
        How often the best rule on this column alone tells rows apart (0.5 is chance), for columns
        that differ; it does not grow with the number of rows.
    words : str
        What changed, in the units of the column.
    """

    pvalue: float
    adjusted: float
    told_apart: float | None = None
    words: str = ""


def rank_all(method: Method, drawn: DrawnStatistics) -> Flips:
    """The evidence under every draw; `Adaptive` takes the best of all kinds there are."""
    if not isinstance(method, Adaptive):
        return rank_draws(method, drawn.tau, drawn.cov)
    kinds = [*method.evidence(drawn.tau, drawn.cov)]
    if drawn.flat_tau.size:
        learned, largest, _ = method.evidence(drawn.flat_tau, drawn.flat_cov)
        kinds += [learned, largest]
    if drawn.columns is not None:
        tails = column_tails(drawn.columns)
        kinds += [tails.max(axis=1), tails.mean(axis=1)]
    if drawn.pairs is not None and drawn.pairs.n_columns:
        kinds.append(column_tails(drawn.pairs).max(axis=1))
    return Flips(hedged(np.stack(kinds)))


def column_tails(drawn: ColumnDraws) -> Array:
    """-log p of each column under each draw, (F, columns), by the gamma laws of its statistics.

    Columns have different laws: a flag's is nearly that of one squared normal, that of many bins
    nearly normal. What is compared is therefore their tails.
    """
    found = np.zeros((len(drawn.values), drawn.n_columns))
    for values, shape, column in zip(drawn.values.T, drawn.shapes, drawn.columns, strict=True):
        np.maximum(found[:, column], _gamma_tail(values, shape), out=found[:, column])
    return found


def _gamma_tail(values: Array, shape: float) -> Array:
    """-log P(G ≥ value) for a gamma law of mean 0 and variance 1, by lines between some points."""
    points = np.linspace(values.min(), values.max(), KNOTS)
    size = np.maximum(shape + points * np.sqrt(shape), 0.0)
    return np.interp(values, points, -log_chi_sf(np.sqrt(2.0 * size), 2.0 * shape))


def column_evidence(drawn: ColumnDraws) -> tuple[ColumnEvidence, ...]:
    """Exact p-values of all columns, and those adjusted for looking at all of them.

    Step-down: the largest is compared with the largest under each draw, the next with the largest
    of those that remain. Exact for the family as long as the columns that do not differ agree
    jointly.
    """
    tails = column_tails(drawn)
    own = np.array([ranks(column)[0] for column in tails.T]) / len(tails)
    order = np.argsort(-tails[0], kind="stable")
    # Largest of each column and those with less evidence, column by column from the last.
    largest = np.maximum.accumulate(tails[:, order[::-1]], axis=1)[:, ::-1]
    shares = np.array([ranks(column)[0] for column in largest.T]) / len(tails)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(shares)
    return tuple(ColumnEvidence(float(p), float(a)) for p, a in zip(own, adjusted, strict=True))
