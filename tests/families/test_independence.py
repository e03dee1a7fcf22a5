"""Independence: HSIC against its definition, permutations against enumeration."""

from __future__ import annotations

import itertools
from math import perm

import numpy as np
import pytest
from scipy import stats

from nosplit import Blocks, Exact, InputError, independence_test
from nosplit.core.order import Natural, shuffled
from nosplit.core.pairings import Complete, LinearPairs, Tile, Window
from nosplit.families.hsic_units import HsicUnits
from nosplit.kernels import Delta, Gaussian, Laplace, Linear
from nosplit.kernels.tensor import Tensor, TensorBank, default_tensors
from nosplit.methods import Split

KERNELS = (
    Tensor(Gaussian(1.0), Gaussian(1.0)),
    Tensor(Gaussian(2.0), Gaussian(1.0)),
    Tensor(Linear(), Linear()),
    Tensor(Laplace(1.0), Delta()),
)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    return x, np.round(x[:, :1] + rng.standard_normal((n, 1)), 1)


def units(x, y, n_units, kernels=KERNELS, order=None):
    starts = np.arange(n_units + 1) * len(x) // n_units
    bank = TensorBank(tuple(kernels))
    return HsicUnits(x, y, order or Natural(), bank, starts, range(n_units))


def definition(kernel, x, y, a, b):
    """h of design's table: centred blocks, summed, over (s_a - 1)(s_b - 1)."""
    left, right = (np.eye(len(u)) - 1.0 / len(u) for u in (a, b))
    K, L = kernel.x.tile(x[a], x[b]), kernel.y.tile(y[a], y[b])
    return np.sum((left @ K @ right) * (left @ L @ right)) / ((len(a) - 1) * (len(b) - 1))


def textbook(kernel, x, y):
    """Gretton et al. (2007): unbiased estimate of HSIC, averages over distinct indices."""
    K, L = kernel.x.tile(x, x), kernel.y.tile(y, y)
    n, total = len(x), 0.0
    for i, j in itertools.permutations(range(n), 2):
        total += K[i, j] * L[i, j] / perm(n, 2)
    for i, j, q, r in itertools.permutations(range(n), 4):
        total += K[i, j] * L[q, r] / perm(n, 4)
    for i, j, q in itertools.permutations(range(n), 3):
        total -= 2.0 * K[i, j] * L[i, q] / perm(n, 3)
    return total


def partitions(rest, size):
    """All ways to cut a list into unordered groups of `size`."""
    if not rest:
        yield []
        return
    first, others = rest[0], rest[1:]
    for chosen in itertools.combinations(others, size - 1):
        left = [i for i in others if i not in chosen]
        for more in partitions(left, size):
            yield [[first, *chosen], *more]


# The statistic ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [7, 12, 13])
def test_values_against_the_definition(n):
    x, y = data(n)
    some = units(x, y, 3)
    rows = [list(range(some.starts[i], some.starts[i + 1])) for i in range(3)]
    values = some.values(Tile(range(3), range(3)))
    for i, j in ((0, 1), (0, 2), (1, 2), (2, 0)):
        wanted = [definition(k, x, y, rows[i], rows[j]) for k in KERNELS]
        np.testing.assert_allclose(values[:, i, j], wanted, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("n", "size"), [(6, 2), (6, 3), (8, 4)])
def test_average_over_all_partitions_is_the_textbook_u_statistic(n, size):
    x, y = data(n, seed=n)
    means = [
        units(x[order], y[order], n // size).total(Complete(), 1).mean
        for order in (np.concatenate(groups) for groups in partitions(list(range(n)), size))
    ]
    wanted = [textbook(k, x, y) for k in KERNELS]
    np.testing.assert_allclose(np.mean(means, axis=0), wanted, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("pairing", [LinearPairs(), Window(2), Blocks(4), Complete()], ids=str)
def test_pairings_orders_and_workers_agree(pairing):
    x, y = data(61)
    order = shuffled(61, np.random.default_rng(1))
    rows = order.rows(range(61))
    one = units(x, y, 9, order=order).total(pairing, 1)
    again = units(x, y, 9, order=order).total(pairing, 2)
    other = units(x[rows], y[rows], 9).total(pairing, 1)
    np.testing.assert_array_equal(one.mean, again.mean)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-10)
    assert one.n == pairing.n_pairs(9)


# Permutations -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::nosplit.NosplitWarning")
@pytest.mark.parametrize("discrete", [False, True])
def test_p_values_are_uniform_at_sixteen_rows(discrete):
    """Chi-square over five classes of the rank among 20, false alarm 1e-4; and the level itself."""
    rng, ranks = np.random.default_rng(4), []
    for _ in range(400):
        x = rng.standard_normal(16)
        y = rng.standard_exponential(16) if not discrete else rng.choice(["a", "b", "c"], 16)
        result = independence_test(x, y, calibration=Exact(19), rng=rng, workers=1)
        ranks.append(round(20 * result.pvalue))
    counts = np.bincount(ranks, minlength=21)[1:]
    assert counts[0] <= stats.binom.isf(1e-4, 400, 0.05)
    if not discrete:  # no ties
        assert stats.chisquare(counts.reshape(5, 4).sum(axis=1)).pvalue > 1e-4


@pytest.mark.filterwarnings("ignore::nosplit.errors.UnsafeAsymptoticsWarning")
def test_asymptotic_level():
    """Units of 8, a window of 2 and ten kernels: at most .07; false alarm 1e-4."""
    rng, trials, hits = np.random.default_rng(5), 40, 0
    for _ in range(trials):
        x, y = rng.standard_normal((2, 4000))
        result = independence_test(
            x, y, calibration="asymptotic", pairs=2, shuffle=False, workers=1
        )
        hits += result.pvalue <= 0.05
    assert hits <= stats.binom.isf(1e-4, trials, 0.07)


# Power and choices ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["square", "circle", "many"])
def test_dependence_is_found(shape):
    rng = np.random.default_rng(6)
    if shape == "square":
        x = rng.standard_normal(200)
        y = x**2 + rng.standard_normal(200)
    elif shape == "circle":
        angle = rng.uniform(0, 2 * np.pi, 200)
        x, y = np.cos(angle), np.sin(angle)
    else:
        x = rng.standard_normal((200, 4))
        y = 0.5 * x[:, :3] + rng.standard_normal((200, 3))
    result = independence_test(x, y)
    assert result.reject(0.01)
    assert (result.how.calibration, result.how.pairs, result.how.method) == (
        "exact",
        "complete",
        "adaptive",
    )
    assert (result.how.n_units, result.how.n_used, result.how.n_left_out) == (200, 200, 0)


def test_categories_by_any_name():
    rng = np.random.default_rng(7)
    x = rng.standard_normal(160)
    y = (rng.standard_normal(160) + np.abs(x) > 1.0).astype(int)
    names = np.array(["no", "yes"])[y]
    results = [
        independence_test(x, v)
        for v in (names, names.astype(object), names.tolist(), y.astype(bool), names[:, None])
    ]
    assert len({r.pvalue for r in results}) == 1
    assert results[0].reject(0.05)
    assert {k.y for k in results[0].selection.kernels} == {Delta()}
    both = independence_test(np.column_stack([names, names]), names, calibration=Exact(99))
    assert both.selection.kernels == (Tensor(Delta(), Delta()),)
    assert both.pvalue == 0.01


def test_objects_that_are_numbers_are_numbers():
    x, y = data(40)
    assert independence_test(x.astype(object), y).pvalue == independence_test(x, y).pvalue


def test_kernels_as_pairs_and_recipes():
    x, y = data(64)
    pairs = list(itertools.product([Gaussian(1.0), Linear()], [Gaussian(2.0), Delta()]))
    result = independence_test(x, y, kernels=pairs)
    assert result.selection.kernels == tuple(Tensor(k, l) for k, l in pairs)
    recipe = independence_test(x, y, kernels=lambda a, b: [(Gaussian(a), Gaussian(b))])
    assert recipe.selection.kernels[0].x.bandwidth > 1.0
    assert recipe.selection.kernels[0].x.bandwidth != recipe.selection.kernels[0].y.bandwidth


def test_default_products():
    assert len(default_tensors(1.0, 1.0)) == 10
    assert len(default_tensors(1.0, 1.0, x_discrete=True)) == 4
    assert default_tensors(1.0, 1.0, x_discrete=True, y_discrete=True) == (
        Tensor(Delta(), Delta()),
    )


@pytest.mark.parametrize(
    "options",
    [{"calibration": "asymptotic", "pairs": 4}, {"pairs": 2}, {"method": Split(0.4), "pairs": 4}],
    ids=str,
)
def test_workers_do_not_change_the_result(options):
    x, y = data(8000)
    one, two = (independence_test(x, y, workers=w, **options) for w in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_large_samples_are_planned():
    x, y = np.random.default_rng(8).standard_normal((2, 60_000))
    result = independence_test(x, y, budget=0.2)
    assert (result.how.pairs, result.how.calibration, result.how.method) == (
        "sketch",
        "exact",
        "adaptive",
    )


# Input ------------------------------------------------------------------------------------------


def test_independence_iv():
    x, y = data(40)

    def refuse(match, x=x, y=y, **options):
        with pytest.raises(InputError, match=match):
            independence_test(x, y, **options)

    refuse("`x` and `y` must have as many rows, observed together, got 40 and 39", y=y[:39])
    refuse("`y` is constant", y=np.ones(40))
    refuse("`x` is constant", x=["a"] * 40)
    refuse("`x` must have at least 4 rows, got 3", x=x[:3], y=y[:3])
    refuse("`x` must be finite", x=np.where(x > 2, np.nan, x) * np.r_[np.nan, np.ones(39)][:, None])
    refuse("`y` must hold numbers, or categories of one type", y=np.array([1, "a"] * 20, object))
    refuse("`kernels` must be pairs", kernels=[])
    refuse(r"`kernels` must hold pairs \(k, l\)", kernels=[Gaussian(1.0)])
    refuse(
        '`calibration="asymptotic"` needs pairs with a normal limit',
        pairs="complete",
        calibration="asymptotic",
    )
    refuse("`calibration` must be one of", calibration="wild")


# -- few observations, permuted all together -------------------------------------------------------


def test_few_observations_keep_the_level():
    rng = np.random.default_rng(8)
    hits = sum(
        independence_test(
            rng.standard_t(3, (20, 2)),
            rng.integers(0, 4, (20, 1)) + 0.1,
            calibration=Exact(19),
            rng=trial,
        ).reject(0.05)
        for trial in range(300)
    )
    assert hits <= stats.binom.isf(1e-3, 300, 0.05)


def test_weak_columns_beside_loud_ones_are_found():
    """Units of eight found none of 60 such samples of 80 rows, and distance covariance four."""
    rng = np.random.default_rng(1)
    z, noise = rng.normal(size=(150, 1)), rng.normal(size=(4, 150, 1))
    x, y = (np.hstack([3.0 * a, 0.5 * b + 0.5 * z]) for a, b in (noise[:2], noise[2:]))
    assert independence_test(x, y).reject(0.05)


def test_threads_do_not_change_what_permutations_give():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 70, 2))
    one, two = (
        independence_test(x, y, calibration=Exact(99), rng=3, workers=workers) for workers in (1, 2)
    )
    assert one.to_dict() == two.to_dict()
