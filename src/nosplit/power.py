"""Planning: how often a test finds a difference, and how many rows it needs."""

from nosplit._old.power.alternative import Alternative
from nosplit._old.power.level import CalibrationCheck, calibration_check
from nosplit._old.power.pilot import pilot
from nosplit._old.power.prediction import power_curve, predict_power, sample_size
from nosplit._old.power.results import PowerCurve, PowerPrediction, SampleSize

__all__ = [
    "Alternative",
    "CalibrationCheck",
    "PowerCurve",
    "PowerPrediction",
    "SampleSize",
    "calibration_check",
    "pilot",
    "power_curve",
    "predict_power",
    "sample_size",
]
