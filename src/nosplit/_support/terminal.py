"""Text for terminals: control characters, lists, wrapping, a progress bar."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = ["indented", "listed", "printable", "progress_bar", "wrapped"]


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
