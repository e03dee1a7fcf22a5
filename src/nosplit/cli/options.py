"""What the commands share: options, and how results are printed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from nosplit._support.checks import printable
from nosplit._support.lazy import extra
from nosplit.describe.report import check_target
from nosplit.errors import InputError, NosplitWarning
from nosplit.inference.result import TestResult
from nosplit.pairs.pairing import Blocks, Pairing

__all__ = [
    "Alpha",
    "Budget",
    "Calibration",
    "Columns",
    "Exclude",
    "ExitCode",
    "Json",
    "Kernels",
    "Method",
    "NanPolicy",
    "NoRows",
    "NoShuffle",
    "Pairs",
    "Report",
    "Scale",
    "Seed",
    "Workers",
    "check_report",
    "finish",
    "parse_pairs",
    "print_json",
    "printable",
    "quietly",
    "write_report",
]

# Version of the keys that `--json` prints, listed in docs/json.md.
SCHEMA = 1

Alpha = Annotated[float, typer.Option(help="Level of the test.")]
Method = Annotated[
    str,
    typer.Option(
        help="auto, ost, nonnegative, wald, best, split, chibar, naive or adaptive.",
        metavar="NAME",
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        help="auto, linear, adjacent, complete, a window such as 5, or blocks:64.", metavar="PAIRS"
    ),
]
Calibration = Annotated[str, typer.Option(help="auto, exact or asymptotic.", metavar="NAME")]
Kernels = Annotated[str, typer.Option(help="default, paper1, paper2 or paper6.", metavar="NAME")]
Budget = Annotated[float, typer.Option(help="Nominal seconds of one core that auto may spend.")]
Seed = Annotated[int, typer.Option(help="Seed of the shuffling and of the random draws.", min=0)]
Workers = Annotated[int | None, typer.Option(help="Threads; all cores by default.", min=1)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NoShuffle = Annotated[bool, typer.Option("--no-shuffle", help="Keep the order of the rows.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(help="Compare this column only; may be given again for more.", metavar="NAME"),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Leave this column out; may be given again for more.", metavar="NAME"),
]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        help="Divide columns by their spread; by default where columns have names.",
        show_default=False,
    ),
]
NanPolicy = Annotated[
    str, typer.Option(help="Missing values: raise, omit or indicate.", metavar="NAME")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if the test rejects.")]

Report = Annotated[
    str | None,
    typer.Option(
        help="Write a report as one HTML file, over one that is there.", metavar="FILE.html"
    ),
]
NoRows = Annotated[
    bool,
    typer.Option(
        "--no-rows", help="Leave rows and names of categories out of the report: private data."
    ),
]


def quietly(test: Callable[..., TestResult], *data: Any, **options: Any) -> TestResult:
    """Test without printing warnings: the result lists them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        return test(*data, **options)


def finish(
    result: TestResult, title: str, *, alpha: float, as_json: bool, exit_code: bool
) -> typer.Exit:
    """Print a result; what it returns ends the command."""
    rejects = result.reject(alpha)
    if as_json:
        print_json({**result.to_dict(), "reject": rejects, "alpha": alpha})
    else:
        typer.echo(printable(title))
        typer.echo(result.summary(alpha))
    return typer.Exit(int(exit_code and rejects))


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


def parse_pairs(text: str) -> Pairing | str | int:
    """A window such as 5, blocks:64, or a name as it is."""
    kind, _, size = text.partition(":")
    if kind == "blocks":
        if not size.isdecimal():
            raise InputError(
                f"`--pairs` as blocks must have a size, as in blocks:64, got {text!r}."
            )
        return Blocks(int(size))
    return int(text) if text.removeprefix("-").isdecimal() else text


def print_json(values: dict[str, Any]) -> None:
    """Print values on one line, with the version of their keys (docs/json.md)."""
    typer.echo(json.dumps({**values, "schema": SCHEMA}, allow_nan=False))
