"""The command `demo`."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import nosplit
from nosplit._support.pvalues import format_p
from nosplit.cli.shared.printing import quietly
from nosplit.datasets import MNIST
from nosplit.inference.result import TestResult

__all__ = ["demo"]


def demo() -> None:
    """Test handwritten digits: all digits against odd ones, and a pair with no difference."""
    console = Console(highlight=False)
    digits, n = MNIST(), 300
    with Console(stderr=True).status("Getting ready (the first run compiles its loops) …"):
        quietly(nosplit.two_sample_test, *digits.sample(20))
    console.print(
        f"Handwritten digits (MNIST, 7 × 7 pixels), two samples of {n} images each.\n"
        "Do they come from the same distribution?",
    )
    for title, null in (("all digits against odd digits", False), ("all against all", True)):
        x, y = digits.sample(n, null=null)
        start = time.perf_counter()
        result = quietly(nosplit.two_sample_test, x, y, progress=sys.stderr.isatty())
        _show(console, title, result, time.perf_counter() - start)
    console.print(
        "\nweight: in the learned combination, on the scale of standard deviations, the largest "
        "being 1. alone: the kernel's own statistic, in standard deviations. Of pairs that do not "
        "differ, a test at level 0.05 rejects 1 in 20.\n\n"
        "To test data of your own: nosplit test reference.csv current.csv"
    )


def _show(console: Console, title: str, result: TestResult, seconds: float) -> None:
    verdict = result.question.rejected if result.reject() else result.question.kept
    console.print()
    console.print(Text(f"{title}: {verdict.lower()}", style="bold"))
    console.print(
        f"  p-value {format_p(result.log_pvalue)} at level 0.05, found in {seconds:.1f} s\n"
        f"  {result.method} method, {result.calibration} calibration, {result.n_pairs:,} pairs"
    )
    grid = Grid(box=None, padding=(0, 2), header_style="dim")
    grid.add_column("kernel")
    grid.add_column("weight", justify="right")
    grid.add_column("alone", justify="right")
    for line in result.by_kernel():
        grid.add_row(Text(line.label), f"{line.weight:+.2f}", f"{line.alone:.1f}")
    console.print(grid)
