"""The detector of drift: what it finds, and what scikit-learn asks of it."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit import DriftDetector, InputError, profile, two_sample_test

RNG = np.random.default_rng(0)
REFERENCE, SAME, MOVED = (
    RNG.normal(size=(2000, 2)),
    RNG.normal(size=(500, 2)),
    RNG.normal(0.4, 1, (500, 2)),
)


def test_score_is_that_of_the_profile():
    detector = DriftDetector(rows=500, rng=3).fit(REFERENCE)
    by_hand = two_sample_test(profile(REFERENCE, rows=500, rng=3), SAME, rng=3)
    assert detector.score(SAME) == detector.test(SAME).pvalue == by_hand.pvalue > 0.05
    assert detector.score(MOVED, None) < 0.001


def test_parameters_as_scikit_learn_clones_them():
    detector = DriftDetector(rows=500, columns=[0])
    copy = type(detector)(**detector.get_params(deep=False))
    assert copy.get_params() == detector.get_params()
    assert all(copy.get_params()[k] is detector.get_params()[k] for k in detector.get_params())
    assert copy.set_params(rows=400).rows == 400
    assert repr(copy).startswith("DriftDetector(rows=400, ")


def test_iv():
    with pytest.raises(InputError, match="must be fitted"):
        DriftDetector().score(SAME)
    with pytest.raises(InputError, match=r"has the parameters rows, .* got 'alpha'"):
        DriftDetector().set_params(alpha=0.1)


def test_pipeline_and_clone_against_scikit_learn(scikit_learn):
    from sklearn import base
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps = base.clone(make_pipeline(StandardScaler(), DriftDetector(rows=500)))
    steps.fit(REFERENCE)
    assert steps.score(SAME) > 0.05 > steps.score(MOVED)
    assert not hasattr(base.clone(steps)[-1], "profile_")
