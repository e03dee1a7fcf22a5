"""Profiles: exact, powerful, mergeable, and refused where they do not fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import signal, stats

import nosplit
from nosplit import Exact, InputError
from nosplit._old.engines.profiles import CAREFUL
from nosplit.kernels import Gaussian, Laplace, Linear

KERNELS = [Gaussian(1.0), Laplace(0.7), Linear()]
SMALL = {"rows": 200, "least": 5, "frequencies": 6, "workers": 1}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2))
NEW = RNG.normal(size=(600, 2))


@pytest.fixture(scope="module")
def made():
    return nosplit.profile(X, kernels=KERNELS, **SMALL)


def pvalue(profile, new, rng=0, **options):
    options = {"calibration": Exact(99), "workers": 1, "rng": rng, **options}
    return nosplit.two_sample_test(profile, new, **options).pvalue


def in_order(rng, n, m):
    """Both sorted: cells that are runs of rows, or dealt alike, would differ."""
    return np.sort(rng.exponential(size=n)), np.sort(rng.exponential(size=m))


def reference_in_order(rng, n, m):
    return np.sort(rng.exponential(size=n)), rng.exponential(size=m)


def ties(rng, n, m):
    return rng.poisson(1.0, (n, 2)).astype(float), rng.poisson(1.0, (m, 2)).astype(float)


def heavy(rng, n, m):
    return rng.standard_cauchy((n, 2)), rng.standard_cauchy((m, 2))


def rare(rng, n, m):
    """A table whose categories are mostly in no pilot row, or in few."""
    share = np.array([0.9, 0.05, 0.03, 0.01] + [0.01 / 50] * 50)
    names = np.array([f"kind {i}" for i in range(len(share))])

    def draw(k):
        kinds = rng.choice(names, k, p=share / share.sum())
        return pd.DataFrame({"size": rng.normal(size=k), "kind": kinds})

    return draw(n), draw(m)


LEVELS = {
    "sorted": (in_order, 1200, 300),
    "sorted reference": (reference_in_order, 1200, 300),
    "ties, 1 : 1": (ties, 900, 700),
    "heavy tails, 1 : 2": (heavy, 900, 450),
    "1 : 40": (heavy, 4000, 100),
    "rare categories": (rare, 1200, 300),
    "in three parts": (in_order, 900, 300),
}


@pytest.mark.parametrize("name", LEVELS)
def test_level_against_theory(name):
    """Two-sided bounds of the binomial law, for false alarms of 1 in 1,000 a case."""
    draw, n, m = LEVELS[name]
    trials, count = 100, 0
    kernels = {} if draw is rare else {"kernels": KERNELS}
    for trial in range(trials):
        rng = np.random.default_rng([len(name), trial])
        x, y = draw(rng, n, m)
        cells = {**SMALL, "least": 2 if m == 100 else 5}
        profile = nosplit.profile(x, rng=trial, **kernels, **cells)
        for _ in range(2 * (name == "in three parts")):
            # The same seed: sorted parts of one size must not be dealt alike all the same.
            profile += nosplit.profile(draw(rng, n, m)[0], like=profile, rng=trial, workers=1)
        count += pvalue(profile, y, rng=trial, calibration=Exact(39)) <= 0.05
    low, high = stats.binom.ppf([5e-4, 1 - 5e-4], trials, 0.05)
    assert low <= count <= high


def test_key_depends_on_the_data():
    """Two samples that are dealt with the same seed are not dealt alike."""
    rows = np.sort(RNG.exponential(size=(2, 1000)))
    first = nosplit.profile(rows[0], kernels=KERNELS, **SMALL)
    second, third = (nosplit.profile(r, like=first) for r in (rows[1], rows[1] + 1e-9))
    ranks = [np.argsort(p.cells.features[:, -1]) for p in (second, third)]
    assert not np.array_equal(*ranks)


def test_sees_what_differs(made):
    assert pvalue(made, RNG.normal(size=(600, 2)) * [1.0, 1.5]) == 0.01
    assert pvalue(made, RNG.normal([0.4, 0.0], 1.0, size=(600, 2))) == 0.01
    turned = RNG.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=600)
    assert pvalue(made, turned) == 0.01


def test_power_is_about_that_of_the_rows():
    """Beside a sketch of the rows: of 40 trials, 15 fewer are beyond the noise (1 in 1,000)."""
    hits = np.zeros(2)
    for trial in range(40):
        rng = np.random.default_rng([5, trial])
        x, y = rng.normal(size=(2400, 2)), rng.normal(size=(400, 2)) * [1.0, 1.2]
        profile = nosplit.profile(x, kernels=KERNELS, rng=trial, **SMALL)
        hits[0] += pvalue(profile, y, rng=trial) <= 0.05
        direct = nosplit.two_sample_test(
            x, y, kernels=KERNELS, pairs="sketch", calibration=Exact(99), rng=trial, workers=1
        )
        hits[1] += direct.pvalue <= 0.05
    assert hits[0] >= hits[1] - 15
    assert hits[0] >= 20


def test_large_new_samples_use_more_of_the_reference():
    x = np.random.default_rng(1).normal(size=60_000)
    profile = nosplit.profile(x, kernels=KERNELS, **SMALL)
    assert [size for size, _ in profile.levels] == [5, 20, 80, 320, 1280]
    few = nosplit.two_sample_test(profile, x[:400] + 1e-3, calibration=Exact(19))
    many = nosplit.two_sample_test(profile, x[:20_000] + 1e-3, calibration=Exact(19))
    assert few.how.n_used == 400 + 20_000
    assert many.how.n_used > 70_000


# What it is -------------------------------------------------------------------------------------


def test_cells_have_ten_rows_unless_less_is_allowed():
    assert CAREFUL == 10
    assert nosplit.profile(X, frequencies=2).cell_rows == 10
    assert nosplit.profile(X, frequencies=2, rows=7_500).cell_rows == 30
    assert nosplit.profile(X, frequencies=2, rows=1_000, least=1).cell_rows == 4


def test_pilot_rows_are_in_no_cell(made):
    assert made.n_pilot + made.tiers.n_rows <= made.n_rows == 3000
    assert made.cells.bins[:, : len(made.map.bins[0])].sum() == made.tiers.n_rows


def test_does_not_depend_on_workers(made):
    other = nosplit.profile(X, kernels=KERNELS, **{**SMALL, "workers": 2})
    assert np.array_equal(made.cells.features, other.cells.features)
    assert made.recipe == other.recipe


def test_either_argument_may_be_the_profile(made):
    results = [
        nosplit.two_sample_test(*pair, calibration=Exact(99)) for pair in ((made, NEW), (NEW, made))
    ]
    # What changed is told the other way round.
    first, second = ([c.change.median for c in res.columns.rows] for res in results)
    assert first == [pair[::-1] for pair in second]
    first, second = ({**res.to_dict(), "columns": None} for res in results)
    assert first["how"].pop("sizes") == second["how"].pop("sizes")[::-1]
    assert first == second


def test_no_row_is_kept(made):
    """Values of single columns are, as quantiles of the pilot, and not which go together."""
    assert made.map.landmarks.size == 0
    edges = [bins.edges for bins in made.map.bins]
    whole = [np.isin(X[:, j], edges[j]) for j in range(2)]
    assert np.count_nonzero(whole[0]) < 70
    assert np.count_nonzero(whole[0] & whole[1]) < 10


# Adding -----------------------------------------------------------------------------------------


def test_parts_add_up(made):
    total, n = made, made.n_rows
    for seed in range(3):
        rows = np.random.default_rng(seed).normal(size=(500, 2))
        total += nosplit.profile(rows, like=made)
        n += 500
    assert total.n_rows == n
    assert total.tiers.n_rows == made.tiers.n_rows + 1500
    assert "in 4 parts" in total.summary
    assert made.n_rows == 3000
    assert pvalue(total, RNG.normal(size=(600, 2)) * 1.5) == 0.01


def test_a_part_is_dealt_as_a_new_sample_is():
    """A part in its own cells is what a sketch of the same rows is."""
    first = nosplit.profile(X, kernels=KERNELS, **SMALL)
    again = [nosplit.profile(NEW, like=first) for _ in range(2)]
    assert np.array_equal(again[0].cells.features, again[1].cells.features)
    assert again[0].tiers.n_rows == 600
    total = (first + again[0]).cells.features.sum(axis=0)
    assert np.array_equal(
        total, (first.cells.features.sum(axis=0) + again[0].cells.features.sum(0))
    )


def test_two_profiles_are_compared(made):
    same = nosplit.profile(np.random.default_rng(8).normal(size=(900, 2)), like=made)
    other = nosplit.profile(np.random.default_rng(9).normal(size=(900, 2)) * 1.4, like=made)
    assert pvalue(made, same) > 0.01
    assert pvalue(other, made) == 0.01


def test_other_recipes_iv(made):
    other = nosplit.profile(NEW, kernels=KERNELS, **SMALL)
    with pytest.raises(InputError, match="same recipe to be added, got maps that were made"):
        made + other
    wide = nosplit.profile(RNG.normal(size=(600, 3)), kernels=KERNELS, **SMALL)
    with pytest.raises(InputError, match="same recipe to be compared, got columns"):
        nosplit.two_sample_test(made, wide)
    with pytest.raises(InputError, match="different rows to be added"):
        made + nosplit.profile(X, like=made, rng=1) + nosplit.profile(X, like=made)
    with pytest.raises(TypeError):
        made + 3


# Tables and files -------------------------------------------------------------------------------


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "size": rng.exponential(size=n),
            "kind": rng.choice(["a", "b"], n),
            "gap": np.where(rng.random(n) < 0.1, np.nan, 1.0 + rng.normal(size=n)),
        }
    )


@pytest.fixture(scope="module")
def of_table():
    return nosplit.profile(table(1500), exclude="id", nan_policy="indicate", **SMALL)


def test_tables(of_table):
    assert of_table.columns == ("size", "kind", "gap")
    assert of_table.ignored == ("id",)
    new = table(400, 1)
    same = pvalue(of_table, new)
    assert same > 0.05
    assert pvalue(of_table, new[["gap", "kind", "size"]]) == same
    assert pvalue(of_table, new.assign(more=1), exclude="more") == same
    assert pvalue(of_table, new.assign(size=new["size"] * 1.6)) == 0.01
    assert pvalue(of_table, new.assign(gap=np.nan)) == 0.01


def test_missing_rows_are_left_out():
    made = nosplit.profile(table(1500), exclude="id", nan_policy="omit", **SMALL)
    assert made.n_left_out == table(1500)["gap"].isna().sum()
    assert made.n_rows + made.n_left_out == 1500
    new = table(400, 1)
    res = nosplit.two_sample_test(made, new, calibration=Exact(99))
    assert res.how.n_used + res.how.n_left_out == 1900
    whole = nosplit.profile(table(1500).dropna(), exclude="id", **SMALL)
    with pytest.raises(InputError, match="Values are missing"):
        pvalue(whole, new)
    assert pvalue(whole, new, nan_policy="omit") > 0.01
    with pytest.raises(InputError, match="`nan_policy` must be left out"):
        pvalue(whole, new, nan_policy="indicate")


def test_arrays_with_missing_values(made):
    new = NEW.copy()
    new[:5, 0] = np.nan
    with pytest.raises(InputError, match="`y` must be finite"):
        pvalue(made, new)
    assert pvalue(made, new, nan_policy="omit") == pvalue(made, new[5:])
    large = np.concatenate([X] * 30)
    large[-1, 0] = np.inf
    with pytest.raises(InputError, match="`reference` must be finite"):
        nosplit.profile(large, kernels=KERNELS, **SMALL)


def test_alike_neighbours_are_warned_of_and_change_nothing():
    """An autoregression: a warning about the new sample, and an exact test as ever."""
    rng = np.random.default_rng(3)
    made = nosplit.profile(rng.normal(size=3000), kernels=KERNELS, **SMALL)
    new = signal.lfilter([1.0], [1.0, -0.7], rng.normal(size=3050))[50:]
    res = nosplit.two_sample_test(made, new, calibration=Exact(99))
    assert any("DependentRowsWarning" in text for text in res.warnings)
    assert res.how.calibration == "exact"


# Refusals ---------------------------------------------------------------------------------------


def test_other_columns_iv(made, of_table):
    new = table(400)
    cases = [
        (of_table, new.assign(more=1), "has 'more' besides. Leave them out with exclude="),
        (of_table, new.drop(columns="kind"), "lacks 'kind'"),
        (of_table, new.assign(size="large"), "column 'size' of `y` must hold numbers"),
        (of_table, np.zeros((400, 3)), "must be a table"),
        (made, NEW[:, :1], "must have 2 columns, as the profile has, got 1"),
        (made, NEW.astype(np.float32), "must hold float64, as the reference did, got float32"),
        (made, new[["size"]], "must be an array, as the reference was, got a table"),
    ]
    for profile, rows, text in cases:
        with pytest.raises(InputError, match=text):
            pvalue(profile, rows)


def test_arrays_with_picked_columns_iv():
    made = nosplit.profile(RNG.normal(size=(900, 4)), exclude=[3], kernels=KERNELS, **SMALL)
    assert pvalue(made, RNG.normal(size=(300, 4))) > 0.01
    assert pvalue(made, RNG.normal(size=(300, 3))) > 0.01
    with pytest.raises(InputError, match="as the reference had, got 5"):
        pvalue(made, RNG.normal(size=(300, 5)))


def test_too_few_rows_iv(made):
    with pytest.raises(InputError, match=r"at least 200 rows.*got 150.*rows=150, least=3"):
        pvalue(made, NEW[:150])
    with pytest.raises(InputError, match="too few for cells"):
        pvalue(made, NEW[:30])
    with pytest.raises(InputError, match=r"at least 560 rows for cells of 10, got 500.*rows=2"):
        nosplit.profile(X[:500])
    nosplit.profile(X[:560], frequencies=2)
    with pytest.raises(InputError, match="too few for cells"):
        nosplit.profile(X[:40])
    with pytest.raises(InputError, match="at least 5 rows, those of a cell, got 3"):
        nosplit.profile(X[:3], like=made)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"kernels": "paper2"}, "`kernels` must be left out"),
        ({"pairs": "linear"}, "`pairs` must be left out"),
        ({"scale": True}, "`scale` must be left out"),
        ({"columns": ["0"]}, "`columns` must be left out"),
        ({"exclude": ["0"]}, "`exclude` must be left out"),
        ({"calibration": "asymptotic"}, "`calibration` with a profile must be exact"),
        ({"method": "split"}, "must not be Split with a profile"),
        ({"shuffle": "no"}, "`shuffle` must be True or False"),
        ({"rng": -1}, "`rng` must be"),
    ],
)
def test_what_a_profile_settles_iv(made, options, text):
    with pytest.raises(InputError, match=text):
        nosplit.two_sample_test(made, NEW, **options)


def test_making_iv(made):
    cases = [
        ({"rows": 0}, "`rows` must be"),
        ({"least": 0}, "`least` must be"),
        ({"frequencies": 0}, "`frequencies` must be"),
        ({"like": "first"}, "`like` must be a Profile, got str"),
        ({"like": made, "rows": 100, "scale": True}, "leave out `rows`, `scale`"),
        ({"kernels": nosplit.kernels.Polynomial(2)}, "must be mixtures of waves or linear"),
        ({"kernels": [lambda a, b: (a * b).sum(-1)]}, "`kernels`"),
        ({"rng": "x"}, "`rng` must be"),
    ]
    for options, text in cases:
        with pytest.raises(InputError, match=text):
            nosplit.profile(X, **options)
    constant = pd.DataFrame({"a": np.ones(1000), "b": [str(i) for i in range(1000)]})
    with pytest.raises(InputError, match="nothing to compare"):
        nosplit.profile(constant)
    with pytest.raises(InputError):
        nosplit.profile(np.ones((1000, 2)))
