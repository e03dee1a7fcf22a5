"""Stein features against theory and the kernel, their sums and statistics against brute force."""

import numpy as np
import pytest
from scipy import special, stats

from nosplit import InputError, Sketch, Wild, goodness_of_fit_test, models
from nosplit._old.engines.families.goodness_of_fit import ScoredArrays, sketched_fit, too_skewed
from nosplit._old.inference.planning.goodness_of_fit import SteinSizes, plan_sketch
from nosplit._old.sketch.dealing import deal_of
from nosplit._old.sketch.families.goodness_of_fit_sums import (
    sketch_scored_rows,
    stein_statistics,
)
from nosplit._old.sketch.swaps import Swaps
from nosplit.core.feature_map import STEP
from nosplit.core.stein_map import fit_stein_map
from nosplit.errors import UnsafeAsymptoticsWarning
from nosplit.kernels import IMQ, Gaussian, Matern
from nosplit.kernels.stein import BoundedLinear, Constant, SteinBank

KERNELS = Gaussian(1.0), IMQ(2.0), Constant(), BoundedLinear()
ROOT = np.linalg.cholesky([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.7]])


def correlated(n, rng):
    x = rng.standard_normal((n, 3)) @ ROOT.T + 1.0
    return x, -np.linalg.solve(ROOT @ ROOT.T, (x - 1.0).T).T


def student(n, rng):
    model = models.StudentT(5.0)
    x = model.sample(n, rng)
    return x, model.score(x)


def gamma(n, rng):
    x = rng.gamma(6.0, size=(n, 1))
    return x, 5.0 / x - 1.0


def map_of(x, scores, kernels=KERNELS, frequencies=16, key=3):
    return fit_stein_map(x, scores, kernels, frequencies=frequencies, key=key)


@pytest.mark.parametrize("draw", [correlated, student, gamma])
def test_features_have_mean_zero_under_the_model_against_theory(draw):
    """Means of 40,000 rows in standard errors; false alarm 1e-5 over all numbers."""
    rng = np.random.default_rng(0)
    sketch = map_of(*draw(500, rng))
    values = sketch.values(*draw(40_000, rng))
    z = values.mean(axis=0) / (values.std(axis=0) / 200.0)
    assert np.abs(z).max() < -special.ndtri(1e-5 / 2 / len(z))


@pytest.mark.parametrize("kernel", [Gaussian(1.5), IMQ(1.0), Matern(2.0, 2.5)], ids=repr)
def test_inner_products_approach_the_stein_kernel_against_theory(kernel):
    x, scores = correlated(60, np.random.default_rng(1))
    bases = np.empty((3, 30))
    a, b = slice(0, 30), slice(30, 60)
    difference = x[a] - x[b]
    bases[0] = np.sum(difference**2, axis=1)
    bases[1] = np.sum(scores[a] * scores[b], axis=1)
    bases[2] = np.sum((scores[a] - scores[b]) * difference, axis=1)
    expected = SteinBank((kernel,)).evaluate(bases, 3)[0]
    errors = []
    for frequencies in (48, 48 * 64):
        sketch = map_of(x, scores, (kernel,), frequencies)
        where, steps = sketch.features[0]
        values = sketch.values(x, scores)[:, where] * (steps * STEP / sketch.scales[where])
        errors.append(np.sqrt(np.mean((np.sum(values[a] * values[b], axis=1) - expected) ** 2)))
    size = np.sqrt(np.mean(expected**2))
    assert errors[1] < 0.15 * size
    assert errors[1] < errors[0] / 3  # 64 times as many frequencies: an eighth


def dealt(n=1000, cells=40, draw=correlated):
    rng = np.random.default_rng(5)
    x, scores = draw(n, rng)
    deal = deal_of(n, cells, rng, fewest=1, shuffle=True)
    pilot = deal.pilot_rows()
    return x, scores, deal, map_of(x[pilot], scores[pilot])


def test_sums_against_values():
    x, scores, deal, sketch = dealt()
    sums = sketch_scored_rows(sketch, x, scores, deal, workers=1)
    cells = deal.cell_of(0, len(x))
    expected = np.zeros((deal.cells + 1, sketch.n_numbers))
    np.add.at(expected, np.minimum(cells, deal.cells), sketch.values(x, scores) / sketch.scales)
    assert sums.numbers / STEP == pytest.approx(expected[:-1], abs=2e-3)


def test_statistics_against_brute_force():
    x, scores, deal, sketch = dealt()
    sums = sketch_scored_rows(sketch, x, scores, deal)
    drawn = stein_statistics(sketch, sums, deal.n_dealt, flips=99, key=5, workers=2)
    signs = Swaps(deal.cells, deal.cells, 99, 5).weights(0, 100)
    m = deal.cells * (deal.cells - 1) / 2
    for u, (where, steps) in enumerate(sketch.features):
        K = (sums.numbers[:, where] * steps) @ (sums.numbers[:, where] * steps).T
        values = (np.einsum("bi,ij,bj->b", signs, K, signs) - np.trace(K)) / 2
        assert drawn.tau[:, u] * np.sqrt(m) == pytest.approx(values, rel=1e-3, abs=1e-3 * K.max())
        off = K[np.triu_indices(len(K), 1)]
        assert drawn.cov[u, u] == pytest.approx(np.mean(off**2), rel=1e-4)
    assert (drawn.columns.n_columns, drawn.pairs.n_columns) == (3, 3)


def normal_score(x):
    return -x


def test_a_spread_and_a_mean_are_found_at_20_000_rows():
    """A variance test is at 6 standard deviations, a test of means at 5.7."""
    for seed in range(3):
        z = np.random.default_rng(seed).standard_normal(20_000)
        for x in (1.03 * z, z + 0.04):
            result = goodness_of_fit_test(x, normal_score, rng=seed, calibration=Wild(999))
            assert (result.how.pairs, result.how.calibration) == ("sketch", "wild")
            assert result.pvalue <= 0.01


def test_result_of_a_sketch():
    x = np.random.default_rng(0).standard_normal((6000, 2)) * [1.0, 1.2]
    results = [goodness_of_fit_test(x, normal_score, workers=w, rng=1) for w in (1, 2)]
    assert results[0].to_dict() == results[1].to_dict()
    result = results[0]
    assert result.how.n_used + result.how.n_left_out == 6000
    assert result.how.n_units * (result.how.n_units - 1) // 2 == result.how.n_pairs
    assert [repr(k) for k in result.selection.kernels[-2:]] == [
        "Constant()",
        "BoundedLinear(bound=5.0)",
    ]
    assert result.columns.rows[1].adjusted <= 0.01 < result.columns.rows[0].adjusted
    assert result.how.pairs == "sketch"


def test_given_kernels_methods_and_order():
    x = np.random.default_rng(0).standard_normal(2000) + 0.2
    options = {"pairs": "sketch", "calibration": Wild(199)}
    result = goodness_of_fit_test(x, normal_score, kernels=Gaussian(1.0), method="best", **options)
    assert result.selection.kernels == (Gaussian(1.0),)
    assert (result.how.method, result.how.n_resamples, result.reject(0.05)) == ("best", 199, True)
    assert goodness_of_fit_test(x, normal_score, shuffle=False, **options).reject(0.05)


@pytest.mark.parametrize("law", ["normal", "student"])
def test_level_of_random_signs_of_cells(law):
    """At most .08 at n = 2,000, where .05 is meant; false alarm 1e-4 at .08."""
    rng, trials, hits = np.random.default_rng(11), 120, 0
    for _ in range(trials):
        if law == "normal":
            x = rng.standard_normal((2000, 1))
            scores = -x
        else:
            x, scores = student(2000, rng)
        pairs = Sketch(cells=500, frequencies=8)
        options = {"pairs": pairs, "calibration": Wild(99), "rng": rng, "workers": 1}
        hits += goodness_of_fit_test(x, scores, **options).pvalue <= 0.05
    assert hits <= stats.binom.isf(1e-4, trials, 0.08)


def test_scores_that_rule_the_statistics_are_named_once():
    x = np.random.default_rng(0).gamma(2.05, size=2000)  # E s² is nearly infinite
    with pytest.warns(UnsafeAsymptoticsWarning) as seen:
        goodness_of_fit_test(x, 1.05 / x - 1.0, pairs="sketch", calibration=Wild(99))
    assert len(seen) == 1


def test_skewed_sums_are_named():
    x = np.exp(np.random.default_rng(0).standard_normal((500, 1)))
    scores = -(1.0 + np.log(x)) / x
    how = plan_sketch(SteinSizes(500, 500, 1, 4, 2), Sketch(), Wild(99), None, 1.0, False)
    rng = np.random.default_rng(0)
    done = sketched_fit(ScoredArrays(x, scores), None, how, None, rng, True, 1)
    assert any(category is UnsafeAsymptoticsWarning for category, _ in done.outcome.caveats)
    assert "so large" in too_skewed(0.2)[0][1]
    assert too_skewed(0.05) == []


def test_sketches_are_refused_where_they_do_not_serve_iv():
    x = np.random.default_rng(0).standard_normal(500)
    model = models.MultivariateNormal(0.0)

    def refuse(match, score=normal_score, rows=x, **options):
        with pytest.raises(InputError, match=match):
            goodness_of_fit_test(rows, score, pairs="sketch", **options)

    refuse('goes with calibration="wild"', model, calibration="simulate")
    refuse("needs pairs with a normal limit", calibration="asymptotic")
    refuse("needs about", rows=x[:12])
    refuse("must not be Split with a sketch", method="split")
    refuse("`series` need all pairs of rows", series=True)
    assert goodness_of_fit_test(x, model, pairs="sketch").how.calibration == "wild"
