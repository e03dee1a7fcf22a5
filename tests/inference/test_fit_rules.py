"""Rules of tests of fit: replicates as draws, plans by sizes, and caveats at their limits."""

from __future__ import annotations

import numpy as np
import pytest

from nosplit.core.pairings import Complete, Sketch
from nosplit.errors import InputError, NonFiniteError
from nosplit.inference.calibrations import Exact, Wild
from nosplit.inference.caveats import few_effective_rows, few_signs, few_stein_pairs, safe_signs
from nosplit.inference.evidence import best_of_columns, conclude
from nosplit.inference.plan import FitSizes, plan_fit
from nosplit.inference.simulate import Replicates

DRAWS = np.random.default_rng(0).gamma(2.0, size=(41, 6))


def replicates(values, **owners):
    batches = iter([values[:1], values[1:20], values[20:]])
    return Replicates(batches, lambda some: {"kernels": some[:, :2], "own": some[:, 2:]}, owners)


@pytest.mark.parametrize("workers", [1, 3])
def test_replicates_are_draws_in_their_order(workers):
    owner = np.array([0, 0, 1, 1])
    found = replicates(DRAWS, own=owner).statistics(workers)
    np.testing.assert_allclose(found["kernels"].tau, DRAWS[:, :2] - DRAWS[:, :2].mean(axis=0))
    own = DRAWS[:, 2:]
    np.testing.assert_allclose(found["own"].shapes, own.mean(axis=0) ** 2 / own.var(axis=0))
    assert not len(found["kernels"].shapes)
    best = best_of_columns(found["own"])
    assert best.largest.shape == (41, 2)
    assert best.owner.tolist() == [0, 1]


def test_replicates_that_are_not_finite_iv():
    values = DRAWS.copy()
    values[3, 0] = np.inf
    with pytest.raises(NonFiniteError):
        replicates(values).statistics()


def test_only_some_kinds_count():
    found = replicates(DRAWS).statistics()
    found = {"kernels": found["kernels"], "linear": found["own"]}
    assert set(conclude(found).kinds) == {"learned", "broad", "linear"}
    assert set(conclude(found, only=("learned", "linear")).kinds) == {"learned", "linear"}


# Plans ------------------------------------------------------------------------------------------


def planned(n, calibration="auto", pairs=None, budget=1.0, p=2, atoms=None, **how):
    plan = plan_fit(FitSizes(n, atoms or n, p, 4), pairs, calibration, budget, **how)
    return type(plan.calibration), type(plan.pairing), plan.effort.n_frequencies


def test_models_are_sampled_if_that_fits_the_budget():
    assert planned(300, samples=True) == (Exact, Complete, 0)
    assert planned(300) == (Wild, Complete, 0)
    assert planned(300, samples=True, designed=True) == (Wild, Complete, 0)
    assert planned(2000, samples=True) == (Wild, Complete, 0)
    assert planned(300, samples=True, budget=0.1) == (Wild, Complete, 0)
    assert planned(300, Wild(), samples=True) == (Wild, Complete, 0)


def test_samples_that_were_asked_for_lose_frequencies():
    counts = [planned(n, Exact(), samples=True)[2] for n in (500, 1000, 1500, 5000)]
    assert counts == [0, 32, 16, 16]
    assert planned(5000, Exact(), samples=True, default=False)[2] == 0
    assert planned(5000, Exact(), Complete(), samples=True)[2] == 0
    assert plan_fit(FitSizes(50, 50, 1, 4), None, Exact(7_000), 1.0, samples=True).effort == (
        plan_fit(FitSizes(50, 50, 1, 4), Complete(), Exact(7_000), 1.0, samples=True).effort
    )


def test_many_rows_are_sketched():
    assert planned(20_000)[1] is Sketch
    assert planned(20_000, pairs=Complete())[1] is Complete
    assert planned(500, budget=1e-3)[1] is Sketch
    assert planned(399, budget=1e-3)[1] is Complete  # too few for cells
    assert planned(100, pairs=Sketch(), samples=True)[1] is Sketch
    with pytest.raises(InputError, match="`groups` and `series` need all pairs"):
        planned(20_000, designed=True)


def test_costs_grow_with_sizes():
    least = FitSizes(100, 100, 2, 4)
    for more in (FitSizes(200, 100, 2, 4), FitSizes(100, 100, 20, 4), FitSizes(100, 100, 2, 8)):
        assert more.simulated(999) > least.simulated(999)
        assert more.simulated(999, 32) > least.simulated(999, 32)
        assert more.signed(999) > least.signed(999)
    assert least.simulated(1999) > 1.9 * least.simulated(999) - 0.01
    assert least.simulated(999, 64) > least.simulated(999, 16)


# Caveats ----------------------------------------------------------------------------------------


def test_units_that_keep_the_level():
    assert [safe_signs(2, p) for p in (1, 50)] == [20, 20]
    assert [safe_signs(4, p) for p in (1, 2, 10, 11, 50, 60, 99)] == [23, 26, 50, 51, 90, 100, 100]
    assert [len(few_signs(n, 4, 2, "rows")) for n in (1, 2, 25, 26)] == [0, 1, 1, 0]
    assert "A model that can be sampled" in few_signs(25, 4, 2, "rows")[0][1]
    assert "25 groups are few" in few_signs(25, 4, 2, "groups")[0][1]
    assert "sampled" not in few_signs(25, 4, 2, "groups")[0][1]


def test_rows_that_carry_the_statistic():
    limits = {50: 15.0, 75: 15.0, 200: 40.0, 500: 100.0, 5000: 100.0}
    for n, limit in limits.items():
        assert few_effective_rows(limit, n) == []
        assert len(few_effective_rows(limit - 0.1, n)) == 1
    said = few_effective_rows(17.2, 400)[0][1]
    assert said.startswith("17 of 400 rows carry the statistic, so p is uncertain. A model")
    assert "Transform" in few_effective_rows(17.2, 400, sampled=False)[0][1]


def test_pairs_of_the_closed_form():
    assert few_stein_pairs(4000, 4, 1) == []
    assert "at least 4000 are safe" in few_stein_pairs(3999, 4, 1)[0][1]
    assert "at least 6000 are safe" in few_stein_pairs(1, 4, 4)[0][1]
