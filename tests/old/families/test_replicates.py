"""Samples of a model looked at together, against each of them looked at alone."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit import Exact, InputError, goodness_of_fit_test, models
from nosplit._old.families.replicates import AT_ONCE, SteinSamples
from nosplit._old.pairs.loop import accumulate
from nosplit.core.pairings import Complete, Sketch, Window
from nosplit.kernels import IMQ, Gaussian, Matern
from nosplit.kernels.stein import default_stein_kernels
from nosplit.methods import Split

GIVEN = (IMQ(0.7, -0.3), Matern(1.0, nu=1.5), Matern(2.0, nu=2.5), Gaussian(0.5), Gaussian(1.0))


def samples(count, n, p, kernels=None, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, n, p)) * rng.uniform(0.1, 10.0, size=(count, 1, 1))
    return SteinSamples(np.round(x) if ties else x, -x, kernels)


@pytest.mark.parametrize("kernels", [None, GIVEN, GIVEN[0]], ids=["default", "given", "one"])
@pytest.mark.parametrize(("n", "p", "ties"), [(4, 1, False), (31, 3, False), (60, 1, True)])
def test_moments_are_those_of_the_samples_one_by_one(kernels, n, p, ties):
    """Numbers of pairs are even and odd; of rounded rows most coincide in some samples."""
    some = samples(AT_ONCE + 3, n, p, kernels, ties=ties)
    assert some.all_at_once(Complete())
    means, scatters = some.moments(workers=2)
    for r in range(len(some)):
        wanted = accumulate(some.units(r), Complete(), workers=1)
        np.testing.assert_allclose(means[r], wanted.mean, rtol=1e-9, atol=1e-12)
        scale = np.abs(wanted.scatter).max()
        np.testing.assert_allclose(scatters[r], wanted.scatter, rtol=1e-9, atol=1e-12 * scale)
    for alone, shared in zip(some.moments(1), (means, scatters), strict=True):
        np.testing.assert_array_equal(alone, shared)


def test_more_than_half_of_the_distances_may_be_zero():
    x = np.zeros((2, 9, 1))
    x[:, 0, 0] = 3.0, 5.0
    some = SteinSamples(x, -x, None)
    wanted = [accumulate(some.units(r), Complete(), workers=1).mean for r in range(2)]
    np.testing.assert_allclose(some.moments(1)[0], wanted, rtol=1e-12)


@pytest.mark.parametrize(("x", "said"), [(np.ones((2, 9, 1)), "coincide"), (None, "overflow")])
def test_a_sample_without_a_median_distance_is_refused(x, said):
    x = 1e200 * np.random.default_rng(0).normal(size=(2, 9, 1)) if x is None else x
    with pytest.raises(InputError, match=said):
        SteinSamples(x, -x, None).moments(1)


def test_other_pairs_and_rules_for_kernels_are_looked_at_one_by_one():
    assert not samples(2, 9, 1).all_at_once(Window(2))
    assert not samples(2, 9, 1).all_at_once(Sketch())
    assert not samples(2, 9, 1, default_stein_kernels).all_at_once(Complete())
    assert not samples(1, 501, 1).all_at_once(Complete())  # medians are of some rows there


def test_both_ways_give_the_same_p_value():
    model = models.Normal(0.0, 1.0)
    x = np.random.default_rng(2).normal(0.3, 1.1, size=(30, 1))
    options = {"calibration": Exact(199), "pairs": "complete", "workers": 1}
    together = goodness_of_fit_test(x, model, **options)
    alone = goodness_of_fit_test(x, model, kernels=default_stein_kernels, **options)
    assert together.pvalue == alone.pvalue
    assert together.how.n_resamples == alone.how.n_resamples == 199
    split = goodness_of_fit_test(x, model, method=Split(0.5), **options)
    assert 0.0 < split.pvalue <= 1.0
