"""The check of neighbouring rows, the length of blocks, and labels of blocks."""

import numpy as np
import pytest
from scipy.stats import binom

from nosplit.data.series import (
    MAX_ROWS,
    about_strata,
    block_labels,
    block_length,
    check_jointly,
    check_rows,
    checked_rows,
)
from nosplit.errors import DependentRowsWarning


def autoregressive(rng, n, phi):
    noise, rows = rng.normal(size=n), np.empty(n)
    rows[0] = noise[0] / np.sqrt(1 - phi**2)
    for i in range(1, n):
        rows[i] = phi * rows[i - 1] + noise[i]
    return rows[:, None]


LAWS = {
    "normal": lambda rng, n: rng.normal(size=(n, 3)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=(n, 3)),
    "rare values": lambda rng, n: (rng.random((n, 20)) < 0.01).astype(float),
    "constant": lambda rng, n: np.ones((n, 2)),
    "integers": lambda rng, n: rng.poisson(3.0, size=(n, 3)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [20, 200])
def test_independent_rows_are_rarely_warned_of_against_theory(law, n):
    rng = np.random.default_rng(5)
    trials = 500
    alarms = sum(bool(check_rows(LAWS[law](rng, n), LAWS[law](rng, n))) for _ in range(trials))
    assert alarms <= binom.isf(1e-4, trials, 1e-3)


def test_a_series_is_warned_of_with_its_autocorrelation():
    rng = np.random.default_rng(6)
    ((category, text),) = check_rows(autoregressive(rng, 4000, 0.8), rng.normal(size=(50, 1)))
    assert category is DependentRowsWarning
    assert "autocorrelation 0.7" in text or "autocorrelation 0.8" in text
    assert "series=True" in text
    assert "groups=" in text


def test_sorted_rows_are_warned_of_and_rows_in_random_order_are_not():
    rows = np.random.default_rng(7).normal(size=(300, 1))
    assert check_rows(np.sort(rows, axis=0))
    assert not check_rows(rows)


def test_a_variable_that_is_independent_makes_permutations_exact():
    rng = np.random.default_rng(8)
    series, other = autoregressive(rng, 500, 0.9), rng.normal(size=(500, 2))
    assert not check_jointly(series, other)
    assert check_jointly(series, autoregressive(rng, 500, 0.9))


@pytest.mark.parametrize("n", [1, 40, MAX_ROWS, MAX_ROWS + 1, 10**6, 10**9])
def test_the_check_reads_a_run_of_few_rows_properties(n):
    rows = checked_rows(n)
    assert 0 <= rows.start < rows.stop <= n
    assert len(rows) <= MAX_ROWS
    assert rows == checked_rows(n)


def test_the_check_of_an_array_is_that_of_its_checked_rows_properties():
    rows = autoregressive(np.random.default_rng(9), 40_000, 0.5)
    some = checked_rows(len(rows))
    assert check_rows(rows) == check_rows(rows[some.start : some.stop])


def test_columns_that_are_not_finite_are_passed_over():
    rows = np.random.default_rng(10).normal(size=(100, 2))
    rows[3, 0] = np.nan
    assert not check_rows(rows)


def test_blocks_are_longer_than_the_dependence_against_theory():
    rng = np.random.default_rng(11)
    assert block_length(rng.normal(size=(1000, 1)), rng.normal(size=(729, 1))) == 9  # cube root
    lengths = [block_length(autoregressive(rng, 2000, phi)) for phi in (0.5, 0.9)]
    # The lag at which φ^k passes the bound 1.96 / √n, doubled, give or take the noise.
    for phi, length in zip((0.5, 0.9), lengths, strict=True):
        passed = 2 * np.log(1.96 / np.sqrt(2000)) / np.log(phi)
        assert passed / 2 <= length <= 3 * passed


def test_a_trend_has_no_length():
    rng = np.random.default_rng(12)
    trend = np.arange(300.0)[:, None] + rng.normal(size=(300, 1))
    assert block_length(rng.normal(size=(300, 1)), trend) is None


def test_blocks_start_at_the_first_row_of_each_sample_properties():
    labels = block_labels((7, 3, 6), 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, -1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_rows_about_the_mean_of_their_stratum_against_numpy():
    rng = np.random.default_rng(13)
    rows, codes = rng.normal(size=(30, 2)), rng.integers(0, 4, 30) * 5
    about = about_strata(rows, codes)
    for code in np.unique(codes):
        np.testing.assert_allclose(
            about[codes == code], rows[codes == code] - rows[codes == code].mean(axis=0)
        )
