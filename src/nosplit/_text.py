"""Text for terminals: control characters, lists, wrapping, a progress bar."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = [
    "conjoined",
    "indented",
    "lines_of",
    "listed",
    "number_of",
    "printable",
    "progress_bar",
    "shortened",
    "wrapped",
]


def printable(text: str) -> str:
    r"""Text whose control characters are shown, not obeyed.

    Examples
    --------
    >>> print(printable("\x1b[31mred"))
    \x1b[31mred
    """
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def listed(names: Sequence[str]) -> str:
    """Some names, quoted so that control characters are shown and not obeyed."""
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def conjoined(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def number_of(number: int, one: str, many: str) -> str:
    """A number and its noun: "1 row", "1,000 rows"."""
    return f"{number:,} {one if number == 1 else many}"


def shortened(text: str, longest: int) -> str:
    """Leave out the middle of a text that is too long: names often differ at their end."""
    end = longest // 3
    return text if len(text) <= longest else f"{text[: longest - end - 1]}…{text[-end:]}"


def lines_of(text: str, width: int) -> list[str]:
    """Lines of a text, at least one. Percentages stay together, and no word is divided.

    Examples
    --------
    >>> lines_of("separation 56 % (54–59): price", 14)
    ['separation', '56 % (54–59):', 'price']
    """
    words = (shortened(word, width) for word in printable(text).replace(" %", "\0%").split())
    lines = textwrap.wrap(" ".join(words), width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines] or [""]


def indented(head: str, text: str) -> str:
    """Lines of text after a head; those after the first are indented as far."""
    return textwrap.fill(text, 99, initial_indent=head, subsequent_indent=" " * len(head))


def wrapped(text: str, indent: str) -> list[str]:
    """Lines of text; those after the first are indented."""
    return textwrap.wrap(text, 99, subsequent_indent=indent)


@contextmanager
def progress_bar(show: bool, total: int) -> Iterator[Callable[[int], None] | None]:
    """A progress bar on standard error, if asked for and somebody can see it."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("pairs", total=total)
        yield lambda done: bar.update(task, advance=done)
