"""Families of tests: atoms, permutations and named forms of the data."""
