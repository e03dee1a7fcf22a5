"""Pairings: their jobs cover exactly the pairs they claim, each once, whatever the job size."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import settings

from _reference import pairs_of
from nosplit import InputError
from nosplit.core.pairings import (
    Adjacent,
    Aligned,
    Band,
    Blocks,
    Complete,
    LinearPairs,
    Pairing,
    Sketch,
    Tile,
    Window,
    as_pairing,
    units_in_pairs,
)

seeded = settings(derandomize=True, deadline=None)
PAIRINGS = [
    LinearPairs(),
    Adjacent(),
    Window(1),
    Window(3),
    Window(7),
    Blocks(4),
    Blocks(9),
    Complete(),
]
every_pairing = pytest.mark.parametrize("pairing", PAIRINGS, ids=repr)


def listed(job, N):
    """The pairs of a job, from what its docstring says."""
    match job:
        case Aligned(a, b):
            assert len(a) == len(b)
            return list(zip(a, b, strict=True))
        case Band(units, R):
            return [(i, (i + r) % N) for i in units for r in range(1, R + 1)]
        case Tile(a, b):
            return [(i, j) for i, j in product(a, b) if a != b or i < j]


def unordered(pairs):
    return Counter(frozenset((int(i), int(j))) for i, j in pairs)


@every_pairing
@pytest.mark.parametrize("N", [15, 16, 40, 101])
@pytest.mark.parametrize("size", [1, 2, 7, 64, 10**6])
def test_jobs_cover_the_pairs_once(pairing, N, size):
    jobs = list(pairing.jobs(N, size))
    covered = [pair for job in jobs for pair in listed(job, N)]
    expected = pairs_of(pairing, N)
    assert unordered(covered) == unordered(expected)
    assert len(covered) == len(expected) == pairing.n_pairs(N)
    assert [job.n_pairs for job in jobs] == [len(listed(job, N)) for job in jobs]
    assert max(unordered(covered).values()) == 1
    assert all(len(pair) == 2 for pair in unordered(covered))


@every_pairing
@pytest.mark.parametrize("size", [64, 1000])
def test_jobs_are_of_bounded_size(pairing, size):
    """About the size that was asked for; tiles twice that, bands at least as long as wide."""
    for job in pairing.jobs(997, size):
        assert job.n_pairs <= max(size, 7**2) * (2.2 if isinstance(job, Tile) else 1.1)


@pytest.mark.parametrize("pairing", [LinearPairs(), Adjacent(), Blocks(4), Complete()], ids=repr)
@pytest.mark.parametrize("N", [0, 1, 2, 3])
def test_few_units(pairing, N):
    covered = [pair for job in pairing.jobs(N, 64) for pair in listed(job, N)]
    assert unordered(covered) == unordered(pairs_of(pairing, N))
    assert len(covered) == pairing.n_pairs(N)


@pytest.mark.parametrize(("N", "R"), [(3, 1), (5, 2), (15, 7), (16, 7), (101, 50)])
def test_widest_window_goes_round_without_a_pair_twice(N, R):
    """At R = (N - 1)/2 a window is all pairs; beyond, some would come twice."""
    covered = [pair for job in Window(R).jobs(N, 64) for pair in listed(job, N)]
    assert max(unordered(covered).values()) == 1
    if N % 2:
        assert unordered(covered) == unordered(pairs_of(Complete(), N))
    taking_part = Counter(i for pair in covered for i in pair)
    assert set(taking_part.values()) == {2 * R}


def test_every_unit_takes_part():
    """An odd unit is left out of linear and adjacent pairs, and as a block of its own."""
    for pairing in PAIRINGS:
        units = np.unique(pairs_of(pairing, 41))
        assert len(units) == (40 if pairing in (LinearPairs(), Adjacent(), Blocks(4)) else 41)
        assert units_in_pairs(pairing, 41) == len(units)


@pytest.mark.parametrize(
    ("short", "pairing"),
    [
        ("linear", LinearPairs()),
        ("adjacent", Adjacent()),
        ("complete", Complete()),
        ("sketch", Sketch(cells=1000, frequencies=None)),
        (4, Window(4)),
        (np.int64(4), Window(4)),
        (Blocks(8), Blocks(8)),
    ],
)
def test_short_names(short, pairing):
    assert as_pairing(short) == pairing
    assert isinstance(as_pairing(short), Pairing)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_pairing("linar"), r"`pairs` must be one of .* got 'linar'.*mean 'linear'\?"),
        (lambda: as_pairing(2.5), r"`pairs` must be a name, an int \(a window\).*got 2\.5"),
        (lambda: as_pairing(None), r"`pairs` must be a name, an int \(a window\).*got None"),
        (lambda: as_pairing(Blocks), r"`pairs` must be .*got <class .*Blocks"),
        (lambda: as_pairing(0), r"`pairs` as a window must be an int ≥ 1, got 0"),
        (lambda: as_pairing(-3), r"`pairs` as a window must be an int ≥ 1, got -3"),
        (lambda: as_pairing(True), r"`pairs` as a window must be an int ≥ 1, got True"),
        (lambda: Window(1.5), r"`pairs` as a window must be an int ≥ 1, got 1\.5"),
        (lambda: Blocks(1), r"`size` of Blocks must be an int ≥ 2, got 1"),
        (lambda: Blocks(True), r"`size` of Blocks must be an int ≥ 2, got True"),
        (lambda: Blocks(8.0), r"`size` of Blocks must be an int ≥ 2, got 8\.0"),
    ],
)
def test_pairing_iv(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(("N", "R"), [(2, 1), (10, 5), (101, 51)])
def test_window_too_wide_iv(N, R):
    message = rf"`pairs` = {R} is wider than {N} units allow: a window is at most {(N - 1) // 2}"
    for ask in (Window(R).n_pairs, lambda n: list(Window(R).jobs(n, 64))):
        with pytest.raises(InputError, match=message):
            ask(N)
