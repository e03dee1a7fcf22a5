"""Streams of pairs: the same as one call, whatever the batches; merging; levels.

Sketches of streams have their own tests.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _reference import within
from nosplit import (
    GoodnessOfFitAccumulator,
    IndependenceAccumulator,
    InputError,
    Moments,
    NosplitWarning,
    TwoSampleAccumulator,
    goodness_of_fit_test,
    independence_test,
    models,
    two_sample_test,
)
from nosplit.kernels import Gaussian, Laplace, Linear
from nosplit.methods import Split

KERNELS = (Gaussian(0.5), Gaussian(2.0), Laplace(1.0), Linear())
NORMAL = models.MultivariateNormal([0.0, 0.0])
# Compilation on first use takes more than hypothesis allows.
seeded = settings(derandomize=True, deadline=None, max_examples=25)


def fitting(*args, **options):
    return GoodnessOfFitAccumulator(*args, pairs="adjacent", **options)


def observing(*args, **options):
    return IndependenceAccumulator(*args, pairs="adjacent", **options)


def paired(kernels=None, **options):
    return TwoSampleAccumulator(kernels, **{"pairs": "adjacent", **options})


def samples(n, m, seed=0, factor=1.2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) * factor


def cut(rows, places):
    return np.split(rows, sorted(places))


def feed(acc, x, y, x_cuts=(), y_cuts=()):
    """Feed parts of x and of y in turn, in batches of their own."""
    for a, b in itertools.zip_longest(cut(x, x_cuts), cut(y, y_cuts)):
        acc.update(a, b)
    return acc


def assert_same(a, b):
    """Moments that differ by rounding only."""
    assert a.n == b.n
    scale = np.sqrt(np.diagonal(b.cov))
    np.testing.assert_allclose(a.mean / scale, b.mean / scale, atol=1e-13)
    np.testing.assert_allclose(
        a.cov / np.outer(scale, scale), b.cov / np.outer(scale, scale), atol=1e-12
    )


def quietly(acc, method="auto"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        return acc.result(method)


# The same as one call ---------------------------------------------------------------------------

cuts = st.lists(st.integers(0, 700), max_size=6)


@seeded
@given(cuts, cuts)
def test_any_batches_against_one_call(x_cuts, y_cuts):
    x, y = samples(245, 240)
    acc = feed(paired(KERNELS), x, y, x_cuts, y_cuts)
    whole = paired(KERNELS)
    whole.update(x, y)
    assert_same(acc.moments, whole.moments)
    n = quietly(acc).how.n_used // 2
    expected = one_call(x[:n], y[:n])
    assert_same(acc.moments, Moments(expected.how.n_pairs, *moments_of(expected)))


def one_call(x, y, **options):
    options = {"kernels": KERNELS, "pairs": "adjacent", **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        return two_sample_test(
            x, y, shuffle=False, calibration="asymptotic", method="ost", **options
        )


def moments_of(res):
    return res.selection.tau / np.sqrt(res.how.n_pairs), res.selection.cov * res.how.n_pairs


@pytest.mark.parametrize("method", ["ost", "nonnegative", "wald", "best", "chibar"])
def test_result_against_one_call(method):
    x, y = samples(2000, 2000)
    acc = feed(paired(KERNELS), x, y, [3, 700, 701], [1500])
    expected = two_sample_test(
        x,
        y,
        kernels=KERNELS,
        method=method,
        pairs="adjacent",
        calibration="asymptotic",
        shuffle=False,
    )
    res = acc.result(method)
    assert res.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert res.to_dict().keys() == expected.to_dict().keys()
    same = ("pairs", "calibration", "method", "n_units", "n_pairs", "n_used")
    assert all(getattr(res.how, name) == getattr(expected.how, name) for name in same)
    assert (res.question, res.selection.kernels) == (expected.question, expected.selection.kernels)
    assert res.how.n_left_out == 0


@seeded
@given(cuts, cuts)
def test_kernels_do_not_depend_on_the_batches_properties(x_cuts, y_cuts):
    x, y = samples(700, 700)
    acc = feed(paired(), x, y, x_cuts, y_cuts)
    whole = feed(paired(), x, y)
    assert acc.kernels == whole.kernels
    assert_same(acc.moments, whole.moments)


def test_goodness_of_fit_against_one_call():
    x = np.random.default_rng(0).normal(size=(5000, 2))
    kernels = [Gaussian(1.0), Gaussian(3.0)]
    acc = fitting(NORMAL, kernels)
    for part in cut(x, [1, 17, 2000, 2001]):
        acc.update(part)
    expected = goodness_of_fit_test(
        x, NORMAL, kernels=kernels, pairs="adjacent", calibration="asymptotic", shuffle=False
    )
    res = acc.result()
    assert_same(acc.moments, Moments(expected.how.n_pairs, *moments_of(expected)))
    assert res.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert (res.how.n_used, res.how.n_left_out) == (5000, 0)
    few = fitting(NORMAL, kernels)
    few.update(x[:4000])  # two columns need more pairs than one
    with pytest.warns(NosplitWarning, match="2000 pairs are few"):
        few.result()


@pytest.mark.parametrize("categories", [False, True])
def test_independence_against_one_call(categories):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8 * 400, 1))
    y = x**2 + rng.normal(size=x.shape)
    if categories:
        y = np.where(y[:, 0] > 1, "high", "low")
    acc = observing()
    for one, two in zip(cut(x, [3, 900]), cut(y, [3, 900]), strict=True):
        acc.update(one, two)
    kernels = [(k.x, k.y) for k in acc.fix_kernels()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        expected = independence_test(
            x, y, kernels=kernels, pairs="adjacent", calibration="asymptotic", shuffle=False
        )
    res = quietly(acc)
    assert_same(acc.moments, Moments(expected.how.n_pairs, *moments_of(expected)))
    assert (res.how.n_used, res.how.n_left_out, res.question) == (3200, 0, expected.question)


def test_float32_stays_as_it_is():
    x, y = (s.astype(np.float32) for s in samples(500, 500))
    acc = feed(paired(KERNELS), x, y, [3], [400])
    assert_same(acc.moments, Moments(250, *moments_of(one_call(x, y))))
    mixed = feed(paired(KERNELS), x, y.astype(np.float64), [3], [400])
    assert_same(mixed.moments, Moments(250, *moments_of(one_call(x, y.astype(np.float64)))))


def test_batches_are_copied():
    x, y = samples(300, 300)
    acc, same = paired(KERNELS), paired(KERNELS)
    for part in (slice(0, 151), slice(151, 300)):
        same.update(x[part].copy(), y[part].copy())
    buffer = np.empty((151, 2))
    for part in (slice(0, 151), slice(151, 300)):
        mine = buffer[: part.stop - part.start]
        mine[:] = x[part]
        acc.update(mine, y[part])
        mine[:] = 1e9
    assert np.array_equal(acc.moments.mean, same.moments.mean)


@seeded
@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 1))
def test_merged_against_one_accumulator_properties(a, b, odd):
    """Parts that end with whole pairs of units, the last with a row over."""
    x, y = samples(40 * 30 + odd, 40 * 30)
    places = sorted([2 * 20 * a, 2 * 20 * b])
    parts = []
    for one, two in zip(cut(x, places), cut(y, places), strict=True):
        parts.append(paired(KERNELS))
        parts[-1].update(one, two)
    total = parts[0]
    for part in parts[1:]:
        total += part
    whole = feed(paired(KERNELS), x, y)
    assert_same(total.moments, whole.moments)
    assert total.counts() == whole.counts()


def test_merging_iv():
    plain = paired(KERNELS)
    plain.update(*samples(10, 10))
    for other, name in (
        (paired(KERNELS, pairs="sketch"), "pairs"),
        (paired(KERNELS[:2]), "kernels"),
        (paired("paper2"), "kernels"),
    ):
        with pytest.raises(InputError, match=name):
            plain += other
    narrow = paired(KERNELS)
    narrow.update(np.zeros(3), np.ones(3))
    with pytest.raises(InputError, match="columns"):
        plain += narrow
    with pytest.raises(InputError, match="itself"):
        plain += plain
    with pytest.raises(TypeError):
        plain += IndependenceAccumulator()
    assert plain.counts()["n_units"] == 10


def test_goodness_of_fit_and_independence_merge():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    whole, left, right = (fitting(NORMAL, Gaussian(1.0)) for _ in range(3))
    whole.update(x)
    left.update(x[:502])
    right.update(x[502:])
    left += right
    assert_same(left.moments, whole.moments)
    kernels = [(Gaussian(1.0), Linear()), (Gaussian(2.0), Gaussian(2.0))]
    whole, left, right = (observing(kernels, unit_size=5) for _ in range(3))
    whole.update(x[:, 0], x[:, 1])
    left.update(x[:503, 0], x[:503, 1])
    right.update(x[503:, 0], x[503:, 1])
    left += right
    assert left.moments.n == whole.moments.n == 100
    codes = observing(kernels, unit_size=5)
    codes.update(np.array(["a", "b"]), x[:2, 0])
    with pytest.raises(InputError, match="discrete"):
        left += codes


TRIALS = 300


def test_level_against_theory():
    """Type-I error at .05: a binomial bound with a false alarm in 10^5."""
    rng, kernels = np.random.default_rng(7), (Gaussian(0.7), Gaussian(2.0), Linear())
    rejections = 0
    for _ in range(TRIALS):
        acc = paired(kernels)
        acc.update(*rng.normal(size=(2, 700, 2)))
        rejections += quietly(acc, "ost").reject(0.05)
    assert within(rejections, TRIALS, 0.05, 1e-5)


def test_independence_of_tables(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"age": rng.normal(40, 9, 2000), "city": rng.choice(["Rome", "Oslo"], 2000)})
    y = pd.Series(x["age"] + 20 * rng.normal(size=2000), name="income")
    acc, same = observing(), observing()
    same.update(x, y)
    acc.update(x, y)
    acc.update(x[["city", "age"]], y)
    assert acc.counts()["n_used"] == 4000
    res = quietly(same)
    assert sum((e.names for e in res.how.encoding), ()) == ("age", "city", "income")
    kernels = [(k.x, k.y) for k in same.kernels]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        expected = independence_test(
            x, y, kernels=kernels, pairs="adjacent", calibration="asymptotic", shuffle=False
        )
    assert_same(same.moments, Moments(expected.how.n_pairs, *moments_of(expected)))
    acc.save(tmp_path / "state")
    again = IndependenceAccumulator.load(tmp_path / "state")
    again.update(x, y)
    again += same
    assert again.counts()["n_used"] == 8000
    for bad in (x["age"], x.to_numpy()[:, :1].astype(float)):
        with pytest.raises(InputError):
            again.update(bad, y)
    numbers = observing([(Gaussian(1.0), Gaussian(1.0))])
    with pytest.raises(InputError, match="categories as if they were numbers"):
        numbers.update(x, y)


def test_goodness_of_fit_of_tables(tmp_path):
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame(
        np.random.default_rng(0).normal(size=(2600, 2)) * [1.0, 2.0], columns=["a", "b"]
    )
    model = models.MultivariateNormal([0.0, 0.0], [[1.0, 0.0], [0.0, 4.0]])
    acc, plain = (fitting(model, Gaussian(1.0)) for _ in range(2))
    acc.update(x[:600])
    acc.update(x.loc[600:, ["b", "a"]])  # by name, not by place
    plain.update(x.to_numpy())
    assert_same(acc.moments, plain.moments)
    assert acc.result().how.encoding.names == ("a", "b")
    acc.save(tmp_path / "state")
    again = GoodnessOfFitAccumulator.load(tmp_path / "state", score=model)
    again.update(x)
    assert again.counts()["n_used"] == 5200
    for bad in (x.assign(b="text"), np.array([["a", "b"]]), x.to_numpy()):
        with pytest.raises(InputError):
            again.update(bad)
    with pytest.raises(InputError, match="must be an array, as before"):
        plain.update(x)
    with pytest.raises(InputError, match="encoding"):
        plain += again
    with pytest.raises(InputError, match="must hold numbers, as the model does"):
        GoodnessOfFitAccumulator(model).update(x.assign(b="text"))


# Input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": (0, 1)}, "`ratio`"),
        ({"ratio": 2}, "`ratio`"),
        ({"ratio": (1, 17)}, "at most 16"),
        ({"ratio": (1.0, 2.0)}, "`ratio`"),
        ({"pairs": "linear"}, '"sketch" or "adjacent"'),
        ({"pairs": 5}, "`pairs`"),
        ({"pairs": True}, "`pairs`"),
        ({"limit": 1}, "`limit` must be an int ≥ 2"),
        ({"limit": "many"}, "`limit`"),
        ({"kernels": "defualt"}, "default"),
        ({"kernels": []}, "at least one"),
        ({"encoding": {"columns": []}}, "`encoding`"),
    ],
)
def test_settings_iv(options, message):
    with pytest.raises(InputError, match=message):
        paired(**options)


def test_update_iv():
    acc = paired()
    assert acc.moments.n == 0
    acc.update(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(InputError, match="2 rows are waiting"):
        acc.result()
    acc.update(np.zeros((10, 2)), np.zeros((10, 2)))
    with pytest.raises(InputError, match="5 pairs are too few"):
        acc.result()
    with pytest.raises(InputError, match="Split where only moments are kept: it needs the rows"):
        feed(paired(KERNELS), *samples(500, 500)).result(Split(0.5))
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [1.0, 2.0], "city": ["Rome", "Oslo"]})
    with pytest.raises(InputError, match=r"first batch of tables.*encoding"):
        paired().update(table[:1], table)


def test_few_rows():
    few = feed(paired(KERNELS), *samples(8, 8))
    with pytest.raises(InputError, match=r"too few for asymptotic.*Use more rows"):
        few.result()
    some = feed(paired(KERNELS), *samples(100, 100))
    with pytest.warns(NosplitWarning, match="use more rows or fewer kernels"):
        some.result()


def test_adjacent_pairs_have_one_row_of_each_iv():
    with pytest.raises(InputError, match=r'`ratio` .* must be \(1, 1\), got \(1, 2\).*"sketch"'):
        paired(KERNELS, ratio=(1, 2))
    assert paired(KERNELS, ratio=(3, 3)).ratio == (1, 1)


def test_other_families_iv():
    for score in (np.zeros((3, 1)), "normal"):
        with pytest.raises(InputError, match="`score` must be a model or a function"):
            GoodnessOfFitAccumulator(score)
    with pytest.raises(InputError, match="Gaussian, IMQ or Matern"):
        GoodnessOfFitAccumulator(NORMAL, Linear())
    with pytest.raises(InputError, match="`unit_size`"):
        IndependenceAccumulator(unit_size=1)
    with pytest.raises(InputError, match="pairs"):
        IndependenceAccumulator([Gaussian(1.0)])
    acc = IndependenceAccumulator()
    with pytest.raises(InputError, match="as many rows"):
        acc.update([1.0, 2.0], [1.0])
    acc.update(["a", "b"], [1.0, 2.0])
    with pytest.raises(InputError, match="as before, got numbers and numbers"):
        acc.update([1.0], [1.0])
    constant = GoodnessOfFitAccumulator(NORMAL)
    constant.update(np.zeros((10, 2)))
    with pytest.raises(InputError, match="`x` must hold points that differ"):
        constant.result()


def test_own_kernels_work_and_are_tried_first():
    def product(a, b):
        return (a * b).sum(axis=-1)

    x, y = samples(500, 500)
    own, known = paired([product]), paired([Linear()])
    for acc in (own, known):
        acc.update(x, y)
    assert_same(own.moments, known.moments)
    lopsided = paired([lambda a, b: a[..., 0] - b[..., 0]])
    with pytest.raises(InputError, match="symmetric"):
        lopsided.update(x, y)
    asked = paired(lambda l2, l1: [Gaussian(l2)])
    asked.update(x, y)
    assert len(asked.kernels) == 1
