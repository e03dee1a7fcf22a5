"""A result in words: the answer and the summary that it prints as."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nosplit._support.pvalues import format_p, said_p
from nosplit._support.terminal import indented, printable
from nosplit.inference.calibrating.evidence import ColumnEvidence
from nosplit.inference.calibrations import APPROXIMATE
from nosplit.methods.normal.doubt import Doubt
from nosplit.pairs.dealing import MOST_ROWS

if TYPE_CHECKING:
    from nosplit.inference.result import TestResult

__all__ = ["answer_of", "distances_alone", "exact_for", "kernel_label", "summary_of", "tested"]

# Kernels that a summary lists, those of the largest weights first.
MOST_LINES = 12
# Rows of which nine in ten series that forget fast (φ = .3) are not called exact.
SEEN_ROWS = 120


def answer_of(
    result: TestResult, alpha: float, columns: bool = True, said: Callable[[str], str] = str
) -> str:
    """The verdict at level alpha in words, what changed, and a line on how it was tested.

    `summary` has all of it, the learned weights, too; `columns=False` leaves out what changed.
    `said` rewrites notes and warnings, for a reader who does not call functions.
    """
    lines = [_verdict(result, alpha)]
    if columns:
        lines += _size_lines(result, alpha) + _column_lines(result, alpha)
    lines += _pair_lines(result, alpha) + _distance_lines(result, alpha)
    lines.append(indented("  tested     ", tested(result)))
    lines += _witness_lines(result)
    lines += [indented("  note       ", printable(said(text))) for text in result.notes]
    lines += [indented("  warning    ", said(text)) for text in result.warnings]
    return "\n".join(lines)


def summary_of(result: TestResult, alpha: float) -> str:
    """The verdict at level alpha in words, how it was reached, and the learned weights."""
    lines = [
        _verdict(result, alpha),
        f"  question   {result.question}",
        f"  statistic  {result.statistic:.4g}, rejects from {result.threshold(alpha):.4g}",
        f"  method     {result.method}, {_calibration_words(result)}",
    ]
    lines += _witness_lines(result)
    if result.reference is not None:
        lines.append(f"  reference  compared with {result.reference}")
    if result.design is not None:
        lines.append(indented("  design     ", printable(str(result.design))))
    if result.pairs not in ("rows", "given"):
        lines.append(f"  pairs      {result.pairs}: {result.n_pairs:,} of {result.n_units:,} units")
    if result.pairs != "given":
        lines.append(f"  rows       {result.n_used:,} used{_left_out(result)}")
    if result.encoding is not None:
        lines.append(f"  columns    {_columns_text(result.encoding)}")
    lines += [indented("  note       ", printable(text)) for text in result.notes]
    lines += _column_lines(result, alpha) + _pair_lines(result, alpha)
    lines += _distance_lines(result, alpha)
    lines += _kernel_lines(result)
    lines += [indented("  warning    ", text) for text in result.warnings]
    return "\n".join(lines)


def _verdict(result: TestResult, alpha: float) -> str:
    answer = result.question.rejected if result.reject(alpha) else result.question.kept
    return f"{answer} ({said_p(result.log_pvalue)}, level {alpha:g})."


def _witness_lines(result: TestResult) -> list[str]:
    if result.witness is None:
        return []
    told = f"{result.witness.estimator}: {said_p(result.witness.log_pvalue)}"
    return [f"  witness    {told}; the p-value is twice the smaller of both"]


def tested(result: TestResult) -> str:
    """Say in a line how it was tested."""
    parts = [f"{result.method}, {_calibration_words(result)}"]
    if result.pairs not in ("rows", "given"):
        parts.append(_compared(result))
    if result.pairs != "given":
        parts.append(f"{result.n_used:,} rows{_left_out(result)}")
    if result.encoding is not None:
        parts.append(f"columns: {_columns_text(result.encoding)}")
    if result.design is not None:
        parts.append(printable(str(result.design)))
    if result.reference is not None:
        parts.append(f"compared with {result.reference}")
    return "; ".join(parts)


def _left_out(result: TestResult) -> str:
    """Say how many rows were not used, and why where sizes are the reason."""
    if not result.n_left_out:
        return ""
    uneven = result.n_used == (MOST_ROWS + 1) * result.n_units
    why = f" ({MOST_ROWS} of the larger sample for one of the smaller are used)" if uneven else ""
    return f", {result.n_left_out:,} left out{why}"


def _compared(result: TestResult) -> str:
    if result.pairs == "sketch":  # every row is in one of the sums, and all of these are paired
        return f"all pairs, in {result.n_units:,} sums of rows (sketch)"
    return f"{result.n_pairs:,} pairs ({result.pairs})"


def _calibration_words(result: TestResult) -> str:
    how = result.calibration
    if result.doubt is not None and result.doubt.likely:
        p = format_p(math.log(result.pvalue_if_independent))
        allows = f"p allows for rows that are {result.doubt} ({p} if they are independent)"
        how = allows if how == APPROXIMATE else f"{how} calibration; {allows}"
    elif how != "exact":
        how = f"{how} calibration"
    if result.flips is None:
        return how
    least = format_p(-math.log(result.flips + 1))
    draws = f"{result.flips:,} draws (p ≥ {least})"
    if result.calibration != "exact":
        return f"{how}, {draws}"
    if result.design is None:
        return f"{exact_for(result.n_used, doubt=result.doubt)}, {draws}"
    inside = result.design.kind == "strata"
    unit, doubt = result.design.unit, result.doubt
    return f"{exact_for(result.n_used, unit, inside_strata=inside, doubt=doubt)}, {draws}"


def exact_for(
    n_rows: int, unit: str = "rows", *, inside_strata: bool = False, doubt: Doubt | None = None
) -> str:
    """Say for what an exact p-value is exact.

    Short series that forget fast are not seen for certain: nothing is called exact as such. Who
    names groups says that they are independent.
    """
    inside = " inside strata" if inside_strata else ""
    few = n_rows < SEEN_ROWS and unit != "groups"
    allowed = "" if doubt is None else ", for which p allows"
    unseen = f" (too few to tell whether they are{allowed})" if few else ""
    return f"exact for independent {unit}{inside}{unseen}"


def _size_lines(result: TestResult, alpha: float) -> list[str]:
    """Say how large the difference is, as far as single columns tell."""
    held = [(name, _evidence_of(result, name)) for name in result.differing(alpha)[:1]]
    if not result.reject(alpha):
        return []
    return [
        indented(
            "  how large  ",
            f"rows are told apart {c.told_apart:.0%} of the time by {_called(result, name)} alone "
            "(50% is chance)",
        )
        for name, c in held
        if c.told_apart is not None
    ]


def _called(result: TestResult, name: str) -> str:
    """The name of a column; columns of arrays have numbers."""
    return printable(name) if result.columns is not None else f"column {name}"


def _evidence_of(result: TestResult, name: str) -> ColumnEvidence:
    return result.by_column[result.column_names.index(name)]


def _column_lines(result: TestResult, alpha: float) -> list[str]:
    """The columns that differ by themselves, those told apart most often first."""
    held = result.differing(alpha)
    # A column may hold where all that was looked at together does not.
    title = "  differ     " if result.reject(alpha) else "  by itself  "
    lines: list[str] = []
    for name in held[:MOST_LINES]:
        column = _evidence_of(result, name)
        apart = f", told apart {column.told_apart:.0%}" if column.told_apart else ""
        words = f": {column.words}" if column.words else ""
        text = f"{_called(result, name)}{words} ({said_p(math.log(column.adjusted))}{apart})"
        lines.append(indented(title if not lines else " " * 13, text))
    if len(held) > MOST_LINES:
        lines.append(f"             and {len(held) - MOST_LINES} more")
    return lines


def _pair_lines(result: TestResult, alpha: float) -> list[str]:
    """The pairs of columns that differ together and not by themselves, strongest first."""
    pvalues = {names: pair.adjusted for names, pair in result._named_pairs()}
    held = result.together(alpha)
    lines: list[str] = []
    for names in held[:MOST_LINES]:
        both = " with ".join(_called(result, name) for name in names)
        text = f"{both} ({said_p(math.log(pvalues[names]))})"
        lines.append(indented("  together   " if not lines else " " * 13, text))
    if len(held) > MOST_LINES:
        lines.append(f"             and {len(held) - MOST_LINES} more")
    return lines


def _distance_lines(result: TestResult, alpha: float) -> list[str]:
    """Distances of rows from the middle, where they show what no column does by itself."""
    p = distances_alone(result, alpha)
    if p is None:
        return []
    text = f"how far rows lie from the middle, all columns together ({said_p(math.log(p))})"
    return [indented("  distances  ", text)]


def distances_alone(result: TestResult, alpha: float) -> float | None:
    """The p-value of distances from the middle, if they differ and no column does by itself."""
    p = result.by_distance
    if p is None or p > alpha or not result.reject(alpha) or result.differing(alpha):
        return None
    return p


def _kernel_lines(result: TestResult) -> list[str]:
    ranked = sorted(result.by_kernel(), key=lambda line: -abs(line.weight))
    lines = ["  learned    weight   alone  (* active)"]
    lines += [
        f"             {k.weight:+.2f}{'*' if k.active else ' '} {k.alone:7.2f}  {k.label}"
        for k in ranked[:MOST_LINES]
    ]
    if len(ranked) > MOST_LINES:
        lines.append(f"             and {len(ranked) - MOST_LINES} of smaller weight")
    return lines


def kernel_label(kernel: Any) -> str:
    """A kernel in few words: numbers to three digits, and no more than 60 characters.

    Examples
    --------
    >>> from nosplit.kernels import Gaussian
    >>> kernel_label(Gaussian(0.123456))
    'Gaussian(0.123)'
    """
    text = kernel if isinstance(kernel, str) else repr(kernel)
    if text.startswith("<"):  # an object without a repr of its own
        text = type(kernel).__name__
    text = text.replace("bandwidth=", "")
    text = re.sub(r"\d+(\.\d+(e[+-]?\d+)?|e[+-]?\d+)", lambda m: f"{float(m[0]):.3g}", text)
    return text if len(text) <= 60 else text[:59] + "…"


def _columns_text(encoding: Any) -> str:
    """Numbers of columns by kind; for each variable where there are two."""
    if not isinstance(encoding, tuple):
        return str(encoding)
    sides = zip("xy", encoding, strict=True)
    return "; ".join(f"{name}: {side}" for name, side in sides if side is not None)
