"""The public names, their signatures, and what a result promises."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pkgutil
import warnings
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

import nosplit
from nosplit import (
    Adaptive,
    Best,
    Blocks,
    ChiBar,
    Exact,
    Gaussian,
    Linear,
    Nonnegative,
    Split,
    TestResult,
    Wald,
    joint_normal_test,
    mean_test,
    two_sample_test,
)
from nosplit.inference.printed import kernel_label
from nosplit.methods.normal.laws import Flips

NAMES = """
    Adaptive Best Blocks CalibrationCheck ChiBar ColumnTests Combination Delta DependentRowsWarning
    KSampleResult SampleComparison
    DroppedKernelWarning Exact Explanation Gaussian GoodnessOfFitAccumulator IMQ
    IndependenceAccumulator IndependenceMonitor
    InputError Laplace Linear Matern Moments Monitor MonitorExplanation
    Naive NearCopyWarning Nonnegative NosplitWarning
    NotATestWarning OST Polynomial Profile Sketch Spectral Split TestResult
    TwoSampleAccumulator UnsafeAsymptoticsWarning Wald Whitening Wild WitnessResult witness_test
    calibration_check column_tests datasets explain goodness_of_fit_test independence_test
    joint_normal_test
    k_sample_test
    load_accumulator load_profile mean_test models optimal_weights plan plot
    polyhedral_truncation profile report two_sample_test
    Alternative PowerCurve PowerPrediction SampleSize pilot plot_calibration
    plot_power power_curve predict_power sample_size
    Csv DriftDetector testing
"""

SIGNATURES = {
    "two_sample_test": "x, y, *, kernels=None, method='auto', pairs='auto', calibration='auto', "
    "budget=1.0, rng=0, shuffle=True, nan_policy='auto', scale=None, columns=None, exclude=None, "
    "paired=False, strata=None, groups=None, series=False, workers=None, "
    "progress=False, device=None",
    "k_sample_test": "samples, labels=None, *, control=None, follow_up=True, kernels=None, "
    "method='auto', pairs='auto', calibration='auto', budget=1.0, rng=0, nan_policy='auto', "
    "scale=None, columns=None, exclude=None, workers=None",
    "witness_test": "x, y, *, estimator=None, folds=5, n_resamples=999, rng=0, nan_policy='auto', "
    "columns=None, exclude=None",
    "column_tests": "x, y, *, alpha=0.05, pairs_of_columns=False, n_resamples=1999, rng=0, "
    "shuffle=True, nan_policy='auto', columns=None, exclude=None, series=False, workers=None, "
    "progress=False",
    "goodness_of_fit_test": "x, score, *, support=None, kernels=None, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, rng=0, shuffle=True, nan_policy='raise', scale=None, "
    "columns=None, exclude=None, series=False, workers=None, progress=False, device=None",
    "independence_test": "x, y, *, kernels=None, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, rng=0, shuffle=True, nan_policy='auto', scale=None, "
    "columns=None, exclude=None, strata=None, series=False, workers=None, progress=False, "
    "unit_size=8, device=None",
    "Monitor": "reference=None, *, alpha=0.05, guarantee='ever', every=None, block=1, "
    "estimators=(), columns=None, exclude=None, nan_policy='auto', rng=0",
    "profile": "reference, *, rows=2000, kernels=None, frequencies=64, nan_policy='auto', "
    "scale=None, columns=None, exclude=None, least=10, like=None, rng=0, workers=None",
    "load_profile": "path",
    "mean_test": "h, *, method='auto', calibration='auto', symmetric=False, series=False, "
    "rng=0, shuffle=True",
    "joint_normal_test": "tau, cov, *, method='auto'",
    "predict_power": "alternative, *, n, alpha=0.05, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, trials=4000, rng=0",
    "power_curve": "alternative, *, sizes, alpha=0.05, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, trials=4000, rng=0",
    "sample_size": "alternative, *, power=0.8, limit=1000000, alpha=0.05, method='auto', "
    "pairs='auto', calibration='auto', budget=1.0, trials=4000, rng=0",
    "plan": "*, n, m=None, p=1, categorical=0, kernels=None, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, test='two_sample', paired=False, strata=None, groups=None, "
    "samples=None, sampling=False",
    "report": "res, x=None, y=None, *, path, alpha=0.05, rows=True, title=None, "
    "labels=None, names=None, options=None",
}

RNG = np.random.default_rng(0)
X, Y, SHIFTED = RNG.normal(size=(300, 2)), RNG.normal(size=(300, 2)), RNG.normal(0.2, 1, (200, 2))
KERNELS = (Gaussian(1.0), Linear())


# Names and signatures ---------------------------------------------------------------------------


def test_public_names():
    assert sorted(nosplit.__all__) == sorted(NAMES.split())
    assert all(hasattr(nosplit, name) for name in nosplit.__all__)


def test_no_module_takes_the_name_of_a_function():
    """`nosplit.explain` and the like are functions, whatever has been imported since."""
    for found in pkgutil.walk_packages(nosplit.__path__, "nosplit."):
        package, _, leaf = found.name.rpartition(".")
        assert package != "nosplit" or not inspect.isfunction(getattr(nosplit, leaf, None)), leaf


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    signature = inspect.signature(getattr(nosplit, name))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == f"({SIGNATURES[name]})"


def test_only_data_is_positional():
    for name in nosplit.__all__:
        function = getattr(nosplit, name)
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        # A report can do without the data, and samples without labels.
        data = ("x", "y", "labels")
        optional = [p for p in parameters if p.default is not p.empty and p.name not in data]
        assert all(p.kind is p.KEYWORD_ONLY for p in optional), name


def test_everything_public_is_documented():
    for name in nosplit.__all__:
        assert inspect.getdoc(getattr(nosplit, name)), name


# Results ----------------------------------------------------------------------------------------


H = np.random.default_rng(1).normal(0.1, 1.0, size=(400, 3))
TAU, COV = np.array([1.5, 0.4, -0.3]), [[1.0, 0.4, 0.1], [0.4, 2.0, 0.3], [0.1, 0.3, 0.5]]
EXACT = {"kernels": KERNELS, "calibration": Exact(199)}
METHODS = ("ost", "nonnegative", "wald", "best", "chibar")

CASES = {
    "adaptive": lambda: two_sample_test(X, SHIFTED, **EXACT),
    "far": lambda: joint_normal_test([1e5, 1.0], np.eye(2)),
    "one": lambda: joint_normal_test([0.3], [[1.0]]),
    "rows": lambda: mean_test(H),
    "rows split": lambda: mean_test(H, method=Split(0.3, Best())),
    "signs": lambda: mean_test(H, symmetric=True),
}
for _m in (*METHODS, "split"):
    CASES[f"exact {_m}"] = partial(two_sample_test, X, Y, method=_m, pairs=3, **EXACT)
for _m, _s in itertools.product(METHODS, (1.0, -1.0, 4.0)):
    CASES[f"{_m} {_s}"] = partial(joint_normal_test, _s * TAU, COV, method=_m)


@cache
def result(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def res(request):
    return result(request.param)


@pytest.mark.parametrize(
    "test",
    [
        lambda rng: two_sample_test(X, SHIFTED, rng=rng, **EXACT),
        lambda rng: nosplit.goodness_of_fit_test(X, lambda x: -x, rng=rng),
        lambda rng: nosplit.independence_test(X, Y, rng=rng),
        lambda rng: mean_test(H, rng=rng),
        lambda rng: nosplit.column_tests(X, Y, rng=rng, n_resamples=99),
        lambda rng: nosplit.k_sample_test([X, Y], rng=rng).overall,
    ],
)
def test_fresh_seeds_are_recorded(test):
    res = test(None)
    again = test(res.seed)
    assert res.to_dict() == again.to_dict()
    assert json.loads(json.dumps(res.to_dict()))["seed"] == res.seed == again.seed
    assert test(None).seed != res.seed
    assert test(np.random.default_rng(0)).seed is None


ALPHAS = [1e-300, 1e-6, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 0.999]


def test_unpacks_as_statistic_and_pvalue(res):
    statistic, pvalue = res
    assert (statistic, pvalue) == (res.statistic, res.pvalue)
    assert 0 < pvalue <= 1
    assert res.log_pvalue <= 0
    assert math.isclose(math.exp(res.log_pvalue), pvalue, abs_tol=1e-300, rel_tol=1e-12)


def test_reject_agrees_with_pvalue_and_threshold(res):
    for alpha in (*ALPHAS, min(res.pvalue, 0.999)):
        assert res.reject(alpha) == (res.pvalue <= alpha)
        # The statistic is compared with a quantile in floating point: not at p = alpha itself.
        if res.n_resamples or not math.isclose(res.pvalue, alpha, rel_tol=1e-9):
            assert res.reject(alpha) == (res.statistic >= res.threshold(alpha))
    thresholds = [res.threshold(alpha) for alpha in ALPHAS]
    assert thresholds == sorted(thresholds, reverse=True)


def test_levels_that_are_a_multiple_of_one_draw():
    """p = k / 1000 is rejected at alpha = k / 1000, whatever the logarithm rounds to."""
    values = np.arange(1000.0)
    base = result("signs")
    for k in (1, 7, 29, 50, 57, 100, 290, 999):
        value = 1000.0 - k
        law = Flips(np.concatenate([[value], np.delete(values, 1000 - k)]))
        res = replace(
            base, statistic=value, log_pvalue=law.log_sf(value), null=law, n_resamples=999
        )
        assert res.pvalue == k / 1000
        assert res.reject(k / 1000)
        assert res.statistic >= res.threshold(k / 1000)
        assert not res.reject((k - 0.5) / 1000)
        assert res.statistic < res.threshold((k - 0.5) / 1000)


def test_to_dict_is_json(res):
    values = res.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["pvalue"] == res.pvalue
    assert len(values["weights"]) == len(values["kernels"]) == len(values["tau"])
    assert values["truncation"] is None or math.isfinite(values["truncation"])
    assert set(values["active"]) <= set(range(len(values["kernels"])))


def test_summary_is_readable(res):
    text = res.summary()
    verdict = res.question.rejected if res.reject() else res.question.kept
    assert text.startswith((f"{verdict} (p = ", f"{verdict} (p < 1e-16"))
    assert all(len(line) < 100 for line in text.splitlines())
    for kernel in res.kernels:
        assert kernel_label(kernel) in text
    assert res.method in repr(res)


def test_print_is_the_answer_and_a_line_on_how(res):
    text = str(res)
    assert text.splitlines()[0] == res.summary().splitlines()[0]
    assert "learned" not in text
    assert f"  tested     {res.method}, " in text
    assert all(len(line) < 100 for line in text.splitlines())


def test_summary_says_what_was_done():
    res = two_sample_test(X, SHIFTED, kernels=KERNELS, calibration=Exact(199))
    text = res.summary(alpha=0.1)
    for words in (
        "level 0.1",
        "adaptive, exact for independent rows, 199 draws (p ≥ 0.0050)",
        "complete: 19,900 of 200 units",
        "500 used",
        "Gaussian(1)",
        "Linear()",
    ):
        assert words in text
    assert "left out" not in text


def test_summary_lists_the_largest_weights_and_counts_the_rest():
    res = joint_normal_test(np.arange(20.0), np.eye(20))
    lines = res.summary().splitlines()
    assert lines[4].split() == ["learned", "weight", "alone", "(*", "active)"]
    assert lines[5].split() == ["+1.00*", "19.00", "base", "19"]
    assert lines[-1].strip() == "and 8 of smaller weight"


def test_standardised_weights_do_not_depend_on_units():
    tau, cov = np.array([2.0, 1.0]), np.array([[1.0, 0.3], [0.3, 1.0]])
    scale = np.array([1.0, 1e6])
    plain = joint_normal_test(tau, cov).by_kernel()
    scaled = joint_normal_test(scale * tau, scale[:, None] * cov * scale).by_kernel()
    for a, b in zip(plain, scaled, strict=True):
        assert math.isclose(a.weight, b.weight, rel_tol=1e-9)
        assert math.isclose(a.alone, b.alone, rel_tol=1e-9)
    assert max(abs(line.weight) for line in plain) == 1.0


def test_kernel_labels():
    class Bare:
        pass

    assert kernel_label(Gaussian(0.123456)) == "Gaussian(0.123)"
    assert kernel_label(Gaussian(1e-7 / 3)) == "Gaussian(3.33e-08)"
    assert kernel_label(nosplit.Polynomial(2, 1.0)) == "Polynomial(degree=2, offset=1)"
    assert kernel_label(Linear() + 2.0 * Gaussian(1.0)) == "Linear() + 2 * Gaussian(1)"
    assert kernel_label(Bare()) == "Bare"
    assert kernel_label("base 3") == "base 3"
    assert len(kernel_label(nosplit.Combination(KERNELS * 9, (1.0,) * 18))) == 60


# What was done ----------------------------------------------------------------------------------


def test_counts():
    res = two_sample_test(X, Y, kernels=KERNELS, pairs="linear", calibration=Exact(19))
    assert (res.n_units, res.n_pairs, res.n_used, res.n_left_out) == (300, 150, 600, 0)
    assert (res.pairs, res.calibration, res.n_resamples, res.method) == (
        "linear",
        "exact",
        19,
        "adaptive",
    )
    assert res.kernels == KERNELS
    assert res.tau.shape == (2,)
    assert res.cov.shape == (2, 2)
    res = two_sample_test(X, SHIFTED[:10], kernels=KERNELS, calibration=Exact(19))
    assert (res.n_units, res.n_pairs, res.n_used, res.n_left_out) == (10, 45, 170, 140)
    assert "140 left out" in str(res)
    for pairs, n_pairs in ((3, 900), (Blocks(50), 6 * 1225), ("adjacent", 150)):
        res = two_sample_test(X, Y, kernels=KERNELS, pairs=pairs, calibration=Exact(19))
        assert res.n_pairs == n_pairs
    res = mean_test(X)
    assert (res.n_units, res.n_pairs, res.n_used, res.pairs) == (300, 300, 300, "rows")


def test_auto_is_adaptive_where_exact_and_ost_elsewhere():
    assert two_sample_test(X, Y, kernels=KERNELS).method == "adaptive"
    asymptotic = {"kernels": KERNELS, "pairs": 3, "calibration": "asymptotic"}
    assert two_sample_test(X, Y, **asymptotic).method == "ost"
    assert mean_test(X).method == "ost"
    assert mean_test(X, symmetric=True).method == "adaptive"


def test_method_objects_and_names_are_the_same():
    pairs = [(Nonnegative(), "nonnegative"), (Wald(), "wald"), (Best(), "best")]
    for method, name in (*pairs, (ChiBar(), "chibar"), (Adaptive(), "adaptive")):
        by_object = joint_normal_test([1.0, 2.0], np.eye(2), method=method)
        assert by_object.pvalue == joint_normal_test([1.0, 2.0], np.eye(2), method=name).pvalue


def test_results_hold_no_data_and_do_not_change():
    res = two_sample_test(X, Y, kernels=KERNELS, calibration=Exact(19))
    assert isinstance(res, TestResult)
    arrays = [v for v in vars(res).values() if isinstance(v, np.ndarray)]
    assert max(a.size for a in arrays) <= 4
    with pytest.raises(AttributeError):
        res.statistic = 0.0


# The same data gives the same verdict -----------------------------------------------------------


@pytest.mark.parametrize("pairs", ["linear", 5, "complete"])
@pytest.mark.parametrize("y", [Y, SHIFTED], ids=["equal sizes", "unequal sizes"])
def test_deterministic_whatever_the_workers(pairs, y):
    options = {"pairs": pairs, "kernels": KERNELS, "calibration": Exact(99)}
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state stays as it was
    first = two_sample_test(X, y, workers=1, **options)
    for workers in (1, 2, None):
        again = two_sample_test(X, y, workers=workers, **options)
        assert again.to_dict() == first.to_dict()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_rng_is_a_seed_or_a_generator_that_moves_on():
    options = {"kernels": KERNELS, "calibration": Exact(99), "pairs": 2}
    default = two_sample_test(X, Y, **options).pvalue
    assert default == two_sample_test(X, Y, rng=0, **options).pvalue
    generator = np.random.default_rng(0)
    assert default == two_sample_test(X, Y, rng=generator, **options).pvalue
    others = {two_sample_test(X, Y, rng=generator, **options).pvalue for _ in range(5)}
    assert len(others) > 1


def test_input_is_left_alone():
    x, y = X.copy(), Y.copy()
    two_sample_test(x, y, calibration=Exact(19))
    mean_test(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_unequal_sizes_carry_a_warning_where_skewness_shows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2000, 1)), rng.normal(size=(300, 1))
    options = {"kernels": "paper2", "calibration": "asymptotic", "method": "ost"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        res = nosplit.two_sample_test(x, y, pairs=2, **options)
    assert any("samples of different sizes" in str(w.message) for w in caught)
    assert any("samples of different sizes" in text for text in res.warnings)
    more = nosplit.two_sample_test(
        *(rng.normal(size=(n, 1)) for n in (2000, 1200)), pairs=5, **options
    )
    assert not more.warnings
    assert not nosplit.two_sample_test(x, y, kernels="paper2").warnings
