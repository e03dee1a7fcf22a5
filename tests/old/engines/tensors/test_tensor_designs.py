"""Pairs, strata and groups of tensors against arrays: the same draws, units and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import nosplit
from _same import assert_near
from nosplit import InputError, Sketch, two_sample_test

torch = pytest.importorskip("torch", reason="the torch extra is not installed")

from nosplit._old.designs.draws import BlockDraws  # noqa: E402
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


# -- pairs ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("paired", "m"), [(True, 200), (False, 160)])
def test_dependent_tensors_are_warned_of_against_numpy(paired, m):
    walk = np.cumsum(samples(400)[0], axis=0) % 7.0
    x, y = walk[:200], walk[200 : 200 + m]
    expected = two_sample_test(x, y, paired=paired, **COMPLETE)
    found = two_sample_test(*both("cpu", x, y), paired=paired, **COMPLETE)
    assert "Neighbouring rows are alike" in found.warnings[0]
    assert found.warnings == expected.warnings
    assert found.how.calibration == expected.how.calibration == "exact"
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.0051)


def test_pairs_that_share_a_series_are_not_warned_of():
    walk = np.cumsum(samples(200)[0], axis=0)
    noise = samples(200, 200, seed=1)
    x, y = (walk + part for part in noise)
    assert two_sample_test(*both("cpu", x, y), **COMPLETE).warnings
    assert not two_sample_test(*both("cpu", x, y), paired=True, **COMPLETE).warnings


def test_labels_of_few_tensors_are_permuted_against_numpy():
    x, y = samples(7, 7)
    expected = two_sample_test(x, y + 1.0, **COMPLETE)
    found = two_sample_test(*both("cpu", x, y + 1.0), **COMPLETE)
    assert found.how.n_units == 14
    assert_near(found, expected)


# -- strata and groups ---------------------------------------------------------------------------


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


def test_statistics_of_blocks_by_their_definition():
    """Σ w_a w_b k(a, b) over pairs of units, with labels about the shares of blocks as weights."""
    rng = np.random.default_rng(5)
    starts, counts = np.array([0, 5, 7, 16]), np.array([2, 1, 4])
    draws = BlockDraws(starts, counts, 49, 1)
    weights = np.concatenate([draws.weights(*chunk) for chunk in draws.chunks()])
    values = rng.normal(size=(2, 16, 3))
    K = values @ values.transpose(0, 2, 1)
    w = weights - draws.shares
    pairs = ~np.eye(16, dtype=bool)
    sums = np.stack([np.einsum("fa,ab,fb->f", w, k * pairs, w) for k in K], axis=1)
    every = BlockDraws(starts, counts, 10**4, 1)  # all 10 · 2 · 126 labellings
    w = every.weights(0, every.flips + 1) - draws.shares
    means = np.array([np.einsum("fa,ab,fb->f", w, k * pairs, w).mean() for k in K])
    own = blocks.TensorBlocks(draws, np.arange(16), torch.device("cpu"))
    labelled = torch.from_numpy(weights.astype(np.int8))
    tau, _ = blocks.block_statistics(torch.from_numpy(K), own, labelled)
    np.testing.assert_allclose(tau, (sums - means) / (2.0 * np.sqrt(120)), atol=1e-5)


def test_units_of_groups_are_means_of_rows():
    rng = np.random.default_rng(6)
    values, unit = rng.normal(size=(40, 3)), np.sort(rng.permutation(np.arange(40) % 9))
    unit = rng.permutation(unit)
    draws = BlockDraws(np.array([0, 4, 9]), np.array([2, 2]), 9, 0)
    own = blocks.TensorBlocks(draws, unit, torch.device("cpu"))
    means = np.stack([values[unit == u].mean(axis=0) for u in range(9)])
    expected = np.concatenate([m - m.mean(axis=0) for m in np.split(means, [4])])
    np.testing.assert_allclose(own.own(torch.from_numpy(values)), expected, atol=1e-12)
    bank = nosplit.kernels.bank.Bank((nosplit.kernels.Polynomial(2, 1.0),))
    K = blocks.tensor_gram(torch.from_numpy(values), bank, unit)[0]
    rows = (values @ values.T + 1.0) ** 2
    mean = np.array(
        [[rows[np.ix_(unit == u, unit == v)].mean() for v in range(9)] for u in range(9)]
    )
    np.testing.assert_allclose(K, mean, atol=1e-12)


def test_tables_in_strata_are_compared_on_a_device_against_numpy():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    x, y = (
        pd.DataFrame(
            {
                "a": rng.normal(size=120),
                "k": rng.choice(["u", "v", "w"], 120),
                "site": rng.choice(["n", "s"], 120),
            }
        )
        for _ in range(2)
    )
    expected, found = (
        two_sample_test(x, y, strata="site", device=place, **COMPLETE) for place in (None, "cpu")
    )
    assert_near(found, expected)


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


def test_groups_of_tensors_are_not_warned_of():
    rows = np.repeat(samples(80)[0], 5, axis=0)
    ids = np.repeat(np.arange(80), 5)
    found = two_sample_test(
        *both("cpu", rows[:200], rows[200:]), groups=(ids[:200], ids[200:]), **COMPLETE
    )
    assert not found.warnings


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
