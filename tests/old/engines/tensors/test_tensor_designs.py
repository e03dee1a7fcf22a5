"""Pairs, strata and groups of tensors against arrays: the same draws, units and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import nosplit
from _same import assert_near
from nosplit import InputError, Sketch, two_sample_test

torch = pytest.importorskip("torch", reason="the torch extra is not installed")

from nosplit._old.engines.torch.pairs import blocks, pooled  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
COMPLETE = {"pairs": "complete", "calibration": nosplit.Exact(1999)}
SKETCH = {"pairs": Sketch(60, 8), "calibration": nosplit.Exact(199)}


def samples(n=150, m=150, p=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), 1.2 * rng.normal(size=(m, p))


def both(device, *arrays, kind=torch.float64):
    return [torch.from_numpy(a).to(device, kind) for a in arrays]


def alike(found, expected):
    """Two sketches with the same 200 draws: errors in standard deviations, and ranks near ties."""
    sd = np.sqrt(np.diagonal(expected.selection.cov))
    tau, cov = (found.selection.tau - expected.selection.tau) / sd, np.outer(sd, sd)
    np.testing.assert_allclose(tau, 0.0, atol=1e-3)
    np.testing.assert_allclose(found.selection.cov / cov, expected.selection.cov / cov, atol=1e-4)
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.0051)
    assert found.selection.kernels == expected.selection.kernels
    for name in ("design", "n_used", "n_units", "n_left_out", "pairs", "calibration"):
        assert getattr(found.how, name) == getattr(expected.how, name)
    for own, other in zip(found.columns, expected.columns, strict=True):
        assert own.change == other.change
        assert own.pvalue == pytest.approx(other.pvalue, abs=0.0051)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("how", [COMPLETE, SKETCH], ids=["complete", "sketch"])
def test_paired_tensors_against_numpy(device, how):
    x, noise = samples()
    y = x + 0.2 * noise  # what pairs share is no difference
    expected = two_sample_test(x, y, paired=True, **how)
    found = two_sample_test(*both(device, x, y), paired=True, **how)
    (assert_near if how is COMPLETE else alike)(found, expected)
    moved = two_sample_test(x, y, paired=True, device=device, **how)
    assert moved.pvalue == pytest.approx(found.pvalue, abs=0.0051)


def labels(kind, n, m):
    rng = np.random.default_rng(3)
    sites = rng.integers(0, 4, n), rng.integers(0, 5, m)
    ids = rng.integers(0, 20, n), rng.integers(12, 30, m)
    return {
        "strata": {"strata": sites},
        "swapped inside groups, others exchanged": {"groups": ids},
        "groups in strata": {
            "groups": (ids[0], ids[1] + 20),
            "strata": (ids[0] % 2, (ids[1] + 20) % 2),
        },
    }[kind]


KINDS = ["strata", "swapped inside groups, others exchanged", "groups in strata"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_designs_of_tensors_against_numpy(device, kind, monkeypatch):
    monkeypatch.setitem(pooled.TILE, "cpu", 64)  # several tiles
    monkeypatch.setitem(blocks.AT_ONCE, "cpu", 1 << 12)
    x, y = samples(150, 130)
    given = labels(kind, 150, 130)
    expected = two_sample_test(x, y, **given, **COMPLETE)
    found = two_sample_test(*both(device, x, y), **given, **COMPLETE)
    assert_near(found, expected)
    single = two_sample_test(*both(device, x, y, kind=torch.float32), **given, **COMPLETE)
    cov = found.selection.cov
    sd = np.sqrt(np.diagonal(cov))
    assert np.allclose(single.selection.cov, cov, rtol=0, atol=3e-6 * np.outer(sd, sd))
    cells = two_sample_test(x, y, **given, **SKETCH)
    alike(two_sample_test(*both(device, x, y), **given, **SKETCH), cells)


@pytest.mark.parametrize("dependent", [True, False])
def test_dependent_tensors_in_strata_are_warned_of_against_numpy(dependent):
    walk, noise = (np.cumsum(samples(400)[0], axis=0) % 7.0, samples(400)[0])
    sites = np.repeat([0, 1], 100)
    # Sorted by stratum, rows are alike; about the mean of their stratum they are not.
    rows = walk if dependent else noise + 3.0 * np.tile(sites, 2)[:, None]
    given = {"strata": (sites, sites), **SKETCH}
    expected = two_sample_test(rows[:200], rows[200:], **given)
    found = two_sample_test(*both("cpu", rows[:200], rows[200:]), **given)
    assert bool(found.warnings) == dependent
    assert found.warnings == expected.warnings
    assert found.how.calibration == "exact"


def test_designs_of_tensors_iv():
    x, y = both("cpu", *samples(60, 50))
    with pytest.raises(InputError, match="must have as many rows, got 60 and 50"):
        two_sample_test(x, y, paired=True)
    with pytest.raises(InputError, match="but `x` is no table"):
        two_sample_test(x, y, strata="site")
    with pytest.raises(InputError, match="a label for each of the 50 rows"):
        two_sample_test(x, y, strata=(np.zeros(60), np.zeros(49)))
    for paired in (False, True):
        with pytest.raises(InputError, match="`series` is not supported on a device"):
            two_sample_test(x[:50], y, series=True, paired=paired)
    y[3, 1] = torch.inf
    with pytest.raises(InputError, match="`y` must be finite, got inf"):
        two_sample_test(x, y, strata=(np.zeros(60), np.zeros(50)))
