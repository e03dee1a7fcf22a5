"""nosplit: kernel hypothesis tests that learn the kernel and test on the same data, all of it."""

from __future__ import annotations

from nosplit import datasets, models
from nosplit._errors import (
    DependentRowsWarning,
    DroppedKernelWarning,
    InputError,
    NearCopyWarning,
    NosplitWarning,
    NotATestWarning,
    UnsafeAsymptoticsWarning,
)
from nosplit.alternative import Alternative
from nosplit.api import joint_normal_test, mean_test, plan, two_sample_test
from nosplit.calibration import (
    CalibrationCheck,
    SeedSensitivity,
    calibration_check,
    seed_sensitivity,
)
from nosplit.explain import Explanation, explain
from nosplit.goodness import Wild, goodness_of_fit_test
from nosplit.independence import independence_test
from nosplit.kernels import (
    IMQ,
    Combination,
    Delta,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
)
from nosplit.methods import OST, Adaptive, Best, ChiBar, Naive, Nonnegative, Split, Wald
from nosplit.moments import Moments
from nosplit.normal import Whitening, optimal_weights, polyhedral_truncation
from nosplit.pairing import Blocks
from nosplit.pilot import pilot
from nosplit.plots import plot
from nosplit.power import (
    PowerCurve,
    PowerPrediction,
    SampleSize,
    power_curve,
    predict_power,
    sample_size,
)
from nosplit.power_plots import plot_calibration, plot_power
from nosplit.randomization import Exact
from nosplit.report import report
from nosplit.results import TestResult
from nosplit.streams import (
    GoodnessOfFitAccumulator,
    IndependenceAccumulator,
    TwoSampleAccumulator,
)

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
    "Combination",
    "Delta",
    "DependentRowsWarning",
    "DroppedKernelWarning",
    "Exact",
    "Explanation",
    "Gaussian",
    "GoodnessOfFitAccumulator",
    "IndependenceAccumulator",
    "InputError",
    "Laplace",
    "Linear",
    "Matern",
    "Moments",
    "Naive",
    "NearCopyWarning",
    "Nonnegative",
    "NosplitWarning",
    "NotATestWarning",
    "Polynomial",
    "PowerCurve",
    "PowerPrediction",
    "SampleSize",
    "SeedSensitivity",
    "Split",
    "TestResult",
    "TwoSampleAccumulator",
    "UnsafeAsymptoticsWarning",
    "Wald",
    "Whitening",
    "Wild",
    "calibration_check",
    "datasets",
    "explain",
    "goodness_of_fit_test",
    "independence_test",
    "joint_normal_test",
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
    "report",
    "sample_size",
    "seed_sensitivity",
    "two_sample_test",
]
