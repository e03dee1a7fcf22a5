"""Arrays that offer themselves as tables, and matrices that are none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from nosplit import goodness_of_fit_test, independence_test, two_sample_test
from nosplit.data.tables.frames import is_table
from nosplit.errors import InputError


class DataArray:
    """What matters of xarray's: an array that streams itself in long form."""

    def __init__(self, values):
        self.values = np.asarray(values)

    @property
    def ndim(self):
        return self.values.ndim

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table({"values": self.values.ravel()}).__arrow_c_stream__()


def test_labelled_arrays_are_arrays():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 5))
    assert not is_table(DataArray(x))
    res = two_sample_test(DataArray(x), DataArray(y), pairs="linear", calibration="exact")
    assert res.n_used == 60
    assert res.pvalue == two_sample_test(x, y, pairs="linear", calibration="exact").pvalue


def test_labelled_arrays_of_three_dimensions_iv():
    cube = np.zeros((4, 5, 6))
    with pytest.raises(InputError, match=r"`x` must be a vector or an \(n, p\) array, got 3 dim"):
        two_sample_test(DataArray(cube), DataArray(cube))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_matrices_iv(kind):
    x = kind(np.eye(6))
    message = f"`x` must be a dense array, got a {kind.__name__}. Use `x.toarray\\(\\)`"
    with pytest.raises(InputError, match=message):
        two_sample_test(x, x)
    with pytest.raises(InputError, match=message):
        independence_test(x, np.arange(6.0))
    with pytest.raises(InputError, match=message):
        goodness_of_fit_test(x, lambda rows: -rows)
