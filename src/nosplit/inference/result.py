"""The result of a test: the verdict, and sections on columns, pairs, kernels and the procedure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from nosplit._checks import check_alpha
from nosplit._types import Array
from nosplit.errors import InputError
from nosplit.inference.change import Distance, finite_or_none
from nosplit.inference.columns import ColumnTable, PairTable
from nosplit.inference.effect import Separation
from nosplit.inference.print import Printed, answer_of, headline_of, kernel_lines
from nosplit.inference.questions import (
    DIFFER,
    NO_EVIDENCE,
    TOO_LITTLE_DATA,
    Exchanged,
    Question,
    Verdict,
)
from nosplit.methods.laws import Law

__all__ = ["How", "KernelLine", "KernelSelection", "TestResult"]


class KernelLine(NamedTuple):
    """One kernel's part in a result.

    `weight` is its entry of β* on the scale of standard deviations, the largest being 1 in size:
    β_u alone depends on the units of its statistic. `alone` is its own statistic τ_u / σ_u.
    """

    label: str
    weight: float
    alone: float
    active: bool


@dataclass(frozen=True, eq=False, repr=False)
class KernelSelection(Printed):
    """The kernels of a test, and the combination that was selected.

    Attributes
    ----------
    kernels : tuple
        The base kernels.
    tau, cov : array
        The base statistics τ, (d,), and the covariance matrix Σ̂ that was used, (d, d).
    weights : array, shape (d,)
        The learned combination β* of the base statistics.
    active : tuple of int
        Active set 𝒰: the kernels on which the learned combination rests.
    dof : int
        Degrees of freedom l of the closed-form null law.
    truncation : float or None
        𝒱⁻, the lower end of a truncated normal null law; None if the law is another.
    """

    kernels: tuple[Any, ...]
    tau: Array
    cov: Array
    weights: Array
    active: tuple[int, ...]
    dof: int
    truncation: float | None

    def by_kernel(self) -> list[KernelLine]:
        """Each kernel's part in the result, in the order of `kernels`."""
        sd = np.sqrt(np.diagonal(self.cov))
        weight = self.weights * sd
        largest = np.max(np.abs(weight))
        weight = weight / largest if largest > 0 else weight
        alone = np.divide(self.tau, sd, out=np.zeros_like(sd), where=sd > 0)
        return [
            KernelLine(kernel_label(k), float(weight[i]), float(alone[i]), i in self.active)
            for i, k in enumerate(self.kernels)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an infinite truncation is None."""
        return {
            "kernels": [str(k) for k in self.kernels],
            "tau": self.tau.tolist(),
            "cov": self.cov.tolist(),
            "weights": self.weights.tolist(),
            "active": list(self.active),
            "dof": self.dof,
            "truncation": None if self.truncation is None else finite_or_none(self.truncation),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """One record for each kernel, for `to_frame`."""
        return [line._asdict() for line in self.by_kernel()]

    def __str__(self) -> str:
        return "\n".join(kernel_lines(self.by_kernel()))


@dataclass(frozen=True, eq=False)
class How(Printed):
    """The procedure of a test.

    Attributes
    ----------
    method, pairs, calibration : str
        The method, the pairs of units that were compared, and how the p-value was computed.
    n_resamples : int or None
        Number of permutations, or of other resamples; None for a closed form.
    smallest_pvalue : float
        The smallest p-value that a permutation test of samples of these sizes can have, however
        many permutations are drawn; 0 if there is no such limit.
    seed : int or None
        The seed, which `rng=None` draws: ``rng=res.how.seed`` repeats the test. None if `rng` was
        a Generator.
    n_units, n_pairs, n_used, n_left_out : int
        Units, pairs of units, and rows that were used and left out, all samples together.
    sizes : tuple of int
        Rows of each sample that were used; empty if only their sum is known.
    design : Exchanged or None
        The permutations under the null hypothesis, if rows are paired, in strata, in groups or in
        time order.
    reference : str or None
        The profile that the sample was compared with, if there was one.
    n_columns : tuple of int
        Columns of each of two variables, or of a sample that is compared with a model; empty for
        other tests.
    names : tuple of str
        Names of the samples, for printing.
    encoding : Encoding, pair of them, or None
        How tables became rows of numbers; a pair for two variables; None for arrays as they came.
    default, automatic, stream : bool
        Whether no kernels were named; whether all options were left to the library; whether rows
        were sketched as they came.
    """

    method: str
    pairs: str
    calibration: str
    n_resamples: int | None
    smallest_pvalue: float
    seed: int | None
    n_units: int
    n_pairs: int
    n_used: int
    n_left_out: int
    sizes: tuple[int, ...] = ()
    design: Exchanged | None = None
    reference: str | None = None
    n_columns: tuple[int, ...] = ()
    names: tuple[str, ...] = ("x", "y")
    encoding: Any = field(default=None, repr=False)
    default: bool = field(default=False, repr=False)
    automatic: bool = field(default=False, repr=False)
    stream: bool = field(default=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        hidden = ("encoding", "default", "automatic", "stream")
        found = {name: value for name, value in vars(self).items() if name not in hidden}
        lists = {name: list(found[name]) for name in ("sizes", "n_columns", "names")}
        return found | lists | {"design": None if self.design is None else asdict(self.design)}


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Printed):
    """The result of a test. It holds no rows, and unpacks as ``statistic, pvalue = result``.

    Attributes
    ----------
    statistic : float
        The selected statistic; under exact calibration, the evidence that was ranked.
    log_pvalue : float
        Natural logarithm of the p-value, exact even if the p-value underflows.
    null : Law
        The null distribution of the statistic.
    question : Question
        The question of the test, and its answers in words.
    columns : ColumnTable
        The test of each column: p-values, separation, what changed. Empty for closed forms and for
        kernels that were named.
    pairs : PairTable
        Pairs of columns that differ or nearly so.
    distance : Distance or None
        Distances of rows from the middle, all columns of numbers together.
    selection : KernelSelection
        The kernels and the learned combination.
    how : How
        The procedure: method, calibration, sizes, seed.
    warnings : tuple of str
        What to know before relying on the result.
    notes : tuple of str
        What was done to columns without being asked for, and hints.
    """

    # pytest would otherwise take the class for a test.
    __test__ = False

    statistic: float
    log_pvalue: float
    null: Law
    question: Question
    columns: ColumnTable
    pairs: PairTable
    distance: Distance | None
    selection: KernelSelection
    how: How
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def pvalue(self) -> float:
        """The p-value; never 0 (the smallest positive number stands for less: see `log_pvalue`)."""
        p = math.exp(self.log_pvalue)
        if self.how.n_resamples is not None:  # a share of draws, without rounding of its logarithm
            draws = self.how.n_resamples + 1
            return round(p * draws) / draws
        return max(p, float(np.nextafter(0.0, 1.0)))

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether the null hypothesis is rejected at level alpha: pvalue ≤ alpha."""
        return self.pvalue <= check_alpha(alpha)

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return "differ", "no evidence" or "too little data".

        "too little data" means that no permutation of samples of these sizes could have given a
        p-value of alpha or less, whatever the data.
        """
        if self.reject(alpha):
            return DIFFER
        return NO_EVIDENCE if self.how.smallest_pvalue <= alpha else TOO_LITTLE_DATA

    def threshold(self, alpha: float = 0.05) -> float:
        """The value from which the statistic rejects at level alpha."""
        return self.null.isf(check_alpha(alpha))

    def separation(self, alpha: float = 0.05) -> tuple[str, Separation] | None:
        """The largest separation of the columns that differ, and its column; None if none does.

        Its interval is adjusted for all columns.
        """
        held = self.columns.differing(alpha)
        largest = self.columns[held[0]].separation if held else None
        if largest is None:
            return None
        return held[0], largest.of(sum(row.separation is not None for row in self.columns))

    def together(self, alpha: float = 0.05) -> tuple[tuple[str, str], ...]:
        """Pairs of columns that differ together although neither column differs by itself."""
        alone = set(self.columns.differing(alpha))
        return tuple(both for both in self.pairs.differing(alpha) if not alone & set(both))

    def done(self, **how: Any) -> TestResult:
        """The same result with other entries in `how`."""
        return replace(self, how=replace(self.how, **how))

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __bool__(self) -> NoReturn:
        # Any object is true: `if two_sample_test(x, y):` would always be.
        raise InputError(
            "A result is neither true nor false. Ask `res.reject(alpha)`, or compare `res.pvalue`."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "question": str(self.question),
            "verdict": self.verdict(),
            "joint_rejects": self.reject(),
            "statistic": finite_or_none(self.statistic),
            "pvalue": self.pvalue,
            "log_pvalue": self.log_pvalue,
            "columns": self.columns.to_records(),
            "pairs": self.pairs.to_records(),
            "distance": None if self.distance is None else asdict(self.distance),
            "selection": self.selection.to_dict(),
            "how": self.how.to_dict(),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def to_records(self) -> list[dict[str, Any]]:
        """One record for each column, for `to_frame`."""
        return self.columns.to_records()

    def __repr__(self) -> str:
        return headline_of(self, 0.05)

    def __str__(self) -> str:
        return answer_of(self, 0.05)

    def summary(self, alpha: float = 0.05) -> str:
        """The printed result at another level."""
        return answer_of(self, check_alpha(alpha))

    def plot(self, *, kind: str = "overview", **options: Any) -> Any:
        """Draw the result as a matplotlib figure: `nosplit.plot(res, kind=kind, **options)`."""
        from nosplit.api._elsewhere import plot  # the layer above

        return plot(self, kind=kind, **options)

    def report(self, x: Any = None, y: Any = None, *, path: Any, **options: Any) -> Path:
        """Write a report as one HTML file: `nosplit.report(res, x, y, path=path, **options)`."""
        from nosplit.api._elsewhere import report  # the layer above

        return report(self, x, y, path=path, **options)


def kernel_label(kernel: Any) -> str:
    """Name a kernel in few words: numbers to three digits, and no more than 60 characters.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian
    >>> kernel_label(Gaussian(0.123456))
    'Gaussian(0.123)'
    """
    text = kernel if isinstance(kernel, str) else repr(kernel)
    if text.startswith("<"):  # an object without a repr of its own
        text = type(kernel).__name__
    text = text.replace("bandwidth=", "")
    text = re.sub(r"\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)", lambda m: f"{float(m[0]):.3g}", text)
    return text if len(text) <= 60 else text[:59] + "…"
