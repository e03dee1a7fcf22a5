"""Spectral kernels that are asked for: in every test, in tables, files, explanations, planning."""

from __future__ import annotations

import json
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import InputError, explain, two_sample_test
from nosplit._old.sketch.maps import fit_map
from nosplit.kernels import Delta, Gaussian, Linear, OnColumns, Spectral
from nosplit.kernels.plain import kernel_from_plain, kernel_to_plain
from nosplit.kernels.recipes import as_recipe

KERNELS = [Gaussian(1.0), Spectral(Gaussian(1.2), 1e-3)]


def shifted(n, m, seed=0, by=0.9):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + by


def test_they_print_as_they_are_written():
    assert repr(Spectral(Gaussian(1.2), 1e-3)) == "Spectral(Gaussian(1.2), 1e-3)"
    for gamma in (0.1, 0.25, 1e-2, 1.25e-7, 0.0012345678901234):
        kernel = Spectral(Gaussian(0.7), gamma)
        assert eval(repr(kernel), {"Spectral": Spectral, "Gaussian": Gaussian}) == kernel


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")  # 80 units
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": "sketch"},
        {"pairs": 1, "calibration": "asymptotic"},
        {"paired": True},
        {"strata": (np.arange(80) % 2, np.arange(80) % 2)},
        {"groups": (np.arange(80) // 2, 100 + np.arange(80) // 2)},
        {"kernels": lambda l2, l1: [Spectral(Gaussian(l2)), Linear()]},
        {"kernels": [2.0 * Spectral(Linear()) + Gaussian(1.0)]},
        {"kernels": [OnColumns(Spectral(Gaussian(1.0)), (1,)) * Gaussian(3.0)]},
    ],
    ids=["default", "sketch", "window", "paired", "strata", "groups", "callable", "sum", "product"],
)
def test_two_sample_tests_fit_them(options):
    x, y = shifted(80, 80)
    options = {"kernels": KERNELS, "method": "best"} | options
    res = two_sample_test(x, y, **options)
    assert res.reject(0.02)
    new = np.random.default_rng(9).normal(size=(3, 2))
    for kernel in res.selection.kernels:
        assert np.isfinite(kernel.tile(new, x)).all()


def test_samples_of_different_sizes_and_more_than_two():
    x, y = shifted(60, 90)
    assert two_sample_test(x, y, kernels=KERNELS).reject(0.02)
    assert nosplit.k_sample_test([x, y, y[:40]], kernels=KERNELS).reject(0.02)


def test_all_permutations_make_ranks_of_p_values():
    """Enumerated: at most k of the K p-values of an orbit are k/K or less."""
    rows = np.concatenate(shifted(4, 5, seed=3))
    kernels = [Spectral(Gaussian(1.0), 1e-2) + Linear(), Spectral(Gaussian(0.3), 1e-1)]
    found = []
    for first in map(list, combinations(range(9), 4)):
        x, y = rows[first], np.delete(rows, first, axis=0)
        found.append(two_sample_test(x, y, kernels=kernels, method="ost").pvalue)
    ordered = np.sort(found)
    assert len(set(found)) > 4
    for p in ordered:
        assert np.count_nonzero(ordered <= p) <= p * 126 + 1e-9


def test_independence_fits_each_variable():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 1))
    y = np.sin(3 * x) + 0.3 * rng.normal(size=(160, 1))
    pairs = [(Spectral(Gaussian(1.0), 1e-2), Spectral(Gaussian(0.5), 1e-1))]
    assert nosplit.independence_test(x, y, kernels=pairs).reject(0.01)


# -- what is made of them ----------------------------------------------------------------------


def test_the_witness_at_new_points_is_that_of_the_learned_kernel():
    x, y = shifted(70, 70)
    res = two_sample_test(x, y, kernels=Spectral(Gaussian(1.0), 1e-2))
    told = explain(res, x, y)
    new = np.random.default_rng(4).normal(size=(6, 2))
    expected = told.kernel.tile(new, x).mean(axis=1) - told.kernel.tile(new, y).mean(axis=1)
    witness = told.witness(new)  # which is known up to a constant
    np.testing.assert_allclose(np.diff(witness), np.diff(expected), rtol=1e-6)
    assert "Spectral(Gaussian(1.0), 0.01)" in repr(told.kernel)
    # A kernel is what it was, wherever it is: the formula of the page, by hand.
    basis = res.selection.kernels[0].basis
    K = np.exp(-((new[:, None] - basis.landmarks) ** 2).sum(axis=2) / 2.0)
    features = K @ basis.turn - basis.centre
    largest = basis.eigenvalues[0]
    gains = largest / (basis.eigenvalues + 1e-2 * largest)
    np.testing.assert_allclose(
        res.selection.kernels[0].tile(new, new), (features * gains) @ features.T
    )


def test_power_planning():
    x, y = shifted(120, 120, by=0.4)
    guess = nosplit.power.predict_power(
        nosplit.pilot(x, y, kernels=KERNELS), n=200, method="best", trials=400
    )
    assert 0.8 < guess.power <= 1.0


def table(n, seed, by=0.0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(list("uvw"), n)
    return pd.DataFrame({"a": rng.normal(size=n) + by * (kind == "u"), "c": kind})


@pytest.mark.parametrize(
    "kernels",
    [
        lambda l2, l1: [Spectral(Gaussian(l2), 1e-2)],
        [Spectral(OnColumns(Gaussian(1.0), (0,)) * OnColumns(Delta(), (1,)), 1e-2)],
        [OnColumns(Spectral(Gaussian(1.0)), (0,)) * OnColumns(Delta(), (1,))],
    ],
    ids=["callable", "of a product", "in a product"],
)
def test_tables_with_categories(kernels):
    x, y = table(50, 0), table(50, 1, by=3.0)
    res = two_sample_test(x, y, kernels=kernels)
    assert res.reject(0.02)
    assert np.isfinite(explain(res, x, y).witness(y[:5])).all()
    assert "Spectral" in json.dumps(res.to_dict())


# -- files -------------------------------------------------------------------------------------


def test_fitted_ones_serialise():
    x, y = shifted(50, 50)
    kernel = Spectral(Gaussian(1.2), 1e-3).fit(np.concatenate([x, y]))
    back = kernel_from_plain(json.loads(json.dumps(kernel_to_plain(kernel))))
    assert back == kernel == pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(back.tile(x, y), kernel.tile(x, y))
    assert kernel != Spectral(Gaussian(1.2), 1e-3).fit(x)
    plain = Spectral(Gaussian(1.2), 1e-3)
    assert kernel_from_plain(kernel_to_plain(plain)) == plain


@pytest.mark.parametrize(
    "change",
    [
        {"centre": {"dtype": "float64", "shape": [1, 1], "data": "AAAAAAAAAAA="}},
        {"eigenvalues": {"dtype": "float64", "shape": [1, 1], "data": "AAAAAAAAAAA="}},
        {"kernel": 3},
        {"turn": None},
    ],
)
def test_tampered_ones_are_refused(change):
    kernel = kernel_to_plain(Spectral(Gaussian(1.0)).fit(shifted(20, 20)[0]))
    kernel["basis"].update(change)
    with pytest.raises(InputError):
        kernel_from_plain(kernel)


def test_streams_fit_them_and_save_them(tmp_path):
    x, y = shifted(400, 400, by=0.2)
    for pairs in ("sketch", "adjacent"):
        stream = nosplit.TwoSampleAccumulator(KERNELS, pairs=pairs)
        stream.update(x, y)
        expected = stream.result()
        stream.save(tmp_path / "state.json")
        again = nosplit.load(tmp_path / "state.json")
        assert again.result().pvalue == expected.pvalue
        assert again.kernels == stream.kernels


def test_a_sketch_has_the_features_of_the_kernel():
    rows = np.random.default_rng(5).normal(size=(400, 3))
    kernels = [Spectral(Gaussian(1.0), 1e-2), OnColumns(Spectral(Gaussian(0.5)), (2,))]
    sketch = fit_map(rows, as_recipe(kernels), categorical=(), frequencies=8, cells=100, key=1)
    values = sketch.at_landmarks(rows[:20])
    first = 2 * sketch.n_waves + len(sketch.coordinates)
    for kernel, (where, steps) in zip(sketch.kernels, sketch.features, strict=True):
        own = values[:, where - first] * steps
        np.testing.assert_allclose(own @ own.T, kernel.tile(rows[:20], rows[:20]), atol=1e-4)


def test_where_they_cannot_be_used_that_is_said():
    x, y = shifted(300, 300)
    with pytest.raises(InputError, match="Stein"):
        nosplit.goodness_of_fit_test(x, lambda rows: -rows, kernels=KERNELS)
    with pytest.raises(InputError, match="profile holds none"):
        nosplit.profile(np.tile(x, (10, 1)), rows=2000, kernels=KERNELS)
    with pytest.raises(InputError, match="not fitted"):
        KERNELS[1].tile(x, y)


def test_values_of_a_row_whichever_rows_are_beside_it():
    """Swaps of labels moved values by rounding: with symmetric rows, a p of 1 was one of 1/8."""
    rows = np.random.default_rng(0).normal(size=(150, 2))
    kernel = Spectral(Gaussian(1.0), 0.1).fit(rows)
    whole, tile = kernel.features(rows), kernel.tile(rows, rows)
    for n in (1, 3, 7, 65):
        assert np.array_equal(kernel.features(rows[-n:]), whole[-n:])
        assert np.array_equal(kernel.tile(rows[-n:], rows[:n]), tile[-n:, :n])
