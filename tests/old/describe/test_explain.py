"""What differs: effect sizes, columns and rows on data where the answer is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import nosplit
from nosplit import InputError, explain, two_sample_test
from nosplit._old.describe.attribution import attribute
from nosplit._old.describe.pair_means import Means, row_pairs
from nosplit.kernels import Combination
from nosplit.kernels.bank import Bank

FEW = (nosplit.kernels.Gaussian(1.0), nosplit.kernels.Gaussian(3.0), nosplit.kernels.Linear())


@pytest.fixture(autouse=True)
def _less_time(monkeypatch):
    """Fewer pairs: these tests need no more."""
    monkeypatch.setattr("nosplit._old.describe.attribution.SECONDS", 0.1)
    monkeypatch.setattr("nosplit._old.describe.effect.SECONDS", 0.05)


def samples(n, p, seed=0, m=None):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.normal(size=(m or n, p))


def explained(x, y, **options):
    return explain(two_sample_test(x, y, **options), x, y)


@pytest.fixture(scope="module")
def shifted():
    """Columns 3 and 7 of ten differ."""
    x, y = samples(600, 10)
    y[:, [3, 7]] += 0.5
    return x, y, explained(x, y)


# -- columns -----------------------------------------------------------------------------------


def test_the_columns_that_differ_are_found_against_theory(shifted):
    *_, told = shifted
    assert {c.name for c in told.ranked()[:2]} == {"column 3", "column 7"}
    share = np.array([c.share for c in told.columns])
    assert np.all(share[[3, 7]] > 0.25)
    assert np.all(np.abs(np.delete(share, [3, 7])) < 0.15)
    # Each says something of its own: what is lost without it, it shows alone.
    for c in (told.columns[3], told.columns[7]):
        assert_allclose(c.lost, c.alone, rtol=0.5)
        assert_allclose(c.carried, (c.lost + c.alone) / 2.0)


def test_a_change_of_correlation_is_carried_by_both_columns_against_theory():
    x, y = samples(800, 5, seed=1)
    y[:, 1] = 0.8 * y[:, 0] + 0.6 * y[:, 1]
    told = explained(x, y)
    share = np.array([c.share for c in told.columns])
    assert {c.name for c in told.ranked()[:2]} == {"column 0", "column 1"}
    assert np.all(np.abs(share[:2] - 0.5) < 0.15)
    assert np.all(np.abs(share[2:]) < 0.1)
    # Neither shows anything alone, and without either nothing is left.
    total = told.columns[0].carried / told.columns[0].share
    for c in told.columns[:2]:
        assert abs(c.alone) < 0.15 * total
        assert_allclose(c.lost, total, rtol=0.2)


def test_columns_carry_nothing_on_average_without_a_difference_against_theory():
    """Weights that were learned elsewhere: the mean over 30 samples is 0 within 5 standard errors.

    A false alarm has a chance of about 5e-6 for 8 means, by the normal law.
    """
    kernels = Bank((nosplit.kernels.Gaussian(2.0), nosplit.kernels.Linear()))
    weights, columns = np.array([1.0, 0.1]), {str(i): (i,) for i in range(4)}
    found = []
    for seed in range(30):
        x, y = samples(60, 4, seed=seed)
        carried, _ = attribute(x, y, kernels, weights, columns, np.random.default_rng(seed))
        found.append([[c.lost, c.alone] for c in carried])
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0)) < 5.0 * error)


def test_wide_rows_are_updated_to_the_same_numbers_properties(monkeypatch):
    x, y = samples(40, 6, seed=15)
    more = (
        nosplit.kernels.IMQ(1.0),
        nosplit.kernels.Matern(2.0),
        nosplit.kernels.Polynomial(2, 1.0),
    )
    bank, weights = Bank((*FEW, *more, nosplit.kernels.Laplace(2.0))), np.arange(1.0, 8.0)
    columns = {"a": (0,), "b": (1, 2), "c": (5,)}
    found = []
    for wide in (1, 100):
        monkeypatch.setattr("nosplit._old.describe.column_swaps.WIDE", wide)
        monkeypatch.setattr("nosplit._old.describe.attribution.FEWEST_PAIRS", 10**6)
        found.append(attribute(x, y, bank, weights, columns, np.random.default_rng(0))[0])
    for one, other in zip(*found, strict=True):
        assert one.name == other.name
        assert_allclose(one[1:], other[1:], rtol=1e-9, atol=1e-12)


def test_samples_are_left_as_they_are(shifted):
    x, y, told = shifted
    copies = x.copy(), y.copy()
    explain(told.result, x, y)
    assert np.array_equal(copies[0], x)
    assert np.array_equal(copies[1], y)


# -- effect sizes ------------------------------------------------------------------------------


def test_effect_size_does_not_grow_with_the_rows_against_theory():
    """A hundred times the rows: p goes to 0, and the effect size stays within 4 of its errors."""
    few, many = (samples(n, 3, seed=3) for n in (500, 50_000))
    for _, y in (few, many):
        y[:, 0] += 0.3
    small, large = explained(*few), explained(*many)
    assert small.result.log_pvalue > -7.0
    assert large.result.pvalue == 1e-4  # the smallest of 9,999 draws
    a, b = small.effect, large.effect
    error = math.hypot(a.crossfitted_error, b.crossfitted_error)
    assert abs(a.crossfitted - b.crossfitted) < 4.0 * error
    error = math.hypot(a.largest.error, b.largest.error)
    assert abs(a.separation - b.separation) < 4.0 * error
    assert large.effect.crossfitted_error < small.effect.crossfitted_error / 4.0
    assert_allclose(small.effect.learned, large.effect.learned, rtol=0.6)
    # The best rule for a shift of 0.3 is right with probability Φ(0.15) = 0.56.
    assert abs(large.effect.separation - 0.56) < 0.01
    # A mean shift by 0.3: the linear kernel's MMD² is 0.09.
    linear = large.kernels[-1]
    assert linear.label == "Linear()"
    assert abs(linear.mmd2 - 0.09) < 4.0 * linear.error < 0.04


def test_learning_is_optimistic_and_crossfitting_is_not_against_theory():
    """Without a difference, over 20 samples: one mean is above 0 and the other within its error."""
    effects = []
    for seed in range(20):
        x, y = samples(80, 2, seed=seed)
        effects.append(explained(x, y, kernels=list(FEW), pairs="complete").effect)
    learned = np.array([e.learned for e in effects])
    crossed = np.array([e.crossfitted for e in effects])
    lowest = np.array([e.separation_low for e in effects])
    error = crossed.std(ddof=1) / math.sqrt(20.0)
    assert learned.mean() > 3.0 * learned.std(ddof=1) / math.sqrt(20.0)
    assert abs(crossed.mean()) < 4.5 * error
    assert np.count_nonzero(lowest > 0.5) <= 4  # a chance of 0.025 each


def test_mmd_is_the_unbiased_estimate_against_numpy():
    x, y = samples(41, 2, seed=4)
    y *= 1.5
    told = explained(x, y, kernels=list(FEW))
    for kernel, effect in zip(FEW, told.kernels, strict=True):
        k_x, k_y, k_xy = kernel.tile(x, x), kernel.tile(y, y), kernel.tile(x, y)
        off = ~np.eye(41, dtype=bool)
        # 41 units in all their pairs; which row of x meets which of y is a matter of chance,
        # so only the expectation over that, the mean over all pairs, is the same.
        exact = k_x[off].mean() + k_y[off].mean() - 2.0 * k_xy.mean()
        assert abs(effect.mmd2 - exact) < 0.3 * effect.error
        assert effect.error > 0


def test_error_of_the_mean_counts_pairs_that_share_a_unit_against_theory():
    """Values a_i + a_j: the mean is twice that of the a, and so is its standard error."""
    pairs = row_pairs(301, 10**9)
    assert pairs.n_pairs == 301 * 300 // 2
    a = np.random.default_rng(5).normal(size=301)
    i, j = pairs.index
    means = Means.of((a[i] + a[j])[None], pairs)
    one = np.ones(1)
    assert_allclose(means.signal(one), 2.0 * a.mean())
    assert_allclose(means.error(one), 2.0 * a.std() / math.sqrt(301.0), rtol=0.01)
    # Independent values: the error of a plain mean.
    noise = np.random.default_rng(6).normal(size=pairs.n_pairs)
    means = Means.of(noise[None], pairs)
    assert_allclose(means.error(one), noise.std() / math.sqrt(len(noise)), rtol=0.25)


def test_values_need_not_be_kept_properties():
    x, y = samples(57, 2, seed=16)
    bank = Bank(FEW)
    for wanted in (57, 300, 10**6):
        pairs = row_pairs(57, wanted)
        kept = Means.of(pairs.values(x, y, bank, np.eye(3)), pairs)
        folded = Means.of_kernels(x, y, bank, pairs)
        for name in ("mean", "cov", "shared"):
            assert_allclose(getattr(folded, name), getattr(kept, name), rtol=1e-9, atol=1e-12)


# -- the witness function and rows ---------------------------------------------------------------


def test_witness_against_numpy(shifted):
    x, y, told = shifted
    points = np.random.default_rng(7).normal(size=(5, 10))
    kernel = told.kernel
    assert isinstance(kernel, Combination)
    plain = kernel.tile(points, x).mean(axis=1) - kernel.tile(points, y).mean(axis=1)
    assert_allclose(told.witness(points), plain - told.level, rtol=1e-9)
    # Rows: without their own value, and on average as far above 0 in x as below it in y.
    at = told.x.index[0]
    others = np.delete(x, at, axis=0)
    alone = kernel.tile(x[[at]], others).mean() - kernel.tile(x[[at]], y).mean()
    assert_allclose(told.x.witness[0], alone - told.level, rtol=1e-9)
    assert_allclose(told.x.witness.mean(), -told.y.witness.mean(), rtol=1e-9)
    assert told.x.witness.mean() > 0
    assert told.witness(np.empty((0, 10))).shape == (0,)


def test_difference_of_the_means_of_the_witness_is_the_effect_against_theory(shifted):
    *_, told = shifted
    gap = told.x.witness.mean() - told.y.witness.mean()
    assert_allclose(gap, told.effect.learned, atol=told.effect.learned_error)


def test_top_rows_are_where_the_samples_differ():
    x, y = samples(300, 2, seed=9)
    x[:20], y[:20] = [4.0, 0.0] + 0.1 * x[:20], [0.0, -4.0] + 0.1 * y[:20]
    told = explained(x, y, kernels=nosplit.kernels.Gaussian(0.5))
    top = told.top_rows(10)
    assert len(top.x) == len(top.y) == 10
    assert all(row.index < 20 for row in (*top.x, *top.y))
    assert top.x[0].witness == max(told.x.witness) > 0 > top.y[0].witness == min(told.y.witness)
    assert top.x[0].values == {f"column {j}": x[top.x[0].index, j] for j in range(2)}


def test_large_samples_are_looked_at_in_part():
    x, y = samples(3000, 2, seed=10)
    y[:, 0] += 0.3
    res = two_sample_test(x, y, calibration="asymptotic", pairs=2, kernels=list(FEW))
    told = explain(res, x, y, rows=50)
    assert told.x.rows.shape == told.y.rows.shape == (50, 2)
    assert_allclose(told.y.rows, y[told.y.index])
    assert len(told.top_rows(100).x) == 50
    again = explain(res, x, y, rows=50)
    assert told.to_dict() == again.to_dict()
    assert told.to_dict() != explain(res, x, y, rows=50, rng=1).to_dict()


# -- tables --------------------------------------------------------------------------------------


def tables(n=250):
    rng = np.random.default_rng(11)
    frames = []
    for shift in (0, 1):
        frame = pd.DataFrame(
            {
                "age": rng.normal(40 + 6 * shift, 12, n),
                "city": rng.choice(["Rome", "Oslo"], n, p=[0.7 - 0.3 * shift, 0.3 + 0.3 * shift]),
                "income": rng.lognormal(size=n),
                "since": pd.Timestamp("2024-01-01")
                + pd.to_timedelta(rng.integers(99, size=n), "D"),
            }
        )
        frame.loc[rng.random(n) < 0.1, "income"] = np.nan
        frames.append(frame)
    return frames


@pytest.mark.parametrize("policy", ["omit", "indicate"])
def test_tables(policy):
    x, y = tables()
    res = two_sample_test(x, y, nan_policy=policy)
    told = explain(res, x, y)
    assert [c.name for c in told.columns] == ["age", "city", "income", "since"]
    assert {c.name for c in told.ranked()[:2]} == {"age", "city"}
    for sample, rows in ((x, told.top_rows(3).x), (y, told.top_rows(3).y)):
        for row in rows:  # as they came, at their places in the table
            given = sample.iloc[row.index]
            assert row.values["age"] == given["age"]
            assert row.values["city"] == given["city"]
            assert pd.Timestamp(row.values["since"]) == given["since"]
    values = told.witness(x)
    missing = x["income"].isna().to_numpy()
    assert len(values) == len(x)
    assert np.array_equal(np.isnan(values), missing & (policy == "omit"))
    assert "city" in str(told)


def test_samples_of_different_sizes():
    x, y = samples(100, 2, seed=13)
    told = explain(two_sample_test(x, y[:70] + 1.0), x, y[:70] + 1.0)
    assert told.n_rows == 170
    with pytest.raises(InputError, match=r"with 170 rows in all; got 100 and 100"):
        explain(told.result, x, y)


def test_columns_of_arrays_that_were_left_out_have_no_name():
    x, y = samples(100, 4, seed=12)
    y[:, 2] += 1.0
    told = explain(two_sample_test(x, y, exclude=[1], scale="robust"), x, y)
    assert [c.name for c in told.columns] == ["column 0", "column 2", "column 3"]
    assert told.ranked()[0].name == "column 2"
    row = told.top_rows(1).y[0]
    assert row.values["column 2"] == y[row.index, 2]


def test_files_whole_and_in_passes(tmp_path, monkeypatch):
    x, y = samples(2000, 3, seed=14)
    y[:, 1] += 0.8
    paths = [tmp_path / "x.npy", tmp_path / "y.npy"]
    for path, sample in zip(paths, (x, y), strict=True):
        np.save(path, sample)
    told = explain(two_sample_test(*paths, kernels=list(FEW), pairs=3), *paths)
    assert told.ranked()[0].name == "column 1"
    assert told.to_dict() == explain(told.result, x, y).to_dict()
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 100)
    in_passes = explain(two_sample_test(*paths, kernels=list(FEW), pairs="sketch"), *paths)
    assert in_passes.to_dict() == explain(in_passes.result, x, y).to_dict()
    assert_allclose(in_passes.x.rows, x[in_passes.x.index])
    with pytest.raises(InputError, match="must be the samples of `res`"):
        explain(two_sample_test(x[:50], y[:50]), *paths)


# -- text and input ------------------------------------------------------------------------------


def test_text_warns_where_there_is_no_evidence():
    told = explained(*samples(40, 2))
    assert str(told).startswith("The test found no evidence of a difference (p = ")


def test_to_dict_is_json_without_data(shifted):
    *_, told = shifted
    values = told.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["descriptive"] is True
    assert len(values["columns"]) == 10
    assert set(values["top_rows"]["x"][0]) == {"index", "witness"}


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_kernels_of_ones_own_and_all_methods():
    x, y = samples(40, 2, seed=13)
    own = [
        nosplit.kernels.Gaussian(1.0) + nosplit.kernels.Linear(),
        nosplit.kernels.Laplace(1.0) * nosplit.kernels.Gaussian(2.0),
    ]
    for method in ("ost", "best", "wald", "nonnegative", "split", "adaptive"):
        told = explained(x, y * 2.0, kernels=own, method=method)
        assert np.isfinite(told.effect.crossfitted)
        assert told.effect.learned > 0


def test_nothing_learned_weighs_all_kernels_alike():
    x, y = samples(60, 1)
    res = two_sample_test(x, y, kernels=list(FEW))
    res = replace(res, selection=replace(res.selection, weights=np.zeros(3)))
    weights = np.array(explain(res, x, y).kernel.weights) * np.sqrt(np.diagonal(res.selection.cov))
    assert_allclose(weights, weights[0])


def test_input_iv(shifted):
    x, y, told = shifted
    res = told.result
    with pytest.raises(InputError, match="`res` must be a TestResult, got dict"):
        explain({}, x, y)
    other = nosplit.independence_test(x[:100, 0], y[:100, 0])
    with pytest.raises(InputError, match=r"two-sample test, got one that asks: Are the variables"):
        explain(other, x, y)
    with pytest.raises(InputError, match=r"1,200 rows in all and 600 or more in.*500 and 600"):
        explain(res, x[:500], y)
    with pytest.raises(InputError, match="same number of columns, got 9 and 10"):
        explain(res, x[:, :9], y)
    with pytest.raises(InputError, match="at least 8 rows"):
        explain(res, x[:3], y)
    with pytest.raises(InputError, match="`points` must have 10 columns, got 2"):
        told.witness([[0.0, 1.0]])
    with pytest.raises(InputError, match="`k` must be an int ≥ 1"):
        told.top_rows(0)
    with pytest.raises(InputError, match="`rows` must be an int ≥ 8"):
        explain(res, x, y, rows=3)


def test_one_column_carries_all():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 1)), rng.normal(0.8, 1.0, size=(120, 1))
    told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    [column] = told.columns
    assert (column.share, column.error) == (1.0, 0.0)
    assert column.carried == pytest.approx(told.effect.learned, rel=0.5)
    assert told._repr_html_().startswith("<div><strong>A ")


def test_errors_of_two_folds_do_not_cancel():
    """They were taken to be independent: a fifth of the intervals of 95 % missed, at 200 rows."""
    from nosplit._old.describe.effect import mean_estimate

    assert mean_estimate((1.0, 0.3), (2.0, 0.1)) == pytest.approx((1.5, 0.2))
