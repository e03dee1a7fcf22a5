"""The command line: parse, call the library, print."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import nosplit
from nosplit._support.checks import check_alpha
from nosplit.cli import (
    goodness_of_fit as _cli_families,
)
from nosplit.cli import (
    power as _cli_power,
)
from nosplit.cli import (
    streams as _cli_streams,
)
from nosplit.cli.options import (
    Alpha,
    Budget,
    Calibration,
    Columns,
    Exclude,
    ExitCode,
    Json,
    Kernels,
    Method,
    NanPolicy,
    NoRows,
    NoShuffle,
    Pairs,
    Report,
    Scale,
    Seed,
    Workers,
    check_report,
    finish,
    parse_pairs,
    print_json,
    printable,
    quietly,
    write_report,
)
from nosplit.data.files.opening import said_of
from nosplit.datasets import MNIST
from nosplit.errors import InputError
from nosplit.experiments.command import reproduce
from nosplit.inference.plan import Plan
from nosplit.inference.result import TestResult, format_p

__all__ = ["app", "main"]

app = typer.Typer(
    help="Kernel tests that learn the kernel and test on the same data, all of it.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"nosplit {nosplit.__version__}")
        raise typer.Exit


@app.command("test")
def compare(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Reference sample, one row each.")],
    cur: Annotated[str, typer.Argument(metavar="CUR", help="Current sample, the same columns.")],
    alpha: Alpha = 0.05,
    method: Method = "auto",
    pairs: Pairs = "auto",
    calibration: Calibration = "auto",
    kernels: Kernels = "default",
    budget: Budget = 1.0,
    seed: Seed = 0,
    no_shuffle: NoShuffle = False,
    columns: Columns = None,
    exclude: Exclude = None,
    scale: Scale = None,
    nan_policy: NanPolicy = "raise",
    workers: Workers = None,
    as_json: Json = False,
    exit_code: ExitCode = False,
    report: Report = None,
    no_rows: NoRows = False,
) -> None:
    """Test whether two files hold samples from the same distribution.

    Files are .npy, .npz (file.npz:name picks an array), .csv with or without a line of names,
    .parquet, or folders or quoted globs of .parquet files. Large ones are read in one pass.
    """
    check_alpha(alpha)
    check_report(report, no_rows)
    with said_of(x=ref, y=cur):
        result = quietly(
            nosplit.two_sample_test,
            ref,
            cur,
            kernels=kernels,
            method=method,
            pairs=parse_pairs(pairs),
            calibration=calibration,
            budget=budget,
            rng=seed,
            shuffle=not no_shuffle,
            columns=columns,
            exclude=exclude,
            scale=scale,
            nan_policy=nan_policy,
            workers=workers,
            progress=sys.stderr.isatty(),
        )
    write_report(
        result,
        ref,
        cur,
        path=report,
        alpha=alpha,
        rows=not no_rows,
        options={"rng": seed, "shuffle": not no_shuffle},
    )
    title = f"{ref} and {cur}"
    raise finish(result, title, alpha=alpha, as_json=as_json, exit_code=exit_code)


app.command()(_cli_families.gof)
app.command()(_cli_families.independence)
app.command()(_cli_power.power)
app.command()(_cli_power.calibrate)
app.command()(_cli_streams.accumulate)
app.command()(_cli_streams.merge)
app.command()(_cli_streams.result)


@app.command()
def demo() -> None:
    """Test handwritten digits: all digits against odd ones, and a pair with no difference."""
    console = Console(highlight=False)
    digits, n = MNIST(), 300
    with Console(stderr=True).status("Getting ready (the first run compiles its loops) …"):
        quietly(nosplit.two_sample_test, *digits.sample(20))
    console.print(
        f"Handwritten digits (MNIST, 7 × 7 pixels), two samples of {n} images each.\n"
        "Do they come from the same distribution?",
    )
    for title, null in (("all digits against odd digits", False), ("all against all", True)):
        x, y = digits.sample(n, null=null)
        start = time.perf_counter()
        result = quietly(nosplit.two_sample_test, x, y, progress=sys.stderr.isatty())
        _show(console, title, result, time.perf_counter() - start)
    console.print(
        "\nweight: in the learned combination, on the scale of standard deviations, the largest "
        "being 1. alone: the kernel's own statistic, in standard deviations. Of pairs that do not "
        "differ, a test at level 0.05 rejects 1 in 20.\n\n"
        "To test data of your own: nosplit test reference.csv current.csv"
    )


def _show(console: Console, title: str, result: TestResult, seconds: float) -> None:
    verdict = result.question.rejected if result.reject() else result.question.kept
    console.print()
    console.print(Text(f"{title}: {verdict.lower()}", style="bold"))
    console.print(
        f"  p-value {format_p(result.log_pvalue)} at level 0.05, found in {seconds:.1f} s\n"
        f"  {result.method} method, {result.calibration} calibration, {result.n_pairs:,} pairs"
    )
    grid = Grid(box=None, padding=(0, 2), header_style="dim")
    grid.add_column("kernel")
    grid.add_column("weight", justify="right")
    grid.add_column("alone", justify="right")
    for line in result.by_kernel():
        grid.add_row(Text(line.label), f"{line.weight:+.2f}", f"{line.alone:.1f}")
    console.print(grid)


@app.command()
def plan(
    n: Annotated[int, typer.Option(help="Rows of the reference sample.")],
    m: Annotated[int | None, typer.Option(help="Rows of the current sample; n by default.")] = None,
    p: Annotated[int, typer.Option(help="Columns.")] = 1,
    method: Method = "auto",
    pairs: Pairs = "auto",
    calibration: Calibration = "auto",
    kernels: Kernels = "default",
    budget: Budget = 1.0,
    as_json: Json = False,
) -> None:
    """Tell what `nosplit test` would do with samples of these sizes, what it costs, and why."""
    chosen = nosplit.plan(
        n=n,
        m=m,
        p=p,
        kernels=kernels,
        method=method,
        pairs=parse_pairs(pairs),
        calibration=calibration,
        budget=budget,
    )
    seconds = chosen.estimated_seconds()
    if as_json:
        print_json(_plan_dict(chosen, seconds))
    else:
        typer.echo(f"{chosen}\nOn this machine, about {seconds:.2g} s of one core.")


def _plan_dict(chosen: Plan, seconds: float) -> dict[str, Any]:
    return {
        "pairs": chosen.pairs,
        "calibration": "exact" if chosen.flips else "asymptotic",
        "flips": chosen.flips or None,
        "n_units": chosen.n_units,
        "n_pairs": chosen.n_pairs,
        "nominal_seconds": chosen.nominal_seconds,
        "estimated_seconds": seconds,
        "reason": chosen.reason,
    }


app.command()(reproduce)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 (`--exit-code`: the samples differ) or 2 (error)."""
    try:
        app(args)
    except InputError as error:
        typer.echo(printable(f"error: {error}"), err=True)
        raise SystemExit(2) from None
