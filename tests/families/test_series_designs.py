"""Rows in time order, declared by `series=`: blocks of rows are permuted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

import nosplit
from nosplit import Exact, InputError, column_tests, independence_test, mean_test, two_sample_test
from nosplit.data.series import block_length
from nosplit.kernels import Gaussian, Linear

KERNELS = [Gaussian(1.0), Linear()]
TRIALS = 100
# A test of level .05 rejects more often than this once in 1,000 times.
MOST = binom.isf(1e-3, TRIALS, 0.05)


def autoregressive(rng, n, phi=0.5):
    """A stationary series with standard normal margins."""
    noise = rng.normal(size=(n, 1)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def rejected(test):
    return sum(test(np.random.default_rng(trial)).reject(0.05) for trial in range(TRIALS))


# Two samples --------------------------------------------------------------------------------------


def test_two_samples_are_exact_over_all_labellings_of_blocks():
    """Five blocks of two rows, three of them x: 10 labellings, each p-value its rank."""
    blocks = np.random.default_rng(1).normal(size=(5, 2, 1))
    found = []
    for chosen in combinations(range(5), 3):
        of_x = np.isin(np.arange(5), chosen)
        x, y = blocks[of_x].reshape(6, 1), blocks[~of_x].reshape(4, 1)
        res = two_sample_test(x, y, series=2, kernels=KERNELS, method="best")
        assert (res.how.n_resamples, res.how.smallest_pvalue) == (9, 0.1)
        found.append(res.pvalue)
    assert np.array_equal(np.sort(found), np.arange(1, 11) / 10)


def test_blocks_start_at_row_0_of_each_sample_and_the_rest_is_left_out():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(103, 2)), rng.normal(size=(76, 2))
    res = two_sample_test(x, y, series=10, kernels=KERNELS, calibration=Exact(99))
    assert (res.how.calibration, res.how.design.kind, res.how.design.unit) == (
        "series",
        "series",
        "blocks",
    )
    assert res.how.design.words == (
        "blocks of 10 rows are permuted between the samples (10 and 7); 9 rows beyond the last "
        "whole block left out"
    )
    assert (res.how.n_used, res.how.n_left_out, res.how.n_units) == (170, 9, 17)
    whole = two_sample_test(x[:100], y[:70], series=10, kernels=KERNELS, calibration=Exact(99))
    assert whole.pvalue == res.pvalue


def test_the_length_of_blocks_is_chosen_and_printed():
    rng = np.random.default_rng(3)
    x, y = autoregressive(rng, 400, 0.8), autoregressive(rng, 300, 0.8)
    length = block_length(x, y)
    res = two_sample_test(x, y, series=True, calibration=Exact(99))
    assert length > 7
    assert f"99 permutations of blocks of {length} rows" in " ".join(str(res).split())


def test_level_of_series_of_unequal_lengths():
    """Rows permuted one by one reject most of these, and a warning says why."""

    def test(rng, **options):
        x, y = autoregressive(rng, 200), autoregressive(rng, 150)
        return two_sample_test(x, y, calibration=Exact(99), **options)

    assert rejected(lambda rng: test(rng, series=True)) <= MOST
    alone = test(np.random.default_rng(0))
    assert alone.how.calibration == "exact"
    assert any("use series=True" in text for text in alone.warnings)


def test_a_shift_of_a_series_is_found():
    rng = np.random.default_rng(4)
    x, y = autoregressive(rng, 800), autoregressive(rng, 800) + 1.0
    res = two_sample_test(x, y, series=True)
    assert res.reject(0.01)
    assert res.columns.differing(0.01) == ("0",)


def test_level_of_two_series_of_the_same_times():
    """What both have in common cancels; what is left of each depends on the rows before."""

    def test(rng):
        common = autoregressive(rng, 200, 0.9)
        x, y = (common + autoregressive(rng, 200) for _ in range(2))
        return two_sample_test(x, y, paired=True, series=True, calibration=Exact(99))

    assert rejected(test) <= MOST
    res = test(np.random.default_rng(0))
    assert (res.how.calibration, res.how.design.kind) == ("series", "series")
    assert "consecutive ones together" in res.how.design.words


@pytest.mark.parametrize("paired", [False, True])
def test_a_series_that_is_one_block_is_too_little_data(paired):
    walks = np.cumsum(np.random.default_rng(5).normal(size=(2, 60, 1)), axis=1)
    res = two_sample_test(*walks, series=True, paired=paired)
    assert res.verdict() == "too little data"
    assert not res.reject(0.05)
    assert str(res).startswith("Too little data to tell (p ≥ ")


# Other tests --------------------------------------------------------------------------------------


def test_columns_of_series():
    def test(rng):
        both = (np.hstack([autoregressive(rng, n), autoregressive(rng, n)]) for n in (200, 160))
        return column_tests(*both, series=True, n_resamples=199)

    hits = sum(bool(test(np.random.default_rng(trial)).differing()) for trial in range(TRIALS))
    assert hits <= MOST
    told = test(np.random.default_rng(0))
    assert told.how.calibration == "series"
    assert "exact for independent blocks" in " ".join(str(told).split())
    rng = np.random.default_rng(6)
    x, y = autoregressive(rng, 800), autoregressive(rng, 800)
    x, y = np.hstack([x, x[::-1]]), np.hstack([y, y[::-1] + 1.0])
    assert column_tests(x, y, series=True).differing(0.01) == ("1",)


def test_two_variables_in_time_order():
    def test(rng):
        x, y = autoregressive(rng, 200, 0.8), autoregressive(rng, 200, 0.8)
        return independence_test(x, y, series=True, calibration=Exact(99))

    assert rejected(test) <= MOST
    assert test(np.random.default_rng(0)).how.calibration == "series"
    rng = np.random.default_rng(7)
    x = autoregressive(rng, 300)
    res = independence_test(x, x + 0.5 * autoregressive(rng, 300), series=10)
    assert res.reject(0.01)
    assert res.how.design.words == "blocks of 10 rows of y are permuted"


def test_means_of_rows_in_time_order():
    def test(rng):
        return mean_test(autoregressive(rng, 200), symmetric=True, series=True)

    assert rejected(test) <= MOST
    res = mean_test(autoregressive(np.random.default_rng(0), 203), symmetric=True, series=10)
    assert (res.how.calibration, res.how.n_units, res.how.n_used, res.how.n_left_out) == (
        "series",
        20,
        200,
        3,
    )
    closed = mean_test(autoregressive(np.random.default_rng(0), 2000), series=10)
    assert closed.how.n_units == 200
    assert closed.how.calibration != "exact"


# Refused ------------------------------------------------------------------------------------------

X, Y = np.random.default_rng(8).normal(size=(2, 60, 2))
HALVES = np.arange(60) // 30


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"series": 0}, "`series` must be an int ≥ 1, got 0"),
        ({"series": "yes"}, "`series` must be"),
        ({"series": 61}, "`series` must be at most the rows of either sample, got blocks of 61"),
        ({"series": True, "strata": (HALVES, HALVES)}, "`series` permutes blocks .* do not go"),
        ({"series": True, "groups": (HALVES, HALVES)}, "`series` permutes blocks .* do not go"),
        (
            {"series": True, "calibration": "asymptotic"},
            "`series` permute rows, which the closed forms",
        ),
        ({"series": True, "pairs": "linear"}, "`series` permute rows, which the closed"),
        ({"series": True, "paired": True, "pairs": "linear"}, "`series` permute rows"),
        ({"series": True, "method": "split"}, 'another method than .* "split"'),
    ],
)
def test_series_that_cannot_be_permuted_iv(options, match):
    with pytest.raises(InputError, match=match):
        two_sample_test(X, Y, **options)


def test_series_of_other_tests_iv():
    with pytest.raises(InputError, match="`strata` and `groups` do not go with it"):
        independence_test(X, Y, series=True, strata=HALVES)
    with pytest.raises(InputError, match="for at most 500 rows, got"):
        independence_test(*np.random.default_rng(0).normal(size=(2, 5000)), series=True)
    with pytest.raises(InputError, match="`h` has too few rows for `series`"):
        mean_test(np.arange(60.0)[:, None], series=True)


def test_series_need_rows_in_memory_iv(tmp_path, monkeypatch):
    made = nosplit.profile(np.random.default_rng(0).normal(size=(4000, 2)), rows=500)
    with pytest.raises(InputError, match="`series` need the rows, and do not go with a profile"):
        two_sample_test(made, Y, series=True)
    with pytest.raises(InputError):
        column_tests(made, Y, series=True)
    files = tmp_path / "x.npy", tmp_path / "y.npy"
    for path, rows in zip(files, (X, Y), strict=True):
        np.save(path, rows)
    in_memory = two_sample_test(X, Y, series=5)
    assert two_sample_test(*files, series=5).pvalue == in_memory.pvalue
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 10)
    with pytest.raises(InputError, match="do not go with files that are not read whole"):
        two_sample_test(*files, series=True)


def test_series_on_a_device_iv():
    torch = pytest.importorskip("torch")
    x, y = (torch.as_tensor(rows) for rows in (X, Y))
    for options in ({}, {"paired": True}):
        with pytest.raises(InputError, match="`series` is not supported on a device"):
            two_sample_test(x, y, series=True, **options)
    with pytest.raises(InputError, match="`strata`, `groups` and `series` are not supported on a"):
        independence_test(X, Y, series=True, device="cpu")
