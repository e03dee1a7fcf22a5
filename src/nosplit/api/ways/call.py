"""One call of the two-sample test, and the ways that are tried for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from nosplit.api.ways.against_profile import against_profile, draws_of, is_profile
from nosplit.api.ways.pairs import test_pairs
from nosplit.data.files.opening import is_path
from nosplit.data.samples import two_samples
from nosplit.designs.asked import Asked, check_exchange, no_series
from nosplit.designs.two_sample import designed_test, samples_in_memory, swapped_in
from nosplit.engines.changes import SomeColumns
from nosplit.engines.devices import (
    as_tensors,
    design_on_device,
    lies_on_device,
    mover,
    on_device,
)
from nosplit.engines.files.two_sample import open_both
from nosplit.engines.memory import sides_of
from nosplit.engines.sides import Sides
from nosplit.engines.sketching.steps import sketch_test
from nosplit.engines.sketching.verdict import sketch_result
from nosplit.errors import InputError
from nosplit.inference.planning.costs import sizes_of
from nosplit.inference.result import TestResult
from nosplit.pairs.pairing import Sketch

__all__ = ["Call", "answer"]

# Columns with adjusted p-values up to here are described.
LOOSEST = 0.1


@dataclass(frozen=True, eq=False)
class Call:
    """Two samples, what is asked of them, and what to do it with."""

    x: Any
    y: Any
    asked: Asked
    rng: np.random.Generator
    workers: int | None
    progress: bool
    device: Any

    @property
    def has_profile(self) -> bool:
        """Whether a sample is a profile."""
        return is_profile(self.x) or is_profile(self.y)

    @property
    def on_device(self) -> bool:
        """Whether a device is asked for, or a sample lies on one."""
        return self.device is not None or lies_on_device(self.x, self.y)


def answer(call: Call) -> TestResult:
    """Try one way after the other, and return the result of the first that serves."""
    if call.has_profile:
        return _with_profile(call)
    if is_path(call.x) or is_path(call.y):
        found, call = _from_files(call)
        if found is not None:
            return found
    if call.asked.labels.given and not call.asked.paired:
        return _by_design(call)
    found = _on_device(call)
    return _in_memory(call) if found is None else found


def _with_profile(call: Call) -> TestResult:
    """Compare a sample with a profile."""
    asked, rng = call.asked, call.rng
    _check_no_design("a profile, which keeps no rows", asked.paired or asked.labels.given)
    flips = draws_of(asked.method, asked.calibration)
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
    return replace(result, reference=both.profile.summary)


def _from_files(call: Call) -> tuple[TestResult | None, Call]:
    """Test large files while they are read; the call with the rows of small ones."""
    asked = call.asked
    opened = open_both(call.x, call.y)
    if opened.large:
        _check_no_design("files that are not read whole", asked.labels.given)
        moved = None if call.device is None else mover(call.device)
        found = opened.test(asked, call.rng, call.workers, call.progress, moved)
        if found is not None:
            return _said(found, asked), call
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
        result = designed_test(call.x, call.y, asked, rng, read)
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
    return _with_changes(_said(found, asked), replace(call, x=x, y=y))


def _in_memory(call: Call) -> TestResult:
    """Plan, then sketch all pairs or look at them one by one."""
    asked, rng, workers = call.asked, call.rng, call.workers
    data = two_samples(call.x, call.y, asked.options, paired=asked.paired).checked()
    recipe = data.recipe(asked.kernels)
    if asked.labels.series is not False:
        check_exchange("series=", asked.method, asked.pairs, asked.calibration)
        asked = replace(asked, pairs="complete")
    plan = asked.plan(sizes_of(*data.shape, recipe))
    if isinstance(plan.pairing, Sketch):
        sides = Sides(*sides_of(data), workers, call.progress)
        settled = replace(asked, options=data.settled(asked.options))
        result = sketch_test(sides, settled, rng=rng, workers=workers)
    else:
        result = test_pairs(data, recipe, plan, asked, rng, workers, call.progress)
    return _with_changes(_said(result, asked), call)


def _check_no_design(what: str, given: bool) -> None:
    if given:
        raise InputError(
            f"`paired`, `strata`, `groups` and `series` need the rows, and do not go with {what}. "
            "Read the rows, or some of them, into tables or arrays first."
        )


def _said(result: TestResult, asked: Asked) -> TestResult:
    """Note in the result that rows were swapped inside pairs, if they were."""
    if result.design is not None or not asked.paired:
        return result
    return replace(result, design=swapped_in(result.n_used // 2))


def _with_changes(result: TestResult, call: Call) -> TestResult:
    """Describe in the result what changed in columns, pairs and distances that differ."""
    names, held, pairs = result.column_names, result.differing(LOOSEST), result._named_pairs()
    distance = result.distance
    far = distance is not None and distance.pvalue <= LOOSEST and not held
    needed = names if far else [*held, *(name for both, _ in pairs for name in both)]
    if not needed or not result.reject(LOOSEST):
        return result
    data = SomeColumns.of(call.x, call.y, needed)
    labels, change = call.asked.labels, data.change
    if labels.strata is not None:
        kept = np.ones(len(call.x), np.bool_), np.ones(len(call.y), np.bool_)
        strata = labels.of_rows(kept, (call.x, call.y))[0]
        assert strata is not None
        change = partial(data.change_inside, strata=strata.codes)
    elif call.asked.paired:
        change = data.change_of_pairs
    rows = zip(names, result.by_column, strict=True)
    return replace(
        result,
        by_column=tuple(replace(c, change=change(n)) if n in held else c for n, c in rows),
        by_pair=tuple(p._replace(change=data.change_of_two(*both)) for both, p in pairs),
        distance=data.distance(distance.pvalue, names) if distance and far else distance,
    )
