"""The command `gof`."""

from __future__ import annotations

from typing import Annotated

import typer

import nosplit
from nosplit._checks import check_alpha
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.files import text_file, unless_large
from nosplit._old.cli.shared.parsing import parse_model, parse_pairs
from nosplit._old.cli.shared.printing import check_report, finish, quietly, write_report
from nosplit._old.data.files.opening import open_source, said_of
from nosplit._old.data.files.whole import read_array
from nosplit.errors import InputError

__all__ = ["gof"]


def gof(
    sample: Annotated[str, typer.Argument(metavar="SAMPLE", help="The sample, one row each.")],
    model: Annotated[
        str,
        typer.Option(
            help="normal, laplace, exponential or t:5 (standard, in every column), normal:MEAN,SD; "
            "or, for one column, a distribution of scipy.stats with its parameters, as in gamma:3.",
            metavar="NAME",
        ),
    ] = "normal",
    scores: Annotated[
        str | None,
        typer.Option(help="File with ∇ log q of another model at every row.", metavar="FILE"),
    ] = None,
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: Annotated[
        str, typer.Option(help="auto, simulate, wild or asymptotic.", metavar="NAME")
    ] = "auto",
    budget: opt.Budget = 1.0,
    seed: opt.Seed = 0,
    no_shuffle: opt.NoShuffle = False,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    series: Annotated[
        bool,
        typer.Option("--series", metavar="", help="Rows are in time order, such as a chain."),
    ] = False,
    nan_policy: opt.NanPolicy = "raise",
    rows: opt.SampleRows = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
    exit_code: opt.ExitCode = False,
    report: opt.Report = None,
) -> None:
    """Test whether a file holds a sample from a model (goodness of fit)."""
    check_alpha(alpha)
    check_report(report)
    if rows is not None and (scores is not None or series):
        raise InputError(
            "`--sample` draws rows at random, so it does not go with --scores or --series."
        )
    file = text_file(sample, sep, decimal, encoding)
    (x,), width = unless_large([file], rows, seed), open_source(file).width
    p = len(columns or range(width)) - len(exclude or ())
    score = parse_model(model, max(1, p)) if scores is None else read_array(scores)
    with said_of(x=sample):
        result = quietly(
            nosplit.goodness_of_fit_test,
            x,
            score,
            method=method,
            pairs=parse_pairs(pairs),
            calibration=calibration,
            budget=budget,
            rng=seed,
            shuffle=not no_shuffle,
            columns=columns,
            exclude=exclude,
            series=series,
            nan_policy=nan_policy,
            workers=workers,
        )
    title = f"{sample} and {model if scores is None else scores}"
    options = {"rng": seed, "shuffle": not no_shuffle, "series": series}
    write_report(result, x, score, path=report, alpha=alpha, title=title, options=options)
    raise finish(result, title, alpha=alpha, as_json=as_json, exit_code=exit_code)
