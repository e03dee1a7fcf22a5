"""Print results and write reports, the same way in all commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from nosplit._lazy import extra
from nosplit._old.cli.shared.words import in_options
from nosplit._old.describe.explanation import Explanation
from nosplit._old.describe.report import check_target
from nosplit._text import printable
from nosplit._warn import unwarned
from nosplit.errors import InputError
from nosplit.inference.effect import plain_separation
from nosplit.inference.print import answer_of
from nosplit.inference.questions import DIFFER, NO_EVIDENCE, TOO_LITTLE_DATA, Verdict
from nosplit.inference.result import TestResult

__all__ = [
    "SCHEMA",
    "as_options",
    "check_effect",
    "check_report",
    "exit_status",
    "finish",
    "is_large",
    "print_json",
    "quietly",
    "write_report",
]

# Version of the keys that `--json` prints, listed in docs/api/json.md.
SCHEMA = 1


@contextmanager
def as_options() -> Iterator[None]:
    """Errors that say what to write on the command line, where those inside speak Python."""
    try:
        yield
    except InputError as error:
        text = re.sub(
            r"nosplit\.profile\(reference, ([^()]*)\)", r"nosplit profile REF \1", str(error)
        )
        text = re.sub(r"(\w+)=(\[[^]]*\]|'[^']*'|\d+|\.{3}),?", _option, text)
        raise type(error)(text) from error


def _option(found: re.Match[str]) -> str:
    """--exclude a --exclude b for exclude=['a', 'b']."""
    name, value = f"--{found[1].replace('_', '-')}", found[2]
    values = re.findall(r"'([^']*)'", value) or [value.strip("[]")]
    return " ".join(f"{name} {shlex.quote(v)}" for v in values)


def quietly(test: Callable[..., TestResult], *data: Any, **options: Any) -> TestResult:
    """Test without printing warnings: the result lists them."""
    with unwarned():
        return test(*data, **options)


def finish(
    result: TestResult,
    title: str,
    *,
    alpha: float,
    as_json: bool,
    exit_code: bool,
    told: Explanation | None = None,
) -> typer.Exit:
    """Print a result, and what explains it; what it returns ends the command."""
    rejects = result.reject(alpha)
    if as_json:
        largest = result.separation(alpha)
        held = {
            "differing": list(result.columns.differing(alpha)),
            **plain_separation(largest[1] if largest else None),
            "effect": told.effect.to_dict() if told else None,
        }
        print_json({**result.to_dict(), **held, "reject": rejects, "alpha": alpha})
    else:
        typer.echo(printable(title))
        typer.echo(answer_of(result, alpha, said=in_options))
        if told:
            typer.echo(str(told))
    return typer.Exit(exit_status(result.verdict(alpha), exit_code))


def exit_status(verdict: Verdict, wanted: bool) -> int:
    """Return the exit code of a verdict: 0, 1 if samples differ, 3 if there is too little data."""
    return {NO_EVIDENCE: 0, DIFFER: 1, TOO_LITTLE_DATA: 3}[verdict] if wanted else 0


def check_effect(least: float | None, exit_code: bool) -> None:
    """Check that a smallest size is one, and that something depends on it."""
    if least is None:
        return
    if not 0.5 <= least <= 1.0:
        raise InputError(
            f"`--min-effect` must be from 0.5 (no separation) to 1 (complete), got {least:g}."
        )
    if not exit_code:
        raise InputError("`--min-effect` is about the exit code: it needs `--exit-code`.")


def is_large(size: float | None, least: float | None) -> bool:
    """Whether a difference is as large as one wants to know of; say so if it is not.

    A difference that no column shows by itself, with no size, counts as large.
    """
    if least is None or size is None or size >= least:
        return True
    typer.echo(f"Below --min-effect {least:g}: the largest separation is {size:.0%}.", err=True)
    return False


def check_report(path: str | None, no_rows: bool = False) -> None:
    """Find out that a report cannot be written before the test is run, not after."""
    if path is None and no_rows:
        raise InputError("`--no-rows` is about a report: it needs `--report`.")
    if path is not None:
        extra("jinja2", "report")
        extra("matplotlib", "report")
        check_target(path)


def write_report(
    result: TestResult, x: Any = None, y: Any = None, *, path: str | None, **options: Any
) -> None:
    """Write a report if one was asked for, and say where it is."""
    if path is None:
        return
    result.report(x, y, path=path, **options)
    typer.echo(printable(f"Report: {path}"), err=True)


def print_json(values: dict[str, Any]) -> None:
    """Print values on one line, with the version of their keys (docs/api/json.md)."""
    typer.echo(json.dumps({**values, "schema": SCHEMA}, allow_nan=False))
