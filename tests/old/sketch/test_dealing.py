"""Dealing of rows to cells."""

import numpy as np
import pytest

from nosplit._old.sketch.dealing import Deal, layout_of, pilot_size
from nosplit.errors import InputError


@pytest.mark.parametrize("n", [17, 1000, 65_536, 65_537, 100_003, 262_144])
def test_places_are_a_permutation(n):
    deal = Deal(n, 5, n // 5, key=7)
    assert np.array_equal(np.sort(deal.places(0, n)), np.arange(n))


@pytest.mark.parametrize("n", [40_000, 100_003])
def test_any_part_of_the_places_can_be_had(n):
    deal = Deal(n, 5, n // 5, key=7)
    whole = deal.places(0, n)
    assert np.array_equal(deal.places(1234, 999), whole[1234:2233])


@pytest.mark.parametrize("n", [2**32, 2**32 + 1, 10**11])
def test_places_of_billions_of_rows_lead_back_to_them(n):
    deal = Deal(n, n // 1000, 1000, key=7)
    for first in (0, n // 3, n - 2000):
        places = deal.places(first, 2000)
        assert places.min() >= 0
        assert places.max() < n
        assert np.array_equal(deal.rows_at(places), np.arange(first, first + 2000))
        assert np.array_equal(deal.cell_of(first, 2000), places // deal.c)


def test_keys_give_different_permutations():
    places = [Deal(100_003, 5, 20_000, key).places(0, 1000) for key in (1, 2)]
    assert np.count_nonzero(places[0] == places[1]) < 10


@pytest.mark.parametrize("rows", [slice(0, 20_000), slice(None, None, 10), slice(150_000, 170_000)])
def test_rows_that_belong_together_spread_over_cells_against_theory(rows):
    """20,000 of 200,000 rows in 1,000 cells: the chi-squared statistic of a random permutation."""
    n, cells = 200_000, 1000
    found = []
    for key in range(40):
        dealt = Deal(n, n // cells, cells, key).cell_of(0, n)[rows]
        counts = np.bincount(dealt, minlength=cells)
        variance = 20 * (1 - 200 / n) * 0.9 * n / (n - 1)
        found.append(((counts - 20) ** 2 / variance).sum())
    # The mean of 40 values of mean 999 and variance about 1998: four standard errors.
    assert abs(np.mean(found) - 1000) < 4 * np.sqrt(1998 / 40)
    assert 0.5 < np.var(found) / 1998 < 2.0


@pytest.mark.parametrize(("n", "m"), [(50, 50), (2000, 2000), (2000, 80_000), (999, 1001)])
def test_layout(n, m):
    layout = layout_of(n, m, 1000, np.random.default_rng(0))
    assert layout.x.c == layout.y.c
    assert layout.x.key != layout.y.key
    for deal, size in ((layout.x, n), (layout.y, m)):
        assert deal.n_dealt + deal.n_pilot == size
        assert deal.n_pilot >= pilot_size(size)
        assert len(deal.pilot_rows()) == pilot_size(size)
    assert layout.paired == (n == m)


def test_layout_keeps_most_rows_of_the_larger_sample():
    layout = layout_of(10_000, 200_000, 1000, np.random.default_rng(0))
    assert layout.y.n_dealt > 0.95 * 200_000
    assert layout.n_cells <= 4100


def test_layout_iv():
    with pytest.raises(InputError, match="at least 16 rows"):
        layout_of(10, 1000, 1000, np.random.default_rng(0))


@pytest.mark.parametrize("key", [None, 3, 2**63 - 1])
@pytest.mark.parametrize("n", [100, 65_537, 1 << 17, (1 << 18) + 3])
def test_rows_are_found_by_their_places(n, key):
    deal = Deal(n, 8, n // 16, key)
    places = deal.places(0, n)
    some = np.random.default_rng(0).integers(0, n, 300)
    np.testing.assert_array_equal(places[deal.rows_at(some)], some)
    pilot = deal.pilot_rows()
    assert len(pilot) == pilot_size(n)
    assert places[pilot].min() == deal.n_dealt
    assert (np.diff(pilot) > 0).all()


def test_the_pilot_stays_small_where_most_rows_are_in_no_cell():
    layout = layout_of(10_000_000, 1_000, 1000, np.random.default_rng(0))
    assert layout.x.n_pilot > 9_000_000
    assert len(layout.x.pilot_rows()) == pilot_size(10_000_000) == 2000
