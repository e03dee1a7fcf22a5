"""Explanations with a profile: what sums tell must be what the rows behind them would."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import Exact, InputError, explain, profile, two_sample_test

FEW = {"calibration": Exact(n_resamples=99)}
LINEAR = {"kernels": [nosplit.kernels.Linear()]}


def normal(n, p, seed):
    return np.random.default_rng(seed).normal(size=(n, p))


def table(n, seed, shares=(0.5, 0.3, 0.2), gaps=0.0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "kind": rng.choice(["a", "b", "c"], n, p=shares),
            "gone": np.where(rng.random(n) < gaps, np.nan, rng.normal(size=n)),
        }
    )


@pytest.mark.parametrize("first", [True, False])
def test_shares_and_signal_of_shifts_against_theory(first):
    x, y = normal(40_000, 4, 2), normal(5_000, 4, 3)
    y += [0.0, 0.15, 0.0, 0.3]
    made = profile(x, **LINEAR)
    pair = (made, y) if first else (y, made)
    told = explain(two_sample_test(*pair, **FEW), *pair)
    (kernel,) = told.kernels
    assert abs(kernel.mmd2 - 0.1125) < 4.0 * kernel.error < 0.1
    # h = 2·⟨z, z'⟩ of p standard normal columns: its noise is 2·√p.
    assert abs(told.effect.crossfitted - 0.1125 / 4.0) < 4.0 * told.effect.crossfitted_error
    for column, share in zip(told.columns, (0.0, 0.2, 0.0, 0.8), strict=True):
        assert abs(column.share - share) < 4.0 * column.error + 0.02
        assert column.error < 0.1
        assert column.lost is None
    # Φ(d / 2) for a shift of d standard deviations: .56.
    assert told.effect.separation_by == "column 3"
    assert abs(told.effect.separation - 0.56) < 4.0 * told.effect.largest.error
    at = told.witness([[0.0, 0.0, 0.0, -2.0], [0.0, 0.0, 0.0, 2.0]])
    assert (at[0] > 0 > at[1]) == first
    known, kept = (told.y, told.x) if first else (told.x, told.y)
    assert (len(known.index), len(kept.index)) == (2000, 0)
    assert "A profile holds sums and no rows" in str(told)


def test_columns_that_differ_together_show_nothing_alone():
    x, y = normal(8_000, 3, 4), normal(4_000, 3, 5)
    y[:, 1] = 0.8 * y[:, 0] + 0.6 * y[:, 1]
    made = profile(x, frequencies=32)
    told = explain(two_sample_test(made, y, **FEW), made, y)
    assert told.effect.crossfitted > 4.0 * told.effect.crossfitted_error
    assert all(abs(column.share) < 4.0 * column.error + 0.05 for column in told.columns)


def test_tables_with_gaps_in_memory_and_in_files(tmp_path, monkeypatch):
    """Rows of the new table that are left out, and a column that the profile never had."""
    made = profile(table(8000, 6), frequencies=16)
    new = table(2000, 7, (0.3, 0.3, 0.4), gaps=0.1).assign(id=range(2000))
    options = {"exclude": "id", "nan_policy": "omit"}
    res = two_sample_test(made, new, **options, **FEW)
    told = explain(res, made, new)
    assert told.ranked()[0].name == "kind"
    assert told.top_rows(1).y[0].values["kind"] == "c"
    assert told.top_rows(1).x == ()
    new.to_parquet(tmp_path / "new.parquet")
    made.save(tmp_path / "made.profile")
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 100)
    again = explain(res, tmp_path / "made.profile", tmp_path / "new.parquet")
    assert (again.effect, again.columns) == (told.effect, told.columns)
    assert again.top_rows(1).y[0].values == told.top_rows(1).y[0].values


def test_bad_input_iv():
    x, y = normal(3000, 2, 9), normal(1000, 2, 10)
    made, other = profile(x, frequencies=4), profile(x, frequencies=4, kernels="paper1")
    res = two_sample_test(made, y, **FEW)
    told = explain(res, made, y)
    with pytest.raises(InputError, match="got two profiles"):
        explain(res, made, made)
    with pytest.raises(InputError, match="a test with this profile"):
        explain(res, other, y)
    with pytest.raises(InputError, match="must be the samples of `res`"):
        explain(res, made, y[:-1])
    with pytest.raises(InputError, match='kind="attribution"'):
        nosplit.plot(told, kind="witness")
    assert len(nosplit.plot(told).axes) == 3
