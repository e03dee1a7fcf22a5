"""Tests of every column: what they find, where they find nothing, and what they say."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit import InputError, column_tests


def table(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    shares = [0.3 + shift / 4, 0.4 - shift / 4, 0.3]
    return pd.DataFrame(
        {
            "a": rng.normal(shift, 1.0, n),
            "b": rng.normal(size=n),
            "city": rng.choice(["Rome", "Oslo", "Bern"], n, p=shares),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
        }
    )


SIZES = [(400, 400), (300, 700), (5000, 5000), (3000, 9000), (100, 4000)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_columns_that_differ_are_found_at_every_size(n, m):
    tests = column_tests(table(n, 0), table(m, 1, 0.8))
    assert set(tests.differing()) == {"a", "city"}
    assert set(tests.differing(adjustment="holm")) == {"a", "city"}
    assert tests["a"].words.startswith("mean ")
    assert "Oslo" in tests["city"].words
    assert np.diff(tests["a"].change.mean) == pytest.approx(0.8, abs=0.25)
    assert tests["a"].holm <= 4 * tests["a"].pvalue
    assert tests["a"].separation.value == pytest.approx(stats.norm.cdf(0.4), abs=0.06)
    looks = 2 * len(SIZES)  # intervals of two columns that do not differ, at every size
    assert max(tests[name].separation.of(looks).low for name in ("b", "day")) < 0.5


def test_effects_do_not_grow_with_the_number_of_rows():
    small, large = (column_tests(table(n, 2), table(n, 3, 0.5))["a"] for n in (900, 18_000))
    assert small.size == pytest.approx(large.size, abs=0.04)
    gaps = [np.diff(own.change.mean) for own in (small, large)]
    assert gaps[0] == pytest.approx(gaps[1], abs=0.15)


def test_family_wise_error_of_correlated_and_mixed_columns():
    """Of 250 samples in which one column differs, any other is named in about 5 % of them."""
    false = {"max-T": 0, "holm": 0}
    trials = 250
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=(160, 1))
        rows = 0.9 * common + 0.4 * rng.normal(size=(160, 5))
        rows[:, 3] = np.round(rows[:, 3])
        rows[:, 4] = rows[:, 4] > 1.0
        rows[80:, 0] += 1.0
        tests = column_tests(rows[:80], rows[80:], n_resamples=199, rng=seed)
        for method in false:
            false[method] += bool(set(tests.differing(adjustment=method)) - {"0"})
    for count in false.values():
        assert count <= stats.binom.isf(1e-4, trials, 0.05)
    assert false["max-T"] >= stats.binom.ppf(1e-4, trials, 0.03)


def test_missing_values_as_the_policy_says():
    x, y = table(2500, 5), table(2500, 6)
    y.loc[y.sample(300, random_state=0).index, "b"] = np.nan
    with pytest.raises(InputError, match="missing"):
        column_tests(x, y, nan_policy="raise")
    assert column_tests(x, y).differing() == ("b",)
    assert column_tests(x, y, nan_policy="omit").differing() == ()
    tests = column_tests(x, y, nan_policy="indicate")
    assert tests.differing() == ("b",)
    assert tests["b"].words == "missing 0 → 12 %"
    assert tests["b"].change.missing == (0.0, 0.12)


def test_files_and_profiles_tell_the_same_direction(tmp_path, monkeypatch):
    x, y = table(6000, 7), table(6000, 8, 0.4)
    y.loc[y.sample(600, random_state=0).index, "b"] = np.nan
    for name, frame in (("x", x), ("y", y)):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    paths = tmp_path / "x.parquet", tmp_path / "y.parquet"
    whole = column_tests(*paths, nan_policy="indicate")
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 0)
    passed = column_tests(*paths, nan_policy="indicate")
    assert set(whole.differing()) == set(passed.differing()) == {"a", "city", "b"}
    np.testing.assert_allclose(passed.pvalues, whole.pvalues)
    for name in ("a", "b"):
        assert passed[name].size == pytest.approx(whole[name].size, abs=0.02)
        a, b = whole[name].change, passed[name].change
        assert (b.what, b.mean) == (a.what, pytest.approx(a.mean, abs=0.02))
        assert b.median == pytest.approx(a.median, abs=0.02)
    assert passed["b"].change.missing == pytest.approx((0.0, 0.1), abs=0.01)
    profile = nosplit.profile(x, nan_policy="indicate")
    ahead, back = (column_tests(*pair) for pair in ((profile, y), (y, profile)))
    assert np.diff(ahead["a"].change.median) == pytest.approx(0.4, abs=0.1)
    assert np.diff(back["a"].change.median) == pytest.approx(-0.4, abs=0.1)
    assert ahead.how.reference.startswith("a profile of 6,000 rows")
    assert nosplit.two_sample_test(profile, y).columns["a"].change.what == "mean"


def test_a_result_has_its_columns_from_its_own_permutations():
    x, y = table(3000, 10), table(3000, 11, 0.3)
    res = nosplit.two_sample_test(x, y)
    assert res.columns.names == ("a", "b", "city", "day")
    assert res.columns.differing() == ("a", "city")
    assert min(res.columns.pvalues) == 1.0 / (res.how.n_resamples + 1)
    text = str(res)
    assert "  size     largest separation 5" in text
    assert "  changed  2 of 4 columns differ" in text
    assert "a      mean " in text
    linear = nosplit.two_sample_test(x["a"], y["a"], pairs="linear", calibration="asymptotic")
    assert len(linear.columns) == 0


def test_the_table_is_plain():
    tests = column_tests(table(500, 12), table(500, 13, 1.0))
    values = tests.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["differing"] == list(tests.differing())
    assert tests.to_frame()["column"].tolist() == list(tests.names) == ["a", "b", "city", "day"]
    assert len(tests) == len(list(tests)) == 4
    text = str(tests).splitlines()
    assert text[0] == repr(tests) == "2 of 4 columns differ (level 0.05 for all together)"
    assert text[1].split() == ["column", "p", "adjusted", "separation", "what", "changed"]
    assert [line.split()[0] for line in text if line[2] != " "][2:6] == ["a", "city", "day", "b"]
    assert all(len(line) <= 80 for line in text)
    assert tests._repr_html_().startswith(f"<div><strong>{text[0]}</strong><pre>")


def test_the_same_data_gives_the_same_tests():
    x, y = table(2500, 14), table(2500, 15, 0.1)
    first, again = (column_tests(x, y, workers=w) for w in (1, 3))
    assert first.to_dict() == again.to_dict()


def test_input_iv():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    for options, match in (
        ({"alpha": 2.0}, "`alpha`"),
        ({"n_resamples": 5}, "`n_resamples` must be an int ≥ 19"),
        ({"n_resamples": 10**9}, "`n_resamples` must be at most"),
        ({"columns": ["7"]}, "'7'"),
        ({"nan_policy": "drop"}, "`nan_policy`"),
    ):
        with pytest.raises(InputError, match=match):
            column_tests(x, y, **options)
    with pytest.raises(InputError, match="same number of columns"):
        column_tests(x, y[:, :1])
    with pytest.raises(InputError, match="finite"):
        column_tests(x, np.where(y > 1, np.nan, y))
    with pytest.raises(InputError, match="constant and equal"):
        column_tests(np.ones((50, 2)), np.ones((50, 2)))
    tests = column_tests(x, y)
    with pytest.raises(InputError, match="'holm'"):
        tests.differing(adjustment="hulm")
    with pytest.raises(InputError, match="no column 'z'"):
        tests["z"]


# Pairs in the result of a test ------------------------------------------------------------------


def _together(rng, n, rho=0.6):
    x, y = rng.normal(size=(2, n, 4))
    y[:, 2] = rho * y[:, 0] + np.sqrt(1.0 - rho**2) * y[:, 2]
    return x, y


@pytest.mark.parametrize("n", [150, 4000])
def test_pairs_that_differ_together_are_named(n):
    """By all pairs of rows and by a sketch; no column differs."""
    x, y = _together(np.random.default_rng(5), n, 0.6 if n == 150 else 0.3)
    res = nosplit.two_sample_test(x, y)
    assert res.how.pairs == ("complete" if n == 150 else "sketch")
    assert res.reject()
    assert res.columns.differing() == ()
    assert res.together() == res.pairs.differing() == (("0", "2"),)
    pair = res.pairs.rows[0]
    assert pair.pvalue <= pair.adjusted <= 0.05
    assert np.diff(pair.change.dependence) == pytest.approx(0.57 if n == 150 else 0.29, abs=0.2)
    assert "  together column 0 with column 2   correlation " in str(res)
    assert res.to_dict()["pairs"][0]["columns"] == ["0", "2"]
    assert "column 0 with column 2" in res._repr_html_()


def test_a_pair_is_not_named_where_a_column_of_it_differs():
    x, y = _together(np.random.default_rng(2), 300)
    y[:, 0] += 1.0
    res = nosplit.two_sample_test(x, y)
    assert "0" in res.columns.differing()
    assert all("0" not in names for names in res.together())


def test_names_of_pairs_of_tables():
    x, y = _together(np.random.default_rng(3), 300)
    x[::7, 1] = np.nan  # a column of two numbers: its values, and where they are missing
    y[::7, 1] = np.nan
    tables = [pd.DataFrame(z, columns=list("abcd")).assign(e="u") for z in (x, y)]
    res = nosplit.two_sample_test(*tables, nan_policy="indicate")
    assert res.together() == (("a", "c"),)
    assert len({pair.columns for pair in res.pairs.rows}) == len(res.pairs.rows)


def test_pairs_are_seldom_named_by_chance():
    rng, trials = np.random.default_rng(4), 120
    found = [nosplit.two_sample_test(*rng.normal(size=(2, 40, 5)), rng=i) for i in range(trials)]
    assert sum(bool(res.together()) for res in found) <= stats.binom.isf(1e-4, trials, 0.05)
    every = [pair for res in found for pair in res.pairs.rows]
    assert every
    assert all(pair.adjusted <= 0.1 for pair in every)
