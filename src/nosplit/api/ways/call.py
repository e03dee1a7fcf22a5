"""One call of the two-sample test, and the ways that are tried for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from nosplit.api.ways.against_profile import against_profile, draws_of, is_profile
from nosplit.api.ways.pairs import test_pairs
from nosplit.data.changes import column_changes
from nosplit.data.files.opening import is_path
from nosplit.data.samples import two_samples
from nosplit.designs.asked import Asked
from nosplit.designs.two_sample import designed_test, samples_in_memory, swapped_in
from nosplit.engines.devices import (
    as_tensors,
    design_on_device,
    lies_on_device,
    mover,
    on_device,
    tensor_changes,
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
    if call.asked.labels.given:
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
    x, y, options = opened.whole(asked.options)
    return None, replace(call, x=x, y=y, asked=replace(asked, options=options))


def _by_design(call: Call) -> TestResult:
    """Exchange units inside strata, or whole groups."""
    asked, rng = call.asked, call.rng
    if call.on_device:
        x, y = as_tensors(call.x, call.y)
        call = replace(call, x=x, y=y)
        result = design_on_device(x, y, asked, rng, call.device)
    else:
        read = partial(samples_in_memory, call.x, call.y, call.workers)
        result = designed_test(call.x, call.y, asked, rng, read)
    # What changed between all rows of x and all of y may be what strata explain.
    return result if asked.labels.strata is not None else _with_changes(result, call)


def _on_device(call: Call) -> TestResult | None:
    """Compute where tensors lie, or where the caller wants it; None where that does not serve."""
    if not call.on_device:
        return None
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
            f"`paired`, `strata` and `groups` need the rows, and do not go with {what}. Read the "
            "rows, or some of them, into tables or arrays first."
        )


def _said(result: TestResult, asked: Asked) -> TestResult:
    """Note in the result that rows were swapped inside pairs, if they were."""
    return replace(result, design=swapped_in(result.n_used // 2)) if asked.paired else result


def _with_changes(result: TestResult, call: Call) -> TestResult:
    """Describe in the result what changed in each column that differs."""
    changes = tensor_changes if lies_on_device(call.x, call.y) else column_changes
    found = changes(call.x, call.y, result.differing(LOOSEST))
    both = zip(result.column_names, result.by_column, strict=True)
    described = tuple(replace(c, change=found.get(name, c.change)) for name, c in both)
    return replace(result, by_column=described)
