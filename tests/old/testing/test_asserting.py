"""Assertions: how rare false alarms are, what is found, what is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nosplit import InputError, models
from nosplit._old.testing import assert_fits, assert_same_distribution, confirming
from nosplit._old.testing.confirming import draws_for, fewest_rows, is_confirmed
from nosplit.data.options import Options
from nosplit.data.samples import two_samples

AS_THEY_ARE = Options.of(None, None, None, "raise")


@pytest.mark.parametrize(
    ("n", "m", "trials"), [(30, 30, 100), (25, 40, 100), (900, 900, 40), (300, 600, 40)]
)
def test_second_stage_level_against_theory(monkeypatch, n, m, trials):
    """At error = 0.05 the second stage alone says yes to at most 5 % of true nulls."""
    monkeypatch.setattr(confirming, "REFERENCE", 199)
    rng = np.random.default_rng(n + m)
    alarms = 0
    for i in range(trials):
        x, y = rng.exponential(size=(n, 2)).round(1), rng.exponential(size=(m, 2)).round(1)
        data = two_samples(x, y, AS_THEY_ARE).checked()
        alarms += is_confirmed(data, AS_THEY_ARE, 0.05, np.random.default_rng(i), 1)
    assert stats.binom.sf(alarms - 1, trials, 0.05) > 1e-4


def test_first_stage_alone_never_alarms(monkeypatch):
    """The second stage decides: without it nothing fails, whatever the first one finds."""
    monkeypatch.setattr("nosplit._old.testing.asserting.is_confirmed", lambda *_: False)
    rng = np.random.default_rng(0)
    assert_same_distribution(rng.normal(size=100), rng.normal(3.0, size=100))


def test_second_stage_is_not_reached_without_evidence(monkeypatch):
    monkeypatch.setattr("nosplit._old.testing.asserting.is_confirmed", lambda *_: 1 / 0)
    rng = np.random.default_rng(0)
    assert_same_distribution(rng.normal(size=100), rng.normal(size=100))
    assert_fits(rng.normal(size=100), models.MultivariateNormal())


def test_few_rows_that_may_be_a_series_alarm():
    """P-values that allow for a series hid 6 of 12 samples of 25 rows, five deviations apart."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        with pytest.raises(AssertionError, match="The samples differ"):
            assert_same_distribution(rng.normal(size=25), rng.normal(5.0, size=25), error=1e-3)


def test_draws_and_rows_against_theory():
    assert draws_for(1e-6) == 999_999
    assert draws_for(1e-3) == 999
    assert fewest_rows(25, 25, 1e-6) is None  # 2^24 > 10 / 1e-6
    assert fewest_rows(24, 24, 1e-6) == 25
    assert fewest_rows(10, 20, 1e-6) is None  # 30 over 10: 30,045,015
    assert fewest_rows(10, 16, 1e-6) == 25  # 26 over 10: 5,311,735


def test_tables_are_told_apart_by_column():
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"age": rng.normal(40, 9, 300), "city": rng.choice(["Rome", "Oslo"], 300)})
    y = x.sample(frac=1.0, random_state=1).reset_index(drop=True)
    y["age"] += 9.0
    with pytest.raises(AssertionError, match=r"none of 9,999 draws.*p ≤ 0.0001") as failed:
        assert_same_distribution(x, y, error=1e-4)
    assert "column age: mean" in str(failed.value)
    assert "city" not in str(failed.value)
    assert_same_distribution(x, y, columns="city")


def test_failures_show_no_frame_of_the_library():
    x = np.random.default_rng(0).normal(size=60)
    checks = [
        lambda: assert_same_distribution(x, x + 9.0, error=1e-3),
        lambda: assert_fits(x + 9.0, models.Normal(), error=1e-3),
        lambda: assert_same_distribution(x[:5], x[:5]),
    ]
    for check in checks:
        with pytest.raises(AssertionError) as failed:
            check()
        shown = [entry for entry in failed.traceback if not entry.ishidden(failed)]
        assert {entry.path.name for entry in shown} == {Path(__file__).name}


def test_large_samples_and_files(tmp_path):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(3000, 2)), rng.normal(size=(3000, 2))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y * [1.0, 1.3])
    assert_same_distribution(tmp_path / "x.npy", y)
    with pytest.raises(AssertionError, match="column 1: sd "):
        assert_same_distribution(tmp_path / "x.npy", tmp_path / "y.npy", error=1e-4)


def test_joint_differences_are_said():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 300)
    with pytest.raises(AssertionError, match="no column by itself"):
        assert_same_distribution(x, y, error=1e-4)


@pytest.mark.parametrize(
    "model", [stats.norm(), models.MultivariateNormal(0.0, 1.0), lambda n, rng: rng.normal(size=n)]
)
def test_models_of_all_kinds(model):
    rng = np.random.default_rng(4)
    assert_fits(rng.normal(size=200), model)
    with pytest.raises(AssertionError, match="does not come from the model") as failed:
        assert_fits(rng.normal(size=200) * 2.0, model, error=1e-4)
    assert "sd 2.0" in str(failed.value)


def test_discrete_and_bounded_models():
    rng = np.random.default_rng(5)
    assert_fits(rng.poisson(3.0, 200), stats.poisson(3.0))
    assert_fits(rng.random(200), stats.uniform())
    with pytest.raises(AssertionError):
        assert_fits(rng.poisson(5.0, 200), stats.poisson(3.0), error=1e-4)


def test_iv():
    rng = np.random.default_rng(6)
    x = rng.normal(size=20)
    few = r"Too little data to tell: 20 and 20 rows .* at least 25 rows of each"
    with pytest.raises(AssertionError, match=few):
        assert_same_distribution(x, x + 1.0)
    with pytest.raises(InputError, match="`error` must be from 1e-07 to"):
        assert_same_distribution(x, x, error=0.05)
    with pytest.raises(InputError, match="must have its parameters set"):
        assert_fits(x, stats.gamma)
    with pytest.raises(InputError, match="Call it"):
        assert_fits(x, models.Laplace)
    with pytest.raises(InputError, match="can be drawn from"):
        assert_fits(x, 3.0)
    with pytest.raises(InputError, match="as many columns as `x` has, 1, got 2"):
        assert_fits(x, models.MultivariateNormal([0.0, 0.0]))
    with pytest.raises(InputError, match="as many rows as asked for, 60, got 3"):
        assert_fits(x, lambda n, rng: np.zeros(3))
