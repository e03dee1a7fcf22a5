"""Tests of samples as a list of steps: read, design, plan, compare, describe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_finite
from nosplit._warn import warn
from nosplit.api import _elsewhere
from nosplit.api._request import Request
from nosplit.data.encoding import columns_in
from nosplit.data.labels import RowLabels, labels_of_both, named_in
from nosplit.data.samples import Samples, two_samples
from nosplit.data.series import about_strata, block_length, check_rows, checked_rows
from nosplit.errors import Caveat, DependentRowsWarning
from nosplit.families.design import Design, design_of, paired_design, plain_design, series_design
from nosplit.families.paired import estimate_pairs
from nosplit.families.two_sample import (
    PooledRows,
    Sampled,
    compare_columns,
    compare_samples,
    selection_of,
)
from nosplit.inference.calibrations import ASYMPTOTIC, SERIES
from nosplit.inference.changes import (
    SomeColumns,
    describe_columns,
    describe_distance,
    describe_pairs,
)
from nosplit.inference.columns import ColumnTable, ColumnTests, PairTable
from nosplit.inference.effect import (
    DealtRows,
    Separation,
    deal_rows,
    separations_of_both,
    separations_of_rows,
)
from nosplit.inference.evidence import ColumnEvidence
from nosplit.inference.plan import MAX_POOLED, plan_pairs, plan_samples
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import How, KernelSelection, TestResult
from nosplit.methods import OST, Adaptive
from nosplit.methods.laws import Flips, law_of

__all__ = ["test_columns", "test_samples", "test_samples_in_memory"]


def test_samples(request: Request) -> TestResult:
    """Test two samples, wherever they are stored."""
    if _elsewhere.takes(request):
        return _elsewhere.test_samples(request)
    return test_samples_in_memory(request)


def test_samples_in_memory(request: Request) -> TestResult:
    """Test two arrays or tables."""
    data = _InMemory.of(request)
    if request.by_pairs:
        return _estimated(data)
    design = data.design
    recipe = data.samples.recipe(request.kernels)
    p = data.pooled.rows.shape[1]
    plan = plan_samples(data.sizes, design.n_atoms, p, recipe, request.calibration, request.budget)
    found = compare_samples(data.pooled, design, recipe, plan.effort, request.rng, request.method)
    selection, caveats = selection_of(
        found, request.method or Adaptive(), request.kernels is not None
    )
    return data.result(found, selection, caveats)


def test_columns(request: Request, alpha: float, n_resamples: int) -> ColumnTests:
    """Test every column of two samples by itself, wherever they are stored."""
    if _elsewhere.takes(request):
        return _elsewhere.test_columns(request, alpha, n_resamples)
    data = _InMemory.of(request)
    found = compare_columns(data.pooled, data.design, n_resamples, request.rng)
    evidence = found.finding.columns
    assert evidence is not None
    columns = data.columns(evidence, None)
    warnings, notes = data.remarks([], data.left_out)
    return ColumnTests(columns.rows, None, data.how(found), alpha, warnings, notes)


@dataclass(frozen=True, eq=False)
class _InMemory:
    """Two samples as rows of numbers, and what is asked of them."""

    request: Request
    samples: Samples
    strata: RowLabels | None
    groups: RowLabels | None

    @classmethod
    def of(cls, request: Request) -> _InMemory:
        """Read the samples and the labels of their rows."""
        both = (("x", request.x), ("y", request.y))
        for name in request.labelled:
            named_in(name, both, "strata" if name == request.strata else "groups")
        options = request.options.leaving_out(request.labelled)
        samples = two_samples(request.x, request.y, options, paired=request.paired).checked()
        labels = [
            labels_of_both(own, (request.x, request.y), samples.kept, name, request.label_policy)
            if own is not None
            else None
            for own, name in ((request.strata, "strata"), (request.groups, "groups"))
        ]
        return cls(request, samples, *labels)

    # -- design ------------------------------------------------------------------------------------

    @property
    def x(self) -> NDArray[Any]:
        """Rows of x."""
        return self.samples.x

    @property
    def y(self) -> NDArray[Any]:
        """Rows of y."""
        return self.samples.y

    @cached_property
    def pooled(self) -> PooledRows:
        """The rows of x, then of y, all finite."""
        for rows, name in ((self.x, "x"), (self.y, "y")):
            check_finite(rows, name, "; nan_policy='omit' leaves out rows with nan")
        encoding = self.samples.encoding
        rows = np.concatenate([self.x, self.y]).astype(np.float64, copy=False)
        categorical = () if encoding is None else encoding.categorical
        owners = range(rows.shape[1]) if encoding is None else encoding.owners
        of_y = np.arange(len(rows)) >= len(self.x)
        return PooledRows(rows, of_y, categorical, owners, self.request.paired)

    @cached_property
    def design(self) -> Design:
        """The atoms that are permuted, and inside which blocks."""
        request, n, m = self.request, len(self.x), len(self.y)
        if request.paired:
            return paired_design(n, self._block if request.series is not False else 1)
        if request.series is not False:
            return series_design(n, m, self._block)
        if self.strata is None and self.groups is None:
            return plain_design(n, m, request.rng if request.shuffle else None, MAX_POOLED)
        found = design_of(n, m, self.strata, self.groups, request.rng)
        name = request.groups if request.strata is None else request.strata
        return found.named(name) if isinstance(name, str) else found

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of x and of y that are in atoms."""
        y = self.pooled.of_y[self.design.dealt]
        return int(np.count_nonzero(~y)), int(np.count_nonzero(y))

    @cached_property
    def _block(self) -> int | None:
        """Rows of a block of a series; None if no block is longer than the dependence."""
        if self.request.series is not True:
            return int(self.request.series)
        return block_length(self.x, self.y)

    @cached_property
    def _dealt(self) -> DealtRows:
        """The rows in atoms, dealt to folds for separations."""
        design = self.design
        (rows,) = np.nonzero(design.dealt)
        unit, of_y = design.unit[rows], self.pooled.of_y[rows]
        if design.said is None:
            return deal_rows(of_y)
        block = np.searchsorted(design.starts, unit, side="right")
        return deal_rows(of_y, unit if design.means else None, block)

    # -- description -------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self.samples.columns or tuple(map(str, range(self.x.shape[1])))

    @cached_property
    def _some(self) -> SomeColumns:
        return SomeColumns((self.request.x, self.request.y))

    def _separations(self) -> list[Separation | None]:
        groups, categorical = columns_in(self.samples.encoding, self.x.shape[1])
        if self.request.paired:
            block = self._block if self.request.series is not False else 1
            return separations_of_both(
                self.x, self.y, groups, categorical, paired=True, block=block or len(self.x)
            )
        rows = self.pooled.rows[self.design.dealt]
        return separations_of_rows(rows, self._dealt, groups, categorical)

    def columns(self, evidence: ColumnEvidence, joint: float | None) -> ColumnTable:
        """The table of columns; those that differ, or nearly so, are described."""
        change = self._some.change
        if self.request.paired:
            change = self._some.change_of_pairs
        elif self.strata is not None:
            codes = self.samples.spread_out(self.strata.codes)
            change = partial(self._some.change_inside, strata=codes)
        return describe_columns(self._names, evidence, joint, self._separations(), change)

    def result(
        self, found: Sampled, selection: KernelSelection, caveats: Sequence[Caveat]
    ) -> TestResult:
        """Describe the finding of a permutation test."""
        finding, joint = found.finding, found.finding.pvalue
        columns, pairs, distance = ColumnTable(), PairTable(), None
        if finding.columns is not None:
            columns = self.columns(finding.columns, joint)
            pairs = describe_pairs(
                self._names,
                found.pairs,
                finding.pairs,
                joint,
                self._some,
                self._dealt,
                self.pooled.rows[self.design.dealt],
                self.samples.encoding,
            )
            distance = describe_distance(finding.distance, columns, self._some)
        warnings, notes = self.remarks(caveats, self.left_out)
        return TestResult(
            statistic=float(finding.evidence[0]),
            log_pvalue=math.log(joint),
            null=Flips(finding.evidence),
            question=TWO_SAMPLE,
            columns=columns,
            pairs=pairs,
            distance=distance,
            selection=selection,
            how=self.how(found),
            warnings=warnings,
            notes=notes,
        )

    def how(self, found: Sampled) -> How:
        """Describe the procedure."""
        request, design, A = self.request, self.design, found.units.n
        rows = len(self.pooled.rows) + self.samples.left_out
        return How(
            method=(request.method or Adaptive()).name,
            pairs="complete",
            calibration="exact" if request.series is False else SERIES,
            n_resamples=found.finding.n_draws - 1,
            smallest_pvalue=1.0 / max(found.exchange.n_permutations, 1.0),
            seed=request.seed,
            n_units=A,
            n_pairs=A * (A - 1) // 2,
            n_used=design.n_used,
            n_left_out=rows - design.n_used,
            sizes=self.sizes,
            design=design.said,
            names=request.names,
            encoding=self.samples.encoding,
            default=request.kernels is None,
            automatic=request.automatic,
        )

    @property
    def left_out(self) -> int:
        """Rows of a much larger sample that were left out at random."""
        return len(self.pooled.rows) - self.design.n_used if self.design.said is None else 0

    def remarks(
        self, caveats: Sequence[Caveat], left_out: int = 0
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Warnings and notes of the result; caveats of the test are issued as warnings, too.

        Words on dependent rows are not: nobody's test suite should fail by them.
        """
        for category, text in caveats:
            if category is not DependentRowsWarning:
                warn(text, category)
        every = [*caveats, *self._check()]
        encoding = self.samples.encoding
        notes = list(() if encoding is None else encoding.notes)
        if left_out:
            notes.append(
                f"{left_out:,} rows of the larger sample were left out at random: beyond "
                f"{MAX_POOLED:,} rows they add next to nothing."
            )
        return tuple(f"{c.__name__}: {text}" for c, text in every), tuple(notes)

    def _check(self) -> list[Caveat]:
        """Warn if neighbouring rows are alike; a check never changes the test."""
        if self.request.series is not False or self.groups is not None:
            return []
        if self.request.paired:  # pairs may share what comes and goes
            some = np.array(checked_rows(len(self.x)))
            return check_rows(self.x[some] - self.y[some])
        if self.strata is None:
            return check_rows(self.x, self.y)
        codes = np.split(self.strata.codes, [len(self.x)])
        return check_rows(about_strata(self.x, codes[0]), about_strata(self.y, codes[1]))


def _estimated(data: _InMemory) -> TestResult:
    """Estimate over pairs of units, with the closed form of the paper."""
    request = data.request
    plan = plan_pairs(request.pairs, min(len(data.x), len(data.y)))
    recipe = data.samples.recipe(request.kernels)
    rng = request.rng if request.shuffle else None
    found = estimate_pairs(
        data.x, data.y, recipe, plan.pairing, request.method, rng,
        paired=request.paired, workers=request.workers,
    )  # fmt: skip
    picked = found.selection
    truncated = not np.isnan(picked.truncation) and picked.mixture is None
    selection = KernelSelection(
        found.kernels,
        found.tau,
        found.cov,
        picked.weights,
        tuple(int(i) for i in np.flatnonzero(picked.active)),
        int(picked.dof),
        float(picked.truncation) if truncated else None,
    )
    how = How(
        method=(request.method or OST()).name,
        pairs=plan.pairs,
        calibration=ASYMPTOTIC,
        n_resamples=None,
        smallest_pvalue=0.0,
        seed=request.seed,
        n_units=found.n_units,
        n_pairs=found.n_pairs,
        n_used=found.n_used,
        n_left_out=len(data.x) + len(data.y) + data.samples.left_out - found.n_used,
        sizes=(found.n_used // 2, found.n_used // 2),
        design=data.design.said if request.paired else None,
        names=request.names,
        encoding=data.samples.encoding,
        default=request.kernels is None,
        automatic=request.automatic,
    )
    warnings, notes = data.remarks(found.caveats)
    return TestResult(
        statistic=float(picked.statistic),
        log_pvalue=float(picked.log_pvalue),
        null=law_of(picked),
        question=TWO_SAMPLE,
        columns=ColumnTable(),
        pairs=PairTable(),
        distance=None,
        selection=selection,
        how=how,
        warnings=warnings,
        notes=notes,
    )
