"""The commands `power` and `calibrate`."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

import nosplit
from nosplit._old.cli.shared import options as opt
from nosplit._old.cli.shared.parsing import parse_pairs
from nosplit._old.cli.shared.printing import print_json
from nosplit._old.data.files.opening import said_of
from nosplit._old.power.level import CalibrationCheck
from nosplit._old.power.results import PowerCurve, SampleSize
from nosplit._text import printable
from nosplit.errors import InputError

__all__ = ["calibrate", "power"]

# Characters of the longest bar of a histogram in the terminal.
LONGEST = 40


def power(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Pilot sample, one row each.")],
    cur: Annotated[str, typer.Argument(metavar="CUR", help="The other, the same columns.")],
    n: Annotated[
        str, typer.Option(help="Rows of each sample: sizes, separated by commas.", metavar="N,N,…")
    ] = "100,200,500,1000",
    target: Annotated[float, typer.Option(help="Wanted power, for which a size is found.")] = 0.8,
    limit: Annotated[int, typer.Option(help="Largest size to consider.", min=2)] = 1_000_000,
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: opt.Calibration = "auto",
    kernels: opt.Kernels = "default",
    budget: opt.Budget = 1.0,
    trials: Annotated[int, typer.Option(help="Simulated tests for each size.", min=100)] = 4000,
    seed: opt.Seed = 0,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "auto",
    as_json: opt.Json = False,
) -> None:
    """Predict from a pilot how often a test of other sizes would find its difference."""
    sizes = _parse_sizes(n)
    options: dict[str, Any] = {
        "alpha": alpha,
        "method": method,
        "pairs": parse_pairs(pairs),
        "calibration": calibration,
        "budget": budget,
        "trials": trials,
        "rng": seed,
    }
    with said_of(x=ref, y=cur):
        pilot = nosplit.pilot(
            ref,
            cur,
            kernels=kernels,
            rng=seed,
            columns=columns,
            exclude=exclude,
            scale=scale,
            nan_policy=nan_policy,
        )
    curve = nosplit.power.power_curve(pilot, sizes=sizes, **options)
    found, why = _size(pilot, target, limit, options)
    if as_json:
        size = None if found is None else found.to_dict()
        rows = {"pilot_rows": pilot.n_rows, "target": target}
        print_json({**rows, **curve.to_dict(), "sample_size": size, "reason": why})
    else:
        typer.echo(printable(f"pilot: {ref} and {cur}, {pilot.n_rows:,} rows of each"))
        typer.echo(_table_of_curve(curve))
        typer.echo(why if found is None else _sentence(found))


def _size(
    pilot: nosplit.power.Alternative, target: float, limit: int, options: dict[str, Any]
) -> tuple[SampleSize | None, str | None]:
    """The size for the wanted power, or why there is none within the limit."""
    try:
        return nosplit.sample_size(pilot, power=target, limit=limit, **options), None
    except InputError as error:
        if "is not reached" not in str(error):
            raise
        return None, str(error)


def _table_of_curve(curve: PowerCurve) -> str:
    lines = ["       n  power  95 % interval  test"]
    lines += [
        f"{p.n:8,}  {p.power:5.2f}  {p.low:.2f} to {p.high:.2f}   {p.method}, {p.pairs} pairs, "
        f"{p.calibration}"
        for p in curve.predictions
    ]
    texts = dict.fromkeys(text for p in curve.predictions for text in p.warnings)
    return "\n".join([*lines, *(f"warning: {text}" for text in texts)])


def _sentence(found: SampleSize) -> str:
    high = "beyond the limit" if found.high is None else f"{found.high:,}"
    return (
        f"n = {found.n:,} rows of each sample for power {found.target:g} "
        f"(95 % interval {found.low:,} to {high})"
    )


def _parse_sizes(text: str) -> list[int]:
    try:
        return [int(part.strip().replace("_", "")) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"`--n` must be whole numbers separated by commas, as in 500,1000, got {text!r}."
        ) from error


def calibrate(
    ref: Annotated[str, typer.Argument(metavar="REF", help="One sample, one row each.")],
    cur: Annotated[str, typer.Argument(metavar="CUR", help="The other, the same columns.")],
    trials: Annotated[int, typer.Option(help="Null samples to test.", min=1)] = 1000,
    alpha: opt.Alpha = 0.05,
    method: opt.Method = "auto",
    pairs: opt.Pairs = "auto",
    calibration: Annotated[
        str, typer.Option(help="auto, exact or asymptotic (closed form).", metavar="NAME")
    ] = "asymptotic",
    kernels: opt.Kernels = "default",
    budget: opt.Budget = 1.0,
    seed: opt.Seed = 0,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "auto",
    paired: opt.Paired = False,
    strata: opt.Strata = None,
    groups: opt.Groups = None,
    workers: opt.Workers = None,
    as_json: opt.Json = False,
) -> None:
    """Check a test's level on your data, merged and split again at random (Appendix D.1)."""
    options: dict[str, Any] = {
        "alpha": alpha,
        "kernels": kernels,
        "method": method,
        "pairs": parse_pairs(pairs),
        "calibration": calibration,
        "budget": budget,
        "columns": columns,
        "exclude": exclude,
        "scale": scale,
        "nan_policy": nan_policy,
        "paired": paired,
        "strata": strata,
        "groups": groups,
        "workers": workers,
    }
    with said_of(x=ref, y=cur):
        check = nosplit.power.calibration_check(ref, cur, trials=trials, rng=seed, **options)
    if as_json:
        print_json(check.to_dict())
    else:
        typer.echo(printable(f"{ref} and {cur}, merged"))
        typer.echo(check)
        typer.echo(text_histogram(check))


def text_histogram(check: CalibrationCheck, bars: int = 10) -> str:
    """p-values as bars of text; an even law has bars of one length.

    Examples
    --------
    >>> from nosplit.power import CalibrationCheck
    >>> even = CalibrationCheck(np.linspace(0.01, 0.99, 100)[None], 0.05, 0.05, 0.02, 0.11)
    >>> print(text_histogram(even, bars=2))
    p-values   share
    0.0-0.5    0.500  ████████████████████
    0.5-1.0    0.500  ████████████████████
    (even: 0.500 each)
    """
    counts, edges = np.histogram(check.pvalues, np.linspace(0.0, 1.0, bars + 1))
    share = counts / check.pvalues.size
    # A bar of the even share is half as long as the longest there may be.
    sizes = np.minimum(np.rint(share * bars * LONGEST / 2), LONGEST).astype(int)
    lines = [
        f"{a:.1f}-{b:.1f}    {s:.3f}  {'█' * size}".rstrip()
        for a, b, s, size in zip(edges[:-1], edges[1:], share, sizes, strict=True)
    ]
    return "\n".join(["p-values   share", *lines, f"(even: {1 / bars:.3f} each)"])
