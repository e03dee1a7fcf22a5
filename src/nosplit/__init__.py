"""Kernel hypothesis tests that learn the kernel and test on the same data, all of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nosplit import datasets, errors, kernels, methods, models, power, testing
    from nosplit._old.api.drift import DriftDetector
    from nosplit._old.api.loading import load
    from nosplit._old.api.plan import plan
    from nosplit._old.api.profile import profile
    from nosplit._old.data.files.csv_form import Csv
    from nosplit._old.describe.explain import explain
    from nosplit._old.describe.plots import plot
    from nosplit._old.describe.report import report
    from nosplit._old.engines.streams.goodness_of_fit import GoodnessOfFitAccumulator
    from nosplit._old.engines.streams.independence import IndependenceAccumulator
    from nosplit._old.engines.streams.two_sample import TwoSampleAccumulator
    from nosplit._old.monitor.independence import IndependenceMonitor
    from nosplit._old.monitor.two_sample import Monitor
    from nosplit._old.power.pilot import pilot
    from nosplit._old.power.prediction import sample_size
    from nosplit.api.classifier import classifier_test
    from nosplit.api.columns import column_tests
    from nosplit.api.goodness_of_fit import goodness_of_fit_test
    from nosplit.api.independence import independence_test
    from nosplit.api.k_sample import k_sample_test
    from nosplit.api.means import joint_normal_test, mean_test
    from nosplit.api.two_sample import two_sample_test
    from nosplit.core.moments import Moments
    from nosplit.core.pairings import Blocks, Sketch
    from nosplit.errors import InputError, NosplitWarning
    from nosplit.inference.calibrations import Exact, Wild
    from nosplit.inference.columns import ColumnTests
    from nosplit.inference.result import TestResult

__version__ = "0.1.0"

__all__ = [
    "Blocks",
    "ColumnTests",
    "Csv",
    "DriftDetector",
    "Exact",
    "GoodnessOfFitAccumulator",
    "IndependenceAccumulator",
    "IndependenceMonitor",
    "InputError",
    "Moments",
    "Monitor",
    "NosplitWarning",
    "Sketch",
    "TestResult",
    "TwoSampleAccumulator",
    "Wild",
    "classifier_test",
    "column_tests",
    "datasets",
    "errors",
    "explain",
    "goodness_of_fit_test",
    "independence_test",
    "joint_normal_test",
    "k_sample_test",
    "kernels",
    "load",
    "mean_test",
    "methods",
    "models",
    "pilot",
    "plan",
    "plot",
    "power",
    "profile",
    "report",
    "sample_size",
    "testing",
    "two_sample_test",
]

# Modules with public names of their own.
_MODULES = ("datasets", "errors", "kernels", "methods", "models", "power", "testing")
# The modules of the other public names, imported when one of their names is first used.
_HOMES = {
    "_old.api.drift": "DriftDetector",
    "_old.api.loading": "load",
    "_old.api.plan": "plan",
    "_old.api.profile": "profile",
    "_old.data.files.csv_form": "Csv",
    "_old.describe.explain": "explain",
    "_old.describe.plots": "plot",
    "_old.describe.report": "report",
    "_old.engines.streams.goodness_of_fit": "GoodnessOfFitAccumulator",
    "_old.engines.streams.independence": "IndependenceAccumulator",
    "_old.engines.streams.two_sample": "TwoSampleAccumulator",
    "_old.monitor.independence": "IndependenceMonitor",
    "_old.monitor.two_sample": "Monitor",
    "_old.power.pilot": "pilot",
    "_old.power.prediction": "sample_size",
    "api.classifier": "classifier_test",
    "api.columns": "column_tests",
    "api.goodness_of_fit": "goodness_of_fit_test",
    "api.k_sample": "k_sample_test",
    "api.means": "joint_normal_test mean_test",
    "api.independence": "independence_test",
    "api.two_sample": "two_sample_test",
    "core.moments": "Moments",
    "core.pairings": "Blocks Sketch",
    "errors": "InputError NosplitWarning",
    "inference.calibrations": "Exact Wild",
    "inference.columns": "ColumnTests",
    "inference.result": "TestResult",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # a checker would take every name for known

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"nosplit.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module 'nosplit' has no attribute {name!r}")
        value = getattr(import_module(f"nosplit.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
