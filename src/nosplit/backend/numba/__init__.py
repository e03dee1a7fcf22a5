"""Compiled loops: the only folder that imports numba."""
