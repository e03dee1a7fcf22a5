"""Say in a line how a test was done: which rows and columns, and how the p-value was computed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nosplit._text import conjoined, number_of
from nosplit.inference.calibrations import CAUTIOUS, SERIES, SIMULATE, WILD

if TYPE_CHECKING:
    from nosplit.inference.questions import Exchanged
    from nosplit.inference.result import How

__all__ = ["how_tested"]

BOOTSTRAPS = {WILD: "wild bootstrap", CAUTIOUS: "cautious bootstrap"}
# Different sizes of samples that are listed.
MAX_SIZES = 6


def how_tested(how: How, columns: int, alpha: float, dependent: bool) -> str:
    """Say how a test was done.

    Parameters
    ----------
    how : How
        The procedure.
    columns : int
        Number of columns; 0 if it is not known.
    alpha : float
        The level: if no permutation can reach it, the line says how many there are.
    dependent : bool
        Whether neighbouring rows are alike, so that the p-value is exact for independent rows only.
    """
    return f"{_data(how, columns)}; {_calibration(how, alpha, dependent)}"


def _data(how: How, columns: int) -> str:
    """Say which rows and columns were compared."""
    if how.pairs == "given":
        return number_of(columns, "given statistic", "given statistics")
    parts = [_rows_used(how)]
    if len(how.n_columns) == 2:
        each = " with ".join(f"{count:,}" for count in how.n_columns)
        parts.append(f"{each} columns")
    elif columns:
        parts.append(number_of(columns, "column", "columns"))
    if how.design is not None and how.design.kind == "strata":
        parts.append(_labelled(how.design, "stratum", "strata"))
    if how.reference is not None:
        parts.append(f"compared with {how.reference}")
    return ", ".join(parts)


def _rows_used(how: How) -> str:
    design, sizes = how.design, [f"{size:,}" for size in how.sizes]
    left = f" ({how.n_left_out:,} left out)" if how.n_left_out else ""
    if design is not None and design.unit == "groups":
        of = f" of {how.n_used + how.n_left_out:,}" if how.n_left_out else ""
        groups = _labelled(design, "group", "groups") if design.kind == "groups" else "groups"
        return f"{how.n_used:,}{of} rows in {groups}"
    if design is not None and design.kind == "pairs" and design.count:
        return number_of(design.count, "pair", "pairs") + left
    if how.pairs == "rows" and design is not None:  # means of blocks
        blocks = number_of(how.n_units, "block", "blocks")
        left = f" ({number_of(how.n_left_out, 'row', 'rows')} left out)" if how.n_left_out else ""
        return f"{blocks} of {design.count:,} rows{left}"
    if len(sizes) == 2:
        return f"{sizes[0]} v {sizes[1]} rows{left}"
    if len(sizes) > 2:
        each = sizes[0] if len(set(sizes)) == 1 else conjoined(sizes)
        if len(set(sizes)) > MAX_SIZES:
            each = f"{min(how.sizes):,} to {max(how.sizes):,}"
        return f"{len(sizes)} samples of {each} rows{left}"
    return number_of(how.n_used, "row", "rows") + left


def _labelled(design: Exchanged, one: str, many: str) -> str:
    """Count strata or groups, and name the column of their labels."""
    number = number_of(design.count, one, many) if design.count else many
    return f"{number} ({design.name})" if design.name else number


def _calibration(how: How, alpha: float, dependent: bool) -> str:
    """Say how the p-value was computed."""
    design = how.design
    if how.smallest_pvalue > alpha:
        possible = round(1.0 / how.smallest_pvalue)
        blocks = f"{design.words}; " if design is not None and design.kind == "series" else ""
        return f"{blocks}{number_of(possible, 'permutation is', 'permutations are')} possible"
    if how.n_resamples is None:
        rows = how.pairs in ("rows", "given")  # values that are no pairs of units
        pairs = "" if rows else f", {how.n_pairs:,} pairs ({how.pairs})"
        return f"{how.method}, {how.calibration}{pairs}"
    if how.calibration == SIMULATE:
        return f"exact, {how.n_resamples:,} samples of the model"
    if how.calibration not in ("exact", SERIES):
        name = BOOTSTRAPS.get(how.calibration, how.calibration)
        blocks = _permuted(how) if design is not None and design.kind == "series" else ""
        return f"{name}, {how.n_resamples:,} resamples{blocks} (approximate)"
    unit = "rows" if design is None else design.unit
    independent = f" for independent {unit}" if dependent or unit == "blocks" else ""
    return f"exact{independent}, {how.n_resamples:,} permutations{_permuted(how)}"


def _permuted(how: How) -> str:
    """Say what is permuted, if it is not single rows of all data."""
    design = how.design
    if how.pairs == "rows":
        return " of signs"
    if how.pairs == "folds":
        return _permuted(replace(how, pairs="complete")) + " in each fold"
    if how.pairs == "sketch":
        return f" of {how.n_units:,} cells of rows (sketch)"
    if design is None:
        return ""
    if design.kind == "series":
        return f" of blocks of {design.count:,} rows" if design.count else " of blocks of rows"
    groups = ""
    if design.unit == "groups":
        only = design.kind == "groups" and design.shared == design.count
        groups = "" if only else " of groups of the same size"
        both = number_of(design.shared, "group", "groups") + " of both samples"
        groups += f"{'' if only else ', and'} inside {both}" if design.shared else ""
    return groups + (f" inside {design.kind}" if design.kind in ("pairs", "strata") else "")
