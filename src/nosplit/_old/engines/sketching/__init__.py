"""Tests by sketches: the steps that all engines share."""
