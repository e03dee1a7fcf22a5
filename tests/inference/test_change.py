"""What changed in a column, in words: figures by pandas, evidence by permutations one by one."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit._old.engines.changes import changes_in_bins
from nosplit._old.sketch.bins import fit_pooled
from nosplit.data.encoding import Column, Encoding
from nosplit.inference.change import (
    Counts,
    bound_of,
    change_of_pair,
    describe,
)
from nosplit.inference.changes import SomeColumns

N = 1000
DATA = Path(nosplit.datasets.__file__).parent


def change(x, y):
    return SomeColumns((pd.DataFrame({"c": x}), pd.DataFrame({"c": y}))).change("c")


def rng():
    return np.random.default_rng(0)


def numbers_in(text):
    """Numbers of a text, in order."""
    plain = text.replace("−", "-").replace(",", "") if "→" in text else text
    return [float(v) for v in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", plain)]


def percents(*shares):
    return [pytest.approx(100.0 * share, abs=0.51) for share in shares]


# -- the examples ----------------------------------------------------------------------------------


def test_rate_of_a_conversion():
    r = rng()
    x, y = r.random(N) < 0.1, r.random(N) < 0.2
    for a, b in ((x, y), (x.astype(int), y.astype(int))):
        told = change(a, b)
        assert told.words.startswith("rate ")
        assert numbers_in(told.words)[:2] == percents(x.mean(), y.mean())
        assert f"(× {y.mean() / x.mean():.2f})" in told.words
        assert told.what == "rate"


def test_counts():
    r = rng()
    x, y = r.poisson(3.6, N), r.poisson(3.0, N)
    told = change(x, y)
    share = y.mean() / x.mean() - 1.0
    assert told.words == f"mean {x.mean():.2f} → {y.mean():.2f} (−{-100.0 * share:.0f} %)"
    assert told.mean == pytest.approx((x.mean(), y.mean()))
    few = change(r.poisson(1.0, N), r.poisson(1.3, N))
    assert few.words.startswith("mean ")
    assert ", zeros " in few.words


def test_many_zeros():
    r = rng()
    x, y = (np.where(r.random(N) < share, 0.0, r.gamma(2.0, 20.0, N)) for share in (0.9, 0.8))
    told = change(x, y)
    shares, means = told.words.split(", ")
    assert shares.startswith("zeros ")
    assert numbers_in(shares) == percents((x == 0).mean(), (y == 0).mean())
    assert numbers_in(means) == pytest.approx([x.mean(), y.mean()], abs=0.05)


def test_five_stars():
    r = rng()
    x = 1 + r.choice(5, N, p=[0.03, 0.05, 0.14, 0.29, 0.49])
    y = 1 + r.choice(5, N, p=[0.06, 0.10, 0.20, 0.29, 0.35])
    mean, share = change(x, y).words.split(", ")
    assert mean == f"mean {x.mean():.2f} → {y.mean():.2f}"
    assert share.startswith("5s: ")
    assert numbers_in(share.partition(":")[2]) == percents((x == 5).mean(), (y == 5).mean())


def test_outliers_widen_a_column():
    r = rng()
    x, y = r.normal(size=N), r.normal(size=N) * np.where(r.random(N) < 0.05, 8.0, 1.0)
    sds = x.std(ddof=1), y.std(ddof=1)
    assert f"sd {sds[0]:.2f} → {sds[1]:.2f} (× {sds[1] / sds[0]:.2f})" in change(x, y).text
    near = np.where(r.random(N) < 0.02, r.choice([-6.0, 6.0], N), r.normal(size=N))
    told = change(x, near)
    low, high, *shares = numbers_in(told.words)
    by_hand = [np.mean((v <= low) | (v > high)) for v in (x, near)]
    assert told.words.startswith("outside ")
    assert shares == [pytest.approx(100.0 * v, abs=0.051) for v in by_hand]
    assert told.more[0].startswith("sd ")


def test_shift_and_spread():
    r = rng()
    x, y = r.normal(50.0, 10.0, N), r.normal(53.0, 10.0, N)
    gap = f"{y.mean() - x.mean():.1f}"
    assert change(x, y).words == f"mean {x.mean():.1f} → {y.mean():.1f} (+{gap})"
    x, y = r.normal(0.0, 2.0, N), r.normal(0.0, 2.5, N)
    sds = pd.Series(x).std(), pd.Series(y).std()
    told = change(x, y)
    assert told.words == f"sd {sds[0]:.2f} → {sds[1]:.2f} (× {sds[1] / sds[0]:.2f})"
    assert told.sd == pytest.approx(sds)
    heavy = change(r.standard_cauchy(N), 1.0 + r.standard_cauchy(N))
    assert heavy.words.startswith("median ")
    assert numbers_in(heavy.words) == pytest.approx(heavy.median, abs=0.01)


def test_a_tail_says_the_mean_and_the_median_too():
    r = rng()
    x, y = r.normal(20.0, 2.0, N), r.normal(20.0, 2.0, N)
    y[: N // 10] = 26.0 + r.random(N // 10)
    told = change(x, y)
    limit, *shares = numbers_in(told.words)
    assert told.words.startswith("above ")
    by_hand = [100.0 * np.mean(v > limit) for v in (x, y)]
    assert shares == pytest.approx(by_hand, abs=0.051)
    assert re.match(r"mean [\d.]+ → [\d.]+, median [\d.]+ → [\d.]+$", told.more[0])
    assert told.median == pytest.approx((np.median(x), np.median(y)))


def test_departure_delays_of_flights():
    both = [pd.read_csv(DATA / f"flights_{month}.csv") for month in ("january", "july")]
    told = SomeColumns(tuple(both)).change("dep_delay")
    means = [frame["dep_delay"].mean() for frame in both]
    assert told.mean == pytest.approx(means)
    assert told.words == f"mean {means[0]:.1f} → {means[1]:.1f} (+{means[1] - means[0]:.1f})"


def test_missing_values():
    r = rng()
    x, y = r.normal(size=N), r.normal(size=N)
    y[:79] = np.nan
    told = change(x, y)
    assert (told.words, told.missing) == ("missing 0 → 7.9 %", (0.0, 0.079))
    both = change(x, y + 0.3)
    assert both.words.startswith("missing ") == (both.what == "missing")
    assert {line.split()[0] for line in (both.words, *both.more)} == {"mean", "missing"}


def test_dates():
    r = rng()
    start = pd.Timestamp("2026-09-01")
    x = start + pd.to_timedelta(r.integers(0, 30, N), "D")
    y = start + pd.to_timedelta(r.integers(0, 33, N), "D")
    told = change(x, y)
    late = 100.0 * np.mean(y > pd.Timestamp("2026-09-30"))
    assert told.words == f"after 30 Sep 2026: 0 → {late:.1f} %"
    days = [pd.Series(v).median() for v in (x, y)]
    assert told.more == (f"median {days[0].day} Sep → {days[1].day} Sep 2026",)
    moved = change(x, x + pd.Timedelta("400D"))
    assert re.match(r"m\w+ \d+ Sep 2026 → \d+ Oct 2027$", moved.words)


def test_durations_times_of_day_and_years():
    r = rng()
    x, y = (pd.to_timedelta(r.exponential(size, N), "s") for size in (60.0, 85.0))
    told = change(x, y)
    minutes = [v.total_seconds().to_numpy().mean() / 60.0 for v in (x, y)]
    assert f"mean {minutes[0]:.2f} → {minutes[1]:.2f} min (+" in told.text
    clocks = [pd.Series(pd.to_datetime(60e9 * r.integers(0, top, N)).time) for top in (600, 900)]
    assert re.match(r"(mean|after|above) \d\d:\d\d", change(*clocks).words)
    assert "2,0" not in change(r.integers(1950, 2009, N), r.integers(1960, 2019, N)).words


def test_whole_numbers_beyond_the_precision_of_floats():
    r = rng()
    with pytest.warns(nosplit.errors.NosplitWarning, match="beyond"):
        told = change(r.integers(2**53, 2**54, N), r.integers(2**54, 2**55, N))
    first, second = re.match(r"\w+ (\S+) → (\S+)", told.words).groups()
    assert float(first) < 2**54 < float(second)


def test_small_samples_that_do_not_overlap():
    assert change([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]).words == "mean 2.50 → 6.50 (+4.0)"


def test_nothing_but_shape_is_left():
    r = rng()
    assert change(r.normal(size=N), r.normal(size=N)).words == "the shape of its distribution"
    told = change(r.normal(0.0, 10.0, N), np.floor(r.normal(0.0, 10.0, N)) + 0.5)
    assert (told.words, told.what) == ("the shape of its distribution", None)
    two = change(r.normal(size=N), r.choice([-0.95, 0.95], N) + 0.3 * r.normal(size=N))
    assert two.words.startswith("mean distance from the median ")  # sd is the same


# -- evidence --------------------------------------------------------------------------------------


def test_the_bound_holds_by_chance():
    """Without a difference something is said in at most 5 % of trials, for any kind of column."""
    r = rng()
    laws = {
        "normal": lambda: r.normal(size=(2, 60)),
        "zeros": lambda: np.where(r.random((2, 60)) < 0.7, 0.0, r.exponential(size=(2, 60))),
        "stars": lambda: r.integers(1, 6, (2, 60)),
        "tiny": lambda: r.normal(size=(2, 6)),
    }
    for law, draw in laws.items():
        said = sum(describe(Counts.of(draw(), "numbers")).what is not None for _ in range(400))
        assert said <= stats.binom.isf(1e-4, 400, 0.06), law
    assert bound_of(1, 1e9) == pytest.approx(1.96, abs=1e-3)


def test_words_depend_on_counts_only():
    r = rng()
    x, y = r.poisson(5.0, 300).astype(float), r.poisson(6.0, 500).astype(float)
    told = describe(Counts.of((x, y), "numbers"))
    assert describe(Counts.of((r.permutation(x), np.sort(y)), "numbers")) == told
    turned = describe(Counts.of((y, x), "numbers"))
    assert (turned.what, turned.mean) == (told.what, told.mean[::-1])


@pytest.mark.parametrize("law", ["stars", "flag", "counts", "zeros"])
def test_bins_of_few_values_say_the_same(law):
    r = rng()
    draw = {
        "stars": lambda s: r.choice(5, N, p=np.array([1, 1, 2, 3, 3 + s]) / (10 + s)) + 1.0,
        "flag": lambda s: (r.random(N) < 0.2 + 0.1 * s).astype(float),
        "counts": lambda s: r.integers(s, 14 + s, N).astype(float),
        "zeros": lambda s: np.where(r.random(N) < 0.7 - 0.1 * s, 0.0, 0.5 * r.integers(2, 13, N)),
    }[law]
    x, y = draw(0), draw(1)
    encoded = [(v - 3.0) / 0.7 for v in (x, y)]  # as rows are: centred and scaled
    (bins,) = fit_pooled(np.concatenate(encoded)[:, None], ())
    places = [np.searchsorted(bins.edges, v) for v in encoded]
    counts = np.stack([np.bincount(p, minlength=len(bins)) for p in places]).astype(float)
    encoding = Encoding((Column("c", "numbers", 3.0, 0.7),))
    assert changes_in_bins([bins], counts, encoding) == [describe(Counts.of((x, y), "numbers"))]


def test_bins_of_many_values_say_nearly_the_same():
    r = rng()
    x, y = r.gamma(3.0, 2.0, 20_000), r.gamma(3.0, 2.2, 20_000)
    (bins,) = fit_pooled(np.concatenate([x, y])[:, None], ())
    places = [np.searchsorted(bins.edges, v) for v in (x, y)]
    counts = np.stack([np.bincount(p, minlength=len(bins)) for p in places]).astype(float)
    (told,) = changes_in_bins([bins], counts, None)
    whole = describe(Counts.of((x, y), "numbers"))
    assert told.what == whole.what == "mean"
    assert told.mean == pytest.approx(whole.mean, rel=0.02)
    assert told.median == pytest.approx(whole.median, rel=0.01)
    assert told.sd is None


def test_the_spread_in_bins_is_that_of_quartiles():
    r = rng()
    x, y = r.normal(size=20_000), 1.3 * r.normal(size=20_000)
    (bins,) = fit_pooled(np.concatenate([x, y])[:, None], (), most=32)
    places = [np.searchsorted(bins.edges, v) for v in (x, y)]
    counts = np.stack([np.bincount(p, minlength=len(bins)) for p in places]).astype(float)
    words = changes_in_bins([bins], counts, None)[0].text
    ranges = [stats.iqr(v) for v in (x, y)]
    found = numbers_in(words[words.index("interquartile") :])
    assert found[:2] == pytest.approx(ranges, abs=0.03)
    assert found[2] == pytest.approx(ranges[1] / ranges[0], abs=0.02)


def test_private_words_hold_no_values():
    r = rng()
    x = r.normal(1234.0, 1.0, N)
    tail = np.where(r.random(N) < 0.05, 1300.0, x)
    for told in (change(x, tail), change(r.choice(["ann", "bob"], N), ["ann"] * N)):
        told = told.private()
        assert not re.search(r"1230|12[3-9]\d|1300|ann|bob", told.words)
        assert (told.median, told.more, told.categories) == (None, (), ())


# -- designs, pairs, distances ---------------------------------------------------------------------


def test_spread_inside_strata():
    r = rng()
    site, late = r.integers(0, 4, 800), np.repeat([False, True], 400)
    rows = pd.DataFrame({"site": site, "yield": 3.0 * site + r.normal(size=800) * (1 + late)})
    res = nosplit.two_sample_test(rows[~late], rows[late], strata="site")
    sd = rows.groupby([late, "site"])["yield"].std(ddof=0).to_numpy().reshape(2, 4)
    n, m = (np.bincount(site[side]) for side in (~late, late))
    first, second = (sd**2) @ (n * m / (n + m))
    assert res.columns.rows[0].words == f"sd inside strata × {np.sqrt(second / first):.2f}"


def test_a_pair_of_columns():
    r = rng()
    x, y = r.normal(size=(2, N, 3))
    x[:, 1] = 0.62 * x[:, 0] + 0.78 * x[:, 1]
    res = nosplit.two_sample_test(x, y)
    first, second = (stats.spearmanr(v[:, 0], v[:, 1]).statistic for v in (x, y))
    words = f"correlation {first:.2f} → {second:.2f}".replace("-", "−")
    assert res.pairs.rows[0].words == words
    assert res.to_dict()["pairs"][0]["words"] == words
    assert change_of_pair((0.31, 0.32), (N, N)).words == "which values go together"
