"""Kernel hypothesis tests that learn the kernel and test on the same data, all of it."""

__version__ = "0.1.0"
