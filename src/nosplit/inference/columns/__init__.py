"""Tests of every column: what holds for all of them together."""
