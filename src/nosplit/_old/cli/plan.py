"""The command `plan`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import nosplit
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.parsing import parse_pairs
from nosplit._old.cli.shared.printing import print_json
from nosplit._old.inference.planning.plan import Plan

__all__ = ["plan_command"]


def plan_command(
    n: Annotated[int, typer.Option(help="Rows of the reference sample.")],
    m: Annotated[int | None, typer.Option(help="Rows of the current sample; n by default.")] = None,
    p: Annotated[int, typer.Option(help="Columns.")] = 1,
    test: Annotated[
        str | None,
        typer.Option(
            help="two_sample, k_sample, goodness_of_fit (of a sample of n rows) or independence "
            "(of n rows; p counts both variables).",
            metavar="NAME",
            show_default="two_sample",
        ),
    ] = None,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "auto",
    kernels: opt.Kernels = "default",
    budget: opt.Budget = 1.0,
    paired: opt.Paired = False,
    strata: Annotated[int | None, typer.Option(help="How many strata rows have.")] = None,
    groups: Annotated[int | None, typer.Option(help="How many groups rows have.")] = None,
    samples: Annotated[
        int | None, typer.Option(help="How many samples `nosplit ksample` has; n rows in all.")
    ] = None,
    sampling: Annotated[
        bool,
        typer.Option(
            "--sampling", metavar="", help="The model of a test of fit can sample, as --model can."
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Tell what a test would do with samples of these sizes, what it costs, and why."""
    named = test or ("two_sample" if samples is None else "k_sample")
    of_two = named not in ("goodness_of_fit", "independence")
    chosen = nosplit.plan(
        n=n,
        m=m,
        p=p,
        kernels=kernels if of_two or kernels != "default" else None,
        method=method,
        pairs=parse_pairs(pairs),
        calibration=calibration,
        budget=budget,
        test=named,
        paired=paired,
        strata=strata,
        groups=groups,
        samples=samples,
        sampling=sampling,
    )
    seconds = chosen.estimated_seconds()
    if as_json:
        print_json(_plan_dict(chosen, seconds))
    else:
        typer.echo(f"{chosen}\nOn this machine, about {seconds:.2g} s of one core.")


def _plan_dict(chosen: Plan, seconds: float) -> dict[str, Any]:
    return {
        "pairs": chosen.pairs,
        "calibration": chosen.sizes.draws_are if chosen.n_resamples else "asymptotic",
        "n_resamples": chosen.n_resamples or None,
        "n_units": chosen.n_units,
        "n_pairs": chosen.n_pairs,
        "nominal_seconds": chosen.nominal_seconds,
        "estimated_seconds": seconds,
        "reason": chosen.reason,
    }
