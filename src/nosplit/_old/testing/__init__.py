"""Assertions for tests of programs: false alarms are as rare as is asked for, by construction."""

from nosplit._old.testing.asserting import assert_fits, assert_same_distribution

__all__ = ["assert_fits", "assert_same_distribution"]
