"""What a text file looks like: what stands between its cells and in its decimals; packed or not."""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["COMMAS", "Form", "form_of", "opened", "unpacked_size"]

# Lines, and characters, from which the form is found.
LINES, CHARACTERS = 100, 1 << 18
SEPARATORS = ",;\t|"
# How much smaller text is packed, about.
PACKING = 5


@dataclass(frozen=True)
class Form:
    """What stands between cells, and in decimals."""

    separator: str = ","
    decimal: str = "."

    @property
    def number(self) -> str:
        """A pattern of numbers."""
        point = re.escape(self.decimal)
        return rf"^\s*[-+]?(\d+{point}?\d*|{point}\d+)([eE][-+]?\d+)?\s*$"

    def is_number(self, cell: str) -> bool:
        """Whether a cell holds a number."""
        if self.decimal != "." and "." in cell:
            return False
        try:
            float(cell.replace(self.decimal, "."))
        except ValueError:
            return False
        return "_" not in cell  # which Python allows in numbers, and files do not


COMMAS = Form()


def form_of(text: str) -> Form:
    r"""The form of a text: that in which all lines have as many cells, and most hold numbers.

    Examples
    --------
    >>> form_of("a;b\n1,5;2,5\n")
    Form(separator=';', decimal=',')
    >>> form_of("a,b\n1.5,x;y\n"), form_of("a\n1\n")
    (Form(separator=',', decimal='.'), Form(separator=',', decimal='.'))
    """
    lines = text[:CHARACTERS].split("\n")
    lines = lines[: max(2, len(lines) - 1)][:LINES]  # the last may be cut
    first = next(filter(str.strip, lines), "")
    slip = next((mark for mark in SEPARATORS if mark in first), ",")  # if no form fits
    best, most = Form(slip, _decimal(text, slip)), -1.0
    for separator in SEPARATORS:
        form = Form(separator, _decimal(text, separator))
        share = _numbers(lines, form)
        if share > most:
            best, most = form, share
    return best


def _numbers(lines: list[str], form: Form) -> float:
    """The share of numbers after the first line; -1 if lines have not as many cells, or one."""
    try:
        rows = [row for row in csv.reader(lines, delimiter=form.separator) if any(row)]
    except csv.Error:
        return -1.0
    widths = {len(row) for row in rows}
    if len(widths) != 1 or widths == {1}:
        return -1.0
    cells = [cell for row in rows[1:] or rows for cell in row]
    return sum(map(form.is_number, cells)) / len(cells)


def _decimal(text: str, separator: str) -> str:
    """A comma if decimals have it, and none has a point."""
    if separator == ",":
        return "."
    edge = re.escape(separator)
    comma, point = (
        re.search(rf"(?:^|[{edge}])\s*\"?[-+]?\d*{mark}\d+\"?\s*(?:$|[{edge}\r])", text, re.M)
        for mark in (",", r"\.")
    )
    return "," if comma and not point else "."


def opened(file: Path) -> IO[bytes]:
    """A text file as bytes, unpacked."""
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return file.open("rb")


def unpacked_size(file: Path) -> int:
    """Bytes of a text file, about, if it is packed."""
    size = file.stat().st_size
    if file.suffix.lower() != ".gz":
        return size
    with file.open("rb") as stream:
        stream.seek(max(0, size - 4))  # where gzip notes the size, up to 4 GB
        return max(PACKING * size, int.from_bytes(stream.read(4), "little"))
