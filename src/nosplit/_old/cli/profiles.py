"""The command `profile`."""

from __future__ import annotations

from typing import Annotated

import typer

import nosplit
from nosplit._old.api.profile import load_profile
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.printing import as_options, print_json
from nosplit._old.cli.shared.targets import Force, check_out
from nosplit._old.data.files.opening import said_of
from nosplit._text import printable
from nosplit.kernels.recipes import asked_for

__all__ = ["profile_command"]


def profile_command(
    ref: opt.Ref,
    out: Annotated[str, typer.Option("--out", "-o", help="File to write.", metavar="PROFILE")],
    rows: Annotated[
        int, typer.Option(help="About how many rows new samples will have.", min=1)
    ] = 2_000,
    least: Annotated[
        int, typer.Option(help="Fewest rows of a cell, whose sum the file reveals.", min=1)
    ] = 10,
    frequencies: Annotated[int, typer.Option(help="Random frequencies of a kernel.", min=1)] = 64,
    like: Annotated[
        str | None,
        typer.Option(
            help="Use the recipe of another profile, so that the two can be added or compared.",
            metavar="PROFILE",
        ),
    ] = None,
    kernels: opt.Kernels = "default",
    seed: opt.Seed = 0,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "auto",
    workers: opt.Workers = None,
    force: Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write a profile of a reference, to compare new samples with: sums over rows, and no row.

    `nosplit test PROFILE NEW` compares a file with it. Profiles of several files can be added in
    Python: make the first, and pass it to the others as --like.
    """
    check_out(out, force)
    with as_options(), said_of(reference=ref, like="--like"):
        made = nosplit.profile(
            ref,
            rows=rows,
            kernels=asked_for(kernels),
            frequencies=frequencies,
            nan_policy=nan_policy,
            scale=scale,
            columns=columns,
            exclude=exclude,
            least=least,
            like=None if like is None else load_profile(like),
            rng=seed,
            workers=workers,
        )
    made.save(out)
    if as_json:
        print_json({"profile": out, **made.to_dict()})
        return
    typer.echo(printable(out))
    typer.echo(str(made))
