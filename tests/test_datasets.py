"""The datasets against the laws they are drawn from.

Sample means are compared with the exact ones by a normal bound: |z| ≤ 5.5 fails by chance with
probability 4e-8, and there are fewer than 400 comparisons here, so a seed that fails them has a
probability below 2e-5. Means of very skewed values, where 20,000 rows are too few for the normal
law that far out, are not compared.
"""

from __future__ import annotations

import math
from importlib import resources

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit.datasets import DATASETS, MNIST, Blobs, Dataset, DiffVar, SymmetricPair
from nosplit.errors import InputError

Z = 5.5
N = 20_000
WIDTHS = {"diff_var": 1, "mnist": 49, "blobs": 2, "symmetric": 1}

every_dataset = pytest.mark.parametrize("name", DATASETS)


def assert_mean(values, mean, sd):
    """`values` (n, p) have the exact mean `mean` and standard deviation `sd`, by column."""
    error = np.abs(values.mean(axis=0) - mean)
    assert np.all(error <= Z * np.asarray(sd) / math.sqrt(len(values)))


@pytest.fixture(scope="module")
def mnist_file():
    file = resources.files("nosplit.datasets") / "mnist_7x7.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return archive["sums"], archive["labels"]


def test_flights_are_those_of_two_months():
    january, july = nosplit.datasets.flights()
    for path, frame in zip((january, july), nosplit.datasets.flights("pandas"), strict=True):
        pd.testing.assert_frame_equal(frame, pd.read_csv(path))
        assert len(frame) == 2000
        late = frame["cancelled"] == 0
        assert frame.loc[~late, ["air_time", "dep_delay", "arr_delay"]].isna().all(axis=None)
    assert type(nosplit.datasets.flights("polars")[0]).__module__.startswith("polars")


@every_dataset
@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("n", [1, 7])
def test_arrays_are_float64_rows(name, n, null):
    for sample in DATASETS[name].sample(n, rng=1, null=null):
        assert sample.shape == (n, WIDTHS[name])
        assert sample.dtype == np.float64
        assert sample.flags.c_contiguous
        assert sample.flags.writeable


@every_dataset
def test_rng_seed_repeats_and_generator_moves_on(name):
    data = DATASETS[name]
    np.testing.assert_array_equal(data.sample(20, rng=3), data.sample(20, rng=3))
    np.testing.assert_array_equal(
        data.sample(20, rng=3), data.sample(20, rng=np.random.default_rng(3))
    )
    rng = np.random.default_rng(3)
    assert not np.array_equal(data.sample(20, rng=rng), data.sample(20, rng=rng))


@every_dataset
def test_null_keeps_x_and_draws_y_anew(name):
    x, _ = DATASETS[name].sample(20, rng=3)
    x0, y0 = DATASETS[name].sample(20, rng=3, null=True)
    np.testing.assert_array_equal(x, x0)
    assert not np.array_equal(x0, y0)


@pytest.mark.parametrize(
    ("data", "sd"),
    [(DiffVar(), 1.5), (DiffVar(sd=0.5), 0.5), (DiffVar.with_variance(1.5), math.sqrt(1.5))],
)
@pytest.mark.parametrize("null", [False, True])
def test_diff_var_against_theory(data, sd, null):
    x, y = data.sample(N, rng=11, null=null)
    for sample, scale in ((x, 1.0), (y, 1.0 if null else sd)):
        assert_mean(sample, 0.0, scale)
        # Var Z² = 2, Var Z⁴ = 105 − 9
        assert_mean(sample**2, scale**2, math.sqrt(2) * scale**2)
        assert_mean(sample**4, 3 * scale**4, math.sqrt(96) * scale**4)


@pytest.mark.parametrize(
    ("data", "var_p"),
    [
        (Blobs(), (0.01, 0.09)),
        (Blobs.with_variance((0.1, 0.3)), (0.1, 0.3)),
        (Blobs(sd=(0.05, 0.05)), (0.0025, 0.0025)),
    ],
)
@pytest.mark.parametrize("null", [False, True])
def test_blobs_against_theory(data, var_p, null):
    x, y = data.sample(N, rng=12, null=null)
    for sample, var in ((x, var_p), (y, var_p if null else var_p[::-1])):
        v = np.asarray(var)
        assert_mean(sample, 1.0, np.sqrt(2 / 3 + v))
        # S = grid + noise: E S⁴ = 2/3 + 6·(2/3)·v + 3v² around the centre of the grid
        assert_mean(
            (sample - 1) ** 2, 2 / 3 + v, np.sqrt(2 / 3 + 4 * v + 3 * v**2 - (2 / 3 + v) ** 2)
        )
        # The coordinates are independent.
        assert_mean((sample - 1).prod(axis=1), 0.0, math.sqrt(math.prod(2 / 3 + v)))


def test_blobs_centres_are_the_nine_of_the_paper():
    x, _ = Blobs(sd=(1e-9, 1e-9)).sample(N, rng=13)
    centres, counts = np.unique(x.round(), axis=0, return_counts=True)
    assert {tuple(c) for c in centres} == {(i, j) for i in range(3) for j in range(3)}
    np.testing.assert_allclose(x, x.round(), atol=1e-7)
    assert np.all(np.abs(counts - N / 9) <= Z * math.sqrt(N * (1 / 9) * (8 / 9)))


def uniform_within(t):
    return t / math.sqrt(3)


def laplace_within(t):
    return -math.expm1(-math.sqrt(2) * t)


@pytest.mark.parametrize("null", [False, True])
def test_symmetric_pair_against_theory(null):
    x, y = SymmetricPair().sample(N, rng=14, null=null)
    uniform = (uniform_within, 9 / 5, 27 / 7)
    laplace = (laplace_within, 6, 90)
    for sample, law in ((x, uniform), (y, uniform if null else laplace)):
        within, fourth, sixth = law
        assert_mean(sample, 0.0, 1.0)
        assert_mean(sample**2, 1.0, math.sqrt(fourth - 1))
        assert_mean(sample**3, 0.0, math.sqrt(sixth))
        for t in (0.25, 0.5, 1.0, 1.5):
            share = within(t)
            assert_mean(np.abs(sample) <= t, share, math.sqrt(share * (1 - share)))
    assert np.abs(x).max() <= math.sqrt(3)


def test_mnist_file_is_the_published_one(mnist_file):
    sums, labels = mnist_file
    assert sums.shape == (70_000, 7, 7)
    assert sums.max() == 4080
    published = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    np.testing.assert_array_equal(np.bincount(labels), published)


@pytest.mark.parametrize("null", [False, True])
def test_mnist_against_file(mnist_file, null):
    sums, labels = mnist_file
    table = sums.reshape(-1, 49) / 16 / 255
    x, y = MNIST().sample(N, rng=15, null=null)
    for sample, rows in ((x, table), (y, table if null else table[labels % 2 == 1])):
        assert {row.tobytes() for row in sample} <= {row.tobytes() for row in rows}
        used = (rows > 0).mean(axis=0) > 0.1  # the rest, near the edges, is too skewed
        assert_mean(sample[:, used], rows[:, used].mean(axis=0), rows[:, used].std(axis=0))


def test_mnist_draws_with_replacement():
    x, y = MNIST().sample(80_000, rng=16)
    assert len(x) == len(y) == 80_000


def test_mnist_samples_do_not_share_memory_with_the_images():
    x, _ = MNIST().sample(5, rng=0)
    x[:] = -1.0
    assert MNIST().sample(5, rng=0)[0].min() == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nosplit.datasets.flights("panda"), "`frame` must be 'pandas', 'polars' or"),
        (lambda: DiffVar().sample(0), "`n` must be an integer of at least 1, got 0"),
        (lambda: DiffVar().sample(2.5), "`n` must be an integer of at least 1, got 2.5"),
        (lambda: DiffVar().sample(5, rng="0"), "`rng` must be"),
        (lambda: DiffVar(sd=0.0), "`sd` must be a positive number, got 0.0"),
        (lambda: DiffVar(sd="wide"), "`sd` must be a positive number, got 'wide'"),
        (lambda: DiffVar.with_variance(-1.0), "`variance` must be a positive number, got -1.0"),
        (lambda: Blobs(sd=0.1), "`sd` must be a tuple of two positive numbers, got 0.1"),
        (lambda: Blobs(sd=(0.1, math.inf)), "`sd` must be a positive number, got inf"),
        (lambda: Blobs.with_variance((1.0,)), "`variance` must be a tuple of two"),
    ],
)
def test_iv(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_lookup_holds_every_dataset():
    assert {type(d) for d in DATASETS.values()} == set(Dataset.__subclasses__())
