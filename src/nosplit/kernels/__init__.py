"""Kernels: what makes two rows alike.

A kernel is anything with two methods, `aligned` (values k(a_i, b_i)) and `tile` (values
k(a_i, b_j)): see `Kernel`. Each built-in one depends on its rows through a single **base
quantity** ("sq", the squared Euclidean distance; "l1", the sum of absolute differences; "dot",
the inner product) and a scalar `profile` of it, so kernels with the same base can share the
part that is costly for wide data.
"""

from __future__ import annotations

from nosplit.kernels._base import Kernel, Layout, aligned_base, tile_base
from nosplit.kernels.algebra import FunctionKernel, Product, ProfileKernel, Scaled, Sum, as_kernel
from nosplit.kernels.categories import Agreement, Hamming
from nosplit.kernels.combination import Combination
from nosplit.kernels.defaults import (
    default_kernels,
    gaussian_grid,
    laplace_grid,
    median_bandwidth,
    paper_kernels,
    polynomial_kernels,
)
from nosplit.kernels.families import IMQ, Delta, Gaussian, Laplace, Linear, Matern, Polynomial
from nosplit.kernels.on_columns import Mixed, OnColumns
from nosplit.kernels.shared import Shared
from nosplit.kernels.spectral import FittedSpectral, Spectral
from nosplit.kernels.tables import Parts, mixed_kernels, table_kernels

__all__ = [
    "IMQ",
    "Agreement",
    "Combination",
    "Delta",
    "FittedSpectral",
    "FunctionKernel",
    "Gaussian",
    "Hamming",
    "Kernel",
    "Laplace",
    "Layout",
    "Linear",
    "Matern",
    "Mixed",
    "OnColumns",
    "Parts",
    "Polynomial",
    "Product",
    "ProfileKernel",
    "Scaled",
    "Shared",
    "Spectral",
    "Sum",
    "aligned_base",
    "as_kernel",
    "default_kernels",
    "gaussian_grid",
    "laplace_grid",
    "median_bandwidth",
    "mixed_kernels",
    "paper_kernels",
    "polynomial_kernels",
    "table_kernels",
    "tile_base",
]
