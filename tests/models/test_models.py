"""Models: scores against derivatives of their densities, draws against their moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nosplit import Exact, goodness_of_fit_test, models
from nosplit.errors import InputError

COV = [[2.0, 0.5], [0.5, 1.0]]
MODELS = [
    models.MultivariateNormal(1.0, 4.0),
    models.MultivariateNormal([0.0, 1.0], COV),
    models.GaussianMixture([[-2.0, 0.0], [2.0, 1.0]], [COV, np.eye(2)], [0.3, 0.7]),
    models.GaussianMixture([-3.0, 0.0, 3.0], 0.5),
    models.StudentT(5.0, [1.0, -1.0], COV),
    models.Laplace([0.0, 2.0], [1.0, 0.5]),
]
IDS = [f"{type(m).__name__}{i}" for i, m in enumerate(MODELS)]


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_score_is_the_gradient_of_logpdf(model):
    x = model.sample(50, np.random.default_rng(0))
    x = x[np.abs(x - getattr(model, "loc", np.inf)).min(axis=1) > 1e-3]  # not across a kink
    step = 1e-5
    for j in range(x.shape[1]):
        move = np.zeros(x.shape[1])
        move[j] = step
        slope = (model.logpdf(x + move) - model.logpdf(x - move)) / (2 * step)
        np.testing.assert_allclose(model.score(x)[:, j], slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_density_integrates_to_one_against_theory(model):
    """Importance sampling from a wide t law: within 5 standard errors (false alarm < 1e-6)."""
    p = model.sample(1, np.random.default_rng(0)).shape[1]
    wide = models.StudentT(3.0, np.zeros(p), 9.0)
    x = wide.sample(100_000, np.random.default_rng(1))
    ratio = np.exp(model.logpdf(x) - wide.logpdf(x))
    assert abs(ratio.mean() - 1.0) < 5 * ratio.std() / np.sqrt(len(x))


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_draws_obey_the_stein_identity_against_theory(model):
    """E score = 0 and E score xᵀ = -I: within 5 standard errors (false alarm < 1e-5 in all)."""
    x = model.sample(50_000, np.random.default_rng(2))
    score = model.score(x)
    terms = np.einsum("ni,nj->nij", score, x) + np.eye(x.shape[1])
    for values in (score, terms.reshape(len(x), -1)):
        z = values.mean(axis=0) / values.std(axis=0) * np.sqrt(len(x))
        assert np.abs(z).max() < 5.0


@pytest.mark.parametrize(
    ("dist", "score", "tolerance"),
    [
        (stats.norm(1.0, 2.0), lambda x: -(x - 1.0) / 4.0, 1e-14),
        (stats.norm(1e6, 1.0), lambda x: 1e6 - x, 1e-14),
        (stats.t(5), lambda x: -6.0 * x / (5.0 + x * x), 1e-14),
        (stats.gamma(3.0), lambda x: 2.0 / x - 1.0, 1e-14),
        (stats.beta(3, 4), lambda x: 2.0 / x - 3.0 / (1.0 - x), 1e-13),
        (stats.logistic(), lambda x: 1.0 - 2.0 / (1.0 + np.exp(-x)), 1e-10),
        (stats.cauchy(), lambda x: -2.0 * x / (1.0 + x * x), 1e-10),
    ],
    ids=lambda value: getattr(getattr(value, "dist", None), "name", ""),
)
def test_scipy_scores_are_as_accurate_as_stated(dist, score, tolerance):
    model = models.from_scipy(dist)
    x = model.sample(2000, np.random.default_rng(3))
    error = np.abs(model.score(x) - score(x)) / (1.0 + np.abs(score(x)))
    assert error.max() < tolerance


def test_scipy_multivariate_agrees_with_ours():
    ours = models.StudentT(4.0, [0.0, 1.0], COV)
    theirs = models.from_scipy(stats.multivariate_t([0.0, 1.0], COV, df=4))
    x = theirs.sample(500, np.random.default_rng(4))
    np.testing.assert_allclose(theirs.score(x), ours.score(x), atol=1e-10)
    np.testing.assert_allclose(theirs.logpdf(x), ours.logpdf(x), rtol=1e-12)


def test_differences_find_room_near_the_end_of_the_support():
    class NoComplex:
        """A logpdf that refuses complex numbers."""

        def logpdf(self, x):
            if np.iscomplexobj(x):
                raise TypeError("real numbers only")
            return stats.gamma(3.0).logpdf(x)

    x = np.array([[1e-6], [1.0], [2.0]])
    score = models.from_scipy(NoComplex()).score(x)
    np.testing.assert_allclose(score, 2.0 / x - 1.0, rtol=1e-7, atol=1e-9)


def test_scipy_iv():
    with pytest.raises(InputError, match="`dist` must have a logpdf"):
        models.from_scipy(stats.poisson(3.0))
    with pytest.raises(InputError, match="2 of them, the first is row 1"):
        models.from_scipy(stats.gamma(3.0)).score([[1.0], [-1.0], [-2.0]])


def test_models_iv():
    with pytest.raises(InputError, match="`cov` must be symmetric and positive definite"):
        models.MultivariateNormal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="`cov` must be a number, a vector of 2"):
        models.MultivariateNormal([0.0, 0.0], [1.0, 1.0, 1.0])
    with pytest.raises(InputError, match="`mean` must be a finite number or vector"):
        models.MultivariateNormal([np.nan])
    with pytest.raises(InputError, match="`weights` must be 2 positive numbers with sum 1"):
        models.GaussianMixture([0.0, 1.0], weights=[0.5, 0.6])
    with pytest.raises(InputError, match="`covs` must be a number or have shape"):
        models.GaussianMixture([0.0, 1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="`dof` must be a positive"):
        models.StudentT(0.0)
    with pytest.raises(InputError, match="`scale` must be 1 or 2 positive"):
        models.Laplace([0.0, 0.0], -1.0)
    with pytest.raises(InputError, match="`x` must have 2 columns, as the model has, got 1"):
        models.MultivariateNormal([0.0, 0.0]).score([[1.0]])


@pytest.mark.parametrize("far", [1, 5])
def test_scores_whose_products_overflow_iv(far):
    """They raised warnings of NumPy from deep inside."""
    x, model = np.zeros(41), models.MultivariateNormal([0.0], [[1.0]])
    x[3 :: 40 // far] = 1e149
    with pytest.raises(InputError, match="must be below 1e\\+75"):
        goodness_of_fit_test(x, model)
    x[3 :: 40 // far] = 9e74
    assert 0.0 < goodness_of_fit_test(x, model, calibration=Exact(19)).pvalue <= 1.0
