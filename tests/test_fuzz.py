"""A short run of the fuzzer; `make fuzz` is the long one."""

from __future__ import annotations

import time

import pytest

from benchmarks.fuzz import run
from benchmarks.fuzz.checks import Finding, call


def test_a_short_run_finds_nothing(capsys):
    found = run.run(calls=400, seconds=8.0, seed=1)
    assert found == 0, capsys.readouterr().out


def test_cases_are_the_same_whenever_they_are_run():
    kinds = [run.kind_of(case, 0) for case in range(50)]
    assert kinds == [run.kind_of(case, 0) for case in range(50)]
    assert len(set(kinds)) > 5


def test_what_is_not_documented_is_found():
    with pytest.raises(Finding, match="ZeroDivisionError"):
        call(lambda: 1 / 0)


def test_a_case_that_hangs_is_found():
    with pytest.raises(Finding, match="no answer"), run.patience(1):
        _for_ever()


def _for_ever():
    while True:
        time.sleep(0.0)
