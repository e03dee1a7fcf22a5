"""Classifiers as tests, without a split."""
