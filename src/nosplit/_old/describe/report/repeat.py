"""The lines of Python that repeat a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nosplit._old.describe.report.words import MEANS, VECTOR, story_of
from nosplit.inference.calibrations import SERIES, SIMULATE, WILD
from nosplit.inference.result import TestResult

__all__ = ["code"]

SETTINGS = "# If the test had kernels=, columns=, scale=, nan_policy= or shuffle=, add them."
DESIGN = "# Add the design of the test (paired=, strata=, groups= or series="
LABELS = {"paired", "strata", "groups", "series"}
# The fewest permutations that can be asked for; fewer are listed.
FEWEST_RESAMPLES = 19


def code(res: TestResult, options: Mapping[str, Any], files: tuple[str, str] | None = None) -> str:
    """Write the call of a test. Comments name what the result does not record.

    Parameters
    ----------
    res : TestResult
        The result to repeat.
    options : mapping
        Keywords of the test that a result does not record, such as `shuffle` and `strata`.
    files : two str, optional
        The data, if it was in files.
    """
    story, how = story_of(res), res.how
    lines = ["import nosplit", ""] + ([] if files is None else [f"x, y = {files!r}"])
    keywords = {} if how.automatic else {"method": _method(how.method)}
    if how.stream:
        drawn = "" if how.n_resamples is None else f", n_resamples={how.n_resamples}"
        call = f"acc.result({_method(how.method)}{drawn})"
        lines += ["# acc: the accumulator of the test, with the same rows", f"res = {call}"]
        return "\n".join([*lines, _checked(res)])
    if not how.automatic and story is not VECTOR:
        if story is not MEANS:
            keywords["pairs"] = _pairs(how.pairs)
            lines.append(SETTINGS)
        elif how.calibration == "exact":
            keywords["symmetric"] = "True"
        keywords["calibration"] = _calibration(res)
    if how.design is not None and not LABELS & {name for name, value in options.items() if value}:
        lines.append(f"{DESIGN}): {how.design.words}")
    seed = {} if how.seed in (None, 0) else {"rng": how.seed}
    defaults = (("rng", 0), ("shuffle", True), ("series", False))
    given = {name: value for name, value in options.items() if (name, value) not in defaults}
    keywords |= {name: repr(value) for name, value in (seed | given).items()}
    named = "".join(f", {name}={value}" for name, value in keywords.items())
    return "\n".join([*lines, f"res = nosplit.{story.call}{named})", _checked(res)])


def _checked(res: TestResult) -> str:
    return f"print(res.pvalue)  # {res.pvalue!r}\n"


def _method(name: str) -> str:
    """Write the method of a name such as ost, best_split0.3 or naive(wald)."""
    if found := re.fullmatch(r"(?:(\w+)_)?split(.+)", name):
        inner = found[1].capitalize() if found[1] else "OST"
        return f"nosplit.methods.Split({found[2]}, nosplit.methods.{inner}())"
    if found := re.fullmatch(r"naive\((\w+)\)", name):
        return f"nosplit.methods.Naive(nosplit.methods.{found[1].capitalize()}())"
    return repr(name)


def _pairs(name: str) -> str:
    if found := re.fullmatch(r"window (\d+)", name):
        return found[1]
    if found := re.fullmatch(r"blocks of (\d+)", name):
        return f"nosplit.Blocks({found[1]})"
    return repr(name)


def _calibration(res: TestResult) -> str:
    if res.how.n_resamples is None or res.how.calibration not in ("exact", SERIES, SIMULATE, WILD):
        return repr(res.how.calibration)
    kind = "Wild" if res.how.calibration == WILD else "Exact"
    return f"nosplit.{kind}(n_resamples={max(FEWEST_RESAMPLES, res.how.n_resamples)})"
