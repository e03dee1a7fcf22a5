"""A classifier that takes part in the two-sample test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._support.warn import unwarned
from nosplit.api.ways.against_profile import is_profile
from nosplit.api.witness import witness_test
from nosplit.data.options import AUTO
from nosplit.errors import DependentRowsWarning, InputError
from nosplit.inference.result import TestResult

__all__ = ["check_witness", "policy_of", "with_witness"]


def check_witness(witness: Any, x: Any, y: Any, *, designed: bool) -> None:
    """Check that a classifier can take part: rows are there, and independent."""
    if witness is None:
        return
    if designed:
        raise InputError(
            "`witness` takes rows to be independent: not with paired, strata or groups."
        )
    if is_profile(x) or is_profile(y):
        raise InputError("`witness` needs the rows of both samples, and a profile has none.")


def policy_of(nan_policy: str, x: Any, y: Any) -> str:
    """Policy for missing values; a profile has its own."""
    profiled = is_profile(x) or is_profile(y)
    return "raise" if profiled and nan_policy == AUTO else nan_policy


def with_witness(
    result: TestResult,
    witness: Any,
    x: Any,
    y: Any,
    rng: np.random.Generator,
    picks: Mapping[str, Any],
) -> TestResult:
    """Let a witness contribute to a result: both share the data, so each gets half the level."""
    if witness is None:
        return result
    # What was said of the order of rows is not said twice.
    said = any(text.startswith(DependentRowsWarning.__name__) for text in result.warnings)
    with unwarned() if said else nullcontext():
        told = witness_test(x, y, estimator=witness, rng=rng, **picks)
    log_pvalue = min(0.0, math.log(2.0) + min(result.log_pvalue, told.log_pvalue))
    return replace(result, log_pvalue=log_pvalue, witness=told)
