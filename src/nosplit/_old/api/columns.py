"""Tests of the columns of samples that the new house does not read."""

from __future__ import annotations

import sys
from dataclasses import replace

from nosplit._old.api.ways.against_profile import is_profile, policy_of
from nosplit._old.api.ways.columns import Looked, look_at_columns
from nosplit._old.data.files.opening import is_path
from nosplit._old.engines.changes import changes_in_bins
from nosplit._old.engines.columns import rank_columns
from nosplit._old.engines.files.two_sample import open_both
from nosplit.api._request import Request
from nosplit.api.columns import test_columns
from nosplit.data.options import by_policy
from nosplit.errors import InputError
from nosplit.inference.change import Change
from nosplit.inference.changes import SomeColumns
from nosplit.inference.columns import ColumnTests, column_rows
from nosplit.inference.result import How

__all__ = ["test_columns_elsewhere"]

# Columns with adjusted p-values up to here are described by all of their values.
LOOSEST = 0.1


def test_columns_elsewhere(request: Request, alpha: float, n_resamples: int) -> ColumnTests:
    """Test the columns of profiles, files and many rows, of independent rows alone."""
    if request.designed:
        raise InputError(
            "`paired`, `strata`, `groups` and `series` need a few thousand rows in memory here. "
            "Use two_sample_test, or pass some of the rows as arrays or tables."
        )

    x, y = request.x, request.y
    if is_path(x) or is_path(y):
        opened = open_both(x, y)
        if not opened.large:
            x, y = opened.whole()
            return test_columns(replace(request, x=x, y=y), alpha, n_resamples)

    def attempt(policy: str) -> Looked:
        options = replace(request.options, nan_policy=policy)
        return look_at_columns(
            request.x,
            request.y,
            options,
            request.rng,
            request.shuffle,
            request.workers,
            sys.stderr.isatty(),
        )

    policy = request.options.nan_policy
    if is_profile(request.x) or is_profile(request.y):  # it says what is done
        looked = attempt("raise" if policy == "auto" else policy)
    else:
        looked = by_policy(policy_of(policy, request.x, request.y), attempt, request.rng)
    return _tests_of_columns(looked, request, alpha, n_resamples)


def _tests_of_columns(
    seen: Looked, request: Request, alpha: float, n_resamples: int
) -> ColumnTests:
    ranked = rank_columns(seen.columns, n_resamples, request.workers)
    rows = column_rows(
        seen.names,
        ranked.statistics.tolist(),
        ranked.pvalues,
        ranked.adjusted,
        _changes(seen),
        seen.separations,
    )
    if seen.samples is not None:
        both = SomeColumns.of(*seen.samples, seen.names)
        rows = tuple(
            replace(r, change=both.change(r.name)) if r.adjusted <= LOOSEST else r for r in rows
        )
    how = How(
        method="columns",
        pairs="sketch",
        calibration="exact",
        n_resamples=n_resamples,
        smallest_pvalue=1.0 / seen.relabellings,
        seed=request.seed,
        n_units=sum(seen.sizes),
        n_pairs=0,
        n_used=sum(seen.sizes),
        n_left_out=seen.n_rows - sum(seen.sizes),
        sizes=seen.sizes[::-1] if seen.turned else seen.sizes,
        reference=seen.reference,
        names=request.names,
        encoding=seen.encoding,
    )
    warnings = tuple(f"{c.__name__}: {text}" for c, text in seen.caveats)
    notes = () if seen.encoding is None else seen.encoding.notes
    return ColumnTests(rows, None, how, alpha, warnings, notes)


def _changes(seen: Looked) -> list[Change]:
    """Describe what changed in columns, as far as their bins tell."""
    columns = seen.columns
    counts = columns.counts[::-1] if seen.turned else columns.counts
    return changes_in_bins(columns.bins, counts, seen.encoding)
