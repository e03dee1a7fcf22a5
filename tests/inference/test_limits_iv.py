"""Numbers that no memory could hold are refused with a word."""

from __future__ import annotations

import pytest

from nosplit import Exact, plan
from nosplit.errors import InputError


def test_draws_beyond_memory_iv():
    with pytest.raises(InputError, match="`flips` must be at most 10,000,000, got 1,000,000,000"):
        Exact(10**9)


def test_plans_of_any_size_iv():
    assert plan(n=10**12, p=10**9).n_units > 0
    with pytest.raises(InputError, match="`p` must be at most 100,000 in tables"):
        plan(n=100, p=10**9, categorical=1)
