"""Witness tests: exact whatever is learned, and better than a split."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit._old.api.witness import _drawn_sums, _midranks


class Means:
    """Which mean is nearer."""

    def fit(self, rows, labels):
        rows = np.asarray(rows, dtype=float)
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
        return self

    def predict(self, rows):
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
        found.append(
            nosplit.classifier_test(
                x, y, estimator=estimator, folds=4, n_resamples=39, rng=rng
            ).pvalue
        )
    for level in (0.05, 0.5):
        hits = np.count_nonzero(np.array(found) <= level)
        low, high = stats.binom.ppf([1e-4 / 2, 1 - 1e-4 / 2], 400, level)
        assert low <= hits <= high


def test_differences_are_found_and_described():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 5)), rng.normal(0.2, 1.0, size=(300, 5))
    res = nosplit.classifier_test(x, y, estimator=Means())
    assert res.reject(0.01)
    assert [fold.n_learned for fold in res.folds] == [140, 280, 420, 560]
    assert sum(fold.weight**2 for fold in res.folds) == pytest.approx(1.0)
    assert 0.5 < res.auc < 0.8
    assert res.statistic == pytest.approx(
        sum(f.weight * stats.norm.isf(f.pvalue) for f in res.folds)
    )
    assert res.pvalue == pytest.approx(stats.norm.sf(res.statistic))
    assert stats.norm.sf(res.threshold(0.01)) == pytest.approx(0.01)
    assert tuple(res) == (res.statistic, res.pvalue)
    assert "Means" in str(res)
    assert json.loads(json.dumps(res.to_dict()))["estimator"] == "Means"
    again = nosplit.classifier_test(x, y, estimator=Means())
    assert again == res


def test_auc_against_counting():
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=50), 1)
    doubled = _midranks(scores)
    assert np.array_equal(doubled, 2 * stats.rankdata(scores) - 2)
    sums = _drawn_sums(doubled, 20, 4000, rng)
    assert sums.mean() == pytest.approx(20 * doubled.mean(), rel=0.02)


def test_data_frames_go_to_estimators_as_they_are():
    class Named(Means):
        def fit(self, rows, labels):
            assert list(rows.columns) == ["v", "k"]
            return super().fit(rows[["v"]], labels)

        def predict(self, rows):
            return super().predict(rows[["v"]])

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"v": rng.normal(size=100), "k": rng.choice(["a", "b"], 100)})
    y = pd.DataFrame({"k": rng.choice(["a", "b"], 100), "v": rng.normal(1.0, 1.0, size=100)})
    assert nosplit.classifier_test(x, y, estimator=Named()).reject(0.01)
    # By names of columns, or from elsewhere: numbers, categories as codes.
    res = nosplit.classifier_test(x, y, estimator=Means(), columns=["v", "k"])
    assert res.reject(0.01)


def test_gradient_boosting_by_default(scikit_learn):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) * 2.0
    assert nosplit.classifier_test(x, y).reject(0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": 3}, "`estimator` must have `fit`"),
        ({"estimator": Means}, "`estimator` must have `fit`"),
        ({"estimator": Means(), "folds": 1}, "`folds`"),
        ({"estimator": Means(), "folds": 50}, "at least 200 rows for 50 folds"),
        ({"estimator": Means(), "n_resamples": 0}, "`n_resamples`"),
    ],
)
def test_bad_input_iv(options, message):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(nosplit.InputError, match=message):
        nosplit.classifier_test(rows, rows + 1.0, **options)


def test_bad_scores_iv():
    class Two(Means):
        def predict(self, rows):
            return np.zeros((len(rows), 2))

    rows = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(nosplit.InputError, match="one finite score for each row"):
        nosplit.classifier_test(rows, rows + 1.0, estimator=Two())
