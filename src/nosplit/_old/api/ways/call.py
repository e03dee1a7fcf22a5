"""Two samples that the new house does not read: profiles, files, clusters, devices, sketches."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from nosplit._old.api.ways.against_profile import against_profile, draws_of, is_profile, policy_of
from nosplit._old.data.files.opening import is_path
from nosplit._old.designs.asked import Asked, DesignLabels, no_series
from nosplit._old.designs.two_sample import designed_test, samples_in_memory
from nosplit._old.engines.clusters.opening import cluster_pair, lies_on_cluster
from nosplit._old.engines.clusters.two_sample import cluster_test
from nosplit._old.engines.devices import (
    as_tensors,
    design_on_device,
    lies_on_device,
    mover,
    on_device,
)
from nosplit._old.engines.files.two_sample import open_both
from nosplit._old.engines.memory import sides_of
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import sketch_test
from nosplit._old.engines.sketching.verdict import sketch_result
from nosplit._old.inference.planning.costs import sizes_of
from nosplit.api._request import Request
from nosplit.api._run import run
from nosplit.api.two_sample import TwoSamples, test_samples
from nosplit.core.pairings import Sketch
from nosplit.data.options import by_policy
from nosplit.data.samples import two_samples
from nosplit.errors import InputError
from nosplit.families.design import paired_design
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.changes import SomeColumns
from nosplit.inference.result import TestResult

__all__ = ["answer"]

LOOSEST = 0.1


def answer(request: Request) -> TestResult:
    """Answer a request for samples that are not arrays or tables of few rows."""
    call = Call(request, request.x, request.y)
    if lies_on_cluster(request.x) or lies_on_cluster(request.y):
        _check_no_design("a cluster", request.designed)
        attempt = call.on_cluster
    else:
        attempt = call.by_policy
    policy = policy_of(request.options.nan_policy, request.x, request.y)
    result = by_policy(policy, attempt, request.rng)
    return result.done(seed=request.seed, automatic=request.automatic, names=request.names)


@dataclass(frozen=True, eq=False)
class Call:
    """A request, and the samples as far as they were read."""

    request: Request
    x: Any
    y: Any
    policy: str = "raise"

    def by_policy(self, policy: str) -> TestResult:
        """Try one way after the other, and return the result of the first that serves."""
        return _answer(replace(self, policy=policy))

    def on_cluster(self, policy: str) -> TestResult:
        """Sum by cell where the partitions are."""
        call = replace(self, policy=policy)
        return cluster_test(partial(cluster_pair, self.x, self.y), call.asked, self.rng)

    @property
    def asked(self) -> Asked:
        """The request as old rooms know it."""
        request = self.request
        labels = DesignLabels(request.strata, request.groups, request.label_policy, request.series)
        closed = request.by_pairs and not isinstance(request.pairs, Sketch)
        return Asked(
            replace(request.options, nan_policy=self.policy),
            request.kernels,
            request.method,
            request.pairs or "auto",
            ASYMPTOTIC if closed else request.calibration,
            request.budget,
            request.shuffle,
            request.paired,
            labels,
        )

    @property
    def rng(self) -> np.random.Generator:
        """Source of randomness."""
        return self.request.rng

    @property
    def workers(self) -> int | None:
        """Number of threads."""
        return self.request.workers

    @property
    def device(self) -> Any:
        """The device that was asked for."""
        return self.request.device

    @property
    def progress(self) -> bool:
        """Whether somebody sees a progress bar."""
        return sys.stderr.isatty()

    @property
    def in_memory(self) -> Request:
        """The request with the samples that were read."""
        return replace(self.request, x=self.x, y=self.y)

    @property
    def has_profile(self) -> bool:
        """Whether a sample is a profile."""
        return is_profile(self.x) or is_profile(self.y)

    @property
    def on_device(self) -> bool:
        """Whether a device is asked for, or a sample lies on one."""
        return self.device is not None or lies_on_device(self.x, self.y)


def _answer(call: Call) -> TestResult:
    if call.has_profile:
        return _with_profile(call)
    if is_path(call.x) or is_path(call.y):
        found, call = _from_files(call)
        if found is not None:
            return found
        return test_samples(call.in_memory)
    if call.asked.labels.given and not call.request.paired:
        return _by_design(call)
    found = _on_device(call)
    return _in_memory(call) if found is None else found


def _with_profile(call: Call) -> TestResult:
    """Compare a sample with a profile."""
    asked, rng = call.asked, call.rng
    _check_no_design("a profile, which keeps no rows", asked.paired or asked.labels.given)
    flips = draws_of(asked.method, call.request.calibration)
    both = against_profile(
        call.x,
        call.y,
        asked.options,
        kernels=asked.kernels,
        pairs=asked.pairs,
        rng=rng,
        shuffle=asked.shuffle,
        workers=call.workers,
        device=call.device,
    )
    result = sketch_result(
        both.sketched,
        method=asked.method,
        flips=flips,
        rng=rng,
        n_rows=both.n_rows,
        encoding=both.encoding,
        workers=call.workers,
        turned=is_profile(call.x) and not is_profile(call.y),  # there, the new sample is first
    )
    return result.done(reference=both.profile.summary)


def _from_files(call: Call) -> tuple[TestResult | None, Call]:
    """Test large files while they are read; the call with the rows of small ones."""
    asked = call.asked
    opened = open_both(call.x, call.y)
    if opened.large:
        _check_no_design("files that are not read whole", asked.labels.given)
        moved = None if call.device is None else mover(call.device)
        found = opened.test(asked, call.rng, call.workers, call.progress, moved)
        if found is not None:
            return _said(found, call.request), call
    x, y = opened.whole()
    return None, replace(call, x=x, y=y)


def _by_design(call: Call) -> TestResult:
    """Permute units inside strata, groups, or blocks of rows."""
    asked, rng = call.asked, call.rng
    if call.on_device:
        no_series(asked.labels.series, "on a device")
        x, y = as_tensors(call.x, call.y)
        call = replace(call, x=x, y=y)
        result = design_on_device(x, y, asked, rng, call.device)
    else:
        read = partial(samples_in_memory, call.x, call.y, call.workers)
        found = designed_test(call.x, call.y, asked, rng, read)
        if found is None:
            return run(TwoSamples.of(call.in_memory))
        result = found
    return _with_changes(result, call)


def _on_device(call: Call) -> TestResult | None:
    """Run the test on the tensors' device, or on `device`; None if it is not supported there."""
    if not call.on_device:
        return None
    no_series(call.asked.labels.series, "on a device")
    x, y = as_tensors(call.x, call.y)
    asked, rng = call.asked, call.rng
    found = on_device(x, y, asked, rng, call.workers, call.progress, call.device)
    if found is None:
        return None
    return _with_changes(_said(found, call.request), replace(call, x=x, y=y))


def _in_memory(call: Call) -> TestResult:
    """Sketch all pairs of large samples; others are answered row by row."""
    asked, workers = call.asked, call.workers
    data = two_samples(call.x, call.y, asked.options, paired=asked.paired).checked()
    recipe = data.recipe(asked.kernels)
    if not isinstance(asked.plan(sizes_of(*data.shape, recipe)).pairing, Sketch):
        return run(TwoSamples.of(call.in_memory))
    sides = Sides(*sides_of(data), workers, call.progress)
    settled = replace(asked, options=data.settled(asked.options))
    result = sketch_test(sides, settled, rng=call.rng, workers=workers)
    return _with_changes(_said(result, call.request), call)


def _check_no_design(what: str, given: bool) -> None:
    if given:
        raise InputError(
            f"`paired`, `strata`, `groups` and `series` need the rows, and do not go with {what}. "
            "Read the rows, or some of them, into tables or arrays first."
        )


def _said(result: TestResult, request: Request) -> TestResult:
    """Note in the result that rows were swapped inside pairs, if they were."""
    if result.how.design is not None or not request.paired:
        return result
    return result.done(design=paired_design(result.how.n_used // 2).said)


def _with_changes(result: TestResult, call: Call) -> TestResult:
    """Describe in the result what changed in columns, pairs and distances that differ."""
    names, held = result.columns.names, result.columns.differing(LOOSEST)
    distance = result.distance
    far = distance is not None and distance.pvalue <= LOOSEST and not held
    needed = names if far else [*held, *(name for row in result.pairs for name in row.columns)]
    if not needed or not result.reject(LOOSEST):
        return result
    data = SomeColumns.of(call.x, call.y, needed)
    labels, change = call.asked.labels, data.change
    if labels.strata is not None:
        kept = np.ones(len(call.x), np.bool_), np.ones(len(call.y), np.bool_)
        strata = labels.of_rows(kept, (call.x, call.y))[0]
        assert strata is not None
        change = partial(data.change_inside, strata=strata.codes)
    elif call.request.paired:
        change = data.change_of_pairs
    columns = tuple(
        replace(row, change=change(row.name)) if row.name in held else row for row in result.columns
    )
    pairs = tuple(replace(row, change=data.change_of_two(*row.columns)) for row in result.pairs)
    return replace(
        result,
        columns=replace(result.columns, rows=columns),
        pairs=replace(result.pairs, rows=pairs),
        distance=data.distance(distance.pvalue, names) if distance and far else distance,
    )
