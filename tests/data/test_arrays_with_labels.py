"""Arrays that offer themselves as tables, and matrices that are none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from nosplit import independence_test, two_sample_test
from nosplit.data.frames import is_table
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
    res = two_sample_test(DataArray(x), DataArray(y))
    assert res.how.n_used == 60
    assert res.pvalue == two_sample_test(x, y).pvalue


def test_labelled_arrays_of_three_dimensions_iv():
    cube = np.zeros((4, 5, 6))
    with pytest.raises(InputError, match=r"`x` must be a vector or an \(n, p\) array, got 3 dim"):
        two_sample_test(DataArray(cube), DataArray(cube))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_matrices_against_dense(kind, monkeypatch):
    rng = np.random.default_rng(0)
    x, y = (rng.poisson(rate, (60, 4)).astype(float) for rate in (0.3, 0.5))
    dense = two_sample_test(x, y)
    assert two_sample_test(kind(x), kind(y)).pvalue == dense.pvalue
    assert two_sample_test(kind(x), y).pvalue == dense.pvalue
    together = independence_test(x, y).pvalue
    assert independence_test(kind(x), kind(y)).pvalue == together
    monkeypatch.setattr("nosplit._checks.MOST_DENSE", 100)
    with pytest.raises(InputError, match="`x` must have at most 100 entries as a sparse matrix"):
        two_sample_test(kind(x), kind(y))


def test_datasets_of_several_arrays_iv():
    class Dataset:
        data_vars = ()

        def to_dataframe(self):
            raise AssertionError

    with pytest.raises(InputError, match=r"got a Dataset of several arrays.*`x.to_dataframe\(\)`"):
        two_sample_test(Dataset(), Dataset())
