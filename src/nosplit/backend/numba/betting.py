"""Rows → features of pairs, and payoffs → wealth: the compiled passes of a monitor."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit.backend.numba.jit import compiled, compiled_fast
from nosplit.backend.numba.sketch import cosine_and_sine

__all__ = ["add_columns", "add_row_waves", "bet"]

# Wealth beyond the first, or below its inverse, in units of its scale, moves the scale; gains of
# an account are not followed further than the second.
_LARGE, _LARGEST = 1e100, 1e250


@compiled_fast
def add_row_waves(turns: Any, size: int, F: int, out: Any) -> None:
    """Add cosines and sines of the turns of each row to those of its pair.

    Rows `size · i` to `size · (i + 1) - 1` are of pair i. F is the number of frequencies.
    """
    for r in range(len(turns)):
        row = turns[r]
        into = out[r // size]
        for f in range(F):
            cosine, sine = cosine_and_sine(row[f], np.float32(1.0))
            into[f] += cosine
            into[F + f] += sine


@compiled
def add_columns(
    scaled: Any,
    places: Any,
    numbers: Any,
    scores: Any,
    pairs: Any,
    size: int,
    start: int,
    out: Any,
) -> None:
    """Add scores of each column, and products of the first scores of pairs of columns.

    Column j has `scores[j, place]` for the place of its bin; of numbers the first two are the
    standardised value and its square instead, cut off at 4 and at 16.
    """
    n, p = places.shape
    K = scores.shape[2]
    first = np.empty(p, np.float32)
    cut = np.float32(4.0)
    for r in range(n):
        into = out[r // size]
        for j in range(p):
            own = scores[j, places[r, j]]
            base = start + j * K
            first[j] = own[0]
            skipped = 0
            if numbers[j]:
                z = min(max(scaled[r, j], -cut), cut)
                first[j] = z
                into[base] += z
                into[base + 1] += z * z
                skipped = 2
            for k in range(skipped, K):
                into[base + k] += own[k]
        base = start + p * K
        for q in range(len(pairs)):
            into[base + q] += first[pairs[q, 0]] * first[pairs[q, 1]]


@compiled
def bet(
    payoffs: Any,
    stakes: Any,
    fractions: Any,
    weights: Any,
    cash: Any,
    number: int,
    wealth: Any,
    luck: Any,
    begun: Any,
    scale: Any,
    threshold: float,
    rang: Any,
    path: Any,
) -> None:
    """Bet on pairs one after the other.

    Before pair i each account (learner j, fraction l) gets its weight's share of `stakes[i]`; then
    it is multiplied by 1 + fraction · payoff. `path[i]` is the log of all accounts and `cash[i]`
    together.

    Parameters
    ----------
    payoffs : array, shape (n, J)
        Payoffs in (-1, 1) of each learner.
    stakes, cash : array, shape (n,)
        What is handed out before each pair, and what is left then.
    fractions : array, shape (L,)
        Fractions of an account that are bet.
    weights : array, shape (J, L)
        Shares of the accounts, which add up to one.
    number : int
        Number of the first of these pairs.
    wealth : array, shape (J, L)
        The accounts, in units of exp(scale[0]).
    luck, begun : array, shape (J, L)
        The largest gain of each account since any pair, and that pair.
    scale : array, shape (1,)
        Log of the unit of wealth.
    threshold : float
        Log of the wealth at which it rings.
    rang : array, shape (2,)
        The pair at which it rang, and the pair since which the richest account then had gained;
        zeros before.
    path : array, shape (n,)
        Takes the logs.
    """
    J, L = wealth.shape
    unit = np.exp(-scale[0])
    for i in range(len(payoffs)):
        total = cash[i] * unit
        stake = stakes[i] * unit
        for j in range(J):
            g = payoffs[i, j]
            for l in range(L):
                factor = 1.0 + fractions[l] * g
                value = (wealth[j, l] + stake * weights[j, l]) * factor
                wealth[j, l] = value
                total += value
                if luck[j, l] <= 1.0:
                    luck[j, l] = 1.0
                    begun[j, l] = number + i
                luck[j, l] = min(luck[j, l] * factor, _LARGEST)
        path[i] = np.log(total) + scale[0]
        if rang[0] == 0 and path[i] >= threshold:
            rang[0] = number + i
            rang[1] = begun.ravel()[np.argmax(wealth)]
        if total > _LARGE or total * _LARGE < 1.0:
            wealth /= total
            scale[0] += np.log(total)
            unit = np.exp(-scale[0])
