"""Rows → units, and the value of a pair of units: one file a family."""
