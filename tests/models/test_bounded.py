"""Laws with ends: scores and densities, Stein's identity, and tests with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special, stats

from nosplit import GoodnessOfFitAccumulator, InputError, goodness_of_fit_test, models

LAWS = {
    "exponential": (models.Exponential(2.0), stats.expon(scale=2.0)),
    "uniform": (models.Uniform(1.0, 3.0), stats.uniform(1.0, 2.0)),
    "gamma": (models.Gamma(0.7, 2.0), stats.gamma(0.7, scale=2.0)),
    "beta": (models.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    "normal": (models.Normal(1.0, 2.0), stats.norm(1.0, 2.0)),
}
BOUNDED = [name for name in LAWS if name != "normal"]


@pytest.mark.parametrize("name", LAWS)
def test_scores_and_densities_against_scipy(name):
    ours, theirs = LAWS[name]
    x = np.quantile(theirs.rvs(size=1000, random_state=0), [0.1, 0.3, 0.7, 0.95])[:, None]
    np.testing.assert_allclose(ours.logpdf(x), theirs.logpdf(x[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(ours.score(x), models.from_scipy(theirs).score(x), rtol=1e-6)
    drawn = ours.sample(4000, np.random.default_rng(0))[:, 0]
    assert stats.kstest(drawn, theirs.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("wave", [0.5, 2.0])
def test_stein_identity_against_quadrature(name, wave):
    """∫ (s sin ωz + ω cos ωz) q dz = 0, by the trapezoidal rule over the line."""
    ours, theirs = LAWS[name]
    low, high, scale = (float(end[0]) for end in ours.ends)
    line = np.linspace(-24.0, 24.0, 40_001)
    if np.isinf(high):
        x, slope = low + scale * np.logaddexp(0.0, line), scale * special.expit(line)
    else:
        x = low + (high - low) * special.expit(line)
        slope = (high - low) * special.expit(line) * special.expit(-line)
    z, s = ours.ends.on_the_line(x[:, None], ours.score(x[:, None]))
    np.testing.assert_allclose(z[:, 0], line, atol=1e-3)
    density = theirs.pdf(x) * slope
    assert abs(integrate.trapezoid(density, line) - 1.0) < 1e-4
    values = s[:, 0] * np.sin(wave * line) + wave * np.cos(wave * line)
    assert abs(integrate.trapezoid(values * density, line)) < 1e-3


@pytest.mark.parametrize("law", [stats.gamma(0.7), -1.0, stats.pareto(2.0), stats.beta(2.0, 3.0)])
def test_coordinates_against_differences(law):
    """The score on the line is the derivative of log q(x(z)) + log dx/dz."""
    if law == -1.0:  # an upper end
        ends = models.Ends(np.array([-np.inf]), np.array([1.0]), np.array([0.5]))
        law = stats.weibull_max(1.5, loc=1.0, scale=0.7)
    else:
        ends = models.from_scipy(law).ends
    x = law.ppf(np.array([0.05, 0.3, 0.6, 0.97]))[:, None]
    step = 1e-6 * np.minimum(1.0, np.abs(x))
    zero = np.zeros_like(x)
    up, down = (ends.on_the_line(x + k * step, zero)[0] for k in (1.0, -1.0))
    slope = 2.0 * step / (up - down)  # dx/dz
    model = models.from_scipy(law)
    rise = (model.logpdf(x + step) - model.logpdf(x - step))[:, None] / (up - down)
    _, bend = ends.on_the_line(x, zero)  # d/dz log dx/dz
    _, score = ends.on_the_line(x, model.score(x))
    np.testing.assert_allclose(score, rise + bend, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(score - bend, model.score(x) * slope, rtol=1e-4, atol=1e-5)


def test_rows_of_several_columns():
    model = models.Exponential([1.0, 10.0])
    x = model.sample(200, np.random.default_rng(0))
    assert goodness_of_fit_test(x, model).pvalue > 0.01
    assert goodness_of_fit_test(x[:, ::-1].copy(), model).reject(0.01)
    assert goodness_of_fit_test(x, model, scale=True).pvalue > 0.01


@pytest.mark.parametrize("name", BOUNDED)
def test_misfits_are_found(name):
    model = LAWS[name][0]
    x = model.sample(300, np.random.default_rng(1))
    assert goodness_of_fit_test(x, LAWS[name][1]).pvalue > 0.001
    low, high = model.ends.low[0], model.ends.high[0]
    bent = low + (x - low) ** 1.5 / (1.0 if np.isinf(high) else (high - low) ** 0.5)
    assert goodness_of_fit_test(bent, model).reject(0.01)


def test_rows_at_an_end():
    x = np.random.default_rng(2).exponential(size=(200, 1))
    x[0] = 0.0
    for model in (models.Exponential(), stats.expon()):
        assert goodness_of_fit_test(x, model).pvalue > 0.01


def test_streams_of_rows_with_ends():
    rng = np.random.default_rng(3)
    acc = GoodnessOfFitAccumulator(models.Uniform())
    for _ in range(10):
        acc.update(rng.random((800, 1)))
    assert acc.result().pvalue > 0.001


def test_iv():
    with pytest.raises(InputError, match="`scale` must be positive"):
        models.Exponential(0.0)
    with pytest.raises(InputError, match="`low` must be below `high`"):
        models.Uniform(1.0, 1.0)
    with pytest.raises(InputError, match="vectors of one length"):
        models.Beta([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="`sd` must be positive"):
        models.Normal(0.0, -1.0)
    with pytest.raises(InputError, match="density is zero"):
        goodness_of_fit_test(np.linspace(-1.0, 1.0, 20), models.Exponential())
