"""Print results: the verdict, then fields such as `size`, `changed` and `tested`."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from html import escape
from itertools import count
from typing import TYPE_CHECKING, Any

from nosplit._lazy import extra
from nosplit._text import conjoined, lines_of, number_of, printable, shortened
from nosplit.inference.effect import Separation, largest_of
from nosplit.inference.procedure import how_tested
from nosplit.inference.questions import GOODNESS, TOO_LITTLE, TOO_LITTLE_DATA

if TYPE_CHECKING:
    from nosplit.inference.classifier import ClassifierResult
    from nosplit.inference.columns import Adjustment, ColumnTable, ColumnTest, ColumnTests
    from nosplit.inference.result import How, KernelLine, TestResult

__all__ = [
    "Printed",
    "answer_of",
    "called_sample",
    "classifier_text",
    "column_lines",
    "columns_headline",
    "columns_text",
    "format_p",
    "headline_of",
    "kernel_lines",
    "said_p",
]

# Where the text of a field, a separation and a p-value begin in a line, and where lines end: those
# with p-values and short texts, and those of longer texts.
TEXT, SEPARATION, P, END, WRAPPED = 11, 53, 68, 78, 76
# Columns or pairs listed, pairs in a line, rows of a table, kernels, and characters of a name.
MAX_LISTED, MAX_IN_LINE, MAX_ROWS, MAX_KERNELS, MAX_NAME = 10, 2, 30, 12, 30
# The smallest p-value that is printed.
SMALLEST_P = 1e-16
# Separation from which a column probably defines the samples.
COMPLETE = 0.99
CHANCE = "50 % = chance"
LEVELS = {
    "max-T": "for all together",
    "holm": "for all together, Holm",
    "bh": "of false discoveries",
}
HEADS = ("column", "p", "adjusted", "separation")
# A column or a pair: its name, lines on what changed, its separation and its p-value.
Row = tuple[str, Sequence[str], Separation | None, float]


class Printed(ABC):
    """A result, or a section of one: plain values, a data frame, a cell of a notebook."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""

    def to_records(self) -> list[dict[str, Any]]:
        """Records for `to_frame`."""
        return [self.to_dict()]

    def to_frame(self) -> Any:
        """Make a pandas data frame of the records."""
        return extra("pandas").DataFrame(self.to_records())

    def _repr_html_(self) -> str:
        head, _, rest = str(self).partition("\n")
        body = f"<pre>{escape(rest)}</pre>" if rest else ""
        return f"<div><strong>{escape(head)}</strong>{body}</div>"


# -- p-values and text -----------------------------------------------------------------------------


def format_p(log_pvalue: float) -> str:
    """Format a p-value to two digits, but no more than four decimals; below 1e-16 as "< 1e-16".

    Examples
    --------
    >>> [format_p(math.log(p)) for p in (0.9471, 0.1, 0.0286, 0.001, 1.23e-7, 1e-30)]
    ['0.95', '0.10', '0.029', '0.0010', '1.2e-07', '< 1e-16']
    """
    if log_pvalue < math.log(SMALLEST_P):
        return f"< {SMALLEST_P:g}"
    p = math.exp(log_pvalue)
    text = f"{p:.1e}"
    exponent = -5 if math.isnan(p) else int(text[4:])
    return text if exponent < -4 else f"{p:.{min(1 - exponent, 4)}f}"


def said_p(log_pvalue: float, name: str = "p", gap: str = " ") -> str:
    """A p-value in a sentence: "p = 0.012", or "p < 1e-16"."""
    value = format_p(log_pvalue)
    small = value.startswith("<")
    return f"{name}{gap}{'<' if small else '='}{gap}{value.removeprefix('< ')}"


def _block(name: str, lines: Sequence[str], more: str = "", left: int = 0) -> list[str]:
    """Lines of a field, and how many are left out."""
    lines = [*lines, *[f"and {left:,} more: {more}"] * (left > 0)]
    return [(" " * TEXT if i else f"  {name}".ljust(TEXT)) + line for i, line in enumerate(lines)]


def _field(name: str, text: str) -> list[str]:
    return _block(name, lines_of(text, (END if len(text) <= END - TEXT else WRAPPED) - TEXT))


def _called(*names: str) -> str:
    """Name a column or a pair: without control characters, and numbers as "column 0"."""
    shown = (" ".join(printable(name).split()) for name in names)
    return " with ".join(shortened(f"column {n}" if n.isdecimal() else n, MAX_NAME) for n in shown)


# -- results ---------------------------------------------------------------------------------------


def headline_of(result: TestResult | ClassifierResult, alpha: float) -> str:
    """State the verdict, the p-value and the level."""
    if result.verdict(alpha) == TOO_LITTLE_DATA:
        return _too_little(result.how, alpha)
    if result.reject(alpha):
        return f"{result.question.rejected} ({said_p(result.log_pvalue)}, level {alpha:g})"
    misleads = float(format_p(result.log_pvalue).lstrip("< ")) <= alpha  # 0.0504 as 0.050
    said = f"p = {result.pvalue:.4g}" if misleads else said_p(result.log_pvalue)
    return f"{result.question.kept} ({said}, level {alpha:g})"


def _too_little(how: How, alpha: float) -> str:
    least = format_p(math.log(how.smallest_pvalue))
    return f"{TOO_LITTLE} (p ≥ {least} whatever the data, level {alpha:g})"


def answer_of(
    result: TestResult,
    alpha: float,
    said: Callable[[str], str] = str,
    compared: tuple[Sequence[str], str] = ((), ""),
) -> str:
    """The printed result at level alpha.

    `said` rewrites warnings and notes for a command line. `compared` are pairs of samples, and a
    line on all of them.
    """
    held, lines = result.columns.held(alpha), [headline_of(result, alpha)]
    if len(result.how.n_columns) == 2:
        lines += _dependence(result, alpha)
    elif result.reject(alpha) and (len(result.columns) or len(result.pairs)):
        lines += _differing(result, alpha, held) if held else _jointly(result, alpha)
    elif result.verdict(alpha) != TOO_LITTLE_DATA:
        lines += _largest_possible(result)
    lines += _compared(*compared) if result.reject(alpha) else []
    columns = len(result.columns) or len(getattr(result.how.encoding, "names", ()))
    columns = columns or sum(result.how.n_columns)
    if result.how.pairs in ("rows", "given"):  # each column of h, or statistic, is a base function
        columns = len(result.selection.kernels)
    complete = result.warnings if _of_model(result) else _complete(held, result.warnings)
    warnings, notes = ([*map(said, t)] for t in (complete, result.notes))
    return "\n".join(lines + _procedure(result.how, alpha, columns, warnings, notes))


def _differing(result: TestResult, alpha: float, held: list[ColumnTest]) -> list[str]:
    """List the columns that differ, and name pairs."""
    if _of_model(result) and len(result.columns) == 1 and held[0].separation:  # nor p again
        name, text = _called(held[0].name), ", ".join(_words(held[0]))
        place = TEXT + len(name) + 3
        first, *rest = lines_of(text, END - place)
        lines = [f"{name}   {first}", *(" " * (len(name) + 3) + line for line in rest)]
        return _size(result, alpha) + _block("changed", lines)
    rows: list[Row] = []
    for row in held[:MAX_LISTED]:
        own = row.separation
        size = None if own is None or own.paired or own.sample is not None else own
        rows.append((_called(row.name), _words(row), size, row.adjusted))
    head = [f"{len(held):,} of {len(result.columns):,} columns differ"] * (len(held) > 1)
    left = len(held) - MAX_LISTED
    lines = _size(result, alpha) + _block("changed", head + _aligned(rows), "res.columns", left)
    pairs = result.pairs.held(alpha)
    known = [
        _called(*pair.columns) + (f" ({100.0 * pair.accuracy.size:.0f} %)" if pair.accuracy else "")
        for pair in pairs[:MAX_IN_LINE]
    ]
    known += [f"{len(pairs) - MAX_IN_LINE:,} more"] * (len(pairs) > MAX_IN_LINE)
    return lines + (_field("together", ", ".join(known)) if pairs else [])


def _dependence(result: TestResult, alpha: float) -> list[str]:
    """Say how strongly a column of x and one of y depend on each other, and name the pairs."""
    known = [row.correlation for row in result.pairs if row.correlation is not None]
    if not result.reject(alpha):
        if not known or result.verdict(alpha) == TOO_LITTLE_DATA:
            return []
        most = max(max(own.high, -own.low) for own in known)
        each = " of each pair" * (len(result.pairs) > 1)
        return _field("size", f"rank correlation{each} at most {most:.2f} in size (upper end)")
    held = list(result.pairs) if len(result.pairs) == 1 else result.pairs.held(alpha)
    if not held:
        return _field("size", "no single pair of columns") if len(result.pairs) else []
    sizes = [row for row in held if row.correlation is not None and not row.correlation.absent]
    lines: list[str] = []
    if sizes:
        best = max(sizes, key=lambda row: abs(row.correlation.value if row.correlation else 0.0))
        largest = "largest " * (len(result.pairs) > 1)
        assert best.correlation is not None
        value, interval = best.correlation.words
        said = f"{largest}rank correlation {value} {interval}: {_called(*best.columns)}"
        lines = _field("size", said)
    elif held[0].correlation is not None:
        said = f"the relation of {_called(*held[0].columns)} is not monotone"
        lines = _field("size", f"no rank correlation: {said}")
    if len(held) > 1 or not lines:
        rows: list[Row] = [
            (_called(*row.columns), [row.words], None, row.adjusted) for row in held[:MAX_LISTED]
        ]
        lines += _block("pairs", _aligned(rows), "res.pairs", len(held) - MAX_LISTED)
    return lines


def called_sample(name: str) -> str:
    """Name a sample in few characters, none of them a control character."""
    return shortened(" ".join(printable(name).split()), MAX_NAME)


def _of_model(result: TestResult) -> bool:
    """Whether a sample is compared with a model."""
    return result.question == GOODNESS


def _words(row: ColumnTest) -> tuple[str, ...]:
    return () if row.change is None else (row.change.words, *row.change.more)


def _size(result: TestResult, alpha: float) -> list[str]:
    """Say how large the difference is, as far as single columns show it."""
    largest = result.separation(alpha)
    if largest is None:
        return []
    name, own, design = _called(largest[0]), largest[1], result.how.design
    if own.paired:
        way = "higher" if own.value >= 0.5 else "lower"
        share = f"{result.how.names[-1]} is {way} in {100.0 * own.size:.0f} % of pairs"
        only = len(result.columns) == 1
        return _field("size", f"{share} ({CHANCE})" if only else f"{share}: {name}; {CHANCE}")
    inside = " inside strata" if design is not None and design.kind == "strata" else ""
    if _of_model(result):
        only = len(result.columns) == 1
        said = f"{'' if only else 'largest '}separation {own.words} from the model"
        return _field("size", f"{said}{'' if only else f': {name}'}; {CHANCE}")
    end = f"; {CHANCE}" if len(result.columns.held(alpha)) == 1 else ""
    end = end if own.sample is None else f", {called_sample(own.sample)} against the others"
    return _field("size", f"largest separation{inside} {own.words}: {name}{end}")


def _compared(pairs: Sequence[str], all_of_them: str) -> list[str]:
    """List pairs of samples, as many in a line as fit."""
    lines: list[str] = []
    for pair in pairs:
        if lines and len(lines[-1]) + len(pair) + 4 <= END - TEXT:
            lines[-1] += f"    {pair}"
        else:
            lines.append(pair)
    return _block("pairs", [*lines, all_of_them]) if all_of_them else []


def _jointly(result: TestResult, alpha: float) -> list[str]:
    """Say what differs if no column does: pairs, distances from the middle, or all columns."""
    pairs, names = result.pairs.held(alpha), [_called(name) for name in result.columns.names]
    if pairs:
        best = largest_of(pair.accuracy for pair in pairs)
        by = f"; guessed {best[1].words} from {_called(*pairs[best[0]].columns)}" if best else ""
        rows: list[Row] = [
            (_called(*pair.columns), [pair.words], None, pair.adjusted)
            for pair in pairs[:MAX_LISTED]
        ]
        lines = _block("together", _aligned(rows), "res.pairs", len(pairs) - MAX_LISTED)
        return _field("size", f"no single column{by}") + lines if names else lines
    if _of_model(result):
        lines = _field("size", "no single column")
        return lines + _field("together", f"jointly in {conjoined(names[:MAX_LISTED])}")
    if len(names) < 2:
        alone = [f"{name}: nosplit.explain shows where" for name in names]
        return _block("changed", alone) if alone else _field("size", "no single pair of columns")
    lines = _field("size", "no single column or pair")
    far = result.distance
    if far is not None and far.pvalue <= alpha:
        return lines + _block("together", _aligned([("", [far.words], None, far.pvalue)]))
    if len(names) > MAX_LISTED:
        names[MAX_LISTED:] = [f"{len(names) - MAX_LISTED:,} more"]
    return lines + _field("together", f"jointly in {conjoined(names)}: nosplit.explain shows where")


def _largest_possible(result: TestResult) -> list[str]:
    """Say how large a separation the data leaves possible."""
    known = [row.separation for row in result.columns if row.separation is not None]
    if not known:
        return []
    ends = [own.of(len(known)) for own in known]
    high = max(max(own.high, 1.0 - own.low if own.paired else 0.5) for own in ends)
    most = f"at most {100.0 * min(high, 1.0):.0f} %"
    model = " from the model" * _of_model(result)
    what = f"separation{' of each column' * (len(known) > 1)}{model} {most}"
    if known[0].paired:
        what = f"{result.how.names[-1]} is higher or lower in {most} of pairs"
    return _field("size", f"{what} (upper end); {CHANCE}")


def _complete(held: Sequence[ColumnTest], warnings: Sequence[str]) -> list[str]:
    """Add a warning of columns that separate the samples completely."""
    known = [(row.name, row.separation) for row in held if row.separation is not None]
    names = [name for name, own in known if own.size >= COMPLETE and not own.paired]
    if not names:
        return list(warnings)
    said = ("separate", "they define", "they hide")
    said = said if names[1:] else ("separates", "it defines", "it hides")
    out = ", ".join(n if n.isdecimal() else json.dumps(n, ensure_ascii=False) for n in names)
    subject = f"{conjoined([_called(name) for name in names])} {said[0]}"
    advice = f"If {said[1]} them, {said[2]} all else: exclude=[{out}]."
    return [f"{subject} the samples completely. {advice}", *warnings]


def _aligned(rows: Sequence[Row]) -> list[str]:
    """Align names, what changed, separations and p-values; a long name has a line of its own."""
    place = P if all(own is None for _, _, own, _ in rows) else SEPARATION
    widths = [len(name) for name, *_ in rows if len(name) <= (place - TEXT) // 2]
    width = max(widths, default=0) + 3 if any(name for name, *_ in rows) else 0
    lines: list[str] = []
    for name, words, own, p in rows:
        if len(name) > width:
            lines.append(name)
        first, *rest = lines_of(words[0] if words else "", place - 1 - TEXT - width)
        line = ((name if len(name) <= width else "").ljust(width) + first).ljust(place - 1 - TEXT)
        if place == SEPARATION:
            value, _, interval = ("", "", "") if own is None else own.words.partition(" ")
            line = f"{line} {f'{value:>3} {interval}':<{P - 1 - SEPARATION}}"
        rest += [part for text in words[1:] for part in lines_of(text, END - TEXT - width)]
        lines += [f"{line} {said_p(math.log(p))}", *(" " * width + text for text in rest)]
    return lines


# -- the procedure ---------------------------------------------------------------------------------


def _procedure(
    how: How, alpha: float, columns: int, warnings: Sequence[str], notes: Sequence[str]
) -> list[str]:
    """Say how it was tested, then warnings and notes."""
    dependent = any(text.startswith("DependentRowsWarning") for text in warnings)
    lines = _field("tested", how_tested(how, columns, alpha, dependent))
    for text in warnings:
        lines += _field("warning", re.sub(r"^\w+Warning: ", "", text))
    for text in [*notes, *_needed(how, alpha)]:
        lines += _field("note", text)
    return lines


def _needed(how: How, alpha: float) -> list[str]:
    """Say which sizes, or how many permutations, could give a p-value of alpha."""
    needed = math.ceil(1.0 / alpha) - 1
    if how.smallest_pvalue <= alpha and 0 < (how.n_resamples or needed) < needed:
        many = f"{how.n_resamples:,} permutations"
        return [f"{many} cannot give p ≤ {alpha:g}: use {needed:,} or more"]
    if how.smallest_pvalue <= alpha or how.design is not None or len(how.sizes) != 2:
        return []
    # Samples of one size can change roles: every division of the rows counts twice.
    n, p = next((n, p) for n in count(2) if (p := 2.0 / math.comb(2 * n, n)) <= alpha)
    sizes = f"{n} v {n} rows can give {said_p(math.log(p))}"
    reason = "nosplit.sample_size says how many rows find the difference that matters to you"
    return [f"{sizes}; {reason}"]


# -- tables of columns, kernels --------------------------------------------------------------------


def columns_headline(tests: ColumnTable, alpha: float, adjustment: Adjustment) -> str:
    """Say how many columns differ, and at which level."""
    held, how = len(tests.held(alpha, adjustment)), getattr(tests, "how", None)
    if held:
        many = f"{held:,} of {number_of(len(tests), 'column', 'columns')}"
        return f"{many} differ{'s' * (held == 1)} (level {alpha:g} {LEVELS[adjustment]})"
    if how is not None and how.smallest_pvalue > alpha:
        return _too_little(how, alpha)
    return f"No evidence that a column differs (level {alpha:g})"


def column_lines(table: ColumnTable, alpha: float, adjustment: Adjustment) -> list[str]:
    """The headline, and a table of the columns: those that differ come first."""
    held = table.held(alpha, adjustment)
    names = {row.name for row in held}
    rest = sorted((row for row in table if row.name not in names), key=lambda row: row.pvalue)
    by = "adjusted" if adjustment == "max-T" else adjustment
    cells: list[tuple[str, ...]] = [HEADS]
    changes: list[tuple[str, ...]] = [("what changed",)]
    for row in [*held, *rest][:MAX_ROWS]:
        p, adjusted = (format_p(math.log(p)) for p in (row.pvalue, getattr(row, by)))
        size = "" if row.separation is None else row.separation.words
        cells.append((_called(row.name), p, adjusted, size))
        changes.append(_words(row) if row.name in names else ())
    widths = [max(map(len, own)) for own in zip(*cells, strict=True)]
    place = 2 + sum(widths) + 2 * len(widths)
    below = END - place < 24  # names are long: what changed has lines of its own
    place = 6 if below else place
    lines = [columns_headline(table, alpha, adjustment)]
    for own, words in zip(cells, changes, strict=True):
        parts = [part for text in words for part in lines_of(text, END - place)]
        first, *more = parts if parts and not below else ["", *parts]
        line = "  ".join(text.ljust(width) for text, width in zip(own, widths, strict=True))
        lines += [f"  {line}  {first}".rstrip(), *(" " * place + text for text in more)]
    left = len(table) - MAX_ROWS
    return lines + [f"  and {left:,} more: to_frame() has all"] * (left > 0)


def columns_text(
    tests: ColumnTests, alpha: float, adjustment: Adjustment, said: Callable[[str], str] = str
) -> str:
    """The printed table at level alpha, and how the columns were tested; see `answer_of`."""
    complete = _complete(tests.held(alpha, adjustment), tests.warnings)
    warnings, notes = ([*map(said, texts)] for texts in (complete, tests.notes))
    how = _procedure(tests.how, alpha, len(tests), warnings, notes)
    return "\n".join(column_lines(tests, alpha, adjustment) + how)


def classifier_text(result: ClassifierResult, alpha: float) -> str:
    """The printed result of a classifier test at level alpha."""
    size = f"AUC {result.auc.words} by {result.estimator}; {CHANCE}"
    lines = [headline_of(result, alpha), *_field("size", size)]
    columns, warnings, notes = len(result.columns), result.warnings, result.notes
    return "\n".join(lines + _procedure(result.how, alpha, columns, warnings, notes))


def kernel_lines(lines: Sequence[KernelLine]) -> list[str]:
    """Lines on kernels, those of the largest weight first."""
    ranked = sorted(lines, key=lambda line: -abs(line.weight))
    many = number_of(len(ranked), "kernel", "kernels")
    text = [f"{sum(k.active for k in ranked)} of {many} active (*)", "  weight      alone  kernel"]
    text += [
        f"  {k.weight:+.2f}{'*' if k.active else ' '} {k.alone:9.2f}  {k.label}"
        for k in ranked[:MAX_KERNELS]
    ]
    left = len(ranked) - MAX_KERNELS
    return text + [f"  and {left:,} of smaller weight"] * (left > 0)
