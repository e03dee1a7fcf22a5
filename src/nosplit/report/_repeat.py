"""The code that runs a test again, with every number in full precision."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nosplit.hsic import Tensor
from nosplit.report._words import MEANS, VECTOR, story_of
from nosplit.results import TestResult

__all__ = ["code", "kernel_code"]

# Kernels whose repr is Python.
BUILT_IN = {"IMQ", "Combination", "Delta", "Gaussian", "Laplace", "Linear", "Matern", "Polynomial"}
OWN_KERNELS = "kernels = ...  # kernels of your own, in the order of the table above"
CALL = re.compile(r"([A-Za-z_]\w*)(?=\()")


def code(res: TestResult, options: Mapping[str, Any]) -> str:
    """Python that gives the same p-value for the same data.

    Parameters
    ----------
    res : TestResult
        What to repeat.
    options : mapping
        Keywords of the test that a result does not record, such as `rng` and `shuffle`.
    """
    story = story_of(res)
    keywords: dict[str, str] = {}
    if story not in (MEANS, VECTOR):
        keywords["kernels"] = _kernels(res)
    keywords["method"] = _method(res.method)
    if story not in (MEANS, VECTOR):
        keywords["pairs"] = _pairs(res.pairs)
    if story is not VECTOR:
        keywords["calibration"] = _calibration(res)
        keywords |= {name: repr(value) for name, value in options.items()}
    if story is MEANS and res.flips is not None:
        keywords["symmetric"] = "True"
    lines = [f"    {name}={value}," for name, value in keywords.items()]
    call = "\n".join([f"res = nosplit.{story.call},", *lines, ")"])
    own = f"{OWN_KERNELS}\n" if keywords.get("kernels") == "kernels" else ""
    return f"import nosplit\n\n{own}{call}\nprint(res.pvalue)  # {res.pvalue!r}\n"


def kernel_code(kernel: Any) -> str | None:
    """A kernel as Python, if it is made of the library's own kernels.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian
    >>> kernel_code(Gaussian(0.1 + 0.2))
    'nosplit.Gaussian(bandwidth=0.30000000000000004)'
    """
    if isinstance(kernel, Tensor):
        sides = kernel_code(kernel.x), kernel_code(kernel.y)
        return None if None in sides else f"({sides[0]}, {sides[1]})"
    text = repr(kernel)
    if not set(CALL.findall(text)) <= BUILT_IN or text[:1] in "<'\"":
        return None
    return CALL.sub(r"nosplit.\1", text)


def _kernels(res: TestResult) -> str:
    written = [kernel_code(k) for k in res.kernels]
    if None in written:
        return "kernels"
    return "\n".join(["[", *(f"        {text}," for text in written), "    ]"])


def _method(name: str) -> str:
    """The method of a name such as ost, best_split0.3 or naive(wald)."""
    if found := re.fullmatch(r"(?:(\w+)_)?split(.+)", name):
        inner = {"nonnegative": "Nonnegative", "wald": "Wald", "best": "Best"}.get(found[1], "OST")
        return f"nosplit.Split({found[2]}, nosplit.{inner}())"
    if found := re.fullmatch(r"naive\((\w+)\)", name):
        return f"nosplit.Naive(nosplit.{found[1].capitalize()}())"
    return repr(name)


def _pairs(name: str) -> str:
    if found := re.fullmatch(r"window (\d+)", name):
        return found[1]
    if found := re.fullmatch(r"blocks of (\d+)", name):
        return f"nosplit.Blocks({found[1]})"
    return repr(name)


def _calibration(res: TestResult) -> str:
    if res.flips is None:
        return repr(res.calibration)
    kind = "Wild" if res.calibration == "wild" else "Exact"
    return f"nosplit.{kind}(flips={res.flips})"
