"""Assertions for test suites: samples of one distribution, samples of a model."""

from nosplit._old.testing import assert_fits, assert_same_distribution

__all__ = ["assert_fits", "assert_same_distribution"]
