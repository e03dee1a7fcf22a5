"""Bad input to the public functions: each message is tested, and garbage never gets through.

Warnings are errors here (see pyproject.toml), so a stray overflow fails these tests too.
"""

from __future__ import annotations

import math
import re
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nosplit
from nosplit import (
    Blocks,
    Exact,
    InputError,
    NosplitWarning,
    TestResult,
    joint_normal_test,
    mean_test,
    plan,
    two_sample_test,
)
from nosplit import _checks as checks
from nosplit.kernels import Gaussian, Linear, Polynomial
from nosplit.methods import OST, Split

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2))


def says(*words):
    """A pattern for `match` that finds the words in this order."""
    return "(?s)" + ".*".join(re.escape(word) for word in words)


def words(*parts):
    return parts


def with_entry(value):
    sample = X.copy()
    sample[7, 1] = value
    return sample


# The samples ------------------------------------------------------------------------------------

BAD_SAMPLES = {
    "empty": ([], words("must have at least 2 rows, got 0")),
    "no rows": (np.empty((0, 2)), words("must have at least 2 rows, got 0")),
    "one row": ([[1.0, 2.0]], words("must have at least 2 rows, got 1")),
    "no columns": (np.empty((5, 0)), words("must have at least one column, got shape (5, 0)")),
    "a number": (3.0, words("must be a vector or an (n, p) array, got 0 dimensions")),
    "images": (np.ones((3, 3, 3)), words("got 3 dimensions", "Flatten each observation")),
    "nothing": (None, words("must hold real numbers, got dtype object (NoneType)")),
    "words": ([["a", "b"], ["c", "d"]], words("got dtype <U1. Text is compared in tables")),
    "bytes": (b"sample", words("must hold real numbers", "(bytes)")),
    "objects": (np.array([[1, "a"], [2, None]], dtype=object), words("real numbers", "object")),
    "decimals": ([Decimal(1), Decimal(2)], words("must hold real numbers, got dtype object")),
    "complex": (X * 1j, words("must hold real numbers, got dtype complex128")),
    "dates": (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), words("real numbers", "datetime64")),
    "durations": (np.array([1, 2], "m8[s]"), words("must hold real numbers", "timedelta64")),
    "a dict": ({"a": [1.0]}, words("must hold real numbers", "(dict)")),
    "a set": ({1.0, 2.0}, words("must hold real numbers", "(set)")),
    "ragged": ([[1.0, 2.0], [3.0]], words("must be a rectangular array of numbers")),
    "masked": (np.ma.masked_greater(X, 1.0), words("must not have masked entries")),
    "nan": (with_entry(np.nan), words("must be finite, got nan at index (7, 1) (1 such values")),
    "inf": (with_entry(np.inf), words("must be finite, got inf at index (7, 1)")),
    "-inf": (with_entry(-np.inf).astype("f4"), words("must be finite, got -inf at index (7, 1)")),
    "beyond float64": (np.full((3, 2), np.longdouble(2) ** 2000), words("must be finite, got inf")),
}


@pytest.mark.parametrize("name", BAD_SAMPLES)
def test_samples_iv(name):
    value, message = BAD_SAMPLES[name]
    with pytest.raises(InputError, match=says("`x` ", *message)):
        two_sample_test(value, Y)
    with pytest.raises(InputError, match=says("`y` ", *message)):
        two_sample_test(X, value)


def test_text_is_the_name_of_a_file_iv():
    with pytest.raises(InputError, match=says("`sample` must end in ", ".npy", "got no ending")):
        two_sample_test("sample", Y)
    with pytest.raises(InputError, match=says("`sample.csv`", "No such file")):
        two_sample_test(X, "sample.csv")


def test_pairs_of_samples_iv():
    with pytest.raises(InputError, match="`x` and `y` must have the same number of columns, got 2"):
        two_sample_test(X, Y[:, :1])
    with pytest.raises(InputError, match="same number of columns, got 1 and 2"):
        two_sample_test(X[:, 0], Y)
    constant = np.full((30, 2), 7.0)
    with pytest.raises(InputError, match="`x` and `y` are constant and equal"):
        two_sample_test(constant, constant[:20])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("pairs", ["linear", 3, Blocks(8), "complete"])
@pytest.mark.parametrize("kernels", [None, Gaussian(1.0), [Gaussian(1.0) + Linear()]])
def test_large_samples_are_checked_too_iv(bad, pairs, kernels, monkeypatch):
    """Large samples are not read for the check alone, but what is not finite still shows."""
    monkeypatch.setattr(checks, "LARGE", 0)
    for y in (Y, Y[:20]) if pairs == "complete" else (Y,):
        with pytest.raises(InputError, match=r"`x` (and `y` )?must be"):
            two_sample_test(with_entry(bad), y, pairs=pairs, kernels=kernels)


# Data that is fine, and stays fine --------------------------------------------------------------


def exact(x, y, **options):
    return two_sample_test(x, y, calibration=Exact(199), **options)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f8", "g", "i8", "u1", "bool", "list"])
def test_kinds_of_numbers(kind):
    x, y = np.abs(10 * X).astype(int) % 2, np.abs(10 * Y).astype(int) % 2
    expected = exact(x.astype(float), y.astype(float)).pvalue
    if kind == "list":
        assert exact(x.tolist(), y.tolist()).pvalue == expected
        assert exact(x[:, 0].tolist(), tuple(y[:, 0])).how.n_used == 60
    else:
        assert exact(x.astype(kind), y.astype(kind)).pvalue == expected
        assert exact(x.astype(kind), y.astype(float)).pvalue == expected


def test_memory_layouts():
    expected = exact(X, Y).pvalue
    locked = X.copy()
    locked.setflags(write=False)
    wide = np.zeros((60, 4))
    wide[::2, ::2] = X
    for x in (np.asfortranarray(X), locked, wide[::2, ::2], np.ma.array(X)):
        assert exact(x, Y).pvalue == expected


def test_constants_that_differ_are_a_difference():
    zeros, ones = np.zeros((30, 2)), np.ones((30, 2))
    for y in (ones, ones[:20]):
        assert exact(zeros, y).pvalue == 1 / 200
        assert exact(zeros, y, kernels=Gaussian(1.0)).pvalue == 1 / 200
    with pytest.raises(InputError, match=r"The values of .* are the same"):
        two_sample_test(zeros, ones, kernels="paper2", pairs="linear", calibration="asymptotic")


def test_a_constant_column_changes_nothing():
    plain = exact(X, Y)
    for value in (0.0, 5.0, 1e8):
        column = np.full((30, 1), value)
        assert exact(np.hstack([X, column]), np.hstack([Y, column])).pvalue == plain.pvalue
    ones, zeros = np.ones((30, 1)), np.zeros((30, 1))
    assert exact(np.hstack([X, ones]), np.hstack([Y, zeros])).pvalue == 1 / 200


@pytest.mark.parametrize("scale", [1e-70, 1e-20, 1e20, 1e70])
def test_scale_does_not_matter(scale):
    assert exact(scale * X, scale * Y).pvalue == exact(X, Y).pvalue


@pytest.mark.parametrize("scale", [1e-308, 1e-200, 1e-150, 1e-100, 1e100, 1e150, 1e200, 1e307])
@pytest.mark.parametrize("m", [30, 20])
def test_extreme_scales_say_rescale_iv(scale, m):
    ways = [{}, {"pairs": "linear"}, {"kernels": "paper6", "pairs": 2}]
    ways = ways if m == len(X) else ways[:1]
    for options in ways[scale == 1e-100 :]:  # squares of 1e-100 squared: one kernel is lost
        with pytest.raises(InputError, match=r"[Rr]escale|bandwidths of your own"):
            two_sample_test(scale * X, scale * Y[:m], **options)


def test_few_rows():
    for n, m in [(2, 2), (2, 3), (3, 3), (2, 100), (100, 3), (5, 5)]:
        x, y = RNG.normal(size=(n, 2)), RNG.normal(size=(m, 2))
        assert 0 < two_sample_test(x, y).pvalue <= 1
    for pairs in ("linear", "adjacent"):
        with pytest.raises(InputError, match="too few pairs"):
            two_sample_test(X[:3], Y[:3], pairs=pairs, calibration="asymptotic")


# The options ------------------------------------------------------------------------------------

BAD_OPTIONS = [
    ({"method": "osst"}, says("`method` must be one of 'auto'", "Did you mean 'ost'?")),
    ({"method": "xyz"}, says("`method` must be one of", "got 'xyz'.")),
    ({"method": None}, says("`method` must be a name or a method such as OST(), got None")),
    ({"method": OST}, says("`method` must be a name or a method such as OST()", "class")),
    ({"method": len}, says("`method` must be a name or a method")),
    ({"method": Split(0.01)}, says("`method` splits 30 units into 0 and 30")),
    ({"method": "naive", "calibration": "exact"}, says("naive", "no exact form")),
    ({"pairs": "lineal"}, says("`pairs` must be one of", "Did you mean 'linear'?")),
    ({"pairs": 0}, says("`pairs` as a window must be an int ≥ 1, got 0")),
    ({"pairs": -2}, says("`pairs` as a window must be an int ≥ 1, got -2")),
    ({"pairs": True}, says("`pairs` as a window must be an int ≥ 1, got True")),
    ({"pairs": 15}, says("`pairs` = 15 is wider than 30 units allow", "at most 14")),
    ({"pairs": 1.5}, says("`pairs` must be a name, an int", "got 1.5")),
    ({"pairs": None}, says("`pairs` must be a name, an int", "got None")),
    ({"pairs": Blocks}, says("`pairs` must be a name, an int", "class")),
    ({"pairs": np.array([1, 2])}, says("`pairs` must be a name, an int", "array([1, 2])")),
    (
        {"pairs": "complete", "calibration": "asymptotic"},
        says("normal limit", 'calibration="exact"'),
    ),
    ({"calibration": "exakt"}, says("`calibration` must be one of", "Did you mean 'exact'?")),
    ({"calibration": None}, says("`calibration` must be a name or Exact(...), got None")),
    ({"calibration": Exact}, says("`calibration` must be a name or Exact(...)", "class")),
    ({"budget": 0}, says("`budget` must be a positive number", "got 0")),
    ({"budget": -1.0}, says("`budget` must be a positive number", "got -1.0")),
    ({"budget": math.nan}, says("`budget` must be a positive number", "got nan")),
    ({"budget": "1"}, says("`budget` must be a positive number", "got '1'")),
    ({"budget": True}, says("`budget` must be a positive number", "got True")),
    ({"rng": -1}, says("`rng` must be an int ≥ 0, a numpy Generator or None, got -1")),
    ({"rng": 1.5}, says("`rng` must be an int ≥ 0", "got 1.5")),
    ({"rng": True}, says("`rng` must be an int ≥ 0", "got True")),
    ({"rng": np.random.RandomState(0)}, says("`rng` must be an int ≥ 0", "RandomState")),
    ({"shuffle": "no"}, says("`shuffle` must be True or False, got 'no'")),
    ({"workers": 0}, says("`workers` must be an int ≥ 1, got 0")),
    ({"workers": 1.5}, says("`workers` must be an int ≥ 1, got 1.5")),
    ({"workers": True}, says("`workers` must be an int ≥ 1, got True")),
]


def _name(case):
    return " ".join(f"{k}={v!r}"[:30] for k, v in case[0].items())


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=map(_name, BAD_OPTIONS))
def test_options_iv(options, message):
    with pytest.raises(InputError, match=message):
        two_sample_test(X, Y, **options)
    if not options.keys() & {"rng", "shuffle", "workers"} and "splits" not in message:
        with pytest.raises(InputError, match=message):
            plan(n=30, **options)


def test_n_resamples_and_blocks_iv():
    for count in (0, 18, -1, 99.0, "99", None, True):
        message = says("`n_resamples` must be an int ≥ 19", repr(count))
        with pytest.raises(InputError, match=message):
            Exact(count)
    for size in (0, 1, 2.0, "8", True):
        with pytest.raises(InputError, match=says("`size` of Blocks must be an int ≥ 2")):
            Blocks(size)


def test_budget_and_numpy_numbers():
    """NumPy's numbers do as well as Python's, and no budget is too small or too large."""
    for budget in (np.float32(1.0), np.int64(1), 1, math.inf, 1e308):
        assert two_sample_test(X, Y, budget=budget).how.pairs == "complete"
        assert plan(n=1000, budget=budget, calibration="asymptotic").n_pairs == 6000
    for n in (100, 1000):
        assert plan(n=n, budget=1e-300).pairs == "complete"  # with few random frequencies
    with pytest.warns(nosplit.errors.UnsafeAsymptoticsWarning):
        res = two_sample_test(X, Y, rng=np.int64(0), pairs=np.int64(2))
    assert res.how.pairs == "window 2"
    assert plan(n=np.int64(30), m=np.int32(20), p=np.uint8(2)).n_units == 50


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, math.nan, "0.05", None, True, np.array([0.05])])
def test_alpha_iv(alpha):
    res = joint_normal_test([1.0], [[1.0]])
    for method in (res.reject, res.threshold, res.summary):
        with pytest.raises(InputError, match="`alpha` must be strictly between 0 and 1, got"):
            method(alpha)


# The kernels ------------------------------------------------------------------------------------


class Own:
    """A kernel made of two functions."""

    def __init__(self, aligned, tile):
        self.aligned, self.tile = aligned, tile

    def __repr__(self):
        return "Own"


def _ones(a, b):
    return np.ones((len(a), len(b)))


BAD_KERNELS = {
    "none": ([], says("`kernels` must have at least one kernel, got none")),
    "no name": ("papr6", says("`kernels` must be one of 'default'", "Did you mean 'paper6'?")),
    "a number": (3, says("`kernels` must be a kernel, a sequence of kernels or a name, got 3")),
    "numbers": ([3], says("`kernel` must have the methods", "got 3")),
    "names": (["gaussian"], says("`kernel` must have the methods", "got 'gaussian'")),
    "a class": (Gaussian, says("must be a kernel, got the class Gaussian. Call it")),
    "classes": ([Gaussian], says("must be a kernel, got the class Gaussian. Call it")),
    "a dict": ({"a": Gaussian(1.0)}, says("`kernel` must have the methods", "got 'a'")),
    "empty recipe": (lambda a, b: [], says("`kernels` must have at least one kernel, got none")),
    "odd recipe": (lambda a, b: None, says("`kernels` must be a kernel", "got None")),
    "short recipe": (lambda a: [], says("`kernels` as a function must take", "TypeError")),
    "a function": (
        lambda a, b: np.exp(-((a - b) ** 2).sum(axis=-1)),
        says("`kernels` as a function must take", "it failed", "put it in a list"),
    ),
    "function of other shape": ([lambda a, b: a - b], says("must map arrays of shape", "axis=-1")),
    "tile of other shape": (
        [Own(lambda a, b: np.ones(len(a)), lambda a, b: np.ones((len(a), 3)))],
        says("`kernels` must return real numbers of shape (2, ", "from `tile`", "(2, 3) from Own"),
    ),
    "a number for all": (
        [Own(lambda a, b: 1.0, lambda a, b: 1.0)],
        says("`kernels` must return real numbers of shape (2, ", "float64 of shape () from Own"),
    ),
    "complex": (
        [Own(lambda a, b: np.ones(len(a)), lambda a, b: 1j * _ones(a, b))],
        says("`kernels` must return real numbers", "complex128"),
    ),
    "text": ([Own(lambda a, b: "x", lambda a, b: "x")], says("must return real numbers", "<U1")),
    "aligned of other shape": (
        [Own(lambda a, b: np.ones((len(a), 1)), _ones)],
        says("`kernels` must return real numbers of shape (2,) from `aligned`", "(2, 1) from Own"),
    ),
    "not symmetric": (
        [Own(lambda a, b: a[:, 0], lambda a, b: a[:, :1] + 0 * _ones(a, b))],
        says("`kernels` must be symmetric", "Own"),
    ),
    "aligned that is not tile": (
        [Own(lambda a, b: np.zeros(len(a)), _ones)],
        says("`aligned` that is the diagonal of `tile`", "Own"),
    ),
    "not finite": (
        [Own(lambda a, b: np.full(len(a), np.nan), lambda a, b: np.nan * _ones(a, b)), Linear()],
        says("The kernels' values are not finite"),
    ),
    "too steep": (
        [Own(lambda a, b: (a * b).sum(1) ** 4000, lambda a, b: (a @ b.T) ** 4000), Linear()],
        says("The kernels' values are not finite", "Rescale"),
    ),
}


@pytest.mark.parametrize("name", BAD_KERNELS)
@pytest.mark.parametrize(
    ("pairs", "m"), [("linear", 30), (2, 30), ("complete", 30), ("complete", 20)]
)
def test_kernels_iv(name, pairs, m):
    kernels, message = BAD_KERNELS[name]
    with pytest.raises(InputError, match=message):
        two_sample_test(X, Y[:m], kernels=kernels, pairs=pairs)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1e-150), Gaussian(1e150), Own(lambda a, b: np.ones(len(a)), _ones)],
    ids=["too narrow", "too wide", "constant"],
)
@pytest.mark.parametrize("m", [30, 20])
def test_kernels_that_see_nothing(kernel, m):
    with pytest.warns(nosplit.errors.DroppedKernelWarning, match="so p is 1: .* bandwidth"):
        found = two_sample_test(X, Y[:m], kernels=[kernel], calibration="exact")
    assert found.pvalue == 1.0


def test_kernels_in_every_form():
    expected = exact(X, Y, kernels=[Gaussian(1.0)]).pvalue

    def rbf(a, b):
        return np.exp(-0.5 * ((a - b) ** 2).sum(axis=-1))

    forms = [Gaussian(1.0), (Gaussian(1.0),), iter([Gaussian(1.0)]), lambda a, b: [Gaussian(1.0)]]
    for kernels in (*forms, lambda a, b: Gaussian(1.0), [rbf]):
        assert exact(X, Y, kernels=kernels).pvalue == expected
    assert plan(n=30, kernels=3).nominal_seconds > plan(n=30, kernels=1).nominal_seconds


def test_an_error_in_a_kernel_of_ones_own_is_theirs():
    def broken(a, b):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        two_sample_test(X, Y, kernels=[broken])


# The other functions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("h", "message"),
    [
        ([], says("`h` must be a non-empty matrix, got shape (0,)")),
        (np.ones(5), says("`h` must be a non-empty matrix, got shape (5,)")),
        (np.ones((2, 2, 2)), says("`h` must be a non-empty matrix, got shape (2, 2, 2)")),
        ([[1.0, 2.0]], says("`h` must have at least 2 rows, got 1")),
        (with_entry(np.nan), says("`h` must be finite, got nan at index (7, 1)")),
        ([["a"], ["b"]], says("`h` must hold real numbers")),
        (X * 1j, says("`h` must hold real numbers, got dtype complex128")),
        (np.ma.masked_greater(X, 1.0), says("`h` must not have masked entries")),
        (np.zeros((5, 2)), says("`h` is 0 in all rows")),
        (1e200 * X, says("`h` must have values between 1e-140 and 1e+140", "Choose other units")),
        (1e-200 * X, says("`h` must have values between 1e-140 and 1e+140")),
    ],
)
def test_mean_test_iv(h, message):
    for options in ({}, {"symmetric": True}, {"method": "wald"}):
        with pytest.raises(InputError, match=message):
            mean_test(h, **options)


def test_mean_test_options_iv():
    bad = [
        ({"method": "osst"}, says("`method`", "Did you mean 'ost'?")),
        ({"calibration": "exact"}, says("`calibration` can be exact only if", "symmetric=True")),
        ({"calibration": "exact", "symmetric": True, "method": "naive"}, says("no exact form")),
        ({"calibration": "exakt"}, says("`calibration`", "Did you mean 'exact'?")),
        ({"symmetric": "yes"}, says("`symmetric` must be True or False, got 'yes'")),
        ({"shuffle": None}, says("`shuffle` must be True or False, got None")),
        ({"rng": "0"}, says("`rng` must be an int ≥ 0", "got '0'")),
        ({"method": Split(0.02)}, says("`method` splits 30 units into 0 and 30")),
    ]
    for options, message in bad:
        with pytest.raises(InputError, match=message):
            mean_test(X, **options)


def test_mean_test_with_a_column_that_does_not_vary():
    for column in (np.zeros((300, 1)), np.ones((300, 1))):
        h = np.hstack([RNG.normal(size=(300, 1)), column])
        if column[0, 0] == 0:
            with pytest.warns(nosplit.errors.DroppedKernelWarning, match="number 1"):
                assert 0 < mean_test(h).pvalue <= 1
        else:
            with pytest.raises(InputError, match="kernel number 1 are the same for all pairs"):
                mean_test(h)
            assert mean_test(h, symmetric=True).pvalue == 1 / 1000


@pytest.mark.parametrize(
    ("tau", "cov", "message"),
    [
        ([], [[1.0]], says("`tau` must be a non-empty vector, got shape (0,)")),
        ([[1.0]], [[1.0]], says("`tau` must be a non-empty vector, got shape (1, 1)")),
        ([1.0, np.inf], np.eye(2), says("`tau` must be finite, got inf at index (1,)")),
        (["a"], [[1.0]], says("`tau` must hold real numbers")),
        ([1.0, 2.0], np.eye(3), says("`cov` must have 2 columns, got 3")),
        ([1.0, 2.0], np.ones((3, 2)), says("`cov` must be 2 × 2, got shape (3, 2)")),
        ([1.0, 2.0], [[1.0, 2.0], [2.0, 1.0]], says("`cov` must be positive semidefinite")),
        ([1.0, 2.0], [[1.0, 0.2], [0.0, 1.0]], says("`cov` must be symmetric")),
        ([1.0, 2.0], np.diag([1.0, -1.0]), says("`cov` must have a diagonal ≥ 0, got -1")),
        ([1.0, 2.0], np.diag([1.0, 0.0]), says("`tau` has an entry other than 0", "variance of 0")),
        ([0.0, 0.0], np.zeros((2, 2)), says("`cov` must have a positive variance")),
        ([1.0, 2.0], np.diag([1.0, np.nan]), says("`cov` must be finite, got nan at index (1, 1)")),
    ],
)
def test_joint_normal_test_iv(tau, cov, message):
    with pytest.raises(InputError, match=message):
        joint_normal_test(tau, cov)


def test_joint_normal_test_method_iv():
    with pytest.raises(InputError, match=says("`method`", "Did you mean 'wald'?")):
        joint_normal_test([1.0], [[1.0]], method="walt")
    with pytest.raises(InputError, match="`method` must not be Split if only statistics are given"):
        joint_normal_test([1.0], [[1.0]], method="split")


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True, 2**60])
def test_plan_iv(value):
    for name in ("n", "m", "p", "kernels"):
        if name == "kernels" and not isinstance(value, int):
            continue
        with pytest.raises(InputError, match=f"`{name}` must be an int"):
            plan(**({"n": 30} | {name: value}))


# Garbage ----------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 5e-324, 1e-200, 1e-30, 1e30, 1e200, 1.7e308, np.nan, np.inf]),
    st.floats(width=32),
)


def samples(rows, columns):
    return arrays.arrays(
        st.sampled_from([np.float64, np.float32, np.float16, np.int32, np.bool_]),
        st.tuples(rows, columns),
        elements=None,
    ) | arrays.arrays(np.float64, st.tuples(rows, columns), elements=NUMBERS)


def outcome(call):
    """The p-value, or None after an `InputError`; anything else is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NosplitWarning)
        try:
            res = call()
        except InputError:
            return None
    assert isinstance(res, TestResult)
    return res.pvalue


GARBAGE = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@GARBAGE
@given(
    x=samples(st.integers(0, 6), st.integers(0, 3)),
    y=samples(st.integers(0, 6), st.integers(0, 3)),
    pairs=st.sampled_from(["auto", "linear", 1, Blocks(2)]),
    kernels=st.sampled_from([None, "paper2", Linear(), [Gaussian(1.0), Polynomial(3, 1.0)]]),
    method=st.sampled_from(["auto", "ost", "wald", "best", "nonnegative"]),
    calibration=st.sampled_from(["auto", "asymptotic", Exact(19)]),
)
def test_garbage_samples(x, y, pairs, kernels, method, calibration):
    p = outcome(
        lambda: two_sample_test(
            x, y, pairs=pairs, kernels=kernels, method=method, calibration=calibration, workers=1
        )
    )
    assert p is None or 0 < p <= 1


@GARBAGE
@given(
    h=samples(st.integers(0, 8), st.integers(0, 3)),
    method=st.sampled_from(["auto", "wald", "best", "nonnegative", "split", "naive"]),
    symmetric=st.booleans(),
)
def test_garbage_rows(h, method, symmetric):
    p = outcome(lambda: mean_test(h, method=method, symmetric=symmetric))
    assert p is None or 0 < p <= 1


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.lists(st.one_of(st.floats(), st.text(max_size=2), st.none()), max_size=4),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.just(object()),
    st.just(float),
)


@GARBAGE
@given(
    name=st.sampled_from(
        [
            "x",
            "y",
            "kernels",
            "method",
            "pairs",
            "calibration",
            "budget",
            "rng",
            "shuffle",
            "workers",
        ]
    ),
    value=ANYTHING,
)
def test_garbage_arguments(name, value):
    arguments = {"x": X, "y": Y, "calibration": "exact", "kernels": "paper1"} | {name: value}
    p = outcome(lambda: two_sample_test(arguments.pop("x"), arguments.pop("y"), **arguments))
    assert p is None or 0 < p <= 1


@pytest.mark.parametrize("n", [50, 300, 1000])
def test_a_sample_does_not_differ_from_itself(n):
    x = np.random.default_rng(n).normal(size=(n, 2))
    assert two_sample_test(x, x).pvalue > 0.5


def test_more_kernels_than_pairs_is_an_error():
    with pytest.raises(InputError, match=r"10 pairs are too few .* with 11 kernels"):
        two_sample_test(
            X[:20],
            Y[:20],
            kernels=[Gaussian(0.1 * i) for i in range(1, 12)],
            pairs="linear",
            calibration="asymptotic",
        )
