"""The form of a text file: its separator, its decimal point and its encoding."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from nosplit._old.data.files.encodings import UTF8, known_encoding
from nosplit.errors import InputError

__all__ = ["COMMAS", "Csv", "Form", "form_of", "unpacked_size"]

# Lines, and characters, from which the form is found.
LINES, CHARACTERS = 100, 1 << 18
SEPARATORS, SPACE = ",;\t|", " "
# How much smaller text is packed, about.
PACKING = 5


@dataclass(frozen=True)
class Csv(os.PathLike[str]):
    r"""The name of a text file, and what it looks like where that is not to be found out.

    It goes wherever names of files go.

    Parameters
    ----------
    path : str or Path
        The file, whatever its ending; one that ends in .gz is unpacked.
    separator : str, optional
        What stands between cells, one character.
    decimal : str, optional
        What stands in decimals: "." or ",".
    encoding : str, optional
        As Python names it: "utf-8", "latin-1", ...

    Examples
    --------
    >>> Csv("measured.dat", separator=";", decimal=",")
    Csv(path='measured.dat', separator=';', decimal=',', encoding=None)
    """

    path: str | os.PathLike[str]
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and (
            not isinstance(self.separator, str) or len(self.separator.encode()) != 1
        ):
            raise InputError(f"`separator` must be one character, got {self.separator!r}.")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"`decimal` must be '.' or ',', got {self.decimal!r}.")
        if self.separator is not None and self.separator == self.decimal:
            raise InputError(f"`separator` and `decimal` must differ, got {self.decimal!r} twice.")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True)
class Form:
    """Separator of cells, decimal point and encoding."""

    separator: str = ","
    decimal: str = "."
    encoding: str = UTF8

    @property
    def number(self) -> str:
        """A pattern of numbers."""
        point = re.escape(self.decimal)
        return rf"^\s*[-+]?(\d+{point}?\d*|{point}\d+)([eE][-+]?\d+)?\s*$"

    def as_number(self, cell: str) -> float:
        """Convert a cell to a number; ValueError if it holds none."""
        # Python allows "_" in numbers, and files do not.
        if "_" in cell or (self.decimal != "." and "." in cell):
            raise ValueError(cell)
        return float(cell.replace(self.decimal, "."))

    def is_number(self, cell: str) -> bool:
        """Whether a cell holds a number."""
        try:
            self.as_number(cell)
        except ValueError:
            return False
        return True


COMMAS = Form()


def form_of(text: str, asked: Csv | None = None) -> Form:
    r"""The form of a text: that in which all lines have as many cells, and most hold numbers.

    Examples
    --------
    >>> form_of("a;b\n1,5;2,5\n")
    Form(separator=';', decimal=',', encoding='utf-8')
    >>> form_of("a,b\n1.5,x;y\n") == form_of("a\n1\n") == Form()
    True
    """
    if asked is not None and asked.separator is not None:
        return Form(asked.separator, asked.decimal or _decimal(text, asked.separator))
    form = _likeliest(text)
    return form if asked is None or asked.decimal is None else replace(form, decimal=asked.decimal)


def _likeliest(text: str) -> Form:
    lines = text[:CHARACTERS].split("\n")
    lines = lines[: max(2, len(lines) - 1)][:LINES]  # the last may be cut
    first = next(filter(str.strip, lines), "")
    slip = next((mark for mark in SEPARATORS if mark in first), ",")  # if no form fits
    best, most = Form(slip, _decimal(text, slip)), -1.0
    for separator in SEPARATORS + SPACE:
        form = Form(separator, _decimal(text, separator))
        share = _share_of_numbers(lines, form)
        if separator == SPACE and share < 1.0:  # words have spaces, too
            continue
        if share > most:
            best, most = form, share
    return best


def _share_of_numbers(lines: list[str], form: Form) -> float:
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


def unpacked_size(file: Path) -> int:
    """Bytes of a text file, about, if it is packed."""
    size = file.stat().st_size
    if file.suffix.lower() != ".gz":
        return size
    with file.open("rb") as stream:
        stream.seek(max(0, size - 4))  # where gzip notes the size, up to 4 GB
        return max(PACKING * size, int.from_bytes(stream.read(4), "little"))
