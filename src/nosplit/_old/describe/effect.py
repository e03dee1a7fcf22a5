"""The size of a difference, in numbers that do not grow with the samples.

A p-value answers whether there is a difference. It goes to 0 with the number of rows for every
difference that is there at all, so it says nothing of its size. These numbers estimate properties
of the two populations instead: more rows make them more precise, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._old.describe.pair_means import Means, nominal_ns, row_pairs
from nosplit._old.describe.witness import witness_at
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.inference.effect import (
    Separation,
    largest_of,
    separations_of_both,
)
from nosplit.inference.result import TestResult
from nosplit.kernels.bank import Bank
from nosplit.methods import METHODS, OST, Method, Split

__all__ = [
    "Effect",
    "Estimate",
    "KernelEffect",
    "column_separations",
    "crossed",
    "crossfitted",
    "effect_of",
    "kernel_effects",
    "kernel_means",
    "learn",
    "learner",
    "mean_estimate",
    "ratio",
    "scaled_weights",
]

Estimate = tuple[float, float]  # with its standard error
Both = tuple[NDArray[Any], NDArray[Any]]

# Nominal seconds of one core for the values of pairs.
SECONDS = 0.25
# Cohen's d = 0.2, 0.5 and 0.8 on the scale of `separation`: Φ(d / 2) for normal laws.
LIMITS = ((0.540, "very small"), (0.599, "small"), (0.655, "medium"), (np.inf, "large"))


@dataclass(frozen=True)
class Effect:
    """The size of a difference, in units that do not depend on the number of rows.

    Attributes
    ----------
    learned, learned_error : float
        Signal-to-noise ratio β*ᵀμ̂ / (β*ᵀΣ̂β*)^½ of one pair of units, a unit being one row of
        either sample, and its standard error for given weights. The weights were learned on the
        same rows, so it is too large on average: by about √(kernels / pairs) without a difference.
    crossfitted, crossfitted_error : float
        The same ratio with weights learned on one half of the rows and evaluated on the other,
        both ways round, and averaged. It is not too large; weights from half of the rows are
        less good, so it is rather too small.
    largest : Separation
        The largest separation of a single column, as in the result of the test; its interval is
        adjusted for all columns. `separation`, `separation_low` and `separation_high` are its
        numbers, from 0.5 (chance) to 1.
    separation_by : str
        The name of that column.
    accuracy : Separation or None
        Balanced accuracy of a rule that sees all columns; None for a single one.
    """

    learned: float
    learned_error: float
    crossfitted: float
    crossfitted_error: float
    largest: Separation
    separation_by: str
    accuracy: Separation | None

    @property
    def separation(self) -> float:
        """The largest separation of a single column."""
        return self.largest.shown[0]

    @property
    def separation_low(self) -> float:
        """Lower end of its interval."""
        return self.largest.shown[1]

    @property
    def separation_high(self) -> float:
        """Upper end of its interval."""
        return self.largest.shown[2]

    @property
    def words(self) -> str:
        """Size in a word: Cohen's limits on the scale of the separation, or of the accuracy."""
        size = max(self.separation, 0.5 if self.accuracy is None else self.accuracy.size)
        return next(word for limit, word in LIMITS if size < limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        accuracy = (None, None, None) if self.accuracy is None else self.accuracy.shown
        return {
            "learned": self.learned,
            "learned_error": self.learned_error,
            "crossfitted": self.crossfitted,
            "crossfitted_error": self.crossfitted_error,
            "separation": self.separation,
            "separation_low": self.separation_low,
            "separation_high": self.separation_high,
            "separation_by": self.separation_by,
            "accuracy": accuracy[0],
            "accuracy_low": accuracy[1],
            "accuracy_high": accuracy[2],
            "words": self.words,
        }


class KernelEffect(NamedTuple):
    """MMD² of one kernel: the unbiased estimate, and its standard error."""

    label: str
    mmd2: float
    error: float


def learner(name: str) -> Method:
    """The method that learns weights again on part of the data; OST for what is no single rule."""
    method = METHODS.get(name)
    return OST() if method is None or isinstance(method, Split) else method


def scaled_weights(res: TestResult, noise: Callable[[Array], float]) -> Array:
    """β* for a noise of 1; where nothing was learned, all kernels alike."""
    beta = res.selection.weights
    if not np.any(beta):
        sd = np.sqrt(np.diagonal(res.selection.cov))
        beta = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    size = noise(beta)
    if not (np.isfinite(size) and size > 0):
        raise InputError("The values of the learned kernel do not vary: there is nothing to show.")
    return np.asarray(beta / size)


def kernel_means(x: NDArray[Any], y: NDArray[Any], bank: Bank) -> Means:
    """Means of the values of all kernels, over as many pairs as there is time for."""
    wanted = int(1e9 * SECONDS / nominal_ns(bank, x.shape[1]))
    pairs = row_pairs(min(len(x), len(y)), wanted)
    return Means.of_kernels(x, y, bank, pairs)


def kernel_effects(means: Means, labels: list[str]) -> tuple[KernelEffect, ...]:
    """MMD² of every kernel with its standard error."""
    each = np.eye(len(labels))
    return tuple(
        KernelEffect(label, means.signal(one), means.error(one))
        for label, one in zip(labels, each, strict=True)
    )


def crossfitted(
    x: NDArray[Any], y: NDArray[Any], bank: Bank, weights: Array, method: Method, rows: int
) -> tuple[Estimate, list[Both], list[Callable[[NDArray[Any]], Array]]]:
    """Learn weights on one half of the rows, and estimate the ratio on the other.

    Also return either half, and the witness function learned on the other one, which is made of
    `rows` rows of each sample.
    """
    # Contiguous, as the compiled loops want their rows.
    parts = [(np.array(x[i::2]), np.array(y[i::2])) for i in (0, 1)]
    means = [kernel_means(*part, bank) for part in parts]
    beta = [learn(m, method, weights) for m in means]
    functions: list[Callable[[NDArray[Any]], Array]] = [
        partial(witness_at, x=a[: rows // 2], y=b[: rows // 2], bank=bank, weights=w)
        for (a, b), w in zip(parts, beta, strict=True)
    ]
    return crossed(means, beta), parts, functions[::-1]


def crossed(means: Sequence[Means], beta: Sequence[Array]) -> Estimate:
    """The weights of one half with the moments of the other, both ways round."""
    return mean_estimate(*(ratio(m, b) for m, b in zip(means, beta[::-1], strict=True)))


def column_separations(
    res: TestResult,
    x: NDArray[Any],
    y: NDArray[Any],
    groups: Mapping[str, Sequence[int]],
    categorical: frozenset[int],
) -> list[Separation | None]:
    """Separations of all columns: those of the result, or else by rows of both samples."""
    known = [column.separation for column in res.columns.rows]
    return known if any(known) else separations_of_both(x, y, [*groups.values()], categorical)


def effect_of(
    learned: Estimate,
    crossed: Estimate,
    names: Sequence[str],
    separations: Sequence[Separation | None],
    accuracy: Separation | None,
) -> Effect:
    """The size of a difference."""
    best = largest_of(separations)
    if best is None:
        raise InputError("`x` and `y` have too few independent units to estimate a separation.")
    return Effect(*learned, *crossed, best[1].better, names[best[0]], accuracy)


def mean_estimate(one: Estimate, other: Estimate) -> Estimate:
    """Mean of two estimates, with a standard error that holds however they depend.

    The folds learn from one another: both are high, or both low, as their differences agree.
    """
    return (one[0] + other[0]) / 2.0, (one[1] + other[1]) / 2.0


def learn(means: Means, method: Method, fallback: Array) -> Array:
    """Weights learned from some pairs; the others' where there is nothing to learn from."""
    found = method(means.mean * np.sqrt(means.n_pairs), means.cov).weights
    return np.asarray(found if np.any(found) else fallback)


def ratio(means: Means, weights: Array) -> Estimate:
    """Signal-to-noise ratio and its standard error."""
    noise = means.noise(weights)
    if noise == 0.0:
        return 0.0, 0.0
    return means.signal(weights) / noise, means.error(weights) / noise
