"""Batches that an accumulator cannot use leave it as it was; rows are left out together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nosplit import GoodnessOfFitAccumulator, IndependenceAccumulator, TwoSampleAccumulator, models
from nosplit.data.fit_encoding import fit_encoding
from nosplit.errors import InputError, NonFiniteError
from nosplit.kernels import Gaussian, Polynomial


@pytest.mark.parametrize("pairs", ["sketch", "adjacent"])
def test_numbers_that_are_too_large_iv(tmp_path, pairs):
    r = np.random.default_rng(0)
    acc = TwoSampleAccumulator(pairs=pairs)
    for _ in range(10):
        acc.update(r.normal(size=(100, 2)), r.normal(size=(100, 2)))
    bad = r.normal(size=(10, 2))
    bad[3, 1] = 1e200
    for batch in ((bad, r.normal(size=(10, 2))), (bad, None), (None, bad)):
        with pytest.raises(InputError, match=r"`[xy]` must be below 1e\+70 in size, got 1e\+200"):
            acc.update(*batch)
    assert acc.result().how.n_used == 2000
    acc.save(tmp_path / "s.json")
    acc.update(r.normal(size=(100, 2)), r.normal(size=(100, 2)))
    assert acc.result().how.n_used == 2200


def test_numbers_that_are_too_large_for_a_polynomial_iv():
    r = np.random.default_rng(0)
    rows = r.normal(size=(10, 2))
    large = rows.copy()
    large[0, 0] = 1e30
    TwoSampleAccumulator([Gaussian(1e20)], pairs="adjacent").update(large, rows)
    with pytest.raises(NonFiniteError, match="Nothing of this batch was taken in"):
        TwoSampleAccumulator([Polynomial(4)], pairs="adjacent").update(large, rows)


def test_numbers_that_are_too_large_in_other_streams_iv():
    x = np.random.default_rng(0).normal(size=(20, 1))
    bad = x.copy()
    bad[0] = 1e100
    fit = GoodnessOfFitAccumulator(models.MultivariateNormal([0.0]))
    fit.update(x)
    with pytest.raises(InputError):
        fit.update(bad)
    both = IndependenceAccumulator(unit_size=4)
    both.update(x, x)
    with pytest.raises(InputError):
        both.update(x, bad)
    assert (fit.counts()["n_used"], both.counts()["n_used"]) == (20, 20)


def frame(name, values, missing):
    values = np.asarray(values, dtype=float).copy()
    values[missing] = np.nan
    return pd.DataFrame({name: values})


def test_observations_are_left_out_together():
    """Rows missing in x and rows missing in y, as many of them, must not shift one another."""
    v = np.random.default_rng(0).normal(size=400)
    x, y = frame("a", v, [0]), frame("b", v, [399])
    encodings = tuple(fit_encoding(side, nan_policy="omit") for side in (x, y))
    acc = IndependenceAccumulator(encodings=encodings, unit_size=4)
    acc.update(x, y)
    one, two = acc._state.waiting
    np.testing.assert_allclose(one, two, atol=0.02)
    assert acc.counts()["n_omitted"] == 2
    with pytest.raises(InputError, match="as many rows, observed together"):
        acc.update(x, y[:-1])
    acc.update(frame("a", v[:3], [0, 1, 2]), frame("b", v[:3], []))
    assert acc.counts()["n_omitted"] == 5
    whole = IndependenceAccumulator(encodings=(encodings[0], None), unit_size=4)
    whole.update(x, v)
    np.testing.assert_allclose(whole._state.waiting[1][:, 0], v[1:])
