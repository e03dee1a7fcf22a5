"""What cannot be had is refused with a word: too large numbers, and what an engine cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit import (
    Exact,
    TwoSampleAccumulator,
    plan,
    profile,
    two_sample_test,
)
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.clusters.two_sample import cluster_test
from nosplit._old.inference.planning.limits import Limits, as_method
from nosplit.core.pairings import Adjacent, Sketch
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.kernels import Gaussian


def test_draws_beyond_memory_iv():
    with pytest.raises(
        InputError, match="`n_resamples` must be at most 10,000,000, got 1,000,000,000"
    ):
        Exact(10**9)


def test_plans_of_any_size_iv():
    assert plan(n=10**12, p=10**9).n_units > 0
    with pytest.raises(InputError, match="`p` must be at most 100,000 in tables"):
        plan(n=100, p=10**9, categorical=1)


def normal(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2))


def in_stream(pairs: str, method: str) -> object:
    stream = TwoSampleAccumulator(Gaussian(1.0), pairs=pairs)
    stream.update(normal(200), normal(200, 1))
    return stream.result(method)


def asked(method: str) -> Asked:
    return Asked(Options.of(None, None, None, "auto"), None, as_method(method), "auto", "auto", 1.0)


WAYS = {
    "with a sketch": lambda m: two_sample_test(
        normal(200), normal(200, 1), pairs="sketch", method=m
    ),
    "with a profile": lambda m: two_sample_test(profile(normal(2000)), normal(400, 1), method=m),
    "on a cluster": lambda m: cluster_test(None, asked(m), None),
    "where only moments are kept": lambda m: in_stream("adjacent", m),
}


@pytest.mark.parametrize("where", WAYS)
def test_a_split_is_refused_in_one_text_iv(where):
    text = rf"`method` must not be Split {where}: it needs the rows. Use the default, or method="
    with pytest.raises(InputError, match=text):
        WAYS[where]("split")


@pytest.mark.parametrize("where", ["with a profile", "on a cluster"])
def test_what_is_no_test_has_no_draws_iv(where):
    with pytest.raises(InputError, match=f"must not be Naive {where}: it has no exact form"):
        WAYS[where]("naive")


def test_pairs_that_an_engine_cannot_see_iv():
    limits = Limits("in the dark", (Sketch(), Adjacent()))
    assert limits.check(None, "auto", "auto") is None
    assert limits.check(None, Sketch(64), Exact(99)) == Sketch(64)
    with pytest.raises(InputError, match='`pairs` in the dark must be "sketch" or "adjacent", got'):
        limits.check(None, "complete", "auto")  # a sketch is complete, but not the other way round
    with pytest.raises(InputError, match="`calibration` in the dark must be exact"):
        limits.check(None, "adjacent", "asymptotic")
