"""nosplit: kernel hypothesis tests that learn the kernel and test on the same data, all of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nosplit import datasets, models, testing
    from nosplit.api.columns import column_tests
    from nosplit.api.drift import DriftDetector
    from nosplit.api.goodness_of_fit import goodness_of_fit_test
    from nosplit.api.independence import independence_test
    from nosplit.api.k_sample import k_sample_test
    from nosplit.api.means import joint_normal_test, mean_test
    from nosplit.api.plan import plan
    from nosplit.api.profile import load_profile, profile
    from nosplit.api.two_sample import two_sample_test
    from nosplit.api.ways.witness_result import WitnessResult
    from nosplit.api.witness import witness_test
    from nosplit.data.files.csv_form import Csv
    from nosplit.describe.explain import explain
    from nosplit.describe.explanation import Explanation
    from nosplit.describe.plots import plot
    from nosplit.describe.plots.power import plot_calibration, plot_power
    from nosplit.describe.report import report
    from nosplit.designs.several.result import KSampleResult, SampleComparison
    from nosplit.engines.streams.goodness_of_fit import GoodnessOfFitAccumulator
    from nosplit.engines.streams.independence import IndependenceAccumulator
    from nosplit.engines.streams.saved.loading import load_accumulator
    from nosplit.engines.streams.two_sample import TwoSampleAccumulator
    from nosplit.errors import (
        DependentRowsWarning,
        DroppedKernelWarning,
        InputError,
        NearCopyWarning,
        NosplitWarning,
        NotATestWarning,
        UnsafeAsymptoticsWarning,
    )
    from nosplit.inference.calibrations import Exact, Wild
    from nosplit.inference.columns.results import ColumnTests
    from nosplit.inference.result import TestResult
    from nosplit.kernels import (
        IMQ,
        Combination,
        Delta,
        Gaussian,
        Laplace,
        Linear,
        Matern,
        Polynomial,
        Spectral,
    )
    from nosplit.methods import OST, Adaptive, Best, ChiBar, Naive, Nonnegative, Split, Wald
    from nosplit.methods.normal.polyhedral import polyhedral_truncation
    from nosplit.methods.normal.whitening import Whitening, optimal_weights
    from nosplit.monitor.explanation import MonitorExplanation
    from nosplit.monitor.independence import IndependenceMonitor
    from nosplit.monitor.two_sample import Monitor
    from nosplit.pairs.moments import Moments
    from nosplit.pairs.pairing import Blocks, Sketch
    from nosplit.power.alternative import Alternative
    from nosplit.power.level import (
        CalibrationCheck,
        calibration_check,
    )
    from nosplit.power.pilot import pilot
    from nosplit.power.prediction import power_curve, predict_power, sample_size
    from nosplit.power.results import PowerCurve, PowerPrediction, SampleSize
    from nosplit.sketch.saved.profiles import Profile

__version__ = "0.1.0"

__all__ = [
    "IMQ",
    "OST",
    "Adaptive",
    "Alternative",
    "Best",
    "Blocks",
    "CalibrationCheck",
    "ChiBar",
    "ColumnTests",
    "Combination",
    "Csv",
    "Delta",
    "DependentRowsWarning",
    "DriftDetector",
    "DroppedKernelWarning",
    "Exact",
    "Explanation",
    "Gaussian",
    "GoodnessOfFitAccumulator",
    "IndependenceAccumulator",
    "IndependenceMonitor",
    "InputError",
    "KSampleResult",
    "Laplace",
    "Linear",
    "Matern",
    "Moments",
    "Monitor",
    "MonitorExplanation",
    "Naive",
    "NearCopyWarning",
    "Nonnegative",
    "NosplitWarning",
    "NotATestWarning",
    "Polynomial",
    "PowerCurve",
    "PowerPrediction",
    "Profile",
    "SampleComparison",
    "SampleSize",
    "Sketch",
    "Spectral",
    "Split",
    "TestResult",
    "TwoSampleAccumulator",
    "UnsafeAsymptoticsWarning",
    "Wald",
    "Whitening",
    "Wild",
    "WitnessResult",
    "calibration_check",
    "column_tests",
    "datasets",
    "explain",
    "goodness_of_fit_test",
    "independence_test",
    "joint_normal_test",
    "k_sample_test",
    "load_accumulator",
    "load_profile",
    "mean_test",
    "models",
    "optimal_weights",
    "pilot",
    "plan",
    "plot",
    "plot_calibration",
    "plot_power",
    "polyhedral_truncation",
    "power_curve",
    "predict_power",
    "profile",
    "report",
    "sample_size",
    "testing",
    "two_sample_test",
    "witness_test",
]

# Doors: modules with public names of their own.
_DOORS = ("datasets", "errors", "kernels", "models", "testing")
# Where the other public names lie. A module is imported when one of its names is first used, so
# that a program pays for what it needs.
_HOMES = {
    "api.columns": "column_tests",
    "api.drift": "DriftDetector",
    "api.goodness_of_fit": "goodness_of_fit_test",
    "api.independence": "independence_test",
    "api.k_sample": "k_sample_test",
    "api.means": "joint_normal_test mean_test",
    "api.plan": "plan",
    "api.profile": "load_profile profile",
    "api.two_sample": "two_sample_test",
    "api.ways.witness_result": "WitnessResult",
    "api.witness": "witness_test",
    "data.files.csv_form": "Csv",
    "describe.explain": "explain",
    "describe.explanation": "Explanation",
    "describe.plots": "plot",
    "describe.plots.power": "plot_calibration plot_power",
    "describe.report": "report",
    "designs.several.result": "KSampleResult SampleComparison",
    "engines.streams.goodness_of_fit": "GoodnessOfFitAccumulator",
    "engines.streams.independence": "IndependenceAccumulator",
    "engines.streams.saved.loading": "load_accumulator",
    "engines.streams.two_sample": "TwoSampleAccumulator",
    "errors": "DependentRowsWarning DroppedKernelWarning InputError NearCopyWarning NosplitWarning "
    "NotATestWarning UnsafeAsymptoticsWarning",
    "inference.calibrations": "Exact Wild",
    "inference.columns.results": "ColumnTests",
    "inference.result": "TestResult",
    "kernels": "IMQ Combination Delta Gaussian Laplace Linear Matern Polynomial Spectral",
    "methods": "OST Adaptive Best ChiBar Naive Nonnegative Split Wald",
    "methods.normal.polyhedral": "polyhedral_truncation",
    "methods.normal.whitening": "Whitening optimal_weights",
    "monitor.explanation": "MonitorExplanation",
    "monitor.independence": "IndependenceMonitor",
    "monitor.two_sample": "Monitor",
    "pairs.moments": "Moments",
    "pairs.pairing": "Blocks Sketch",
    "power.alternative": "Alternative",
    "power.level": "CalibrationCheck calibration_check",
    "power.pilot": "pilot",
    "power.prediction": "power_curve predict_power sample_size",
    "power.results": "PowerCurve PowerPrediction SampleSize",
    "sketch.saved.profiles": "Profile",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a checker would take every name for known

    def __getattr__(name: str) -> Any:
        if name in _DOORS:
            return import_module(f"nosplit.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module 'nosplit' has no attribute {name!r}")
        value = getattr(import_module(f"nosplit.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_DOORS, "__version__"})
