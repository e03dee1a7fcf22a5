"""Kernels chosen by the library: bandwidths, grids, defaults for arrays and tables."""
