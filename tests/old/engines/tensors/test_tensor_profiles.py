"""Profiles of tensors, and tensors compared with profiles, against arrays: the same cells."""

from __future__ import annotations

import numpy as np
import pytest

import nosplit
from _same import doubled_steps
from nosplit import InputError

torch = pytest.importorskip("torch", reason="the torch extra is not installed")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
SMALL = {"rows": 500, "least": 2, "frequencies": 8}


def rows(n=4000, p=2, seed=0, kind=np.float64):
    return np.random.default_rng(seed).standard_normal((n, p)).astype(kind)


def on(device, array):
    return torch.from_numpy(array).to(device)


def alike(found, expected):
    """Profiles of the same rows in the same cells; a wave that turns t times is off by 1 + 1.6 t.

    Rows are within five spreads, and so are the turns of a wave. Those that NumPy gets by doubling
    are off by more.
    """
    assert (found.parts, found.tiers, found.dtype) == (
        expected.parts,
        expected.tiers,
        expected.dtype,
    )
    assert np.array_equal(found.cells.bins, expected.cells.bins)
    turns = 5.0 * np.tile(np.abs(found.map.turns).sum(axis=0), 2)
    steps = np.ones(found.map.n_features)
    steps[: len(turns)] += 1.6 * turns + doubled_steps(found.map)
    apart = np.abs(found.cells.features - expected.cells.features).max(axis=0)
    assert (apart <= found.tiers.sizes[-1] * steps).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_profiles_of_tensors_against_numpy(device, kind):
    x, more = rows(10_000, kind=kind), rows(500, seed=1, kind=kind)
    expected = nosplit.profile(x, **SMALL)
    assert len(expected.tiers.counts) > 1  # cells of two sizes
    found = nosplit.profile(on(device, x), **SMALL)
    alike(found, expected)
    part = nosplit.profile(on(device, more), like=found)
    alike(part, nosplit.profile(more, like=expected))
    assert (found + part).n_rows == 10_500


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_against_a_profile(device):
    reference, y = nosplit.profile(rows(), **SMALL), 1.05 * rows(900, seed=2)
    few = {"calibration": nosplit.Exact(199)}
    expected = nosplit.two_sample_test(reference, y, **few)
    sd = np.sqrt(np.diagonal(expected.selection.cov))
    for found in (
        nosplit.two_sample_test(reference, on(device, y), **few),
        nosplit.two_sample_test(on(device, y), reference, **few),
        nosplit.two_sample_test(reference, y, device=device, **few),
    ):
        assert found.pvalue == pytest.approx(expected.pvalue, abs=0.0051)
        assert np.allclose(found.selection.tau, expected.selection.tau, rtol=0, atol=1e-3 * sd)
        assert found.how.n_used == expected.how.n_used
    gaps = y.copy()
    gaps[::100, 1] = np.nan
    whole, lacking = (
        nosplit.two_sample_test(reference, own, nan_policy="omit", **few)
        for own in (gaps, on(device, gaps))
    )
    assert lacking.pvalue == pytest.approx(whole.pvalue, abs=0.0051)
    assert lacking.how.n_left_out == whole.how.n_left_out


def test_profiles_of_tensors_iv():
    x = torch.from_numpy(rows())
    reference = nosplit.profile(x, **SMALL)
    with pytest.raises(InputError, match="must hold float64, as the reference did, got float32"):
        nosplit.two_sample_test(reference, x.bfloat16())
    with pytest.raises(InputError, match="must have 2 columns, as the profile has, got 1"):
        nosplit.two_sample_test(reference, x[:, :1])
    with pytest.raises(InputError, match="`y` must have at least 80 rows"):
        nosplit.two_sample_test(reference, x[:50])
    x[70, 1] = torch.nan
    for wrong in (lambda: nosplit.profile(x), lambda: nosplit.two_sample_test(reference, x)):
        with pytest.raises(InputError, match="must be finite, got nan"):
            wrong()
