"""All commands, and the program that runs one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import nosplit
from nosplit._old.cli.demo import demo
from nosplit._old.cli.monitor import monitor_command
from nosplit._old.cli.plan import plan_command
from nosplit._old.cli.power import calibrate, power
from nosplit._old.cli.profiles import profile_command
from nosplit._old.cli.questions.columns import columns_command
from nosplit._old.cli.questions.goodness_of_fit import gof
from nosplit._old.cli.questions.independence import independence
from nosplit._old.cli.questions.k_sample import ksample
from nosplit._old.cli.questions.two_sample import compare
from nosplit._old.cli.shared.ending import ERROR, finished, guarded, tolerant
from nosplit._old.experiments.command import reproduce

__all__ = ["app", "main"]

app = typer.Typer(
    help="Kernel tests that learn the kernel and test on the same data, all of it.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _main_options(
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> None:
    if version:
        typer.echo(f"nosplit {nosplit.__version__}")
        raise typer.Exit


app.command("test")(guarded(compare))
for command in (
    columns_command,
    gof,
    independence,
    ksample,
    power,
    calibrate,
    profile_command,
    monitor_command,
    demo,
    plan_command,
    reproduce,
):
    app.command(command.__name__.removesuffix("_command"))(guarded(command))


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 (`--exit-code`: the samples differ) or 2 (error).

    Other codes are those of signals: 130 after Ctrl-C, 141 if nobody reads what is printed.
    """
    tolerant()
    try:
        app(args)
    except SystemExit as stop:
        code = stop.code
    else:
        code = 0
    raise SystemExit(finished(code if isinstance(code, int) else 0 if code is None else ERROR))
