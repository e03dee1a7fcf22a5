"""What holds of every result, and what may be raised."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

from nosplit import InputError, NosplitWarning

# Seconds of processor time after which a call on a few rows is taken to hang.
LONGEST = 20.0


class Finding(Exception):
    """A promise that was not kept."""


def call(function: Callable[[], Any]) -> Any:
    """What a call returns, None if the input is refused; any other way out is a finding."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NosplitWarning)
        try:
            found = function()
        except InputError as error:
            if not str(error):
                raise Finding("an error without a word") from error
            found = None
        except Exception as error:
            raise Finding(f"{type(error).__name__}: {error}") from error
    if time.process_time() - start > LONGEST:
        raise Finding(f"took {time.process_time() - start:.1f} s")
    return found


def check(result: Any) -> None:
    """Check a result of a test."""
    p = result.pvalue
    if not (0.0 < p <= 1.0 and result.log_pvalue <= 0.0):
        raise Finding(f"p = {p}, log p = {result.log_pvalue}")
    if math.isnan(result.statistic):
        raise Finding("the statistic is not a number")
    for alpha in (0.001, 0.05, 0.3):
        if result.reject(alpha) != (p <= alpha):
            raise Finding(f"p = {p} and reject({alpha}) is {result.reject(alpha)}")
    call(lambda: json.dumps(result.to_dict(), allow_nan=False))
    texts = call(lambda: (repr(result), str(result), result._repr_html_()))
    if any("\x1b" in text or "\x07" in text for text in texts):
        raise Finding("control characters in print")


def check_same(first: Any, second: Any, what: str, within: float = 0.0) -> None:
    """Check that two results, or refusals, are the same."""
    if (first is None) != (second is None):
        raise Finding(f"{what}: {first!r} and {second!r}")
    if first is not None and abs(first.pvalue - second.pvalue) > within:
        raise Finding(f"{what}: p = {first.pvalue} and {second.pvalue}")
