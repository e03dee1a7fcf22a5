"""Tensors against arrays: the same rows in the same cells, the same numbers, the same verdicts.

All of it runs on PyTorch's processor; what needs a GPU is in `test_cuda`.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import nosplit
from _same import assert_near
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.memory import ArraySide
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import prepare_sketch
from nosplit.core.pairings import Sketch
from nosplit.data.options import Options
from nosplit.errors import DeviceError, InputError

torch = pytest.importorskip("torch", reason="the torch extra is not installed")

from nosplit._old.engines.torch.devices import running  # noqa: E402
from nosplit._old.engines.torch.pairs import pooled  # noqa: E402
from nosplit._old.engines.torch.pairs import units as pair_units  # noqa: E402
from nosplit._old.engines.torch.sketches.sides import MovedSide, TensorSide  # noqa: E402

CPU = torch.device("cpu")


def samples(n=300, m=None, p=3, seed=0, factor=1.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), factor * rng.normal(size=(m or n, p))


def tensors(*arrays, kind=torch.float64):
    return [torch.from_numpy(a).to(kind) for a in arrays]


# -- sketches ----------------------------------------------------------------------------------


def prepared(x, y, kernels=None, cells=100):
    options = Options.of(None, None, None, "raise")
    asked = Asked(options, kernels, None, Sketch(max(cells, 16), 16), "auto", 1.0)
    sides = Sides(ArraySide("x", x), ArraySide("y", y))
    return sides, prepare_sketch(sides, asked, np.random.default_rng(0))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_cell_sums_are_within_a_step_a_row_against_numpy(kind):
    x, y = (rows.astype(kind) + 50.0 for rows in samples(5000))
    x[:, 1], y[:, 1] = np.round(x[:, 1], 1), np.round(y[:, 1], 1)
    kernels = [
        nosplit.kernels.Gaussian(1.0),
        nosplit.kernels.Linear(),
        nosplit.kernels.Polynomial(2, 1.0),
    ]
    sides, ready = prepared(x, y, kernels)
    own = Sides(TensorSide("x", torch.from_numpy(x)), MovedSide(sides.y, CPU))
    waves = 2 * ready.task.map.n_waves
    for a, b in zip(sides.sums(ready.task), own.sums(ready.task), strict=True):
        assert np.array_equal(a.bins, b.bins)
        apart = np.abs(a.features - b.features)
        assert apart[:, :waves].max() <= ready.task.layout.c
        assert apart[:, waves:].max() == 0


@pytest.mark.parametrize(("n", "m"), [(3000, 3000), (3000, 2000)])
def test_sketch_of_tensors_against_numpy(n, m):
    x, y = samples(n, m, factor=1.03)
    res = nosplit.two_sample_test(x, y, pairs="sketch")
    own = nosplit.two_sample_test(*tensors(x, y), pairs="sketch")
    assert own.pvalue == pytest.approx(res.pvalue, abs=3e-4)
    assert np.allclose(
        own.selection.tau,
        res.selection.tau,
        rtol=0,
        atol=1e-3 * np.sqrt(np.diagonal(res.selection.cov)),
    )
    assert own.how.n_used == res.how.n_used


def test_rows_that_are_moved_give_the_same_sketch(tmp_path, monkeypatch):
    x, y = samples(3000)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    res = nosplit.two_sample_test(*tensors(x, y), pairs="sketch")
    moved = nosplit.two_sample_test(x, y, pairs="sketch", device="cpu")
    monkeypatch.setattr("nosplit._old.data.files.whole.SMALL", 100)
    files = [str(tmp_path / name) for name in ("x.npy", "y.npy")]
    read = nosplit.two_sample_test(*files, pairs="sketch", device="cpu")
    mixed = nosplit.two_sample_test(files[0], tensors(y)[0], pairs="sketch")
    for other in (moved, read):
        assert np.array_equal(other.selection.tau, res.selection.tau)
        assert other.pvalue == res.pvalue
    assert mixed.pvalue == pytest.approx(res.pvalue, abs=3e-4)


def test_tables_with_categories_are_sketched_on_a_device_against_numpy():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    x, y = (
        pd.DataFrame({"a": rng.normal(size=2000), "k": rng.choice(["u", "v", "w"], 2000)})
        for _ in range(2)
    )
    res, own = (nosplit.two_sample_test(x, y, pairs="sketch", device=d) for d in (None, "cpu"))
    assert own.pvalue == pytest.approx(res.pvalue, abs=3e-4)
    assert np.allclose(
        own.selection.tau,
        res.selection.tau,
        rtol=0,
        atol=1e-3 * np.sqrt(np.diagonal(res.selection.cov)),
    )


CASES = {
    "complete": {"pairs": "complete"},
    "linear": {"pairs": "linear", "calibration": "asymptotic", "kernels": "paper2"},
    "window": {"pairs": 5, "kernels": "paper6"},
    "blocks": {"pairs": nosplit.Blocks(64), "kernels": "paper6"},
    "split": {"pairs": 5, "method": "split", "kernels": "paper2"},
    "kernels": {
        "pairs": "complete",
        "kernels": [
            nosplit.kernels.Spectral(nosplit.kernels.Gaussian(2.0)),
            nosplit.kernels.Matern(2.0, 1.5),
            nosplit.kernels.Matern(1.0, 2.5) * nosplit.kernels.Gaussian(3.0),
            nosplit.kernels.IMQ(1.0, -0.5) + 2.0 * nosplit.kernels.Linear(),
            nosplit.kernels.Polynomial(2, 1.0),
            lambda a, b: np.exp(-np.abs(a - b).sum(axis=-1)),
        ],
    },
}


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("case", CASES)
def test_pairs_of_tensors_against_numpy(case, monkeypatch):
    monkeypatch.setitem(pair_units.PAIRS, "cpu", 1 << 13)  # several tiles
    x, y = samples(300, factor=1.1)
    res = nosplit.two_sample_test(x, y, **CASES[case])
    own = nosplit.two_sample_test(*tensors(x, y), **CASES[case])
    tau, cov = own.selection.tau, own.selection.cov
    sd = np.sqrt(np.diagonal(cov))
    if own.how.n_resamples is None:
        assert np.allclose(tau, res.selection.tau, rtol=0, atol=1e-9 * sd)
        assert np.allclose(cov, res.selection.cov, rtol=0, atol=1e-9 * np.outer(sd, sd))
        assert own.log_pvalue == pytest.approx(res.log_pvalue, rel=1e-6)
        assert (own.how.n_pairs, own.how.pairs) == (res.how.n_pairs, res.how.pairs)
    else:
        assert_near(own, res)
    single = nosplit.two_sample_test(*tensors(x, y, kind=torch.float32), **CASES[case])
    assert np.allclose(single.selection.tau, tau, rtol=0, atol=3e-5 * sd)
    assert np.allclose(single.selection.cov, cov, rtol=0, atol=3e-6 * np.outer(sd, sd))


@pytest.mark.parametrize("shared", [False, True])
def test_pooled_tensors_against_numpy(shared, monkeypatch):
    monkeypatch.setitem(pooled.TILE, "cpu", 100)
    x, y = samples(300, 240, factor=1.2)
    if shared:  # ties: values that many rows share, and equal rows
        x, y = np.round(x), np.round(y)
    res = nosplit.two_sample_test(x, y, pairs="complete")
    own = nosplit.two_sample_test(*tensors(x, y), pairs="complete")
    assert_near(own, res)
    sd = np.sqrt(np.diagonal(own.selection.cov))
    by_hand = label_statistics(x, y, own.selection.kernels)
    assert np.all(np.abs(own.selection.tau - by_hand) <= 5 * sd / np.sqrt(1000))


def label_statistics(x, y, kernels):
    """Σ w_a w_b k(a, b) over pairs of different rows, less its mean over all labellings."""
    rows, n, N = np.concatenate([x, y]), len(x), len(x) + len(y)
    rows -= rows.mean(axis=0)  # which linear kernels ask for, and no other notices
    weights, spread = (np.arange(N) < n) - n / N, n / N * (1 - n / N)
    found = []
    for kernel in kernels:
        K = kernel.tile(rows, rows)
        np.fill_diagonal(K, 0.0)
        found.append(weights @ K @ weights + spread / (N - 1) * K.sum())
    return np.array(found) / (2.0 * np.sqrt(N * (N - 1) / 2) * spread)


# -- types, devices and doors ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("how", ["sketch", "complete"])
def test_short_floats_are_what_they_are_in_single_precision(kind, how):
    x, y = tensors(*samples(1200 if how == "sketch" else 200), kind=kind)
    short = nosplit.two_sample_test(x, y, pairs=how)
    single = nosplit.two_sample_test(x.float(), y.float(), pairs=how)
    assert short.pvalue == single.pvalue
    assert np.array_equal(short.selection.tau, single.selection.tau)


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
def test_two_runs_are_the_same_to_the_bit():
    x, y = tensors(*samples(1500), kind=torch.float32)
    for how in ("sketch", nosplit.Blocks(200)):
        a, b = (nosplit.two_sample_test(x, y, pairs=how) for _ in range(2))
        assert np.array_equal(a.selection.tau, b.selection.tau)
        assert a.pvalue == b.pvalue


def test_all_tests_take_tensors_against_numpy():
    x, y = samples(200)
    a, b = tensors(x, y)
    a.requires_grad_()
    calls = [
        lambda u, v: nosplit.goodness_of_fit_test(u, lambda rows: -rows),
        lambda u, v: nosplit.independence_test(u, v),
        lambda u, v: nosplit.mean_test(u),
        lambda u, v: nosplit.joint_normal_test(u[0], u.T @ u),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls:
            assert call(a, b).pvalue == pytest.approx(call(x, y).pvalue, rel=1e-9)


def test_streams_take_tensors_against_numpy():
    x, y = (rows.astype(np.float32) for rows in samples(400))
    short = tensors(x, y, kind=torch.bfloat16)
    x, y = (rows.float().numpy() for rows in short)
    short[0].requires_grad_()
    accumulators = [
        (nosplit.TwoSampleAccumulator, (), 2),
        (nosplit.GoodnessOfFitAccumulator, (lambda rows: -rows,), 1),
        (nosplit.IndependenceAccumulator, (), 2),
    ]
    for make, model, sides in accumulators:
        results = []
        for batch in ((x, y), short):
            stream = make(*model, pairs="adjacent")
            stream.update(*batch[:sides])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of few rows
                results.append(stream.result().pvalue)
        assert results[0] == results[1]


def test_dependent_rows_are_warned_of_against_numpy():
    rng = np.random.default_rng(0)
    x, y = (np.cumsum(rng.normal(size=(6000, 2)), axis=0) % 7.0 for _ in range(2))
    res = nosplit.two_sample_test(x, y, pairs="sketch")
    own = nosplit.two_sample_test(*tensors(x, y), pairs="sketch")
    assert [text.split(":")[0] for text in own.warnings] == ["DependentRowsWarning"]
    assert own.warnings == res.warnings
    assert own.how.calibration == res.how.calibration == "exact"
    assert own.pvalue == pytest.approx(res.pvalue, abs=3e-4)


def test_tensors_iv():
    x, y = tensors(*samples(100))
    bad = [
        ((x, y[:, :2]), "same number of columns"),
        ((x.to_sparse(), y), r"sparse tensor. Use `x.to_dense\(\)`"),
        ((x, y.to(torch.complex64)), "`y` must hold real numbers"),
        ((x[:, :, None], y), "Flatten each observation"),
        ((x[:1], y), "`x` must have at least 2 rows"),
        ((torch.ones(30, 2), torch.ones(30, 2)), "constant and equal"),
    ]
    for (a, b), words in bad:
        with pytest.raises(InputError, match=words):
            nosplit.two_sample_test(a, b)
    for how in ("complete", "sketch"):
        broken = y.clone()
        broken[17, 1] = torch.nan
        with pytest.raises(InputError, match=r"`y` must be finite, got nan"):
            nosplit.two_sample_test(x, broken, pairs=how)


def test_devices_iv(monkeypatch):
    x, y = samples(100)
    with pytest.raises(InputError, match="`device` must be one that PyTorch has, got 'gpu'"):
        nosplit.two_sample_test(x, y, device="gpu")
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    with pytest.raises(InputError, match=r"pip install 'nosplit\[torch\]'"):
        nosplit.two_sample_test(x, y, device="cuda")
    assert nosplit.two_sample_test(x, y).how.pairs == "complete"


def test_a_device_without_room_says_what_to_do_iv():
    with pytest.raises(DeviceError, match=r'no room left.*pairs="sketch"'), running(CPU):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB. GPU 0 has 1.")
