"""Power of the default test, of all that it looks at: predicted from cells of a pilot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit.power import predict_power

TESTS = 30
# Besides chance in so many tests (1e-4 in all): what 64 frequencies and 400 cells may be off by.
CHANCE, OFF = stats.norm.isf(5e-5) * np.sqrt(0.25 / TESTS), 0.08


def normal(n, rng):
    return rng.normal(size=(n, 5))


def wider(n, rng):
    return normal(n, rng) * [1.3, 1, 1, 1, 1]


def moved(n, rng):
    rows = normal(n, rng)
    rows[:, 0] += 0.4
    return rows


def correlated(n, rng):
    rows = normal(n, rng)
    rows[:, 1] = 0.55 * rows[:, 0] + np.sqrt(1 - 0.55**2) * rows[:, 1]
    return rows


def table(n, rng, often=0.4):
    numbers, text = normal(n, rng), np.where(rng.random(n) < often, "often", "seldom")
    return pd.DataFrame(numbers, columns=list("abcde")).assign(text=text)


def other_table(n, rng):
    return table(n, rng, 0.57)


def samples(first, second, n, seed):
    rng = np.random.default_rng([3, seed + 1])
    return first(n, rng), second(n, rng)


@pytest.mark.parametrize(
    ("first", "second"),
    [(normal, wider), (normal, moved), (normal, correlated), (table, other_table)],
)
def test_large_pilots_predict_the_default_test(first, second):
    told = predict_power(nosplit.pilot(*samples(first, second, 4000, -1)), n=120, trials=500)
    each = (samples(first, second, 120, seed) for seed in range(TESTS))
    seen = np.mean([nosplit.two_sample_test(x, y, workers=1).pvalue <= 0.05 for x, y in each])
    assert 0.15 < seen < 0.9  # so that there is something to tell
    assert abs(told.power - seen) < CHANCE + OFF
    assert told.low - CHANCE < seen < told.high + CHANCE
    assert told.warnings == ()


def test_a_column_that_kernels_do_not_show():
    """Five per cent of spread in one column of five, in samples that are tested by sketches."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40_000, 5))
    y[:, 0] *= 1.05
    found = nosplit.sample_size(nosplit.pilot(x, y), power=0.8, trials=400)
    assert found.prediction.pairs == "sketch"
    assert found.n < 20_000
    parts = [slice(found.n * i, found.n * (i + 1)) for i in range(40_000 // found.n)]
    hits = [nosplit.two_sample_test(x[part], y[part], workers=1).reject(0.05) for part in parts]
    assert np.mean(hits) > 0.8 - stats.norm.isf(1e-3) * np.sqrt(0.16 / len(hits)) - OFF


def test_no_difference_is_the_level():
    x, y = np.random.default_rng(1).normal(size=(2, 5000, 3))
    told = predict_power(nosplit.pilot(x, y), n=100, trials=2000)
    assert told.low < 0.06
    assert abs(told.power - 0.05) < 0.03


def test_the_noise_of_a_pilot_is_no_difference_at_twice_its_size():
    """Along axes that the same cells told, noise looked too small, and power was 1."""
    x, y = np.random.default_rng(2).normal(size=(2, 2000, 5))
    told = predict_power(nosplit.pilot(x, y), n=4000, trials=600)
    assert told.low < 0.1
    assert told.power < 0.95


def test_four_times_the_difference_takes_a_quarter_of_the_rows(monkeypatch):
    # But for the weights of the kinds of evidence, which depend on the number of units.
    for name, value in (("LEAST", 1.0), ("WITH_FEW", {})):
        monkeypatch.setattr(f"nosplit._old.inference.calibrating.evidence.{name}", value)
    x, y = samples(normal, wider, 300, 0)
    found = nosplit.pilot(x, y)
    larger = found.scaled(4.0)
    for n in (50, 200):
        told, same = (
            predict_power(larger, n=n, trials=300),
            predict_power(found, n=4 * n, trials=300),
        )
        for key in ("power", "low", "high"):
            assert abs(getattr(told, key) - getattr(same, key)) < 0.02
    assert abs(predict_power(found.scaled(0.0), n=200, trials=2000).power - 0.05) < 0.03


def test_kernels_that_were_named_are_counted_alone():
    x, y = samples(normal, moved, 200, 0)
    named = nosplit.pilot(x, y, kernels="paper2")
    assert named.gap is None
    assert nosplit.pilot(x, y).combined().gap is None
