"""The size of a difference, in numbers that do not grow with the samples.

A p-value answers whether there is a difference. It goes to 0 with the number of rows for every
difference that is there at all, so it says nothing of its size. These numbers estimate properties
of the two populations instead: more rows make them more precise, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.types import Array
from nosplit.describe.pair_means import Means, nominal_ns, row_pairs
from nosplit.describe.separation import (
    MOST_ROWS,
    Rule,
    auc,
    column_rules,
    lower_bound,
    model_rules,
)
from nosplit.describe.witness import witness_at
from nosplit.errors import InputError
from nosplit.inference.result import TestResult
from nosplit.kernels.bank import Bank
from nosplit.methods import METHODS, OST, Method, Split

__all__ = [
    "LEARNED",
    "Effect",
    "Estimate",
    "KernelEffect",
    "all_rules",
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

LEARNED = "the learned kernel"

# Nominal seconds of one core for the values of pairs.
SECONDS = 0.25
# Where Cohen's d = 0.2, 0.5 and 0.8 lie on the scale of `separation`: Φ(d / √2) for normal laws.
LIMITS = ((0.556, "very small"), (0.638, "small"), (0.714, "medium"), (np.inf, "large"))


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
    separation, separation_error : float
        How often the best rule that was found ranks a row of x above a row of y, on rows that it
        was not learned from: 0.5 is chance, 1 tells all rows apart. Rules are those of each
        column, of all columns together, of the learned kernel, and of gradient boosting where
        scikit-learn is installed.
    separation_low : float
        No less than this is what the populations allow, with a chance of 97.5 %, whichever rule
        was the best.
    separation_by : str
        Whose rule that is: the name of a column, or what it is called above.
    """

    learned: float
    learned_error: float
    crossfitted: float
    crossfitted_error: float
    separation: float
    separation_error: float
    separation_low: float
    separation_by: str

    @property
    def words(self) -> str:
        """Size in a word, by the customary limits of Cohen's d put on the scale of `separation`."""
        return next(word for limit, word in LIMITS if self.separation < limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "learned": self.learned,
            "learned_error": self.learned_error,
            "crossfitted": self.crossfitted,
            "crossfitted_error": self.crossfitted_error,
            "separation": self.separation,
            "separation_error": self.separation_error,
            "separation_low": self.separation_low,
            "separation_by": self.separation_by,
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
    beta = res.weights
    if not np.any(beta):
        sd = np.sqrt(np.diagonal(res.cov))
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
) -> tuple[Estimate, Rule]:
    """The ratio with weights of one half of the rows on the other, and what these tell apart.

    The witness function looks at `rows` rows of either sample.
    """
    # Contiguous, as the compiled loops want their rows.
    parts = [(np.array(x[i::2]), np.array(y[i::2])) for i in (0, 1)]
    means = [kernel_means(*part, bank) for part in parts]
    beta = [learn(m, method, weights) for m in means]
    few = [(a[: rows // 2], b[: rows // 2]) for a, b in parts]
    seen = mean_estimate(*(_separation(few[i], few[1 - i], bank, beta[i]) for i in (0, 1)))
    return crossed(means, beta), Rule(LEARNED, *seen)


def crossed(means: Sequence[Means], beta: Sequence[Array]) -> Estimate:
    """The weights of one half with the moments of the other, both ways round."""
    return mean_estimate(*(ratio(m, b) for m, b in zip(means, beta[::-1], strict=True)))


def all_rules(
    x: NDArray[Any],
    y: NDArray[Any],
    groups: Mapping[str, Sequence[int]],
    categorical: frozenset[int],
    own: Rule,
    most: int = MOST_ROWS,
) -> list[Rule]:
    """Rules of columns, of the learned kernel (`own`) and of gradient boosting."""
    rules = column_rules(x, y, groups, categorical, most)
    if len(groups) > 1:  # of one column, its bins say it all
        rules += [own, *model_rules(x, y, categorical)]
    return rules


def effect_of(learned: Estimate, crossed: Estimate, best: Rule, rules: Sequence[Rule]) -> Effect:
    """The size of a difference."""
    return Effect(*learned, *crossed, best.auc, best.error, lower_bound(rules), best.name)


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


def _separation(
    learned: tuple[NDArray[Any], NDArray[Any]],
    held_out: tuple[NDArray[Any], NDArray[Any]],
    bank: Bank,
    weights: Array,
) -> Estimate:
    """P(f(X) > f(Y)) over held-out rows, ties counted half, and its standard error."""
    mean, square = auc(*(witness_at(rows, *learned, bank, weights) for rows in held_out))
    return mean, float(np.sqrt(square))
