"""The command `independence`."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

import numpy as np
import typer

import nosplit
from nosplit._checks import check_alpha
from nosplit._lazy import extra
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.files import File, all_or_some, text_file, unless_large
from nosplit._old.cli.shared.parsing import parse_pairs
from nosplit._old.cli.shared.printing import check_report, finish, quietly, write_report
from nosplit._old.cli.shared.words import named
from nosplit._old.data.files.opening import open_source
from nosplit._old.data.files.source import ColumnsOf
from nosplit._text import listed
from nosplit.data.plain import PlainTable
from nosplit.errors import InputError

__all__ = ["independence"]


def independence(
    first: Annotated[
        str, typer.Argument(metavar="FILE", help="One variable, one observation a row; or both.")
    ],
    second: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="The other variable, in the same rows."),
    ] = None,
    x: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of the first variable, as in a,b.", metavar="NAMES", callback=named
        ),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of the second variable, as in a,b.", metavar="NAMES", callback=named
        ),
    ] = None,
    categories: Annotated[
        str,
        typer.Option(help="Which of them name categories: none, x, y or both.", metavar="WHICH"),
    ] = "none",
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "auto",
    budget: opt.Budget = 1.0,
    seed: opt.Seed = 0,
    strata: Annotated[
        str | None,
        typer.Option(help="Independence given this column of either file.", metavar="COLUMN"),
    ] = None,
    no_shuffle: opt.NoShuffle = False,
    nan_policy: opt.NanPolicy = "auto",
    rows: opt.SampleRows = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
    exit_code: opt.ExitCode = False,
    report: opt.Report = None,
) -> None:
    """Test whether two variables, observed together, are independent.

    They are in two files, or in one: `nosplit independence data.csv --x distance --y air_time`.
    """
    check_alpha(alpha)
    check_report(report)
    if categories not in ("none", "x", "y", "both"):
        raise InputError(f"`--categories` must be none, x, y or both, got {categories!r}.")
    if second is None and not (x and y):
        raise InputError("`--x` and `--y` must name columns if both variables are in one file.")
    # The column of strata comes with the first variable.
    wanted = (x if x is None or strata is None else [*x, strata]), y
    files = [
        _columns_of(text_file(f, sep, decimal, encoding), names, option)
        for f, names, option in zip((first, second or first), wanted, ("--x", "--y"), strict=True)
    ]
    if strata or categories != "none":  # these need all rows
        tables = [all_or_some(f, rows, seed) for f in files]
    else:
        tables = unless_large(files, rows, seed)
    if rows is not None and second is not None and len(tables[0]) != len(tables[1]):
        raise InputError("`--sample` needs files of as many rows, observed together.")
    left, right = (
        _variable(table, categories in (name, "both"))
        for table, name in zip(tables, "xy", strict=True)
    )
    result = quietly(
        nosplit.independence_test,
        left,
        right,
        method=method,
        pairs=parse_pairs(pairs),
        calibration=calibration,
        budget=budget,
        rng=seed,
        shuffle=not no_shuffle,
        nan_policy=nan_policy,
        workers=workers,
        strata=strata,
    )
    names = (f"{', '.join(n or [])} of {f}" if n else f for n, f in ((x, first), (y, second)))
    title = " and ".join(str(name) for name in names) if second else f"{first}: {_both_named(x, y)}"
    options: dict[str, Any] = {"rng": seed, "shuffle": not no_shuffle}
    if strata is not None:
        options["strata"] = strata
    write_report(result, left, right, path=report, alpha=alpha, title=title, options=options)
    raise finish(result, title, alpha=alpha, as_json=as_json, exit_code=exit_code)


def _both_named(x: list[str] | None, y: list[str] | None) -> str:
    return " and ".join(", ".join(names or []) for names in (x, y))


def _columns_of(file: File, names: list[str] | None, option: str) -> File:
    """Some columns of a file by their names, or of an array by their places."""
    if names is None:
        return file
    source = open_source(file)
    known = source.names or tuple(map(str, range(source.width)))
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"`{option}` must name columns of `{file}`, which has {listed(known)}, got "
                f"{name!r}.{hint}"
            )
    return ColumnsOf(file, tuple(names))


def _variable(rows: Any, categories: bool) -> Any:
    if not categories:
        return rows
    if isinstance(rows, np.ndarray):
        return rows.astype(str)
    if isinstance(rows, PlainTable):
        return rows.as_text()
    pa = extra("pyarrow", "tables")
    return rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
