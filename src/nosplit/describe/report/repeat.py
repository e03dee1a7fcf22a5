"""The code that runs a test again, with every number in full precision."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from nosplit import kernels
from nosplit.describe.report.words import GOODNESS, MEANS, TWO_SAMPLE, VECTOR, story_of
from nosplit.inference.calibrations import SIMULATE
from nosplit.inference.result import TestResult
from nosplit.kernels.derived.tensor import Tensor

__all__ = ["code", "kernel_code"]

OWN_KERNELS = "kernels = ...  # kernels of your own, in the order of the table above"
SAMPLE_AND_MODEL = "# x is the sample, and score the model, as the test had them."
PUBLIC = {"IMQ", "Combination", "Delta", "Gaussian", "Laplace", "Linear", "Matern", "Polynomial"}


def code(res: TestResult, options: Mapping[str, Any], files: tuple[str, str] | None = None) -> str:
    """Python that gives the same p-value for the same data: the call, if that named nothing.

    Parameters
    ----------
    res : TestResult
        What to repeat.
    options : mapping
        Keywords of the test that a result does not record, such as `rng` and `shuffle`.
    files : two str, optional
        The data, if it was in files.
    """
    if res.stream:
        return _stream_code(res, options)
    story = story_of(res)
    if res.automatic:
        named = [item for item in options.items() if item not in (("rng", 0), ("shuffle", True))]
        given = (f", {name}={value!r}" for name, value in named)
        opened = [] if files is None else [f"x, y = {files!r}"]
        opened += [SAMPLE_AND_MODEL] * (story is GOODNESS)
        return _script(res, [*opened, f"res = nosplit.{story.call}{''.join(given)})"])
    keywords = {"method": _method(res.method)}
    if story is not VECTOR:
        keywords["calibration"] = _calibration(res)
        keywords |= {name: repr(value) for name, value in options.items()}
    if story is MEANS and res.n_resamples is not None:
        keywords["symmetric"] = "True"
    if story not in (MEANS, VECTOR):
        # Without kernels more is looked at; and simulated samples get kernels of their own scale.
        unnamed = res.default or res.calibration == SIMULATE
        kernels = {} if unnamed else {"kernels": _kernels_code(res)}
        keywords = kernels | {"pairs": _pairs_code(res.pairs)} | keywords
    if story is TWO_SAMPLE and res.encoding is not None and res.reference is None:
        keywords |= _encoding_code(res.encoding)
    before = [OWN_KERNELS] if keywords.get("kernels") == "kernels" else []
    if story is VECTOR:
        before = [f"tau = {res.tau.tolist()!r}", f"cov = {res.cov.tolist()!r}"]
    if story is GOODNESS:
        before.insert(0, SAMPLE_AND_MODEL)
    if files is not None:
        before.insert(0, f"x, y = {files!r}")
    return _script(res, [*before, f"res = nosplit.{story.call},", *_keyword_lines(keywords)])


def _stream_code(res: TestResult, options: Mapping[str, Any]) -> str:
    """The same for rows that came in batches, whatever batches these were."""
    keywords = {"kernels": _kernels_code(res)} | {
        name: repr(value) for name, value in options.items()
    }
    before = [OWN_KERNELS] if keywords["kernels"] == "kernels" else []
    result = f"res = acc.result(method={_method(res.method)}, n_resamples={res.n_resamples})"
    made = ["acc = nosplit.TwoSampleAccumulator(", *_keyword_lines(keywords)]
    return _script(res, [*before, *made, "acc.update(x, y)", result])


def _keyword_lines(keywords: Mapping[str, str]) -> list[str]:
    return [*(f"    {name}={value}," for name, value in keywords.items()), ")"]


def _script(res: TestResult, lines: Sequence[str]) -> str:
    return "\n".join(["import nosplit", "", *lines, f"print(res.pvalue)  # {res.pvalue!r}", ""])


def kernel_code(kernel: Any) -> str | None:
    """A kernel as Python, if it is made of the library's own kernels.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian
    >>> kernel_code(Gaussian(0.1 + 0.2))
    'nosplit.Gaussian(bandwidth=0.30000000000000004)'
    """
    if isinstance(kernel, Tensor):
        return _tuple_code(kernel_code(kernel.x), kernel_code(kernel.y))
    name = type(kernel).__name__
    if not is_dataclass(kernel) or getattr(kernels, name, None) is not type(kernel):
        return None
    values = {field.name: _value_code(getattr(kernel, field.name)) for field in fields(kernel)}
    if None in values.values():
        return None
    inside = ", ".join(f"{key}={value}" for key, value in values.items())
    return f"nosplit.{name if name in PUBLIC else f'kernels.{name}'}({inside})"


def _value_code(value: Any) -> str | None:
    if isinstance(value, tuple):
        return _tuple_code(*map(_value_code, value))
    return repr(value) if isinstance(value, int | float | str) else kernel_code(value)


def _tuple_code(*parts: str | None) -> str | None:
    there = [part for part in parts if part is not None]
    return f"({', '.join(there)},)" if len(there) == len(parts) else None


def _kernels_code(res: TestResult) -> str:
    written = [kernel_code(k) for k in res.kernels]
    if None in written:
        return "kernels"
    return "\n".join(["[", *(f"        {text}," for text in written), "    ]"])


def _encoding_code(encoding: Any) -> dict[str, str]:
    """Code that encodes the tables as they were."""
    names = encoding.names if encoding.table else tuple(map(int, encoding.names))
    listed = textwrap.fill(repr(list(names)), 80, subsequent_indent=" " * 8)
    scaled = any(column.scale != 1.0 or column.center != 0.0 for column in encoding.columns)
    return {
        "columns": listed if len(listed) < 4000 else "None",
        "scale": repr("robust" if scaled else "none"),
        "nan_policy": repr(encoding.nan_policy),
    }


def _method(name: str) -> str:
    """The method of a name such as ost, best_split0.3 or naive(wald)."""
    if found := re.fullmatch(r"(?:(\w+)_)?split(.+)", name):
        inner = {"nonnegative": "Nonnegative", "wald": "Wald", "best": "Best"}.get(found[1], "OST")
        return f"nosplit.Split({found[2]}, nosplit.{inner}())"
    if found := re.fullmatch(r"naive\((\w+)\)", name):
        return f"nosplit.Naive(nosplit.{found[1].capitalize()}())"
    return repr(name)


def _pairs_code(name: str) -> str:
    if found := re.fullmatch(r"window (\d+)", name):
        return found[1]
    if found := re.fullmatch(r"blocks of (\d+)", name):
        return f"nosplit.Blocks({found[1]})"
    return repr(name)


def _calibration(res: TestResult) -> str:
    if res.n_resamples is None or res.calibration in ("bootstrap", "cautious"):
        return repr(res.calibration)
    kind = "Wild" if res.calibration == "wild" else "Exact"
    return f"nosplit.{kind}(n_resamples={res.n_resamples})"
