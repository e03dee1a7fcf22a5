"""Tell what a test would do, and what it would cost."""

from __future__ import annotations

from nosplit._support.checks import check_int
from nosplit.data.samples import some_columns
from nosplit.inference.calibrations import Exact
from nosplit.inference.plan import Plan, Sizes, choose
from nosplit.inference.run import as_method
from nosplit.kernels.bank import kernel_bases
from nosplit.kernels.recipes import Kernels, Recipe
from nosplit.methods import Method
from nosplit.pairs.pairing import Pairing

__all__ = ["plan", "sizes_of"]


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
) -> Plan:
    """Tell what `two_sample_test` would do with samples of these sizes, what it costs, and why.

    Parameters
    ----------
    n, m : int
        Rows of the two samples (m = n by default).
    p : int
        Columns.
    categorical : int
        How many of them are categories, in tables.
    kernels : as in `two_sample_test`, or int
        The kernels, or how many of them.
    method, pairs, calibration, budget
        As in `two_sample_test`.

    Returns
    -------
    Plan
        The choice, the number of pairs, the nominal cost, an estimate for here and a reason.

    Examples
    --------
    >>> print(plan(n=500, p=10))
    complete pairs, exact (999 draws) calibration: 124,750 pairs of 500 units, nominally ...
    All pairs fit the budget of 1 s.
    """
    n, m = check_int(n, "n", least=2), check_int(n if m is None else m, "m", least=2)
    p = check_int(p, "p", least=1)
    if isinstance(kernels, int):
        sizes = Sizes(n, m, p, check_int(kernels, "kernels", least=1))
    else:
        sizes = sizes_of(n, m, p, some_columns(p, categorical).recipe(kernels))
    chosen = as_method(method)
    return choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)


def sizes_of(n: int, m: int, p: int, recipe: Recipe) -> Sizes:
    """What the cost depends on, before any bandwidth is known."""
    trial = recipe.build()
    return Sizes(n, m, p, len(trial), kernel_bases(trial))
