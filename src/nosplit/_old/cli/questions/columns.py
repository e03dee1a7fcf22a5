"""The command `columns`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, cast

import typer

import nosplit
from nosplit._checks import resolve
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.files import two_files
from nosplit._old.cli.shared.printing import (
    as_options,
    check_effect,
    exit_status,
    is_large,
    print_json,
)
from nosplit._old.cli.shared.words import in_options
from nosplit._old.data.files.opening import said_of
from nosplit._text import printable
from nosplit._warn import unwarned
from nosplit.api._request import NanPolicy
from nosplit.inference.columns import ADJUSTMENTS, Adjustment
from nosplit.inference.print import columns_text
from nosplit.inference.questions import NO_EVIDENCE

__all__ = ["columns_command"]

Resamples = Annotated[int, typer.Option(help="Number of permutations of all columns.", min=19)]
Adjust = Annotated[
    str, typer.Option(help="What holds: by max-T, holm or bh.", metavar="NAME", show_default=True)
]


def columns_command(
    ref: opt.Ref,
    cur: opt.Cur,
    alpha: opt.Alpha = 0.05,
    adjust: Adjust = "max-T",
    n_resamples: Resamples = 1999,
    seed: opt.Seed = 0,
    no_shuffle: opt.NoShuffle = False,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    nan_policy: opt.NanPolicy = "auto",
    sample: opt.SampleRows = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
    series: opt.Series = False,
    exit_code: opt.ExitCode = False,
    min_effect: opt.MinEffect = None,
) -> None:
    """Test every column of two files: which differ, and how.

    Files are those of `nosplit test`, and either may be a profile. P-values are adjusted for all
    columns together.
    """
    check_effect(min_effect, exit_code)
    resolve(adjust, ADJUSTMENTS, "adjust")
    adjustment, policy = cast(Adjustment, adjust), cast(NanPolicy, nan_policy)
    x, y, without_rows = two_files((ref, cur), (sep, decimal, encoding), sample, seed)
    with as_options() if without_rows else nullcontext(), said_of(x=ref, y=cur), unwarned():
        tests = nosplit.column_tests(
            x,
            y,
            alpha=alpha,
            n_resamples=n_resamples,
            rng=seed,
            shuffle=not no_shuffle,
            nan_policy=policy,
            columns=columns,
            exclude=exclude,
            series=series,
            workers=workers,
        )
    held = tests.differing(adjustment=adjustment)
    if as_json:
        print_json({**tests.to_dict(), "differing": list(held), "adjust": adjust})
    else:
        typer.echo(printable(f"{ref} and {cur}"))
        typer.echo(columns_text(tests, alpha, adjustment, said=in_options))
    found = [tests[name].separation for name in held]
    sizes = [own.size for own in found if own is not None]
    large = is_large(max(sizes, default=None), min_effect)
    verdict = tests.verdict() if large else NO_EVIDENCE
    raise typer.Exit(exit_status(verdict, exit_code))
