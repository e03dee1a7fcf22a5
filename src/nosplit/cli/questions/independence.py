"""The command `independence`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import numpy as np
import typer

import nosplit
from nosplit._support.checks import check_alpha
from nosplit._support.lazy import extra
from nosplit.cli.shared.options import (
    Alpha,
    Budget,
    ExitCode,
    Json,
    Method,
    NoShuffle,
    Pairs,
    Report,
    Seed,
    Workers,
)
from nosplit.cli.shared.parsing import parse_pairs
from nosplit.cli.shared.printing import check_report, finish, quietly, write_report
from nosplit.data.files.opening import open_source
from nosplit.errors import InputError

__all__ = ["independence"]


def independence(
    x: Annotated[str, typer.Argument(metavar="X", help="One variable, one observation a row.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="The other, in the same rows.")],
    categories: Annotated[
        str,
        typer.Option(help="Which of them name categories: none, x, y or both.", metavar="WHICH"),
    ] = "none",
    alpha: Alpha = 0.05,
    method: Method = "auto",
    pairs: Pairs = "auto",
    calibration: Annotated[
        str, typer.Option(help="auto, exact or asymptotic.", metavar="NAME")
    ] = "auto",
    budget: Budget = 1.0,
    seed: Seed = 0,
    strata: Annotated[
        str | None,
        typer.Option(help="Independence given this column of either file.", metavar="COLUMN"),
    ] = None,
    unit_size: Annotated[int, typer.Option(help="Observations to a unit.", min=2)] = 8,
    no_shuffle: NoShuffle = False,
    workers: Workers = None,
    as_json: Json = False,
    exit_code: ExitCode = False,
    report: Report = None,
) -> None:
    """Test whether two variables, observed together, are independent."""
    check_alpha(alpha)
    check_report(report)
    if categories not in ("none", "x", "y", "both"):
        raise InputError(f"`--categories` must be none, x, y or both, got {categories!r}.")
    result = quietly(
        nosplit.independence_test,
        _variable(x, categories in ("x", "both")),
        _variable(y, categories in ("y", "both")),
        method=method,
        pairs=parse_pairs(pairs),
        calibration=calibration,
        budget=budget,
        rng=seed,
        shuffle=not no_shuffle,
        workers=workers,
        progress=sys.stderr.isatty(),
        unit_size=unit_size,
        strata=strata,
    )
    options: dict[str, Any] = {"rng": seed, "shuffle": not no_shuffle, "unit_size": unit_size}
    if strata is not None:
        options["strata"] = strata
    write_report(result, path=report, alpha=alpha, title=f"{x} and {y}", options=options)
    raise finish(result, f"{x} and {y}", alpha=alpha, as_json=as_json, exit_code=exit_code)


def _variable(path: str, categories: bool) -> Any:
    rows = open_source(path).whole()
    if not categories:
        return rows
    if isinstance(rows, np.ndarray):
        return rows.astype(str)
    pa = extra("pyarrow", "tables")
    return rows.cast(pa.schema([(name, pa.string()) for name in rows.column_names]))
