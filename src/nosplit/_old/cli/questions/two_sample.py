"""The command `test`."""

from __future__ import annotations

from contextlib import nullcontext

import typer

import nosplit
from nosplit._checks import check_alpha
from nosplit._old.api.ways.against_profile import is_profile
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.files import two_files
from nosplit._old.cli.shared.parsing import parse_pairs
from nosplit._old.cli.shared.printing import (
    as_options,
    check_effect,
    check_report,
    exit_status,
    finish,
    is_large,
    quietly,
    write_report,
)
from nosplit._old.data.files.opening import said_of
from nosplit.errors import InputError
from nosplit.inference.questions import DIFFER

__all__ = ["compare"]


def compare(
    ref: opt.Ref,
    cur: opt.Cur,
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "auto",
    kernels: opt.Kernels = "default",
    budget: opt.Budget = 1.0,
    seed: opt.Seed = 0,
    no_shuffle: opt.NoShuffle = False,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "auto",
    paired: opt.Paired = False,
    strata: opt.Strata = None,
    groups: opt.Groups = None,
    series: opt.Series = False,
    sample: opt.SampleRows = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
    exit_code: opt.ExitCode = False,
    min_effect: opt.MinEffect = None,
    explain: opt.Explain = False,
    report: opt.Report = None,
    no_rows: opt.NoRows = False,
) -> None:
    """Test whether two files hold samples from the same distribution.

    Files are .npy, .npz (file.npz:name picks an array), .csv or .tsv with or without a line of
    names (or .csv.gz), .jsonl, .feather, .parquet, or folders or quoted globs of .parquet files.
    Large ones are never held in memory. Either may be a profile, which `nosplit profile` writes.
    """
    check_alpha(alpha)
    check_report(report, no_rows)
    check_effect(min_effect, exit_code)
    given = {"paired": paired, "strata": strata, "groups": groups, "series": series}
    design = {name: value for name, value in given.items() if value}
    form = sep, decimal, encoding
    x, y, profiled = two_files((ref, cur), form, sample, seed, paired=paired)
    if explain and is_profile(ref) and is_profile(cur):
        raise InputError("`--explain` needs the rows of a sample, and profiles keep none.")
    with as_options() if profiled else nullcontext(), said_of(x=ref, y=cur):
        result = quietly(
            nosplit.two_sample_test,
            x,
            y,
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
            **design,
            workers=workers,
        )
    write_report(
        result,
        x,
        y,
        path=report,
        labels=(ref, cur),
        alpha=alpha,
        rows=not no_rows,
        options={"rng": seed, "shuffle": not no_shuffle, **design},
    )
    told = nosplit.explain(result, x, y) if explain else None
    title = f"{ref} and {cur}"
    ended = finish(result, title, alpha=alpha, as_json=as_json, exit_code=exit_code, told=told)
    if min_effect is None or ended.exit_code != exit_status(DIFFER, True):
        raise ended
    largest = result.separation(alpha)
    raise typer.Exit(int(is_large(largest and largest[1].size, min_effect)))
