"""Products of rows and matrices."""

import numpy as np
import pytest

from nosplit.kernels.frequencies import projected


@pytest.mark.parametrize("p", [1, 2, 3, 10, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_has_the_same_product_whichever_rows_are_beside_it(p, dtype):
    """Libraries of linear algebra do not promise that, and on some processors do not do it."""
    rng = np.random.default_rng(p)
    rows, onto = rng.normal(size=(301, p)).astype(dtype), rng.normal(size=(p, 37)).astype(dtype)
    whole = projected(rows, onto)
    assert np.abs(whole - rows @ onto).max() < 100 * np.finfo(dtype).eps
    order = rng.permutation(301)
    assert np.array_equal(projected(rows[order], onto), whole[order])
    for start, stop in ((0, 1), (1, 2), (5, 200), (200, 301)):
        assert np.array_equal(projected(rows[start:stop], onto), whole[start:stop])
    for columns in (slice(0, 1), slice(3, 20)):
        assert np.array_equal(projected(rows, onto[:, columns]), whole[:, columns])
