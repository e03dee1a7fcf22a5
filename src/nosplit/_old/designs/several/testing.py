"""Several samples: the overall test, and follow-ups that exchange only the samples they compare."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nosplit._checks import naming
from nosplit._old.data.several import SeveralSamples
from nosplit._old.designs.pairs import RowsInUnits
from nosplit._old.designs.several.closed import closed
from nosplit._old.designs.several.result import KSampleResult, SampleComparison
from nosplit._old.designs.testing import test_design, test_samples
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import design_sizes
from nosplit._warn import unwarned
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import columns_in
from nosplit.data.series import check_rows
from nosplit.families.design import Design
from nosplit.inference.calibrations import Exact
from nosplit.inference.effect import separations_of_samples
from nosplit.inference.questions import K_SAMPLE, Exchanged
from nosplit.inference.rank import holm
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method

__all__ = ["SampleTests", "compare_samples"]

# Samples up to which follow-ups are by closed testing, whose hypotheses double with each of them.
MOST_CLOSED = 5
# Draws for each comparison, 20 / α at α = .05; they are worth it where fewer than so many of the
# first draws show as much as the data.
DRAWS_A_COMPARISON, FEW = 400, 20
# Draws of a follow-up at the most.
MOST_DRAWS = 99_999

Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SampleTests:
    """Tests of whether some of several samples are alike.

    Attributes
    ----------
    data : SeveralSamples
        The samples.
    kernels, method, pairs, calibration, budget, workers
        As in `k_sample_test`.
    seed : int
        Picks the draws; of each set of samples others.
    """

    data: SeveralSamples
    kernels: Kernels
    method: Method | None
    pairs: Pairing | str | int
    calibration: Exact | str
    budget: float
    workers: int | None
    seed: int
    _known: dict[Set, TestResult] = field(default_factory=dict, repr=False)

    def test(self, some: Set, flips: int | None = None) -> TestResult:
        """Test whether some samples are alike, by exchanging these only."""
        rows, sizes = [self.data.rows[k] for k in some], self.data.sizes[list(some)]
        recipe = self.data.recipe(self.kernels)
        total = int(sizes.sum())
        plan = choose(
            design_sizes(total, 0, self.data.p, recipe, total, len(some)),
            pairs=self.pairs,
            calibration=self.calibration if flips is None else Exact(flips),
            method=self.method,
            budget=self.budget,
        )
        rng = np.random.default_rng([self.seed, *some, flips or 0])
        common = recipe, self.data.encoding, plan, self.method, rng
        pooled = np.concatenate(rows)
        units = RowsInUnits(pooled, np.arange(total), self.workers)
        with naming(samples=pooled):
            if len(some) == 2:
                tested = test_design(units, _one_block(sizes), *common)
            else:
                tested = test_samples(units, sizes, *common)
        encoding, outcome = self.data.encoding, tested.outcome
        outcome = outcome.noting(check_rows(*rows))
        if outcome.columns and len(some) in (2, len(self.data.rows)):
            names, columns = [self.data.names[k] for k in some], columns_in(encoding, self.data.p)
            outcome = outcome.separated(separations_of_samples(rows, names, *columns))
        return replace(tested, outcome=outcome).result(
            K_SAMPLE,
            total + self.data.left_out,
            None if encoding is None else encoding.names,
            Exchanged("samples", f"rows are permuted among {len(some)} samples"),
        )

    def once(self, some: Set) -> TestResult:
        """The same, done once for each set; only the test of all samples issues warnings."""
        if some not in self._known:
            with nullcontext() if len(some) == len(self.data.rows) else unwarned():
                found = self.test(some)
            self._known[some] = found
        return self._known[some]

    def compared(self, pair: Set, comparisons: int) -> TestResult:
        """Compare two samples, with draws enough for so many comparisons if it may matter.

        The p-value p of the first draws stands if it is above a limit c, and is replaced by that
        of many more draws, q, if not. That is valid: it is at most t < c only if q ≤ t, and at most
        t ≥ c only if p ≤ t.
        """
        first = self.once(pair)
        wanted, done = (
            min(DRAWS_A_COMPARISON * comparisons - 1, MOST_DRAWS),
            first.how.n_resamples or 0,
        )
        if isinstance(self.calibration, Exact) or done >= wanted:
            return first
        if first.pvalue * (done + 1) > FEW:
            return first
        with unwarned():
            return self.test(pair, wanted)


def _one_block(sizes: Any) -> Design:
    """Rows of two samples that all may change places."""
    total = int(sizes.sum())
    starts = np.array([0, total], dtype=np.int64)
    return Design(
        np.arange(total), starts, np.array([int(sizes[0])]), False, Exchanged("samples", "")
    )


def compare_samples(tests: SampleTests, control: int | None, follow_up: bool) -> KSampleResult:
    """The overall test, and every comparison with its p-value adjusted for all."""
    names, count = tests.data.names, len(tests.data.names)
    overall = tests.once(tuple(range(count)))
    if control is None:
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    else:
        pairs = [(min(control, k), max(control, k)) for k in range(count) if k != control]
    pairs = pairs if follow_up else []
    by_closure = count <= MOST_CLOSED
    if by_closure:
        results = [tests.once(pair) for pair in pairs]
        adjusted = [
            closed(pair, count, control, lambda some: tests.once(some).pvalue) for pair in pairs
        ]
    else:
        results = [tests.compared(pair, len(pairs)) for pair in pairs]
        adjusted = holm(np.array([result.pvalue for result in results])).tolist()
    found = [
        SampleComparison(*_ordered(pair, control, names), result.pvalue, float(p), result)
        for pair, result, p in zip(pairs, results, adjusted, strict=True)
    ]
    how = "closed testing" if by_closure else "Holm"
    sizes = tuple(int(n) for n in tests.data.sizes)
    chosen = None if control is None else names[control]
    return KSampleResult(overall, names, sizes, tuple(found), how, chosen)


def _ordered(pair: Set, control: int | None, names: tuple[str, ...]) -> tuple[str, str]:
    """The names of two samples, the control first."""
    a, b = pair
    return (names[b], names[a]) if b == control else (names[a], names[b])
