"""The command `demo`."""

from __future__ import annotations

from pathlib import Path

import typer

import nosplit
from nosplit._old.cli.shared.printing import check_report, quietly

__all__ = ["demo"]

REPORT = "nosplit-flights.html"


def demo() -> None:
    """Compare two months of flights; write a report."""
    check_report(REPORT)
    january, july = nosplit.datasets.flights()
    typer.echo(
        "2,000 flights from New York in January 2013, and 2,000 in July: what changed?\n\n"
        f"$ nosplit test {january.name} {july.name} --report {REPORT}\n"
    )
    result = quietly(nosplit.two_sample_test, january, july)
    typer.echo(str(result))
    result.report(january, july, path=REPORT, labels=("January", "July"))
    typer.echo(f"\nReport: {Path(REPORT).resolve()}\nData: {january.parent}")
