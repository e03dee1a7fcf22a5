"""The end of the program, whatever happens: its exit code, without a traceback."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TextIO, TypeVar

import typer

from nosplit._old.cli.shared.words import in_options
from nosplit._text import printable
from nosplit.errors import InputError

__all__ = ["ERROR", "INTERRUPTED", "PIPE_CLOSED", "finished", "guarded", "tolerant"]

# As programs end that a signal ends; 1 is for "the samples differ".
ERROR, INTERRUPTED, PIPE_CLOSED = 2, 130, 141
# Set to see where an error came from that nobody expected.
TRACEBACK = "NOSPLIT_TRACEBACK"
# What stands for characters that a terminal lacks.
PLAIN = {"≥": ">=", "≤": "<=", "±": "+/-", "×": "x", "−": "-", "–": "-", "…": "...", "·": "*"}

Command = TypeVar("Command", bound=Callable[..., None])


def guarded(command: Command) -> Command:
    """A command that ends with a code and a line, whatever it raises."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except (typer.Exit, SystemExit):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(_print_and_end("Stopped.", INTERRUPTED)) from None
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            raise typer.Exit(_ended(error)) from None

    return run  # type: ignore[return-value]


def _ended(error: Exception) -> int:
    """Say what went wrong; the exit code."""
    if isinstance(error, InputError):
        return _print_and_end(f"error: {in_options(str(error))}", ERROR)
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE or isinstance(error, BrokenPipeError):
            _close()
            return PIPE_CLOSED
        return _print_and_end(f"error: {error.strerror or error}.", ERROR)
    if isinstance(error, MemoryError):
        return _print_and_end("error: there is not enough memory for this.", ERROR)
    return _print_and_end(
        f"error: this should not have happened: {type(error).__name__}: {error}. Set {TRACEBACK}=1 "
        "to see where it comes from.",
        ERROR,
    )


def _print_and_end(text: str, code: int) -> int:
    with suppress(OSError, ValueError):  # standard error may be full, or closed
        typer.echo(printable(text), err=True)
    return code


def finished(code: int) -> int:
    """The exit code, once all that was printed is out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        ended = _ended(error)
        _close()
        return ended
    return code


def _close() -> None:
    """Send what is still to be printed nowhere: Python would complain of it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


# -- characters ------------------------------------------------------------------------------------


def tolerant() -> None:
    """Print what a terminal has no characters for in other ones."""
    codecs.register_error("nosplit", _replaced)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            _reconfigured(stream)


def _reconfigured(stream: TextIO) -> None:
    stream.reconfigure(errors="nosplit")  # type: ignore[attr-defined]


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    shown = "".join(PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking)
    return shown, error.end
