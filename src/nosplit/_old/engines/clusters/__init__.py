"""Tests of data on a cluster of machines."""
