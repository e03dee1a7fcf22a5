"""Tests of single columns."""

from __future__ import annotations

from collections.abc import Sequence

from nosplit._checks import Seed, check_alpha
from nosplit.api import _elsewhere
from nosplit.api._request import LabelsOfRows, NanPolicy, Request, Sample
from nosplit.api._run import how_found, remarks
from nosplit.api.two_sample import TwoSamples
from nosplit.families.two_sample import compare_columns
from nosplit.inference.calibrations import Exact
from nosplit.inference.columns import ColumnTests

__all__ = ["column_tests", "test_columns"]


def column_tests(
    x: Sample,
    y: Sample,
    *,
    alpha: float = 0.05,
    n_resamples: int = 1_999,
    paired: bool = False,
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    nan_policy: NanPolicy = "auto",
    names: Sequence[str] | None = None,
    shuffle: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
) -> ColumnTests:
    """Test each column of two samples by itself.

    A column is compared by its distribution function, its bins, its place and its spread; a
    category by its shares. P-values are exact for independent rows, and adjusted for all columns
    by step-down max-T over the same permutations (Westfall and Young), by Holm, and by Benjamini
    and Hochberg.

    Parameters
    ----------
    x, y : array, data frame, path, or profile
        The two samples, as for `two_sample_test`.
    alpha : float, default 0.05
        The level of the printed table.
    n_resamples : int, default 1999
        Number of permutations.
    paired, strata, groups, series, columns, exclude, nan_policy, names, shuffle, rng, workers
        As in `two_sample_test`. For files, profiles and more than a few thousand rows, only
        independent rows are supported.

    Returns
    -------
    ColumnTests
        A row for each column: p-values, separation and what changed. It prints as a table.

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
    request = Request.of(
        x, y, calibration=Exact(n_resamples), paired=paired, strata=strata, groups=groups,
        series=series, columns=columns, exclude=exclude, nan_policy=nan_policy, names=names,
        shuffle=shuffle, rng=rng, workers=workers,
    )  # fmt: skip
    return test_columns(request, check_alpha(alpha), Exact(n_resamples).n_resamples)


def test_columns(request: Request, alpha: float, n_resamples: int) -> ColumnTests:
    """Test every column of two samples by itself."""
    if _elsewhere.takes(request):
        return _elsewhere.test_columns(request, alpha, n_resamples)
    data = TwoSamples.of(request)
    found = compare_columns(data.pooled, data.design, n_resamples, request.rng)
    assert found.finding.columns is not None
    columns = data.columns(found.finding.columns, None)
    warnings, notes = remarks(data, [])
    return ColumnTests(columns.rows, None, how_found(data, found), alpha, warnings, notes)
