"""The independence test: whether two variables, observed together, depend on each other."""

from __future__ import annotations

from typing import Any

from nosplit._checks import Seed, check_flags, check_rng, seed_of
from nosplit._old.api.ways.observations import UNIT_SIZE, VariablesInMemory
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.designs.asked import Asked, check_series, left_to_library, no_series
from nosplit._old.engines.devices import independence_on_device, lies_on_device
from nosplit._old.engines.files.independence import independence_of_files
from nosplit._old.families.fitting import TensorKernels
from nosplit._old.inference.planning.limits import as_method
from nosplit.core.pairings import Pairing
from nosplit.data.labels import label_policy
from nosplit.data.options import Options, by_policy
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.inference.result import TestResult
from nosplit.methods import Method

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
    rng: Seed = 0,
    shuffle: bool = True,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    strata: Any = None,
    series: bool | int = False,
    workers: int | None = None,
    progress: bool = False,
    unit_size: int = UNIT_SIZE,
    device: Any = None,
) -> TestResult:
    """Test whether two variables that were observed together are independent.

    The statistics are Hilbert–Schmidt independence criteria (Gretton et al. 2007) of products of
    kernels, which are combined by learning, on the same data, all of it (Section 3 of the paper).
    Under exact calibration y is permuted: among all observations where there are 500 or fewer, the
    defaults are kept and that fits the budget, inside small units of them elsewhere.

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
        "exact" (y permuted), "asymptotic" (closed form) or "auto". Exact if the rows of one
        variable, x or y, are independent. If neighbouring rows of both are alike, `warnings` of the
        result says so.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int, Generator or None
        Source of the shuffling and the permutations.
    shuffle : bool
        Deal observations to units in random order. `False` keeps the order.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`. Rows are left out in which x or y is missing; columns are named
        for tables only, those of x and y in one list, and a table of which none is named keeps
        all.
    strata : str, or sequence, optional
        The name of a column of x or of y, which is then no part of it, or a label of every
        observation. y is permuted inside strata only: the test is of independence given the
        stratum, exact. Strata of one observation are left out.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Blocks of rows of y are
        permuted; an int sets their length. For arrays and tables of a few hundred rows.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    unit_size : int
        Observations to a unit, about; fewer where there would not be two units. Another than the
        default cuts units of few observations, too.
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
    >>> res.reject(0.05), res.how.calibration
    (True, 'exact')
    """
    check_flags(shuffle=shuffle, progress=progress)
    generator, chosen = check_rng(rng), as_method(method)
    declared = check_series(series)
    if declared is not False and strata is not None:
        raise InputError("`series` does not go with strata=.")

    def asked(policy: str) -> Asked:
        options = Options.of(scale, columns, exclude, policy)
        return Asked(options, kernels, chosen, pairs, calibration, budget, shuffle)

    def in_passes(policy: str) -> TestResult | None:
        sources, wanted = (open_source(x), open_source(y)), asked(policy)
        return independence_of_files(
            *sources, wanted, unit_size, rng=generator, workers=workers, progress=progress
        )

    def answer() -> TestResult:
        if strata is None and not declared and is_path(x) and is_path(y):
            found = by_policy(nan_policy, in_passes, generator)
            if found is not None:
                return found
        given, policy = (read_if_path(x), read_if_path(y)), label_policy(nan_policy)
        if declared and device is not None:
            no_series(declared, "on a device")
        elif strata is None and (device is not None or lies_on_device(*given)):
            found = independence_on_device(
                *given, asked(policy), unit_size, rng=generator, workers=workers, device=device
            )
            if found is not None:
                return found
        data = by_policy(
            nan_policy,
            lambda own: VariablesInMemory.read(given, asked(own), strata, policy, declared),
        )
        return data.test(unit_size, generator, workers, progress)

    how = kernels, method, pairs, calibration
    automatic = left_to_library(*how, nan_policy, scale, columns, exclude, strata)
    usual = unit_size == UNIT_SIZE and budget == 1.0
    seed = seed_of(rng, generator)
    return answer().done(automatic=automatic and usual, seed=seed)
