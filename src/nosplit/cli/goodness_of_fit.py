"""The commands `gof` and `independence`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import numpy as np
import typer

import nosplit
from nosplit import models
from nosplit._support.checks import check_alpha
from nosplit._support.lazy import extra
from nosplit.cli.options import (
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
    check_report,
    finish,
    parse_pairs,
    quietly,
    write_report,
)
from nosplit.data.files.opening import open_source, read_array
from nosplit.errors import InputError

__all__ = ["gof", "independence"]


def gof(
    sample: Annotated[str, typer.Argument(metavar="SAMPLE", help="The sample, one row each.")],
    model: Annotated[
        str,
        typer.Option(
            help="normal, laplace or t:5 (standard, in every column), normal:MEAN,SD; or, for one "
            "column, a distribution of scipy.stats with its parameters, such as gamma:3.",
            metavar="NAME",
        ),
    ] = "normal",
    scores: Annotated[
        str | None,
        typer.Option(help="File with ∇ log q of another model at every row.", metavar="FILE"),
    ] = None,
    alpha: Alpha = 0.05,
    method: Method = "auto",
    pairs: Pairs = "auto",
    calibration: Annotated[
        str, typer.Option(help="auto, simulate, wild or asymptotic.", metavar="NAME")
    ] = "auto",
    budget: Budget = 1.0,
    seed: Seed = 0,
    dependent: Annotated[
        bool, typer.Option("--dependent", help="Rows are a Markov chain, in its order.")
    ] = False,
    thin: Annotated[int, typer.Option(help="Use every so many rows only.", min=1)] = 1,
    no_shuffle: NoShuffle = False,
    workers: Workers = None,
    as_json: Json = False,
    exit_code: ExitCode = False,
    report: Report = None,
) -> None:
    """Test whether a file holds a sample from a model (goodness of fit)."""
    check_alpha(alpha)
    check_report(report)
    x = read_array(sample)
    score = parse_model(model, x.shape[1]) if scores is None else read_array(scores)
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
        workers=workers,
        progress=sys.stderr.isatty(),
        dependent=dependent,
        thin=thin,
    )
    title = f"{sample} and {model if scores is None else scores}"
    options = {"rng": seed, "shuffle": not no_shuffle, "dependent": dependent, "thin": thin}
    write_report(result, path=report, alpha=alpha, title=title, options=options)
    raise finish(result, title, alpha=alpha, as_json=as_json, exit_code=exit_code)


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
    )
    options = {"rng": seed, "shuffle": not no_shuffle, "unit_size": unit_size}
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


def parse_model(text: str, p: int) -> models.SamplingModel:
    """A model of p columns from its name and parameters, as in normal, t:5 or gamma:3,0,2."""
    name, _, rest = text.partition(":")
    try:
        given = [float(number) for number in rest.split(",")] if rest else []
    except ValueError as error:
        raise InputError(
            f"`--model` must have numbers after the colon, as in t:5 or normal:0,2, got {text!r}."
        ) from error
    origin = np.zeros(p)
    match name, given:
        case "normal", []:
            return models.MultivariateNormal(origin)
        case "normal", [mean, sd]:
            return models.MultivariateNormal(origin + mean, sd * sd)
        case "t", [dof]:
            return models.StudentT(dof, origin)
        case "laplace", []:
            return models.Laplace(origin)
        case "laplace", [loc, scale]:
            return models.Laplace(origin + loc, scale)
    return _scipy_model(name, given, text, p)


def _scipy_model(name: str, given: list[float], text: str, p: int) -> models.SamplingModel:
    from scipy import stats

    law = getattr(stats, name, None)
    if not isinstance(law, stats.rv_continuous):
        raise InputError(
            "`--model` must be normal, normal:MEAN,SD, laplace, laplace:LOC,SCALE, t:DOF or a "
            f"continuous distribution of scipy.stats with its parameters, got {text!r}."
        )
    if p != 1:
        raise InputError(f"`--model` {name} is a law of one column, and the sample has {p}.")
    try:
        frozen = law(*given)
        valid = bool(np.all(np.isfinite(frozen.support()) | np.isinf(frozen.support())))
    except (TypeError, ValueError) as error:
        raise InputError(f"`--model` {text!r} does not have its parameters: {error}.") from error
    if not valid:
        raise InputError(f"`--model` {text!r} has parameters out of range.")
    return models.from_scipy(frozen)
