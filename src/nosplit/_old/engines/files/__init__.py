"""Tests of files that do not fit in memory."""
