"""Warnings point at the line of the user, and are kept back in one thread only."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

from nosplit import NosplitWarning, two_sample_test
from nosplit._old.data.files import whole
from nosplit._warn import unwarned
from nosplit.power import calibration_check

FEW = {"kernels": "paper6", "pairs": "linear", "calibration": "asymptotic"}


def test_warnings_point_at_the_line_of_the_user(tmp_path, monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    files = tmp_path / "x.npy", tmp_path / "y.npy"
    for data, small in (((x, y), whole.SMALL), (files, whole.SMALL), (files, 0)):
        monkeypatch.setattr(whole, "SMALL", small)
        with pytest.warns(NosplitWarning) as said:
            two_sample_test(*data, **FEW)
        assert {w.filename for w in said} == {__file__}


def test_filters_of_the_process_stay_as_they_are(monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    before = list(warnings.filters)
    during = []

    def watched(*args, **options):
        during.append(list(warnings.filters))
        return two_sample_test(*args, **options)

    monkeypatch.setattr("nosplit._old.power.level.two_sample_test", watched)
    calibration_check(x, y, trials=3, kernels="paper2", method="split")
    assert len(during) == 3
    assert all(filters == before for filters in during)


def test_other_threads_are_warned():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 1))
    said = []

    def test():
        try:
            two_sample_test(x, y, **FEW)
        except NosplitWarning as warning:  # as filters of the tests make them errors
            said.append(warning)

    with unwarned():
        test()
        assert not said
        thread = threading.Thread(target=test)
        thread.start()
        thread.join()
    assert len(said) == 1


def test_p_values_of_splits_are_positive():
    x = np.random.default_rng(1).normal(size=(2, 16, 1))
    found = calibration_check(*x, trials=51, method="naive", pairs="linear")
    assert (found.pvalues > 0).all()
