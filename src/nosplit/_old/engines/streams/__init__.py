"""Tests of data that arrive in batches."""
