"""Tell what a test would do, and what it would cost."""

from __future__ import annotations

from dataclasses import replace

from nosplit._checks import check_int, resolve
from nosplit._old.data.samples import some_columns
from nosplit._old.designs.asked import check_exchange
from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import HsicSizes, Sizes, sizes_of
from nosplit._old.inference.planning.designs import PlannedDesign
from nosplit._old.inference.planning.goodness_of_fit import SteinSizes, WholeSizes, plan_sketch
from nosplit._old.inference.planning.limits import as_method
from nosplit._old.inference.planning.plan import Plan
from nosplit.api._request import Request
from nosplit.core.pairings import Pairing, Sketch
from nosplit.data.options import AUTO
from nosplit.errors import InputError
from nosplit.families.design import MAX_LABELLED
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_goodness_of_fit
from nosplit.inference.plan import MAX_POOLED, Effort, FitSizes, is_sketched, plan_fit
from nosplit.kernels import Gaussian
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe
from nosplit.kernels.stein import stein_kernels
from nosplit.kernels.tensor import TensorBank, default_tensors
from nosplit.methods import Method

__all__ = ["plan"]

TESTS = "two_sample", "k_sample", "goodness_of_fit", "independence"


def plan(
    *,
    n: int,
    m: int | None = None,
    p: int = 1,
    categorical: int = 0,
    kernels: Kernels | int = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    test: str = "two_sample",
    paired: bool = False,
    strata: int | None = None,
    groups: int | None = None,
    samples: int | None = None,
    sampling: bool = False,
) -> Plan:
    """Tell what a test would do with samples of these sizes, what it costs, and why.

    Parameters
    ----------
    n, m : int
        Rows of the two samples (m = n by default).
    p : int
        Columns; those of x and y together for a test of independence.
    categorical : int
        How many of them are categories, in tables.
    kernels : as in `two_sample_test`, or int
        The kernels, or how many of them.
    method, pairs, calibration, budget
        As in `two_sample_test`.
    test : {"two_sample", "k_sample", "goodness_of_fit", "independence"}
        Which test; for the last two `kernels` is None or an int, and the sample is of n rows. For
        several samples n is the rows of all.
    paired : bool
        Whether rows are paired.
    strata, groups : int, optional
        How many strata or groups there are, where rows have them.
    samples : int, optional
        How many samples there are, for test="k_sample".
    sampling : bool
        Whether the model can sample, for test="goodness_of_fit".

    Returns
    -------
    Plan
        The choice, the number of pairs, the nominal cost, an estimate for here and a reason.

    Examples
    --------
    >>> print(plan(n=500, p=10))
    complete pairs, exact (999 draws) calibration: 124,750 pairs of 500 units, nominally ...
    All rows are permuted.
    >>> print(plan(n=20_000, test="goodness_of_fit"))
    sketch of all pairs, wild (9,999 draws) calibration: 199,990,000 pairs of rows in about ...
    All pairs one by one do not fit 1 s.
    """
    n, p, chosen = check_int(n, "n", least=2), check_int(p, "p", least=1), as_method(method)
    family = resolve(str(test), {name: name for name in TESTS}, "test")
    if sampling and family != "goodness_of_fit":
        raise InputError(f"`sampling` is about a model, of which test={family!r} has none.")
    design = PlannedDesign.of(family, paired, strata, groups, samples)
    if family == "two_sample":
        m = check_int(n if m is None else m, "m", least=2)
        sizes = design.sizes(_samples(n, m, p, categorical, kernels))
    elif family == "k_sample":
        sizes = design.sizes(_samples(n, _no_second(m, family), p, categorical, kernels))
        if pairs == AUTO and not is_sketched(*design.each(n)):
            pairs = "complete"
    else:
        d = _count(kernels, m, family)
        if family == "goodness_of_fit":
            rows = SteinSizes(n, n, p, d or len(stein_kernels(None, 1.0)), 2)
            asked = Request.of(
                (), (), method=method, pairs=pairs, budget=budget,
                calibration=resolve_goodness_of_fit(calibration),
            )  # fmt: skip
            return _planned_fit(rows, asked, sampling, default=d is None)
        sizes = _independence_sizes(n, p, d)
    if design.exchanges and family != "independence":
        check_exchange("strata, groups or several samples", chosen, pairs, calibration)
    elif family == "two_sample":
        asked = Request.of((), (), method=method, pairs=pairs, calibration=calibration)
        calibration = ASYMPTOTIC if asked.by_pairs else calibration
    found = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    if family.endswith("_sample") and found.pairs == "complete" and found.n_resamples:
        named = [Gaussian(1.0 + u) for u in range(kernels)] if isinstance(kernels, int) else kernels
        found = _permuted(found, design, budget, as_recipe(named))
    return replace(found, reason=" ".join(filter(None, (found.reason, design.words))))


def _planned_fit(sizes: SteinSizes, asked: Request, sampling: bool, *, default: bool) -> Plan:
    """The plan of a test of fit, at its own cost."""
    method, budget = asked.method, asked.budget
    if asked.by_pairs and not isinstance(asked.pairs, Sketch):
        pairs = "auto" if asked.pairs is None else asked.pairs
        return choose(sizes, pairs=pairs, calibration=ASYMPTOTIC, method=method, budget=budget)
    how = asked.pairs, asked.calibration
    sketch = plan_sketch(sizes, *how, method, budget, sampling)
    if sketch is not None:
        return sketch
    own = FitSizes(sizes.n, sizes.n, sizes.p, sizes.d)
    found = plan_fit(own, *how, budget, samples=sampling, default=default)
    simulated, effort = isinstance(found.calibration, Exact), found.effort
    why = "The sample is compared with samples of the model." if simulated else "Rows have signs."
    few = f" Kernels have {effort.n_frequencies} random frequencies." * bool(effort.n_frequencies)
    signs = Exact(effort.n_resamples)
    return replace(
        choose(sizes, pairs="complete", calibration=signs, method=method, budget=budget),
        nominal_seconds=effort.seconds,
        reason=why + few,
        sizes=WholeSizes(sizes.n, sizes.n, sizes.p, sizes.d, 2, simulated=simulated),
    )


class _PermutedSizes(Sizes):
    """Sizes of a test whose nominal seconds are those of the whole test."""

    whole = 1.0


def _permuted(found: Plan, design: PlannedDesign, budget: float, recipe: Recipe) -> Plan:
    """The plan of a test in which all rows are permuted one by one, at its own cost."""
    own = found.sizes
    swapped = design.paired or (own.n == own.m > MAX_LABELLED and not design.exchanges)
    each = (own.n, own.m) if design.samples is None else design.each(own.n)
    atoms = design.groups or (own.n if swapped else min(own.n + own.m, MAX_POOLED))
    effort = Effort.of(each, atoms, own.p, recipe, found.n_resamples, budget)
    few = f" Kernels have {effort.n_frequencies} random frequencies." * bool(effort.n_frequencies)
    few += f" Columns have {effort.n_bins} bins." * bool(effort.n_frequencies)
    if not design.exchanges:
        found = replace(found, n_units=atoms, n_pairs=atoms * (atoms - 1) // 2)
    return replace(
        found,
        nominal_seconds=effort.seconds,
        reason=f"All rows are permuted.{few}",
        sizes=_PermutedSizes(own.n, own.m, own.p, own.d, own.bases, default=own.default),
    )


def _no_second(m: int | None, test: str) -> int:
    if m is not None:
        raise InputError(f"`m` is the size of a second sample, which test={test!r} does not take.")
    return 0


def _samples(n: int, m: int, p: int, categorical: int, kernels: Kernels | int) -> Sizes:
    if isinstance(kernels, int):
        return Sizes(n, m, p, check_int(kernels, "kernels", least=1))
    return sizes_of(n, m, p, some_columns(p, categorical).recipe(kernels))


def _count(kernels: Kernels | int, m: int | None, test: str) -> int | None:
    """Number of kernels, for tests of one sample."""
    if m is not None:
        raise InputError(f"`m` is the size of a second sample, of which test={test!r} has none.")
    if kernels is None:
        return None
    if not isinstance(kernels, int):
        raise InputError(f"`kernels` must be how many with test={test!r}, got {kernels!r}.")
    return check_int(kernels, "kernels", least=1)


def _independence_sizes(n: int, p: int, d: int | None) -> HsicSizes:
    """Sizes of an independence test with units of the default size, for its cost."""
    N = max(2, round(n / 8))
    tensors = TensorBank(default_tensors(1.0, 1.0))
    factors = sum(map(len, tensors.factors))
    return HsicSizes(N, N, p, d or len(tensors), 2, n / N, factors, default=d is None)
