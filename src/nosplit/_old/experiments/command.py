"""The command `nosplit reproduce`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["reproduce"]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="geometry, type2, polynomial, theorem, samples, densities, type1, constraints, "
            "discrete, beyond; all of them by default.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(help="Trials of each point.", show_default="5000; 200 for beyond"),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for tables, figures and index.html.", file_okay=False)
    ] = Path("reproduction"),
    workers: Annotated[
        int | None, typer.Option(help="Processes.", show_default="all cores")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an earlier run in the same folder.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
) -> None:
    """Run the paper's experiments: every number, every figure, and whether its claims hold."""
    from nosplit._old.experiments.running.pool import WorkersDiedError
    from nosplit._old.experiments.running.runner import run_studies

    start = time.monotonic()
    try:
        verdicts = run_studies(
            names or (), out=out, trials=trials, workers=workers, resume=resume, seed=seed
        )
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What is done is kept in {out}: --resume continues.", err=True)
        raise typer.Exit(130) from None
    except WorkersDiedError as error:
        typer.echo(f"error: {error} What is done is kept: --resume continues.", err=True)
        raise typer.Exit(2) from None
    for name, claims in verdicts.items():
        if claims:
            held = sum(v.supported for v in claims)
            typer.echo(f"{name:<12} {held} of {len(claims)} claims supported")
        for verdict in claims:
            if not verdict.supported:
                typer.echo(f"    not supported: {verdict.claim}: {verdict.evidence}")
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    typer.echo(f"{out / 'index.html'} ({minutes} min {seconds} s)")
