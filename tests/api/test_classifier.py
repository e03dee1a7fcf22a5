"""Classifier tests: exact for any estimator and design, and more powerful than a split."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nosplit import InputError, classifier_test
from nosplit.api.classifier import _auc, _midranks


class Means:
    """Score rows by which mean is nearer, and keep the rows that were scored last."""

    def fit(self, rows, labels):
        rows = np.asarray(rows, dtype=float)
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
        return self

    def predict(self, rows):
        Means.scored = rows
        return np.asarray(rows, dtype=float) @ self.w


class Constant(Means):
    def predict(self, rows):
        return np.zeros(len(rows))


class Nearest(Means):
    """Learns by heart: the label of the nearest row, as a classifier."""

    def fit(self, rows, labels):
        assert set(labels.tolist()) == {0, 1}
        self.rows, self.labels = rows, labels

    def predict_proba(self, rows):
        nearest = np.argmin(np.abs(rows[:, None, 0] - self.rows[None, :, 0]), axis=1)
        p = self.labels[nearest].astype(float)
        return np.column_stack([1.0 - p, p])


# Exactness ----------------------------------------------------------------------------------------

# Designs of 12 + 12 rows, and what x[i] and y[j] must share to change places: rows, pairs, strata,
# groups of two rows, groups of both samples, blocks of two rows, and of pairs.
ROWS = np.arange(12)
DESIGNS = {
    "rows": ({}, 1),
    "pairs": ({"paired": True}, 1),
    "strata": ({"strata": (ROWS // 6, ROWS // 6)}, 1),
    "groups": ({"groups": (ROWS // 2, 10 + ROWS // 2)}, 2),
    "shared groups": ({"groups": (ROWS // 2, ROWS // 2)}, 2),
    "series": ({"series": 2}, 2),
    "series of pairs": ({"series": 2, "paired": True}, 2),
}


def orbit(name, x, y, here):
    """All relabellings of the units with rows `here` that a design allows, by brute force."""
    size = DESIGNS[name][1]
    both, n = np.concatenate([x, y]), len(x) // size
    units = sorted({i // size for i in here})
    if name in ("pairs", "shared groups", "series of pairs"):
        inside = [[u, u + n] for u in units if u < n]
    elif name == "strata":
        inside = [[u for u in units if u % n // 6 == s] for s in (0, 1)]
    else:
        inside = [units]
    ways = []
    for block in inside:
        of_x = [u for u in block if u < n]
        picks = itertools.combinations(block, len(of_x))
        ways.append([(block, [*p, *(u for u in block if u not in p)]) for p in picks])
    for way in itertools.product(*ways):
        order = np.arange(2 * n)
        for block, new in way:
            order[block] = new
        rows = both.reshape(2 * n, size, -1)[order].reshape(len(both), -1)
        yield rows[: len(x)], rows[len(x) :]


@pytest.mark.parametrize("name", DESIGNS)
def test_pvalues_of_a_fold_are_uniform_over_its_relabellings(name):
    """The folds before stay as they are. With U for all, p = (greater + U · ties) / F."""
    n = 8 if name == "rows" else 12
    x, y = np.random.default_rng(0).normal(size=(2, n, 2))
    options = {"estimator": Means(), "folds": 2, **DESIGNS[name][0]}
    marked = np.arange(2.0 * n)[:, None] + np.zeros((2 * n, 2))
    classifier_test(marked[:n], marked[n:], **options)
    here = Means.scored[:, 0].astype(int)
    found = [classifier_test(a, b, **options).folds[0] for a, b in orbit(name, x, y, here)]
    assert {fold.n_tested for fold in found} == {len(here)}
    F = len(found)
    p, ties = np.unique(np.round([fold.pvalue for fold in found], 12), return_counts=True)
    assert F > 7
    assert len(p) > 2
    u = F * p[0] / ties[0]
    np.testing.assert_allclose(p, (np.cumsum(ties) - (1.0 - u) * ties) / F, atol=1e-9)


@pytest.mark.parametrize("estimator", [Means(), Constant(), Nearest()])
@pytest.mark.parametrize("discrete", [False, True])
def test_pvalues_are_uniform_without_a_difference(estimator, discrete):
    """At two levels, within what 400 trials allow at 1e-4; constant scores included."""
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(24, 2)), rng.normal(size=(32, 2))
        if discrete:
            x, y = np.round(x), np.round(y)
        res = classifier_test(x, y, estimator=estimator, folds=4, n_resamples=39, rng=rng)
        found.append(res.pvalue)
    for level in (0.05, 0.5):
        hits = np.count_nonzero(np.array(found) <= level)
        low, high = stats.binom.ppf([1e-4 / 2, 1 - 1e-4 / 2], 400, level)
        assert low <= hits <= high


def dependent(rng, name, n=30):
    """Two samples from the same distribution whose units depend inside, and their design."""
    x, y = rng.normal(size=(2, n, 2))
    label = np.arange(n) // 5
    if name == "pairs":
        own = rng.normal(size=(n, 2))
        return x + 3.0 * own, y + 3.0 * own, {"paired": True}
    if name == "strata":
        other = np.sort(rng.integers(0, n // 5, n))
        return x + label[:, None], y + other[:, None], {"strata": (label, other)}
    if name == "groups":
        own = 3.0 * rng.normal(size=(2, n // 5, 2))
        return x + own[0, label], y + own[1, label], {"groups": (label, label + n // 5)}
    for rows in (x, y):  # moving averages
        rows[1:] += 0.7 * rows[:-1]
    return x, y, {"series": 5}


@pytest.mark.parametrize("name", ["pairs", "strata", "groups", "series"])
def test_level_of_designs(name):
    """100 tests at .05; false alarms: 1e-4 each."""
    hits, rng = 0, np.random.default_rng(3)
    for _ in range(100):
        x, y, design = dependent(rng, name)
        folds = 3 if name in ("groups", "series") else 5
        options = {"estimator": Means(), "folds": folds, "n_resamples": 199, "rng": rng}
        hits += classifier_test(x, y, **options, **design).reject()
    assert hits <= stats.binom.isf(1e-4, 100, 0.05)


@pytest.mark.parametrize("name", ["pairs", "strata", "groups", "series"])
def test_differences_in_designs_are_found(name):
    x, y, design = dependent(np.random.default_rng(4), name, 300)
    shift = 3.0 if name == "groups" else 0.7  # groups lie apart, and there are 60 of them
    assert classifier_test(x, y + shift, estimator=Means(), **design).reject(0.01)


# Results ------------------------------------------------------------------------------------------


def test_differences_are_found_and_described():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 5)), rng.normal(0.2, 1.0, size=(300, 5))
    res = classifier_test(x, y, estimator=Means())
    assert res.reject(0.01)
    assert [fold.n_learned for fold in res.folds] == [140, 280, 420, 560]
    assert sum(fold.weight**2 for fold in res.folds) == pytest.approx(1.0)
    assert 0.5 < res.auc.low < res.auc.value < res.auc.high < 0.8
    assert res.auc.value == pytest.approx(np.mean([fold.auc for fold in res.folds]))
    scores = [f.weight * stats.norm.isf(f.pvalue) for f in res.folds]
    assert res.statistic == pytest.approx(sum(scores))
    assert res.pvalue == pytest.approx(stats.norm.sf(res.statistic))
    assert stats.norm.sf(res.threshold(0.01)) == pytest.approx(0.01)
    assert tuple(res) == (res.statistic, res.pvalue)
    assert (res.how.n_used, res.how.sizes, res.how.seed) == (700, (400, 300), 0)
    assert json.loads(json.dumps(res.to_dict()))["estimator"] == "Means"
    assert list(res.to_frame()["n_tested"]) == [140] * 4
    fresh = classifier_test(x, y, estimator=Means(), rng=None)
    again = classifier_test(x, y, estimator=Means(), rng=fresh.how.seed)
    assert again.to_dict() == fresh.to_dict() != res.to_dict()


def test_auc_against_counting():
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=50), 1), np.arange(50) >= 20
    ranks = _midranks(scores)
    assert np.array_equal(ranks, 2 * stats.rankdata(scores) - 2)
    auc, variance, freedom = _auc(ranks, y, np.arange(50))
    assert freedom == 48
    u = stats.mannwhitneyu(scores[~y], scores[y]).statistic
    assert auc == pytest.approx(u / 600)
    assert 0.2 < variance / (51 / (12 * 600)) < 2.0  # against that without a difference
    # Copies of rows change neither the AUC nor its variance if they are known to be copies.
    thrice = _midranks(np.tile(scores, 3)), np.tile(y, 3)
    copied, wider, freedom = _auc(*thrice, np.tile(np.arange(50), 3))
    assert copied == pytest.approx(auc)
    assert freedom == 48
    assert wider > 2.5 * _auc(*thrice, np.arange(150))[1]


def test_interval_of_the_auc_without_a_difference():
    """It contains one half in .95 of the tests, and at least in .9; false alarm: 1e-4."""
    rng, inside = np.random.default_rng(1), 0
    for _ in range(200):
        x, y = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
        auc = classifier_test(x, y, estimator=Means(), n_resamples=1, rng=rng).auc
        inside += auc.low <= 0.5 <= auc.high
    assert inside >= stats.binom.ppf(1e-4, 200, 0.93)


def test_data_frames_are_given_to_estimators_as_they_are():
    class Named(Means):
        def fit(self, rows, labels):
            assert list(rows.columns) == ["v", "k"]
            return super().fit(rows[["v"]], labels)

        def predict(self, rows):
            return super().predict(rows[["v"]])

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"v": rng.normal(size=100), "k": rng.choice(["a", "b"], 100), "s": 1})
    y = pd.DataFrame({"k": rng.choice(["a", "b"], 100), "v": rng.normal(1, 1, 100), "s": 1})
    assert classifier_test(x, y, estimator=Named(), strata="s").reject(0.01)
    # By names of columns: numbers, categories as codes.
    res = classifier_test(x, y, estimator=Means(), columns=["v", "k"])
    assert res.reject(0.01)
    assert res.columns == ("v", "k")


def test_files_are_read(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 100, 2))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    found = classifier_test(tmp_path / "x.npy", str(tmp_path / "y.npy"), estimator=Means())
    assert found.pvalue == classifier_test(x, y, estimator=Means()).pvalue


def test_gradient_boosting_by_default(scikit_learn):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * 2.0
    assert classifier_test(x, y).reject(0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": 3}, "`estimator` must have `fit`"),
        ({"estimator": Means}, "`estimator` must have `fit`"),
        ({"folds": 1}, "`folds`"),
        ({"folds": 61}, "`folds` must leave something to permute in each, and 61 .* for 120 units"),
        ({"folds": 3, "groups": (np.arange(60), np.arange(60) // 30)}, "too many for .* units: "),
        ({"series": 20}, "too many for 6 units: blocks of 20 rows .* Use fewer folds"),
        ({"series": 5, "strata": (np.ones(60),) * 2}, "`series` permutes blocks"),
        ({"n_resamples": 0}, "`n_resamples`"),
    ],
)
def test_bad_input_iv(options, message):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(InputError, match=message):
        classifier_test(rows, rows + 1.0, **{"estimator": Means(), **options})


def test_bad_scores_iv():
    class Two(Means):
        def predict(self, rows):
            return np.zeros((len(rows), 2))

    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(InputError, match="one finite score for each row"):
        classifier_test(rows, rows + 1.0, estimator=Two())
