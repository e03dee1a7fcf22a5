"""Tests of fit and of independence by sketches, wherever the rows lie."""
