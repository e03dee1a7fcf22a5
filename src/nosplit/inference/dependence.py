"""The table of pairs of a column of x and a column of y: p-values and rank correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nosplit._types import Array, Index
from nosplit.core.statistics import Statistics
from nosplit.data.encoding import columns_in
from nosplit.data.series import about_strata
from nosplit.data.variables import Variable
from nosplit.inference.columns import PairTable, PairTest
from nosplit.inference.effect import Correlation
from nosplit.inference.rank import own_pvalues, step_down
from nosplit.kernels import Parts
from nosplit.kernels.orders import rank_shares

__all__ = ["describe_dependence"]


def describe_dependence(
    names: tuple[Sequence[str], Sequence[str]],
    columns: Sequence[tuple[int, int]],
    found: Statistics,
    joint: float,
    variables: tuple[Variable, Variable],
    strata: Index | None,
    n_units: int,
) -> PairTable:
    """Make the table of all pairs, the strongest evidence first: of each pair its best statistic.

    Parameters
    ----------
    names : pair of sequence of str
        Names of the columns of x and of y.
    columns : sequence of pair of int
        The pair of columns of each owner of statistics.
    found : Statistics
        Statistics of pairs of columns.
    joint : float
        The p-value of the test as a whole.
    variables : pair of Variable
        The rows that were used.
    strata : array of int, optional
        Strata of the rows, inside which ranks are correlated.
    n_units : int
        Number of rows, groups or blocks that are permuted: it sets the width of intervals.
    """
    starts = np.flatnonzero(np.append(True, np.diff(found.owner)))
    scores = np.maximum.reduceat(found.normal_scores, starts, axis=1)
    pvalues, adjusted = own_pvalues(scores), step_down(scores)
    ranks, tested = [_ranks(own, strata) for own in variables], len(set(columns))
    told: dict[tuple[int, int], PairTest] = {}
    for place in np.lexsort((-scores[0], adjusted)):
        i, j = both = columns[place]
        if both not in told:
            a, b = ranks[0][i], ranks[1][j]
            told[both] = PairTest(
                (names[0][i], names[1][j]),
                float(pvalues[place]),
                float(adjusted[place]),
                correlation=None if a is None or b is None else _correlated(a, b, n_units, tested),
            )
    return PairTable(tuple(told.values()), joint)


def _ranks(variable: Variable, strata: Index | None) -> list[Array | None]:
    """Ranks of each column about their mean; None for categories."""
    groups, _ = columns_in(variable.encoding, variable.rows.shape[1])
    discrete = variable.discrete
    named = set(discrete.categorical) if isinstance(discrete, Parts) else set()
    shares = rank_shares(np.asarray(variable.rows, np.float64))
    shares = shares - shares.mean(axis=0) if strata is None else about_strata(shares, strata)
    first = [own[0] for own in groups]
    return [None if discrete is True or j in named else shares[:, j] for j in first]


def _correlated(a: Array, b: Array, n_units: int, tested: int) -> Correlation:
    size = float(np.sqrt((a @ a) * (b @ b)))
    return Correlation.of(float(a @ b) / size if size > 0 else 0.0, len(a), n_units, tested)
