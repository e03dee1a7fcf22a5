"""The independence test: whether two variables, observed together, depend on each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_flags, check_rng
from nosplit.data.files.opening import is_path, open_source
from nosplit.data.files.whole import read_if_path
from nosplit.data.options import Options, by_policy
from nosplit.data.serial import correlated_rows
from nosplit.data.variables import Variable, as_variables, column_names, two_variables
from nosplit.designs.asked import Asked, leaving_out
from nosplit.designs.independence import StrataUnits, units_in_strata
from nosplit.designs.labels import RowLabels, is_name, label_policy, labels_of_rows, strata_in
from nosplit.designs.two_sample import about_strata
from nosplit.engines.devices import independence_on_device, lies_on_device
from nosplit.engines.families.encoded import by_pilot
from nosplit.engines.families.independence import (
    THIN,
    InMemory,
    observation_sizes,
    sketched_independence,
    thinned,
)
from nosplit.engines.files.independence import independence_of_files
from nosplit.families.fitting import TensorKernels, fit_tensors
from nosplit.families.independence import HsicUnits, check_unit_size
from nosplit.inference.calibrations import Exact
from nosplit.inference.limits import as_method
from nosplit.inference.outcome import of_unnamed, to_result
from nosplit.inference.planning.choice import choose
from nosplit.inference.planning.costs import HsicSizes
from nosplit.inference.questions import INDEPENDENCE
from nosplit.inference.result import TestResult
from nosplit.inference.run import run
from nosplit.kernels.derived.tensor import TensorBank
from nosplit.methods import Method
from nosplit.pairs.dealing import Natural, Order, Permuted, shuffled
from nosplit.pairs.pairing import Pairing, Sketch

__all__ = ["independence_test"]


def independence_test(
    x: Any,
    y: Any,
    *,
    kernels: TensorKernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    rng: int | np.random.Generator = 0,
    shuffle: bool = True,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    strata: Any = None,
    workers: int | None = None,
    progress: bool = False,
    unit_size: int = 8,
    device: Any = None,
) -> TestResult:
    """Test whether two variables that were observed together are independent.

    The statistics are Hilbert–Schmidt independence criteria (Gretton et al. 2007) of products of
    kernels, which are combined by learning, on the same data, all of it (Section 3 of the paper).
    Under exact calibration y is permuted inside small units of observations.

    Parameters
    ----------
    x, y : array_like, shape (n, p) and (n, r), or (n,); or tables, series, or names of files
        The variables, one observation a row. Strings, booleans and other categories are compared
        for equality.
    kernels : None, sequence of pairs of kernels, or callable
        Pairs (k, l) of a kernel on x and a kernel on y. By default all products of three Gaussian
        kernels on either side around the median distances, and a product of linear kernels; a
        callable gets the median distances of x and of y and returns pairs.
    method : Method or name
        As in `two_sample_test`.
    pairs : Pairing, name or int
        As in `two_sample_test`: pairs of units. "sketch": sums over the units of cells, for every
        shift of y, which "auto" takes where all pairs do not fit the budget.
    calibration : Exact or name
        "exact" (y permuted inside units), "asymptotic" (closed form) or "auto". Exact over the
        draws if the pairs of one variable, x or y, are independent of each other under H₀. Where
        rows of both depend on those before them, rows far apart are used alone; the result is then
        approximate, its calibration is "thinned", and there is a `DependentRowsWarning`.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int or Generator
        Source of the shuffling and the permutations.
    shuffle : bool
        Deal observations to units in random order. `False` keeps the order.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`. Rows are left out in which x or y is missing; columns are named
        for tables only, those of x and y in one list, and a table of which none is named keeps
        all.
    strata : str, or sequence, optional
        The name of a column of x or of y, which is then no part of it, or a label of every
        observation. y changes places inside strata only: the test is of independence given the
        stratum, exact. Strata of one observation are left out.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    unit_size : int
        Observations to a unit, about; fewer where there would not be two units.
    device : str or torch.device, optional
        Where sketches are made: "cuda" moves rows to a GPU. Those of tensors are made where they
        lie; few rows are compared in memory. Needs `nosplit[torch]`.

    Returns
    -------
    TestResult
        As from `two_sample_test`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y = x**2 + rng.normal(size=200)
    >>> res = independence_test(x, y)
    >>> res.reject(0.05), res.calibration
    (True, 'exact')
    """
    check_flags(shuffle=shuffle, progress=progress)
    generator, chosen = check_rng(rng), as_method(method)
    if strata is None and is_path(x) and is_path(y):
        sources = open_source(x), open_source(y)

        def in_passes(policy: str) -> TestResult | None:
            options = Options.of(scale, columns, exclude, policy)
            asked = Asked(options, kernels, chosen, pairs, calibration, budget, shuffle)
            return independence_of_files(
                *sources, asked, unit_size, rng=generator, workers=workers, progress=progress
            )

        found = by_policy(nan_policy, in_passes, generator)
        if found is not None:
            return found
        x, y = (source.whole() for source in sources)
    given = read_if_path(x), read_if_path(y)
    if strata is None and (device is not None or lies_on_device(*given)):
        policy = "raise" if nan_policy == "auto" else nan_policy
        asked = Asked(
            Options.of(scale, columns, exclude, policy),
            kernels,
            chosen,
            pairs,
            calibration,
            budget,
            shuffle,
        )
        found = independence_on_device(
            *given, asked, unit_size, rng=generator, workers=workers, device=device
        )
        if found is not None:
            return found
    labelled: tuple[str, ...] = ()
    if strata is not None and is_name(strata):
        strata_in(strata, given)
        labelled = (strata,)
    (x, y), encodings, kept = by_policy(
        nan_policy,
        lambda policy: two_variables(
            *given, leaving_out(Options.of(scale, columns, exclude, policy), labelled)
        ),
    )
    left, right = as_variables(x, y, encodings)
    kept = np.ones(len(left.rows), np.bool_) if kept is None else kept
    labels: RowLabels | None = None
    if strata is not None:
        labels = labels_of_rows(strata, given, kept, "strata", label_policy(nan_policy))
    # y that does not depend on its past may be permuted, whatever x does.
    lag = min(correlated_rows(_inside(v, labels)) for v in (left, right))
    if lag:
        labels = None if labels is None else replace(labels, codes=labels.codes[:: THIN * lag])
        left, right = (replace(v, rows=v.rows[:: THIN * lag]) for v in (left, right))
        kept = np.isin(np.arange(len(kept)), np.flatnonzero(kept)[:: THIN * lag])
    n, discrete = len(left.rows), (left.discrete, right.discrete)
    left_out = len(kept) - n
    cut: StrataUnits | None = None
    if labels is not None:
        cut = units_in_strata(labels, check_unit_size(unit_size), generator if shuffle else None)
    sizes = _sizes(left, right, kernels, unit_size, cut)
    how = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    columns, encoding, given_columns = (
        column_names(left, right),
        None if encodings == [None, None] else tuple(encodings),
        columns,
    )
    if isinstance(how.pairing, Sketch):
        if cut is not None:
            rows, q = cut.alike(unit_size, generator)
            left, right = left.some(rows), right.some(rows)
            sizes, shuffle = replace(sizes, q=float(q)), False
        coded = None
        if cut is None and encodings != [None, None]:
            policy = next(e.nan_policy for e in encodings if e is not None)
            wanted = Options.of(scale, given_columns, exclude, policy)
            coded = by_pilot(given, (left, right), kept, wanted)
        done = sketched_independence(
            InMemory(left, right, coded), kernels, sizes, how, chosen, generator, shuffle, workers
        )
        done = replace(done, outcome=thinned(done.outcome, lag))
        result = done.result(INDEPENDENCE, n + left_out, columns)
        return result if cut is None else replace(result, design=cut.said)
    units = HsicUnits(
        left.rows,
        right.rows,
        _order(n, cut, generator if shuffle else None),
        TensorBank(()),
        np.arange(sizes.n_units + 1) * n // sizes.n_units if cut is None else cut.starts,
        range(sizes.n_units),
    )
    units = replace(units, bank=TensorBank(fit_tensors(kernels, units, discrete)))
    for tensor in units.bank.kernels if kernels is not None else ():
        left.check(tensor.x)
        right.check(tensor.y)
    outcome = run(units, chosen, how, generator, workers, progress)
    outcome = of_unnamed(outcome) if kernels is None else outcome
    return to_result(
        thinned(outcome, lag),
        question=INDEPENDENCE,
        kernels=units.bank.kernels,
        n_units=units.n_units,
        n_used=n if cut is None else len(cut.rows),
        n_left_out=left_out if cut is None else n - len(cut.rows) + left_out,
        columns=columns,
        encoding=encoding,
        design=None if cut is None else cut.said,
    )


def _inside(variable: Variable, labels: RowLabels | None) -> NDArray[Any]:
    """Rows of a variable, about the means of their strata where they have some."""
    return variable.rows if labels is None else about_strata(variable.rows, labels.codes)


def _order(n: int, cut: StrataUnits | None, rng: np.random.Generator | None) -> Order:
    """The order in which observations are dealt to units."""
    if cut is not None:
        return Permuted(cut.rows)
    return Natural() if rng is None else shuffled(n, rng)


def _sizes(
    x: Variable, y: Variable, kernels: TensorKernels, unit_size: int, cut: StrataUnits | None
) -> HsicSizes:
    columns, discrete = x.rows.shape[1] + y.rows.shape[1], (x.discrete, y.discrete)
    sizes = observation_sizes(len(x.rows), columns, discrete, kernels, unit_size)
    if cut is None:
        return sizes
    n, N = len(cut.rows), cut.n_units
    return replace(sizes, n=N, m=N, q=n / N)
