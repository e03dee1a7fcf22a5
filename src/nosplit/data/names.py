"""Names of columns: which are an index of pandas, and what they are without white space.

pandas writes the index of a data frame as one more column of a parquet file, and notes in the
file's metadata which one it is. Whoever reads the file with Arrow or polars finds it among the
others. It numbers rows and says nothing of what they hold: compared as a number, it tells apart
any two parts of one table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["INDEX", "index_note", "index_of", "noted_index", "tidy", "without"]

# The key under which our own tables of Arrow note which columns were left out.
INDEX = b"nosplit.index"
# What pandas calls an index that has no name.
UNNAMED = re.compile(r"__index_level_\d+__")


def index_of(names: Iterable[str], metadata: Mapping[bytes, bytes] | None) -> tuple[str, ...]:
    """The columns that are an index, by what pandas noted or by the name it gives them.

    Examples
    --------
    >>> index_of(["v", "day"], {b"pandas": b'{"index_columns": ["day"]}'})
    ('day',)
    >>> index_of(["v", "__index_level_0__"], None)
    ('__index_level_0__',)
    """
    noted = _noted_by_pandas(metadata)
    return tuple(name for name in names if name in noted or UNNAMED.fullmatch(name))


def _noted_by_pandas(metadata: Mapping[bytes, bytes] | None) -> set[str]:
    """Names under "index_columns"; a range is noted there too, but not as a name."""
    try:
        noted = json.loads((metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        return {name for name in noted if isinstance(name, str)}
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()


def index_note(names: Iterable[str]) -> dict[bytes, bytes] | None:
    """Metadata of a table that says what was left out of it; None if nothing was."""
    found = list(names)
    return {INDEX: json.dumps(found).encode()} if found else None


def noted_index(metadata: Mapping[bytes, bytes] | None) -> tuple[str, ...]:
    """The index columns that `index_note` wrote down."""
    return tuple(json.loads((metadata or {}).get(INDEX, b"[]")))


def tidy(names: Sequence[str]) -> list[str]:
    """Names without the white space around them, unless two would then be the same.

    Examples
    --------
    >>> tidy(["age", " height "]), tidy(["age", "age "])
    (['age', 'height'], ['age', 'age '])
    """
    bare = [name.strip() for name in names]
    return bare if len(set(bare)) == len(set(names)) else list(names)


def without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """The names that are not among the others, in their order."""
    known = set(others)
    return [name for name in names if name not in known]
