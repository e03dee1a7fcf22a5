"""Labels of rows: strata and groups, given or as a column of the tables."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._lazy import is_tensor, tensor_as_array
from nosplit._text import listed
from nosplit._types import Index
from nosplit.data.frames import is_table, native_columns
from nosplit.data.options import AUTO
from nosplit.errors import InputError

__all__ = [
    "RowLabels",
    "column_in",
    "is_name",
    "label_policy",
    "labels_of_both",
    "labels_of_rows",
    "labels_of_sample",
    "named_in",
]


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Labels of rows as numbers; -1 where one is missing and the row is to be left out.

    Attributes
    ----------
    codes : array of int, shape (N,)
        Number of the label of each row.
    names : sequence
        The labels.
    """

    codes: Index
    names: Sequence[Any]

    def said(self, chosen: NDArray[np.bool_]) -> list[str]:
        """Some of the labels, as text, each once."""
        return list(dict.fromkeys(str(self.names[i]) for i in np.flatnonzero(chosen).tolist()))


def is_name(labels: Any) -> bool:
    """Whether labels are the name of a column."""
    return isinstance(labels, str)


def label_policy(nan_policy: str) -> str:
    """Policy for rows without a label: an error, unless another policy is asked for."""
    return "raise" if nan_policy == AUTO else nan_policy


def named_in(name: str, sources: Sequence[tuple[str, Any]], keyword: str) -> None:
    """Check that a column of this name is in all of some tables."""
    for label, value in sources:
        if not is_table(value):
            raise InputError(
                f"`{keyword}` names a column, {name!r}, but `{label}` is no table. Give labels of "
                "the rows instead."
            )
        known = [str(column.name) for column in native_columns(value, label).columns]
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"`{keyword}` must name a column of `{label}`, which has {listed(known)}, got "
                f"{name!r}.{hint}"
            )


def labels_of_both(
    labels: Any,
    samples: Sequence[Any],
    kept: Sequence[NDArray[np.bool_]],
    keyword: str,
    policy: str,
    names: Sequence[str] = "xy",
) -> RowLabels:
    """Labels of the rows of two samples, or more, that are kept.

    Parameters
    ----------
    labels : str, or sequence of sequences
        The name of a column of all tables, or labels of the rows of each sample.
    samples : sequence
        The samples.
    kept : sequence of array of bool
        Which of their rows are not left out.
    keyword : str
        What the labels are called in messages.
    policy : str
        As `nan_policy`: what to do with rows without a label.
    names : sequence of str
        What the samples are called in messages.
    """
    if is_name(labels):
        named_in(labels, tuple(zip(names, samples, strict=True)), keyword)
        both = [
            _labels_in_column(value, labels, name)
            for value, name in zip(samples, names, strict=True)
        ]
    else:
        if not isinstance(labels, list | tuple | np.ndarray) or len(labels) != len(samples):
            raise InputError(_as_many_sequences(keyword, names))
        both = [_label_array(own, keyword) for own in labels]
    for own, mask, name in zip(both, kept, names, strict=True):
        _check_labels(own, len(mask), keyword, name)
    return _coded([own[mask] for own, mask in zip(both, kept, strict=True)], keyword, policy)


def _as_many_sequences(keyword: str, names: Sequence[str]) -> str:
    if len(names) > 2:
        return (
            f"`{keyword}` must be the name of a column of all tables, or a list of {len(names)} "
            "sequences of labels, one of the rows of each sample."
        )
    return (
        f"`{keyword}` must be the name of a column of both tables, or two sequences of labels, one "
        f"of the rows of x and one of those of y: {keyword}=(of_x, of_y)."
    )


def labels_of_rows(
    labels: Any,
    variables: tuple[Any, Any],
    kept: NDArray[np.bool_],
    keyword: str,
    policy: str,
) -> RowLabels:
    """Labels of observations: a sequence, or the name of a column of one of the tables."""
    own = (
        _labels_in_column(*column_in(labels, variables, keyword))
        if is_name(labels)
        else _label_array(labels, keyword)
    )
    _check_labels(own, len(kept), keyword, "x")
    return _coded([own[kept]], keyword, policy)


def labels_of_sample(
    labels: Any, rows: Any, kept: NDArray[np.bool_], policy: str, keyword: str = "labels"
) -> RowLabels:
    """The label of each row that is kept: labels, or a column of the table."""
    if is_name(labels):
        named_in(labels, (("rows", rows),), keyword)
        own = _labels_in_column(rows, labels, "rows")
    else:
        own = _label_array(labels, keyword)
    _check_labels(own, len(kept), keyword, "rows")
    return _coded([own[kept]], keyword, policy)


def column_in(name: str, variables: tuple[Any, Any], keyword: str) -> tuple[Any, str, str]:
    """The variable that has the column of this name, the column, and what the variable is."""
    known: list[str] = []
    for value, label in zip(variables, "xy", strict=True):
        names = _names_of_columns(value, label) if is_table(value) else []
        if name in names:
            return value, name, label
        known += names
    have = f", which have {listed(known)}" if known else ", but they are no tables"
    raise InputError(f"`{keyword}` must name a column of `x` or `y`{have}, got {name!r}.")


def _names_of_columns(value: Any, label: str) -> list[str]:
    return [str(column.name) for column in native_columns(value, label).columns]


def _labels_in_column(value: Any, name: str, label: str) -> NDArray[Any]:
    columns = native_columns(value, label).columns
    return _label_array(next(c for c in columns if str(c.name) == name).to_list(), name)


def _label_array(labels: Any, keyword: str) -> NDArray[Any]:
    """Labels as they are; a list that mixes types stays one of objects."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise InputError(f"`{keyword}` must be labels of rows, got {labels!r}.")
    if is_table(labels):
        (column,) = native_columns(labels, keyword).columns
        labels = column.to_list()
    if is_tensor(labels):
        labels = tensor_as_array(labels, keyword)
    if isinstance(labels, np.ndarray):
        found = labels
    else:
        found = np.empty(len(labels), object)
        found[:] = labels
    if found.ndim != 1:
        raise InputError(f"`{keyword}` must be one label for each row, got shape {found.shape}.")
    return found


def _check_labels(labels: NDArray[Any], rows: int, keyword: str, name: str) -> None:
    if len(labels) != rows:
        raise InputError(
            f"`{keyword}` must have a label for each of the {rows:,} rows of `{name}`, got "
            f"{len(labels):,}."
        )


def _coded(parts: list[NDArray[Any]], keyword: str, policy: str) -> RowLabels:
    """Numbers of labels, in the order in which they first come."""
    numbers: dict[Any, int] = {}
    codes = np.concatenate([_label_codes(part, numbers) for part in parts])
    count = int(np.count_nonzero(codes < 0))
    if count and policy == "raise":
        raise InputError(
            f"`{keyword}` has {count:,} missing labels. Use nan_policy='omit' to leave out those "
            "rows, or nan_policy='indicate' to take what is missing for a label of its own."
        )
    names = list(numbers)
    if count and policy == "indicate":
        codes[codes < 0] = len(names)
        names.append("missing")
    if not names:
        raise InputError(f"`{keyword}` has no label of any row.")
    return RowLabels(codes, names)


def _label_codes(part: NDArray[Any], numbers: dict[Any, int]) -> Index:
    """Numbers of labels, -1 where one is missing; equal labels of other types are the same."""
    if part.dtype.kind == "O":
        return np.array([_number(label, numbers) for label in part], dtype=np.int64)
    distinct, place = np.unique(part, return_inverse=True)
    own = np.array([_number(label, numbers) for label in distinct.tolist()], dtype=np.int64)
    return own[place.ravel()] if len(own) else np.zeros(0, np.int64)


def _number(label: Any, numbers: dict[Any, int]) -> int:
    # Neither nan nor what pandas has for it is equal to itself.
    missing = label is None or type(label).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(label, float | np.floating) and label != label):
        return -1
    return numbers.setdefault(label, len(numbers))
