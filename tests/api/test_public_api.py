"""The public names, their signatures, and what a result promises."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pickle
import pkgutil
from dataclasses import replace
from functools import cache, partial
from operator import attrgetter

import numpy as np
import pytest

import nosplit
from nosplit import Blocks, Exact, TestResult, joint_normal_test, mean_test, two_sample_test
from nosplit.inference.result import kernel_label
from nosplit.kernels import Gaussian, Linear
from nosplit.methods import Adaptive, Best, ChiBar, Nonnegative, Split, Wald
from nosplit.methods.laws import Flips

NAMES = """
    Blocks ColumnTests Csv DriftDetector Exact GoodnessOfFitAccumulator IndependenceAccumulator
    IndependenceMonitor InputError Moments Monitor NosplitWarning Sketch TestResult
    TwoSampleAccumulator Wild classifier_test column_tests datasets errors explain
    goodness_of_fit_test independence_test joint_normal_test k_sample_test kernels load mean_test
    methods models pilot plan plot power profile report sample_size testing two_sample_test
"""
# Names of modules that users import from.
OF_MODULES = {
    "kernels": "Combination Delta Gaussian IMQ Laplace Linear Matern Polynomial Spectral",
    "methods": "OST Adaptive Best ChiBar Naive Nonnegative Split Wald Whitening "
    "optimal_weights polyhedral_truncation",
    "errors": "DependentRowsWarning DroppedKernelWarning InputError NearCopyWarning NosplitWarning "
    "NotATestWarning UnsafeAsymptoticsWarning",
    "power": "Alternative CalibrationCheck PowerCurve PowerPrediction SampleSize calibration_check "
    "pilot power_curve predict_power sample_size",
    "testing": "assert_fits assert_same_distribution",
}

SIGNATURES = {
    "two_sample_test": "x, y, *, kernels=None, method='auto', pairs='auto', calibration='auto', "
    "paired=False, strata=None, groups=None, series=False, columns=None, exclude=None, scale=None, "
    "nan_policy='auto', names=None, budget=1.0, shuffle=True, rng=0, workers=None, device=None",
    "column_tests": "x, y, *, alpha=0.05, n_resamples=1999, paired=False, strata=None, "
    "groups=None, series=False, columns=None, exclude=None, nan_policy='auto', names=None, "
    "shuffle=True, rng=0, workers=None",
    "k_sample_test": "samples, labels=None, *, control=None, kernels=None, "
    "method='auto', pairs='auto', calibration='auto', strata=None, groups=None, series=False, "
    "columns=None, exclude=None, scale=None, nan_policy='auto', budget=1.0, follow_up=True, rng=0, "
    "workers=None",
    "classifier_test": "x, y, *, estimator=None, paired=False, strata=None, groups=None, "
    "series=False, folds=5, n_resamples=999, columns=None, exclude=None, nan_policy='auto', "
    "names=None, rng=0",
    "goodness_of_fit_test": "x, score, *, support=None, kernels=None, method='auto', pairs='auto', "
    "calibration='auto', groups=None, series=False, columns=None, exclude=None, scale=None, "
    "nan_policy='raise', budget=1.0, shuffle=True, rng=0, workers=None, device=None",
    "independence_test": "x, y, *, kernels=None, method='auto', pairs='auto', "
    "calibration='auto', strata=None, groups=None, series=False, columns=None, exclude=None, "
    "scale=None, nan_policy='auto', budget=1.0, shuffle=True, rng=0, workers=None, device=None",
    "Monitor": "reference=None, *, alpha=0.05, guarantee='ever', every=None, block=1, "
    "estimators=(), columns=None, exclude=None, nan_policy='auto', rng=0",
    "profile": "reference, *, rows=2000, kernels=None, frequencies=64, nan_policy='auto', "
    "scale=None, columns=None, exclude=None, least=10, like=None, rng=0, workers=None",
    "load": "path",
    "mean_test": "h, *, method='auto', calibration='auto', symmetric=False, series=False, "
    "shuffle=True, rng=0",
    "joint_normal_test": "tau, cov, *, method='auto'",
    "power.predict_power": "alternative, *, n, alpha=0.05, method='auto', pairs='auto', "
    "calibration='auto', budget=1.0, trials=4000, rng=0",
    "power.power_curve": "alternative, *, sizes, alpha=0.05, method='auto', pairs='auto', "
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
    for module, names in OF_MODULES.items():
        assert set(names.split()) <= set(getattr(nosplit, module).__all__), module


def test_no_module_takes_the_name_of_a_function():
    """`nosplit.explain` and the like are functions, whatever has been imported since."""
    for found in pkgutil.walk_packages(nosplit.__path__, "nosplit."):
        package, _, leaf = found.name.rpartition(".")
        assert package != "nosplit" or not inspect.isfunction(getattr(nosplit, leaf, None)), leaf


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    signature = inspect.signature(attrgetter(name)(nosplit))
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
for _m in METHODS:
    CASES[f"exact {_m}"] = partial(two_sample_test, X, Y, method=_m, **EXACT)
    CASES[f"pairs {_m}"] = partial(two_sample_test, X, Y, method=_m, kernels=KERNELS, pairs=3)
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
    again = test(res.how.seed)
    assert res.to_dict() == again.to_dict()
    assert json.loads(json.dumps(res.to_dict()))["how"]["seed"] == res.how.seed
    assert test(None).how.seed != res.how.seed
    assert test(np.random.default_rng(0)).how.seed is None


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
        if res.how.n_resamples or not math.isclose(res.pvalue, alpha, rel_tol=1e-9):
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
        res = replace(base, statistic=value, log_pvalue=law.log_sf(value), null=law)
        assert res.pvalue == k / 1000
        assert res.reject(k / 1000)
        assert res.statistic >= res.threshold(k / 1000)
        assert not res.reject((k - 0.5) / 1000)
        assert res.statistic < res.threshold((k - 0.5) / 1000)


def test_to_dict_is_json(res):
    values = res.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["pvalue"] == res.pvalue
    picked = values["selection"]
    assert len(picked["weights"]) == len(picked["kernels"]) == len(picked["tau"])
    assert picked["truncation"] is None or math.isfinite(picked["truncation"])
    assert set(picked["active"]) <= set(range(len(picked["kernels"])))


def test_print_is_the_verdict_and_how_it_was_reached(res):
    text = str(res)
    verdict = res.question.rejected if res.reject() else res.question.kept
    assert text.startswith((f"{verdict} (p = ", f"{verdict} (p < 1e-16"))
    assert repr(res) == text.splitlines()[0]
    assert text == res.summary(0.05)
    assert res.summary(0.1).splitlines()[0].endswith("level 0.1)")
    assert "  tested   " in text
    drawn = f"{res.how.n_resamples:,} permutations" if res.how.n_resamples else res.how.method
    assert drawn in text
    assert all(len(line) <= 80 for line in text.splitlines())
    for kernel in res.selection.kernels:
        assert kernel_label(kernel) in str(res.selection)


def test_standardised_weights_do_not_depend_on_units():
    tau, cov = np.array([2.0, 1.0]), np.array([[1.0, 0.3], [0.3, 1.0]])
    scale = np.array([1.0, 1e6])
    plain = joint_normal_test(tau, cov).selection.by_kernel()
    scaled = joint_normal_test(scale * tau, scale[:, None] * cov * scale).selection.by_kernel()
    for a, b in zip(plain, scaled, strict=True):
        assert math.isclose(a.weight, b.weight, rel_tol=1e-9)
        assert math.isclose(a.alone, b.alone, rel_tol=1e-9)
    assert max(abs(line.weight) for line in plain) == 1.0


# What was done ----------------------------------------------------------------------------------


def counts(res):
    return res.how.n_units, res.how.n_pairs, res.how.n_used, res.how.n_left_out


def test_counts():
    linear = {"kernels": KERNELS, "pairs": "linear"}
    res = two_sample_test(X, Y, **linear)
    assert counts(res) == (300, 150, 600, 0)
    said = res.how.pairs, res.how.calibration, res.how.n_resamples, res.how.method
    assert said == ("linear", "asymptotic", None, "ost")
    assert res.selection.kernels == KERNELS
    assert res.selection.tau.shape == (2,)
    assert res.selection.cov.shape == (2, 2)
    res = two_sample_test(X, SHIFTED[:10], kernels=KERNELS, calibration=Exact(19))
    assert counts(res) == (310, 310 * 309 // 2, 310, 0)
    said = res.how.pairs, res.how.calibration, res.how.n_resamples, res.how.method
    assert said == ("complete", "exact", 19, "adaptive")
    gap = Y.copy()
    gap[4:9, 0] = np.nan
    res = two_sample_test(X, gap, kernels=KERNELS, calibration=Exact(19), nan_policy="omit")
    assert (res.how.n_used, res.how.n_left_out, res.how.sizes) == (595, 5, (300, 295))
    assert "300 v 295 rows (5 left out)" in str(res)
    for pairs, n_pairs in ((3, 900), (Blocks(4), 75 * 6), ("adjacent", 150)):
        res = two_sample_test(X, Y, kernels=KERNELS, pairs=pairs)
        assert res.how.n_pairs == n_pairs
    res = mean_test(X)
    assert counts(res) == (300, 300, 300, 0)
    assert res.how.pairs == "rows"


def test_auto_is_adaptive_where_exact_and_ost_elsewhere():
    assert two_sample_test(X, Y, kernels=KERNELS).how.method == "adaptive"
    asymptotic = {"kernels": KERNELS, "pairs": 3, "calibration": "asymptotic"}
    assert two_sample_test(X, Y, **asymptotic).how.method == "ost"
    assert mean_test(X).how.method == "ost"
    assert mean_test(X, symmetric=True).how.method == "adaptive"


def test_method_objects_and_names_are_the_same():
    pairs = [(Nonnegative(), "nonnegative"), (Wald(), "wald"), (Best(), "best")]
    for method, name in (*pairs, (ChiBar(), "chibar"), (Adaptive(), "adaptive")):
        by_object = joint_normal_test([1.0, 2.0], np.eye(2), method=method)
        assert by_object.pvalue == joint_normal_test([1.0, 2.0], np.eye(2), method=name).pvalue


def test_results_hold_no_data_and_do_not_change():
    res = two_sample_test(X, Y, kernels=KERNELS, calibration=Exact(19))
    assert isinstance(res, TestResult)
    assert len(pickle.dumps(res)) < X.nbytes
    with pytest.raises(AttributeError):
        res.statistic = 0.0


# The same data gives the same verdict -----------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "y"), [("linear", Y), (3, Y), ("complete", Y), ("complete", SHIFTED)]
)
def test_deterministic_whatever_the_workers(pairs, y):
    options = {"pairs": pairs, "kernels": KERNELS}
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state stays as it was
    first = two_sample_test(X, y, workers=1, **options)
    for workers in (1, 2, None):
        again = two_sample_test(X, y, workers=workers, **options)
        assert again.to_dict() == first.to_dict()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_rng_is_a_seed_or_a_generator_that_moves_on():
    options = {"kernels": KERNELS, "calibration": Exact(99)}
    default = two_sample_test(X, Y, **options).pvalue
    assert default == two_sample_test(X, Y, rng=0, **options).pvalue
    generator, like, integer = (np.random.default_rng(0) for _ in range(3))
    first, *others = (two_sample_test(X, Y, rng=generator, **options).pvalue for _ in range(6))
    assert first == two_sample_test(X, Y, rng=like, **options).pvalue
    assert len(set(others)) > 1
    integer.integers(0, 2**62)  # one a call
    assert like.bit_generator.state == integer.bit_generator.state


def test_input_is_left_alone():
    x, y = X.copy(), Y.copy()
    two_sample_test(x, y, calibration=Exact(19))
    mean_test(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
