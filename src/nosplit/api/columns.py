"""A test of every column of two samples: which of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nosplit._support.checks import Seed, check_alpha, check_flags, check_rng, seed_of
from nosplit.api.two_sample import two_sample_test
from nosplit.api.ways.against_profile import is_profile
from nosplit.api.ways.columns import MOST_ROWS, Looked, look_at_columns
from nosplit.data.options import AUTO, Options, by_policy
from nosplit.designs.asked import check_series
from nosplit.engines.changes import SomeColumns, changes_in_bins
from nosplit.engines.columns import rank_columns
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.change import Change, change_of_pair
from nosplit.inference.columns.results import ColumnTests, tests_of

__all__ = ["column_tests"]

# Columns with p-values up to here are described by all of their values, where those are at hand.
LOOSEST = 0.1


def column_tests(
    x: Any,
    y: Any,
    *,
    alpha: float = 0.05,
    pairs_of_columns: bool = False,
    n_resamples: int = 1999,
    rng: Seed = 0,
    shuffle: bool = True,
    nan_policy: str = "auto",
    columns: Any = None,
    exclude: Any = None,
    series: bool | int = False,
    workers: int | None = None,
    progress: bool = False,
) -> ColumnTests:
    """Test every column of two samples for a difference of its distribution.

    A column is seen by its distribution function (Anderson-Darling), by fine bins and by scores
    of place and spread; of categories their frequencies. P-values are exact for independent
    rows, as in `two_sample_test`. They are adjusted for all
    columns by step-down max-T over the same draws (Westfall and Young), which gains where columns
    depend on one another; by Holm; and by Benjamini and Hochberg.

    Parameters
    ----------
    x, y : array_like, tables, files or profiles
        The samples, as for `two_sample_test`.
    alpha : float
        The level that printing is for. Columns with small p-values get up to 20 k / alpha draws
        for k columns, which is what Holm needs.
    pairs_of_columns : bool
        Also test pairs of columns, adjusted together with the columns: a dependence may change
        where no column does. Of more than 20 columns, the 190 pairs that depend most.
    n_resamples : int
        Number of permutations of all columns.
    rng : int, Generator or None
        Source of the shuffling and the draws.
    shuffle : bool
        Deal rows in random order, so that independent rows may come sorted.
    nan_policy : {"auto", "raise", "omit", "indicate"}
        Where values are missing: an error, leave out the row, or compare what is missing too.
        "auto": compare it in tables, with a note in the result; an error in arrays.
    columns, exclude : names of columns, optional
        Compare these only, or all but these; positions for arrays.
    series : bool or int, default False
        Whether rows are in time order: blocks of rows are permuted, as in `two_sample_test`.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.

    Returns
    -------
    ColumnTests
        A row for each column: p-values, and what changed, in numbers that do not grow with the
        number of rows. It prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(300, 4)), rng.normal(size=(300, 4))
    >>> y[:, 2] += 0.5
    >>> tests = column_tests(x, y)
    >>> tests.differing()
    ('2',)
    >>> bool(tests["2"].adjusted < 0.05), tests.holm.shape
    (True, (4,))
    """
    check_flags(pairs_of_columns=pairs_of_columns, shuffle=shuffle, progress=progress)
    check_alpha(alpha)
    exact = Exact(n_resamples)
    generator = check_rng(rng)
    if check_series(series) is not False:
        if pairs_of_columns:
            raise InputError("`series` does not go with pairs_of_columns=True.")
        options = {"nan_policy": nan_policy, "columns": columns, "exclude": exclude}
        result = two_sample_test(
            x, y, series=series, calibration=exact, rng=generator, workers=workers, **options
        )
        return replace(result.column_tests(alpha), seed=seed_of(rng, generator))

    def attempt(policy: str) -> Looked:
        options = Options.of(None, columns, exclude, policy)
        pairs = pairs_of_columns
        return look_at_columns(x, y, options, generator, shuffle, pairs, workers, progress)

    if is_profile(x) or is_profile(y):  # it says what is done
        looked = attempt("raise" if nan_policy == AUTO else nan_policy)
    else:
        looked = by_policy(nan_policy, attempt, generator)
    tests = _tests_of_columns(looked, alpha, n_resamples, workers)
    return replace(tests, seed=seed_of(rng, generator))


def _tests_of_columns(
    seen: Looked, alpha: float, n_resamples: int, workers: int | None
) -> ColumnTests:
    columns, names = seen.columns, seen.names
    ranked = rank_columns(columns.look, alpha, n_resamples, workers)
    pvalues, adjusted = ranked.pvalues, ranked.adjusted
    rows = tests_of(
        [tuple(names[j] for j in which) for which in columns.which],
        ranked.statistics,
        pvalues,
        adjusted,
        ranked.draws,
        _changes(seen),
        seen.separations,
    )
    if seen.samples is not None:
        few = seen.n_rows <= 2 * MOST_ROWS
        near = [r.name for r in rows if len(r.columns) == 1 and (few or r.bh <= LOOSEST)]
        both = SomeColumns.of(*seen.samples, near)
        rows = tuple(replace(r, change=both.change(r.name)) if r.name in near else r for r in rows)
    return ColumnTests(
        rows,
        alpha,
        n_resamples,
        ranked.most,
        "exact",
        seen.n_used,
        seen.n_rows - seen.n_used,
        tuple(f"{c.__name__}: {text}" for c, text in seen.caveats),
        () if seen.encoding is None else seen.encoding.notes,
        seen.reference,
        1.0 / seen.relabellings,
    )


def _changes(seen: Looked) -> Sequence[Change]:
    """Describe what changed in columns, as far as their bins tell, and in pairs of them."""
    columns = seen.columns
    counts = columns.counts[::-1] if seen.turned else columns.counts
    single = changes_in_bins(columns.bins, counts, seen.encoding)
    pairs = [which for which in columns.which if len(which) == 2]
    alike = (columns.dependence.get(which) for which in pairs)
    turned = (a if a is None or not seen.turned else a[::-1] for a in alike)
    rows = [int(own) for own in counts.sum(axis=1) / len(columns.bins)]
    return [*single, *(change_of_pair(a, rows) for a in turned)]
