"""The command `ksample`."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

import nosplit
from nosplit._checks import check_alpha
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.printing import exit_status, print_json
from nosplit._text import printable
from nosplit._warn import unwarned
from nosplit.api._request import MethodName, NanPolicy
from nosplit.errors import InputError

__all__ = ["ksample"]


def ksample(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES", help="One file for each sample, or one table.")
    ],
    by: Annotated[
        str | None,
        typer.Option(help="Column of the one table that names the samples.", metavar="COLUMN"),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(help="Sample (or file) that all others are compared with.", metavar="NAME"),
    ] = None,
    no_follow_up: Annotated[
        bool,
        typer.Option("--no-follow-up", metavar="", help="The overall test only, no comparisons."),
    ] = False,
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    kernels: opt.Kernels = "default",
    strata: opt.Strata = None,
    groups: opt.Groups = None,
    series: opt.Series = False,
    budget: opt.Budget = 1.0,
    seed: opt.Seed = 0,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "auto",
    workers: opt.Workers = None,
    as_json: opt.Json = False,
    exit_code: opt.ExitCode = False,
) -> None:
    """Test whether several samples come from one distribution, and which of them differ."""
    check_alpha(alpha)
    with unwarned():
        result = nosplit.k_sample_test(
            *_named_samples(files, by),
            control=control,
            follow_up=not no_follow_up,
            kernels=kernels,
            method=cast(MethodName, method),
            strata=strata,
            groups=groups,
            series=series,
            budget=budget,
            rng=seed,
            columns=columns,
            exclude=exclude,
            scale=scale,
            nan_policy=cast(NanPolicy, nan_policy),
            workers=workers,
        )
    rejects = result.reject(alpha)
    if as_json:
        print_json({**result.to_dict(), "reject": rejects, "alpha": alpha})
    else:
        typer.echo(printable(", ".join(files) if by is None else f"{files[0]} by {by}"))
        typer.echo(result.summary(alpha))
    raise typer.Exit(exit_status(result.verdict(alpha), exit_code))


def _named_samples(files: list[str], by: str | None) -> tuple[Any, ...]:
    """Files by their names, or one table and the column that names its samples."""
    if by is None:
        if len(files) < 2:
            raise InputError("`FILES` must be at least 2, or one table with `--by COLUMN`.")
        if len(set(files)) < len(files):
            raise InputError("`FILES` must each be given once.")
        return ({file: file for file in files},)
    if len(files) != 1:
        raise InputError(f"`--by` splits one table, got {len(files)} files.")
    return files[0], by
