"""The command `monitor`: files that come one after the other, against a reference."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

import nosplit
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.printing import print_json
from nosplit._old.data.files.opening import said_of
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.describe.report.page import check_target
from nosplit._old.monitor.saved import files_seen, write_monitor
from nosplit._text import printable
from nosplit._warn import unwarned
from nosplit.errors import InputError

__all__ = ["monitor_command"]


def monitor_command(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Reference, rows as they should be.")],
    new: Annotated[list[str], typer.Argument(metavar="NEW...", help="Files of new rows.")],
    state: Annotated[str, typer.Option(help="File that holds what is known so far.")],
    alpha: Annotated[
        float | None, typer.Option(help="Probability of ever ringing falsely.  [default: 0.05]")
    ] = None,
    rate: Annotated[
        int | None,
        typer.Option(help="Ring falsely once in so many pairs on average, instead.", min=2),
    ] = None,
    block: Annotated[
        int | None, typer.Option(help="Rows that are swapped together.  [default: 1]", min=1)
    ] = None,
    renew: Annotated[
        bool,
        typer.Option(
            "--renew", metavar="", help="REF is another reference, of rows not used before."
        ),
    ] = False,
    seed: opt.Seed = 0,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    nan_policy: opt.NanPolicy = "auto",
    plot: Annotated[
        str | None, typer.Option(help="Draw the evidence over time.", metavar="FILE.png")
    ] = None,
    report: opt.Report = None,
    as_json: opt.Json = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", metavar="", help="Exit with 1 if a change was found.")
    ] = False,
) -> None:
    """Watch files of new rows against a reference, and say after each whether something changed.

    Call it whenever files have come: those that were seen before are passed over. Without a change
    it rings with probability --alpha at most, however often one looks. What is known is written
    after every file, whole or not at all.
    """
    for target in (plot, report):
        if target is not None:
            check_target(target, page=target is report)
    with said_of(reference=ref):
        if Path(state).exists():
            monitor, seen = nosplit.Monitor.load(state, ref, renew=renew), files_seen(state)
            _check_same(monitor, alpha, rate, block)
        else:
            monitor, seen = _begun(ref, alpha, rate, block, nan_policy, seed, columns, exclude), {}
            write_monitor(monitor, state, seen)
    for file in new:
        _watch(monitor, file, seen, state, as_json)
    if plot is not None:
        monitor.plot().savefig(plot)
    if report is not None:
        monitor.report(path=report)
    raise typer.Exit(1 if exit_code and monitor.alarm is not None else 0)


def _begun(
    ref: str,
    alpha: float | None,
    rate: int | None,
    block: int | None,
    nan_policy: str,
    seed: int,
    columns: list[str] | None,
    exclude: list[str] | None,
) -> nosplit.Monitor:
    return nosplit.Monitor(
        ref,
        alpha=0.05 if alpha is None else alpha,
        guarantee="ever" if rate is None else "rate",
        every=rate,
        block=block or 1,
        columns=columns,
        exclude=exclude,
        nan_policy=nan_policy,
        rng=seed,
    )


def _check_same(
    monitor: nosplit.Monitor, alpha: float | None, rate: int | None, block: int | None
) -> None:
    """Check that options agree with those of the saved state: its promise was made with them."""
    asked = {"alpha": (alpha, monitor.alpha), "rate": (rate, monitor.every)}
    for name, (given, had) in {**asked, "block": (block, monitor.block)}.items():
        if given is not None and given != had:
            raise InputError(
                f"`--{name}` must be as it was when the state was made, {had}, got {given}."
            )


def _watch(
    monitor: nosplit.Monitor, file: str, seen: dict[str, str], state: str, as_json: bool
) -> None:
    """Take in a file that was not seen before, write what is known, and say it."""
    name, digest = str(Path(file).absolute()), _digest(file)
    if name in seen:
        if seen[name] != digest:
            raise InputError(
                f"`{file}` was seen before, and held other rows then. Give new rows a new name."
            )
        return
    with said_of(rows=file), unwarned():
        monitor.update(read_if_path(file))
    seen[name] = digest
    write_monitor(monitor, state, seen)
    told: dict[str, Any] = {"file": file, **monitor.to_dict()}
    if as_json:
        print_json(told)
    else:
        typer.echo(f"{printable(file)}: {str(monitor).splitlines()[0]}")
        for text in monitor.warnings:
            typer.echo(f"warning: {text}", err=True)


def _digest(file: str) -> str:
    path = Path(file)
    if not path.is_file():
        raise InputError(f"`{file}` must be a file.")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
