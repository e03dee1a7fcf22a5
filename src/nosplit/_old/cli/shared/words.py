"""The library's words on its keywords, rewritten for the options of the command line."""

from __future__ import annotations

import csv
import re

__all__ = ["in_options", "named"]

# Keywords that are options under their own names.
SAME = (
    "adjust",
    "alpha",
    "budget",
    "calibration",
    "columns",
    "control",
    "exclude",
    "groups",
    "kernels",
    "limit",
    "method",
    "n_resamples",
    "nan_policy",
    "pairs",
    "ratio",
    "splits",
    "strata",
    "trials",
    "unit_size",
    "workers",
)
OTHERS = {
    "separator": "--sep",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "rng": "--seed",
    "path": "--report",
    "power": "--target",
}
# Keywords that are flags.
FLAGS = {
    "shuffle=False": "--no-shuffle",
    "shuffle=True": "no --no-shuffle",
    "paired=True": "--paired",
    "follow_up=False": "--no-follow-up",
    "series=True": "--series",
    "scale=True": "--scale",
    "scale=False": "--no-scale",
}
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in SAME} | OTHERS

_KEYWORDS = "|".join(OPTIONS)
_FLAG = re.compile("|".join(map(re.escape, FLAGS)))
_LIST = re.compile(r"\b(columns|exclude)=\[([^\]]*)\]")
_VALUE = re.compile(rf"""\b({_KEYWORDS})=("[^"]*"|'[^']*'|\w+(?:\.\w+)*)""")
_BARE = re.compile(rf"\b({_KEYWORDS})=(?=\W|$)")
_QUOTED = re.compile(rf"`({_KEYWORDS})`")


def in_options(text: str) -> str:
    """A message that names options, where that of a function names its arguments.

    Examples
    --------
    >>> in_options("Use nan_policy='omit', or leave it out with exclude=['a', 'b c'].")
    "Use --nan-policy omit, or leave it out with --exclude a --exclude 'b c'."
    >>> in_options("`unit_size` must be an int from 2 to 64. Leave out shuffle=False.")
    '`--unit-size` must be an int from 2 to 64. Leave out --no-shuffle.'
    """
    text = _FLAG.sub(lambda m: FLAGS[m[0]], text)
    text = _LIST.sub(_options_of_list, text)
    text = _VALUE.sub(lambda m: f"{OPTIONS[m[1]]} {_typed(m[2])}", text)
    text = _BARE.sub(lambda m: OPTIONS[m[1]], text)
    return _QUOTED.sub(lambda m: f"`{OPTIONS[m[1]]}`", text)


def _options_of_list(match: re.Match[str]) -> str:
    """One option for every name of a list."""
    option = OPTIONS[match[1]]
    names = re.findall(r"""'[^']*'|"[^"]*"|[^,\s]+""", match[2])
    return " ".join(f"{option} {_typed(name)}" for name in names)


def _typed(value: str) -> str:
    """A value as it is typed: in quotes only where a shell wants them."""
    bare = value[1:-1] if value[:1] in "'\"" else value
    return bare if re.fullmatch(r"[\w.:/-]+", bare) else f"'{bare}'"


def named(values: list[str] | None) -> list[str] | None:
    """Names of columns: several in one value, with commas between; quotes protect commas.

    Examples
    --------
    >>> named(["a,b", '"c,d", e'])
    ['a', 'b', 'c,d', 'e']
    """
    if values is None:
        return None
    cells = (cell for row in csv.reader(values, skipinitialspace=True) for cell in row)
    return [cell.strip() for cell in cells if cell.strip()]
