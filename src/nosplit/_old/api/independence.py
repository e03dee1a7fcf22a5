"""Two variables that the new house does not read: files, devices and sketches."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nosplit._lazy import is_tensor, tensor_as_array
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.devices import independence_on_device, lies_on_device
from nosplit._old.engines.families.encoded import by_pilot
from nosplit._old.engines.families.independence import (
    InMemory,
    observation_sizes,
    sketched_independence,
)
from nosplit._old.engines.files.independence import independence_of_files
from nosplit.api._request import Request
from nosplit.api.independence import TwoVariables, test_variables
from nosplit.core.pairings import Sketch
from nosplit.data.options import by_policy
from nosplit.data.variables import column_names
from nosplit.errors import InputError
from nosplit.families.hsic_units import UNIT_SIZE
from nosplit.inference.calibrations import ASYMPTOTIC
from nosplit.inference.questions import INDEPENDENCE
from nosplit.inference.result import TestResult

__all__ = ["answer"]


def answer(request: Request) -> TestResult:
    """Answer a request for two variables that are not arrays or tables of few rows."""
    result = _answer(request)
    return result.done(seed=request.seed, automatic=request.automatic)


def _answer(request: Request) -> TestResult:
    given = request.x, request.y
    if any(map(is_path, given)):
        if all(map(is_path, given)) and not request.designed:
            attempt = partial(_in_passes, request)
            found = by_policy(request.options.nan_policy, attempt, request.rng)
            if found is not None:
                return found
        x, y = map(read_if_path, given)
        return test_variables(replace(request, x=x, y=y))
    if request.device is not None or lies_on_device(*given):
        if request.designed:
            raise InputError(
                "`strata`, `groups` and `series` are not supported on a device. Read the rows, or "
                "some of them, into arrays or tables first."
            )
        found = independence_on_device(
            *given, _asked(request, request.options.nan_policy), UNIT_SIZE, rng=request.rng,
            workers=request.workers, device=request.device,
        )  # fmt: skip
        if found is not None:
            return found
        x, y = (
            tensor_as_array(v, n) if is_tensor(v) else v for v, n in zip(given, "xy", strict=True)
        )
        return test_variables(replace(request, x=x, y=y, device=None))
    return _by_sketch(request)


def _asked(request: Request, policy: str) -> Asked:
    """The request as old rooms know it."""
    closed = request.by_pairs and not isinstance(request.pairs, Sketch)
    return Asked(
        replace(request.options, nan_policy=policy),
        request.kernels,
        request.method,
        request.pairs or "auto",
        ASYMPTOTIC if closed else request.calibration,
        request.budget,
        request.shuffle,
    )


def _in_passes(request: Request, policy: str) -> TestResult | None:
    """Test large files while they are read; None if they are to be read whole."""
    sources = open_source(request.x), open_source(request.y)
    return independence_of_files(
        *sources, _asked(request, policy), UNIT_SIZE, rng=request.rng, workers=request.workers,
        progress=sys.stderr.isatty(),
    )  # fmt: skip


def _by_sketch(request: Request) -> TestResult:
    """Sum cells of units; tables are encoded by their pilot rows, as those in files are."""

    def read(policy: str) -> TwoVariables:
        return TwoVariables.of(
            replace(request, options=replace(request.options, nan_policy=policy))
        )

    task = by_policy(request.options.nan_policy, read)
    asked = _asked(request, task.request.options.nan_policy)
    x, y, shuffle, coded = task.x, task.y, request.shuffle, None
    q = UNIT_SIZE
    if task.strata is not None:
        rows, q = _alike(task.design.rows, task.design.block, request.rng)
        x, y, shuffle = x.some(rows), y.some(rows), False
    elif task.encoding is not None:
        options = task.request.options
        coded = by_pilot((request.x, request.y), (x, y), task.kept, options)
    columns = x.rows.shape[1] + y.rows.shape[1]
    discrete = x.discrete, y.discrete
    sizes = observation_sizes(len(x.rows), columns, discrete, request.kernels, q)
    if task.strata is not None:
        sizes = replace(sizes, q=float(q))
    tested = sketched_independence(
        InMemory(x, y, coded), request.kernels, sizes, asked.plan(sizes), request.method,
        request.rng, shuffle, request.workers,
    )  # fmt: skip
    tested = replace(tested, outcome=tested.outcome.noting(task.check()))
    result = tested.result(INDEPENDENCE, len(task.kept), column_names(task.x, task.y))
    return result.done(n_columns=task.n_columns, design=task.design.said)


def _alike(rows: Any, block: Any, rng: np.random.Generator) -> tuple[Any, int]:
    """Rows of strata in units of one size and in random order; and that size.

    The size is the one, up to eight, that loses the least: a unit of q rows shows q - 1 of them,
    and what does not fill a unit is left over.
    """
    rows = rows[np.lexsort((rng.random(len(rows)), block))]
    sizes = np.unique(block, return_counts=True)[1]
    worth = [int(np.sum(sizes // q)) * (q - 1) for q in range(2, UNIT_SIZE + 1)]
    q = 2 + int(np.argmax(worth))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    units = rows[place < np.repeat(sizes // q * q, sizes)].reshape(-1, q)
    return units[rng.permutation(len(units))].ravel(), q
