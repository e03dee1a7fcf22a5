"""The choice of "auto".

The choice rests on sizes and on a fixed nominal cost model, never on a clock or on the data: the
same data gives the same verdict on every machine, and exact calibration stays exact.
"""

from __future__ import annotations

from dataclasses import replace

from nosplit._checks import check_budget
from nosplit._old.inference.planning.costs import Sizes
from nosplit._old.inference.planning.limits import check_naive
from nosplit._old.inference.planning.plan import Plan
from nosplit.core.pairings import (
    Complete,
    LinearPairs,
    Pairing,
    Sketch,
    Window,
    as_pairing,
    pairing_name,
)
from nosplit.errors import InputError
from nosplit.families.paired import check_equal_sizes
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_calibration
from nosplit.inference.caveats import safe_window
from nosplit.methods import Adaptive, Method, Naive, Split

__all__ = ["choose"]

# A window narrower than this is not worth the price of exact calibration.
SMALLEST_EXACT_WINDOW = 5


def choose(
    sizes: Sizes,
    *,
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    method: Method | None = None,
    budget: float = 1.0,
) -> Plan:
    """The most powerful test that fits the budget and is still calibrated.

    Exact and complete if it fits; else a sketch, which is exact and sees all pairs through
    features, with as many frequencies as fit. Windows and closed forms have to be asked for.
    """
    budget = check_budget(budget)
    if method is not None and not isinstance(method, Adaptive):
        sizes = replace(sizes, default=False)
    wanted = as_pairing(pairs)
    kind = resolve_calibration(calibration)
    if isinstance(method, Naive):
        if isinstance(kind, Exact):
            check_naive(method)
        kind = ASYMPTOTIC
    if isinstance(wanted, Complete) and kind == ASYMPTOTIC:
        raise InputError(
            f'`pairs="{pairing_name(wanted)}"` has no normal limit, so calibration="asymptotic" '
            "would be wrong. "
            'Use calibration="exact", or a window such as '
            f"pairs={safe_window(sizes.n_units)}."
        )
    every = isinstance(wanted, Complete) or (wanted is None and kind != ASYMPTOTIC)
    if not every or isinstance(method, Split):
        check_equal_sizes(sizes.n, sizes.m)
    if isinstance(wanted, Sketch):
        return _sketch(sizes, wanted, kind, budget, "A sketch is what was asked for.")
    if wanted is not None:
        return _fixed_pairs(sizes, wanted, kind, budget)
    summed = sizes.can_sketch and not isinstance(method, Split)
    whole = sizes.in_rows and not isinstance(method, Split)
    if kind != ASYMPTOTIC and (whole or (sizes.n != sizes.m and not summed)):
        draws = kind if isinstance(kind, Exact) else Exact()
        return _plan(sizes, Complete(), draws, "All rows are permuted.")
    if kind != ASYMPTOTIC and summed:
        return _all_pairs_if_cheap(sizes, kind, budget) or _sketch(
            sizes, Sketch(), kind, budget, f"All pairs one by one do not fit {budget:g} s."
        )
    if isinstance(kind, Exact):
        return _exact(sizes, kind, budget, smallest=1) or _plan(
            sizes, LinearPairs(), kind, "Not even a window of 1 fits the budget: linear pairs."
        )
    if kind == ASYMPTOTIC:
        return _asymptotic(sizes, budget)
    exact = _exact(sizes, Exact(), budget, SMALLEST_EXACT_WINDOW)
    return exact or _asymptotic(sizes, budget)


def _plan(sizes: Sizes, pairing: Pairing, calibration: Exact | str, reason: str) -> Plan:
    flips = calibration.n_resamples if isinstance(calibration, Exact) else 0
    n_units = sizes.rows_or_units(pairing, flips)
    n_pairs = pairing.n_pairs(n_units)
    seconds = sizes.seconds(pairing, flips) + sizes.besides(pairing, flips)
    return Plan(pairing, calibration, n_units, n_pairs, seconds, reason, sizes)


def _all_pairs_if_cheap(sizes: Sizes, kind: Exact | str, budget: float) -> Plan | None:
    """All pairs, if they fit the budget."""
    exact = kind if isinstance(kind, Exact) else Exact()
    why = f"All pairs fit the budget of {budget:g} s."
    plans = (_plan(own, Complete(), exact, why) for own in sizes.ways)
    return next((plan for plan in plans if plan.nominal_seconds <= budget), None)


def _sketch(sizes: Sizes, wanted: Sketch, kind: Exact | str, budget: float, why: str) -> Plan:
    """A sketch with the frequencies asked for, or as many of 64, 32 and 16 as fit."""
    exact = kind if isinstance(kind, Exact) else Exact(sizes.sketch_flips)
    counts = (64, 32, 16) if wanted.frequencies is None else (wanted.frequencies,)
    sketches = [Sketch(wanted.cells, count) for count in counts]
    fitting = (own for own in sketches if sizes.seconds(own, exact.n_resamples) <= budget)
    return _plan(sizes, next(fitting, sketches[-1]), exact, why)


def _fixed_pairs(sizes: Sizes, pairing: Pairing, kind: Exact | str, budget: float) -> Plan:
    if kind != "auto":
        return _plan(sizes, pairing, kind, "Pairs and calibration are as asked for.")
    exact = _plan(sizes, pairing, Exact(), "The pairs asked for fit the budget with exact flips.")
    if isinstance(pairing, Complete) or exact.nominal_seconds <= budget:
        return exact
    return _plan(
        sizes,
        pairing,
        ASYMPTOTIC,
        f"Exact flips on the pairs asked for would take {exact.nominal_seconds:.2g} nominal "
        f"seconds, more than the budget of {budget:g}.",
    )


def _exact(sizes: Sizes, kind: Exact, budget: float, smallest: int) -> Plan | None:
    """All pairs, or the widest window that fits if it is not narrower than `smallest`."""
    complete = _all_pairs_if_cheap(sizes, kind, budget)
    if complete is not None:
        return complete
    R = _widest(sizes, kind.n_resamples, budget)
    if smallest > R:
        return None
    return _plan(sizes, Window(R), kind, f"A window of {R} is the widest that fits {budget:g} s.")


def _widest(sizes: Sizes, flips: int, budget: float) -> int:
    """The widest window that fits the budget, by bisection; 0 if none does."""
    low, high = 0, (sizes.n_units - 1) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if sizes.seconds(Window(middle), flips) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _asymptotic(sizes: Sizes, budget: float) -> Plan:
    safe = safe_window(sizes.n_units)
    R = min(safe, _widest(sizes, 0, budget))
    if R < 1:
        return _plan(
            sizes, LinearPairs(), ASYMPTOTIC, "The data is large for the budget: linear pairs."
        )
    why = (
        "the widest for which the normal approximation is trusted"
        if safe == R
        else f"the widest that fits the budget of {budget:g} s"
    )
    return _plan(sizes, Window(R), ASYMPTOTIC, f"A window of {R} is {why}.")
