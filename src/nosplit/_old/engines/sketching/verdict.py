"""From two sketches to a result: the last steps of every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._checks import new_key
from nosplit._old.engines.changes import with_changes
from nosplit._old.inference.calibrating.evidence import column_evidence
from nosplit._old.inference.outcome import Tested
from nosplit._old.inference.statistics import test_draws
from nosplit._old.sketch.cells import Sketched
from nosplit.inference.effect import FOLDS
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.methods import Method

__all__ = ["sketch_result"]


def sketch_result(
    sketched: Sketched,
    *,
    method: Method | None,
    flips: int,
    rng: np.random.Generator,
    n_rows: int,
    encoding: Any = None,
    workers: int | None = None,
    default: bool = True,
    turned: bool = False,
) -> TestResult:
    """Draw, rank and describe.

    Parameters
    ----------
    sketched : Sketched
        Cells of both samples.
    method : Method or None
        As in `two_sample_test`; None is adaptive.
    flips : int
        Number of random draws.
    rng : Generator
        Source of the draws.
    n_rows : int
        Rows of both samples, of which those in no cell are left out.
    encoding : Encoding, optional
        How tables became rows.
    workers : int, optional
        Threads; all cores by default.
    default : bool
        Whether no kernels were asked for. Those that were are all that is ranked: whoever asks for
        a linear one asks whether means differ. What columns show is told all the same.
    turned : bool
        Whether the sketches are those of y and x: what changed is told the other way round.
    """
    owners = None if encoding is None else encoding.owners
    drawn = sketched.drawn(flips, new_key(rng), owners, workers)
    outcome = test_draws(drawn if default else drawn.of_kernels(), method, "sketch")
    if not default and drawn.columns is not None:
        outcome = replace(outcome, columns=column_evidence(drawn.columns))
    counts = sketched.counts(FOLDS)[:: -1 if turned else 1]
    outcome = with_changes(outcome, sketched.map.bins, counts, encoding)
    outcome = outcome.noting(sketched.caveats)
    kernels, sizes = sketched.map.kernels, sketched.sizes[:: -1 if turned else 1]
    tested = Tested(outcome, kernels, drawn.n_units, sum(sizes), encoding, default)
    result = tested.result(TWO_SAMPLE, n_rows, None if encoding is None else encoding.names)
    return result.done(sizes=sizes)
