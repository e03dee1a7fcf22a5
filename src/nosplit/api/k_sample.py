"""The test of several samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nosplit._checks import Seed, check_flags, new_key, resolve
from nosplit._warn import unwarned
from nosplit.api import _elsewhere
from nosplit.api._request import LabelsOfRows, MethodName, NanPolicy, Request, Sample
from nosplit.api._run import SampleTask, run
from nosplit.core.pairings import Pairing, Sketch
from nosplit.data.encoding import Encoding, columns_in
from nosplit.data.labels import RowLabels
from nosplit.data.series import block_length
from nosplit.data.several import SampledRows, rows_of_samples, rows_with_labels
from nosplit.errors import InputError
from nosplit.families.design import Design, NothingToPermute, design_of, plain_design, series_design
from nosplit.families.k_sample import Set, compare_pairs
from nosplit.families.paired import PairEstimate
from nosplit.families.two_sample import PooledRows
from nosplit.inference.calibrations import Exact
from nosplit.inference.changes import SomeColumns, describe_columns
from nosplit.inference.columns import ColumnTable
from nosplit.inference.effect import separations_of_rows
from nosplit.inference.evidence import ColumnEvidence
from nosplit.inference.plan import MAX_POOLED, is_sketched
from nosplit.inference.questions import K_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.inference.several import KSampleResult, SampleComparison
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe, asked_for
from nosplit.methods import Method

__all__ = ["SeveralSamples", "k_sample_test"]

# Pairs of samples that are compared at most without a control.
MAX_PAIRS = 200


@dataclass(frozen=True, eq=False)
class SeveralSamples(SampleTask):
    """Several samples in memory. Blocks of a series are as long in every set of samples."""

    question = K_SAMPLE
    request: Request
    data: SampledRows
    strata: RowLabels | None
    groups: RowLabels | None
    block: int | None

    @classmethod
    def of(cls, request: Request) -> SeveralSamples:
        """Read the samples and the labels of their rows."""
        samples, options = _elsewhere.whole_samples(request.x, request.y), request.options
        designs, policy = (
            (("strata", request.strata), ("groups", request.groups)),
            request.label_policy,
        )
        labelled = {own: name for name, own in designs if isinstance(own, str)}
        if request.y is None:
            data = rows_of_samples(samples, options, labelled)
        else:
            data = rows_with_labels(samples, request.y, options, labelled, policy)
        strata, groups = (
            own if own is None else data.labels(own, name, policy) for name, own in designs
        )
        block = block_length(*data.samples) if request.series is True else int(request.series)
        return cls(replace(request, names=data.names), data, strata, groups, block)

    def of_some(self, some: Set, key: int, n_resamples: int | None) -> SeveralSamples:
        """The test of some of the samples, on the same rows and encoding."""
        rows, rng = np.flatnonzero(np.isin(self.data.label, some)), [key, *some, n_resamples or 0]
        data, strata, groups = self.data.some(some, rows), self.strata, self.groups
        request = replace(self.request, rng=np.random.default_rng(rng), names=data.names)
        if n_resamples is not None:
            request = replace(request, calibration=Exact(n_resamples))
        strata, groups = (
            own if own is None else replace(own, codes=own.codes[rows]) for own in (strata, groups)
        )
        return SeveralSamples(request, data, strata, groups, self.block)

    # -- rows and design ---------------------------------------------------------------------------

    @cached_property
    def pooled(self) -> PooledRows:
        """The rows, one sample after the other."""
        return PooledRows.of(self.data.rows, self.data.label, self.encoding, False)

    @cached_property
    def design(self) -> Design:
        """The atoms that are permuted, and inside which blocks."""
        request, sizes = self.request, [*map(len, self.data.samples)]
        if request.series is not False:
            return series_design(sizes, self.block)
        if self.strata is None and self.groups is None:
            return plain_design(sizes, request.rng, MAX_POOLED)
        found = design_of(sizes, self.strata, self.groups, request.rng)
        there = found.counts.any(axis=0)
        if not there.all():
            raise NothingToPermute(
                "`samples` must each share a stratum with another sample, but "
                f"{request.names[int(np.argmin(there))]!r} does not. Leave it out, or use coarser "
                "`strata`."
            )
        name = request.groups if request.strata is None else request.strata
        return found.named(name) if isinstance(name, str) else found

    @property
    def n_rows(self) -> int:
        """Rows that were given, of all samples."""
        return self.data.n_rows

    @property
    def encoding(self) -> Encoding | None:
        """The encoding of tables; None for arrays as they came."""
        return self.data.encoding

    # -- test --------------------------------------------------------------------------------------

    @cached_property
    def recipe(self) -> Recipe:
        """The kernels."""
        kernels = self.request.kernels
        return as_recipe(kernels) if self.encoding is None else self.encoding.recipe(kernels)

    def estimate(self) -> PairEstimate:
        """Refuse closed forms, which several samples do not have."""
        raise InputError(
            '`pairs` with k_sample_test must be "complete" or "sketch", `calibration` exact, and '
            "`method` neither Split nor Naive: labels of all samples are permuted."
        )

    def result(self) -> TestResult:
        """Run the test; by sums of cells if there are many rows."""
        request, samples = self.request, self.data.samples
        sketched = isinstance(request.pairs, Sketch)
        if request.designed and sketched:
            raise InputError(
                '`pairs="sketch"` of several samples has no `strata`, `groups` or `series`. Leave '
                "`pairs` out."
            )
        if not request.by_pairs and not request.designed:
            sketched = is_sketched(*map(len, samples))
        if not sketched:
            return run(self)
        return _elsewhere.sketch_samples(request, samples, self.encoding, self.recipe, self.n_rows)

    # -- description -------------------------------------------------------------------------------

    @cached_property
    def some(self) -> SomeColumns:
        """The columns as they came."""
        return SomeColumns(self.data.given, self.data.split(self.data.place), self.request.names)

    def columns(self, evidence: ColumnEvidence, joint: float | None) -> ColumnTable:
        """The table of columns; those that differ, or nearly so, are described."""
        rows, groups = self.pooled.rows, columns_in(self.encoding, self.pooled.rows.shape[1])
        separations = separations_of_rows(rows[self.design.dealt], self.dealt, *groups)
        codes = None if self.strata is None else self.strata.codes
        change = partial(self.some.change_of_samples, strata=codes)
        return describe_columns(self.names, evidence, joint, separations, change)


def k_sample_test(
    samples: Sequence[Sample] | Mapping[Any, Sample] | Sample,
    labels: LabelsOfRows = None,
    *,
    control: Any = None,
    kernels: Kernels = None,
    method: Method | MethodName = "auto",
    pairs: Pairing | Literal["auto", "complete", "sketch"] = "auto",
    calibration: Exact | Literal["auto", "exact"] = "auto",
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    scale: str | bool | None = None,
    nan_policy: NanPolicy = "auto",
    budget: float = 1.0,
    follow_up: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
) -> KSampleResult:
    """Test whether several samples come from the same distribution, and which of them differ.

    The overall test permutes the labels of all rows. Every pair of samples, or every sample with a
    control, is then compared by permutations of its own rows, with p-values adjusted for all
    comparisons.

    Parameters
    ----------
    samples : list of samples, mapping of them by name, or rows with `labels`
        Samples are arrays, data frames or paths, as for `two_sample_test`.
    labels : str or sequence, optional
        The sample of each row of `samples`: one label per row, or the name of a column.
    control : optional
        Name (or, in a list, position) of the sample that all others are compared with. Default:
        all pairs of samples are compared.
    kernels, method, budget
        As in `two_sample_test`, for each of the tests.
    pairs : {"auto", "complete", "sketch"}
        The pairs of units that are compared: all of them, one by one or through sums of cells.
    calibration : {"auto", "exact"} or Exact, default "auto"
        `Exact(n_resamples=9_999)` sets the number of permutations.
    strata, groups : str or sequences, optional
        As in `two_sample_test`: the name of a column, or one sequence of labels per sample. With
        `labels`, one sequence of labels of all rows.
    series : bool or int, default False
        Whether rows are in time order, as in `two_sample_test`.
    columns, exclude, scale, nan_policy
        As in `two_sample_test`.
    follow_up : bool, default True
        Whether pairs of samples are compared beside the overall test.
    rng, workers
        As in `two_sample_test`.

    Returns
    -------
    KSampleResult
        `pvalue`, `statistic` and `columns` of the overall test, `comparisons`, and
        `differing(alpha)`: the pairs of samples that differ.

    Notes
    -----
    The probability that any two samples that are alike are named is at most the level: by closed
    testing for up to five samples, by Holm's method with more permutations for more.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 60, 2))
    >>> res = k_sample_test({"a": a, "b": b, "c": c + 1.0})
    >>> res.reject(0.05), sorted(res.differing(0.05))
    (True, [('a', 'c'), ('b', 'c')])

    The same as rows with labels, against a control:

    >>> rows, labels = np.concatenate([a, b, c + 1.0]), np.repeat(["a", "b", "c"], 60)
    >>> k_sample_test(rows, labels, control="a").differing(0.05)
    (('a', 'c'),)
    """
    check_flags(follow_up=follow_up)
    request = Request.of(
        samples, labels, kernels=asked_for(kernels), method=method, pairs=pairs,
        calibration=calibration, strata=strata, groups=groups, series=series, columns=columns,
        exclude=exclude, scale=scale, nan_policy=nan_policy, budget=budget, rng=rng,
        workers=workers,
    )  # fmt: skip
    task = SeveralSamples.of(request)
    names = task.data.names
    known = {name: k for k, name in enumerate(names)}
    first = None if control is None else resolve(str(control), known, "control")
    compared = _pairs(len(names), first) if follow_up else []
    overall, every = task.result(), tuple(range(len(names)))
    key = new_key(request.rng)

    def test(some: Set, n_resamples: int | None) -> TestResult | None:
        if some == every:
            return overall
        own = task.of_some(some, key, n_resamples)
        with unwarned(), suppress(NothingToPermute):
            return own.result()
        return None

    sets = [tuple(sorted(pair)) for pair in compared]
    exactly = isinstance(request.calibration, Exact)
    results, adjusted, how = compare_pairs(sets, len(names), first, test, exactly)
    found = (
        SampleComparison(names[a], names[b], 1.0 if own is None else own.pvalue, p, own)
        for (a, b), own, p in zip(compared, results, adjusted, strict=True)
    )
    return KSampleResult(overall, tuple(found), how, None if first is None else names[first])


def _pairs(count: int, control: int | None) -> list[Set]:
    """The pairs of samples that are compared, the control first."""
    if control is not None:
        return [(control, k) for k in range(count) if k != control]
    found: list[Set] = list(combinations(range(count), 2))
    if len(found) > MAX_PAIRS:
        raise InputError(
            f"`samples` are {count}, which makes {len(found):,} pairs to compare. Name the one "
            "that all others are compared with by control=, or leave the comparisons out with "
            "follow_up=False."
        )
    return found
