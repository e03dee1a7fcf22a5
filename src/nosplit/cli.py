"""The command line: parse, call the library, print."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import nosplit
from nosplit._errors import InputError, NosplitWarning
from nosplit._validation import check_alpha
from nosplit.datasets import MNIST
from nosplit.pairing import Blocks, Pairing
from nosplit.plan import Plan
from nosplit.results import TestResult, format_p
from nosplit.tables import aligned_columns, read_table

__all__ = ["app", "main"]

app = typer.Typer(
    help="Kernel two-sample tests that learn the kernel and test on the same data, all of it.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

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
    no_shuffle: Annotated[
        bool, typer.Option("--no-shuffle", help="Keep the order of the rows.")
    ] = False,
    workers: Workers = None,
    as_json: Json = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if the samples differ.")
    ] = False,
) -> None:
    """Test whether two files hold samples from the same distribution.

    Files are .npy, .npz (file.npz:name picks an array) or .csv, with or without a line of names.
    """
    check_alpha(alpha)
    reference = read_table(ref)
    current = aligned_columns(reference, read_table(cur))
    result = _quietly(
        reference.values,
        current.values,
        kernels=kernels,
        method=method,
        pairs=_pairs(pairs),
        calibration=calibration,
        budget=budget,
        rng=seed,
        shuffle=not no_shuffle,
        workers=workers,
        progress=sys.stderr.isatty(),
    )
    rejects = result.reject(alpha)
    if as_json:
        _print_json({**result.to_dict(), "reject": rejects, "alpha": alpha})
    else:
        typer.echo(_printable(f"{ref} and {cur}"))
        typer.echo(result.summary(alpha))
    raise typer.Exit(int(exit_code and rejects))


@app.command()
def demo() -> None:
    """Test handwritten digits: all digits against odd ones, and a pair with no difference."""
    console = Console(highlight=False)
    digits, n = MNIST(), 300
    with Console(stderr=True).status("Getting ready (the first run compiles its loops) …"):
        _quietly(*digits.sample(20))
    console.print(
        f"Handwritten digits (MNIST, 7 × 7 pixels), two samples of {n} images each.\n"
        "Do they come from the same distribution?",
    )
    for title, null in (("all digits against odd digits", False), ("all against all", True)):
        x, y = digits.sample(n, null=null)
        start = time.perf_counter()
        result = _quietly(x, y, progress=sys.stderr.isatty())
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
        pairs=_pairs(pairs),
        calibration=calibration,
        budget=budget,
    )
    seconds = chosen.estimated_seconds()
    if as_json:
        _print_json(_plan_dict(chosen, seconds))
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


def _quietly(x: Any, y: Any, **options: Any) -> TestResult:
    """Test without printing warnings: the result lists them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        return nosplit.two_sample_test(x, y, **options)


def _pairs(text: str) -> Pairing | str | int:
    """A window such as 5, blocks:64, or a name as it is."""
    kind, _, size = text.partition(":")
    if kind == "blocks":
        if not size.isdecimal():
            raise InputError(
                f"`--pairs` as blocks must have a size, as in blocks:64, got {text!r}."
            )
        return Blocks(int(size))
    return int(text) if text.removeprefix("-").isdecimal() else text


def _print_json(values: dict[str, Any]) -> None:
    typer.echo(json.dumps(values, allow_nan=False))


def _printable(text: str) -> str:
    """Text whose control characters are shown, not obeyed."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 (`--exit-code`: the samples differ) or 2 (error)."""
    try:
        app(args)
    except InputError as error:
        typer.echo(_printable(f"error: {error}"), err=True)
        raise SystemExit(2) from None
