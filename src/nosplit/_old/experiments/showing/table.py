"""Rejection rates as a tidy table, one row a point of a figure."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist

__all__ = ["COLUMNS", "TableRow", "read_csv", "write_csv", "write_whole"]

COLUMNS = (
    "experiment",
    "dataset",
    "d",
    "n",
    "method",
    "trials",
    "rejections",
    "rate",
    "low",
    "high",
)
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, order=True)
class TableRow:
    """The number of rejections of a method at one point of a figure.

    `by_chunk` holds the rejections of each full chunk of trials, where they are known; it is no
    column of the table. Methods see the same draws, chunk by chunk.

    Examples
    --------
    >>> row = TableRow("type2", "blobs", 6, 4000, "ost", trials=200, rejections=150)
    >>> row.rate
    0.75
    >>> print("{:.3f} to {:.3f}".format(*row.interval))
    0.686 to 0.805
    """

    experiment: str
    dataset: str
    d: int
    n: int
    method: str
    trials: int
    rejections: int
    by_chunk: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def rate(self) -> float:
        """Rejection rate."""
        return self.rejections / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of Wilson, which stays inside [0, 1] and is right at its ends."""
        n, p = self.trials, self.rate
        centre = p + _Z * _Z / (2 * n)
        half = _Z * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
        scale = 1 + _Z * _Z / n
        return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)

    def cells(self) -> list[str]:
        """The row as text, in the order of `COLUMNS`."""
        counts = (self.d, self.n, self.method, self.trials, self.rejections)
        rates = (f"{value:.6f}" for value in (self.rate, *self.interval))
        return [self.experiment, self.dataset, *map(str, counts), *rates]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_csv(path: Path, rows: Iterable[TableRow]) -> None:
    """Write rows with a line of names."""
    lines = [list(COLUMNS), *(row.cells() for row in rows)]
    write_whole(path, "".join(",".join(line) + "\n" for line in lines))


def read_csv(path: Path) -> Sequence[TableRow]:
    """Read what `write_csv` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            TableRow(
                line["experiment"],
                line["dataset"],
                int(line["d"]),
                int(line["n"]),
                line["method"],
                int(line["trials"]),
                int(line["rejections"]),
            )
            for line in csv.DictReader(file)
        ]
