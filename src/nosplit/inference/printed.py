"""A result in words: the answer and the summary that it prints as."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nosplit._support.pvalues import format_p, said_p
from nosplit._support.terminal import indented, printable
from nosplit.inference.calibrating.evidence import ColumnEvidence
from nosplit.inference.change import Distance
from nosplit.inference.effect import Separation
from nosplit.inference.questions import TOO_LITTLE, TOO_LITTLE_DATA
from nosplit.pairs.dealing import MOST_ROWS

if TYPE_CHECKING:
    from nosplit.inference.result import TestResult

__all__ = [
    "EXACT_FOR",
    "answer_of",
    "distances_alone",
    "kernel_label",
    "summary_of",
    "tested",
    "verdict_of",
]

# Kernels that a summary lists, those of the largest weights first.
MOST_LINES = 12
# For what an exact p-value is exact.
EXACT_FOR = "exact for independent"


def answer_of(
    result: TestResult, alpha: float, columns: bool = True, said: Callable[[str], str] = str
) -> str:
    """The verdict at level alpha in words, what changed, and a line on how it was tested.

    `summary` has all of it, the learned weights, too; `columns=False` leaves out what changed.
    `said` rewrites notes and warnings, for a reader who does not call functions.
    """
    lines = [verdict_of(result, alpha)]
    if columns:
        lines += _size_lines(result, alpha) + _column_lines(result, alpha)
    lines += _pair_lines(result, alpha) + _distance_lines(result, alpha)
    lines += _joint_lines(result, alpha)
    lines.append(indented("  tested     ", tested(result)))
    notes = [*result.notes, *_draw_notes(result, alpha)]
    lines += [indented("  note       ", printable(said(text))) for text in notes]
    lines += [indented("  warning    ", said(text)) for text in result.warnings]
    return "\n".join(lines)


def summary_of(result: TestResult, alpha: float) -> str:
    """The verdict at level alpha in words, how it was reached, and the learned weights."""
    lines = [
        verdict_of(result, alpha),
        f"  question   {result.question}",
        f"  statistic  {result.statistic:.4g}, rejects from {result.threshold(alpha):.4g}",
        f"  method     {result.method}, {_calibration_words(result)}",
    ]
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
    notes = [*result.notes, *_draw_notes(result, alpha)]
    lines += [indented("  note       ", printable(text)) for text in notes]
    lines += _column_lines(result, alpha) + _pair_lines(result, alpha)
    lines += _distance_lines(result, alpha) + _joint_lines(result, alpha)
    lines += _kernel_lines(result)
    lines += [indented("  warning    ", text) for text in result.warnings]
    return "\n".join(lines)


def verdict_of(result: TestResult, alpha: float) -> str:
    """State the verdict, the p-value and the level."""
    if result.verdict(alpha) == TOO_LITTLE_DATA:
        least = format_p(math.log(result.smallest_pvalue))
        return f"{TOO_LITTLE} (p ≥ {least} whatever the data, level {alpha:g})."
    answer = result.question.rejected if result.reject(alpha) else result.question.kept
    return f"{answer} ({said_p(result.log_pvalue)}, level {alpha:g})."


def _draw_notes(result: TestResult, alpha: float) -> list[str]:
    """Say if more permutations could have reached the level."""
    if (
        result.n_resamples is None
        or result.smallest_pvalue > alpha
        or result.n_resamples + 1 >= 1.0 / alpha
    ):
        return []
    needed = math.ceil(1.0 / alpha) - 1
    return [
        f"{result.n_resamples:,} permutations cannot give p ≤ {alpha:g}: use {needed:,} or more."
    ]


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
    if how != "exact":
        how = f"{how} calibration"
    if result.n_resamples is None:
        return how
    least = format_p(-math.log(result.n_resamples + 1))
    draws = f"{result.n_resamples:,} draws (p ≥ {least})"
    if result.calibration != "exact":
        return f"{how}, {draws}"
    if result.design is None:
        return f"{EXACT_FOR} rows, {draws}"
    inside = " inside strata" if result.design.kind == "strata" else ""
    return f"{EXACT_FOR} {result.design.unit}{inside}, {draws}"


def _size_lines(result: TestResult, alpha: float) -> list[str]:
    """Say how large the difference is, as far as single columns tell."""
    found = result.separation(alpha)
    if found is None:
        return []
    called, largest = _called(result, found[0]), found[1]
    if largest.paired:
        size = f"y is larger in {largest.words} of pairs: {called}; 50 % = chance"
    else:
        of = "" if largest.sample is None else f", {printable(largest.sample)} against the others"
        size = f"largest separation {largest.words}: {called}{of}; 50 % = chance"
    return [indented("  how large  ", size)]


def _apart(found: Separation | None) -> str:
    if found is None:
        return ""
    return f", y larger in {found.words}" if found.paired else f", separation {found.words}"


def _called(result: TestResult, name: str) -> str:
    """The name of a column; columns of arrays have numbers."""
    return printable(name) if result.columns is not None else f"column {name}"


def _evidence_of(result: TestResult, name: str) -> ColumnEvidence:
    return result.by_column[result.column_names.index(name)]


def _column_lines(result: TestResult, alpha: float) -> list[str]:
    """The columns that differ by themselves, the largest separation first."""
    held = result.differing(alpha)
    title = "  differ     "
    lines: list[str] = []
    for name in held[:MOST_LINES]:
        column = _evidence_of(result, name)
        apart = _apart(column.separation)
        words = f": {column.words}" if column.words else ""
        text = f"{_called(result, name)}{words} ({said_p(math.log(column.adjusted))}{apart})"
        lines.append(indented(title if not lines else " " * 13, text))
    if len(held) > MOST_LINES:
        lines.append(f"             and {len(held) - MOST_LINES} more")
    return lines


def _pair_lines(result: TestResult, alpha: float) -> list[str]:
    """The pairs of columns that differ together and not by themselves, strongest first."""
    pairs = dict(result._named_pairs())
    held = result.together(alpha)
    lines: list[str] = []
    for names in held[:MOST_LINES]:
        both = " with ".join(_called(result, name) for name in names)
        change, p = pairs[names].change, said_p(math.log(pairs[names].adjusted))
        text = f"{both} ({p})" if change is None else f"{both}: {change.words} ({p})"
        lines.append(indented("  together   " if not lines else " " * 13, text))
    if len(held) > MOST_LINES:
        lines.append(f"             and {len(held) - MOST_LINES} more")
    return lines


def _distance_lines(result: TestResult, alpha: float) -> list[str]:
    """Distances of rows from the middle, where they show what no column does by itself."""
    found = distances_alone(result, alpha)
    if found is None:
        return []
    return [indented("  distances  ", f"{found.words} ({said_p(math.log(found.pvalue))})")]


def distances_alone(result: TestResult, alpha: float) -> Distance | None:
    """Distances from the middle, if they differ and no column does by itself."""
    found = result.distance
    if found is None or found.pvalue > alpha or not result.reject(alpha) or result.differing(alpha):
        return None
    return found


def _joint_lines(result: TestResult, alpha: float) -> list[str]:
    """All columns, if they differ and no column, pair or distance does by itself."""
    told = result.differing(alpha) or result.together(alpha) or distances_alone(result, alpha)
    if not result.reject(alpha) or not result.column_names or told:
        return []
    names = [_called(result, name) for name in result.column_names]
    if len(names) > MOST_LINES:
        names[MOST_LINES:] = [f"{len(names) - MOST_LINES} more"]
    joint = f"jointly in {', '.join(names[:-1])} and {names[-1]}" if names[1:] else f"in {names[0]}"
    return [indented("  together   ", f"{joint}: nosplit.explain shows where")]


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
