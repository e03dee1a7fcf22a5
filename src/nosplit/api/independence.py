"""The independence test: whether two variables, observed together, depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._support.checks import check_rng, check_sample
from nosplit.data.files.opening import read_one
from nosplit.data.samples import Encoding, Options, two_variables
from nosplit.errors import InputError
from nosplit.families.fitting import TensorKernels, fit_tensors, tensor_kernels
from nosplit.families.independence import HsicUnits, TensorBank
from nosplit.inference.plan import Sizes, choose
from nosplit.inference.ranking import Exact
from nosplit.inference.result import INDEPENDENCE, TestResult
from nosplit.inference.run import as_method, run, to_result
from nosplit.kernels import Kernel, Parts
from nosplit.kernels.recipes import check_looks_at
from nosplit.methods import Method
from nosplit.pairs.order import Natural, shuffled
from nosplit.pairs.pairing import Pairing

__all__ = ["independence_test"]

Array = NDArray[np.float64]

LARGEST_UNIT = 64
# Nominal nanoseconds of one core, rounded from measurements on a 2.8 GHz server core.
NS_ENTRY, NS_FACTOR, NS_SHIFT, NS_LOOK_UP = 40.0, 4.0, 0.5, 1.0


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
    nan_policy: str = "raise",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    workers: int | None = None,
    progress: bool = False,
    unit_size: int = 8,
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
        As in `two_sample_test`: pairs of units.
    calibration : Exact or name
        "exact" (y permuted inside units), "asymptotic" (closed form) or "auto".
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
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    unit_size : int
        Observations to a unit, about; fewer where there would not be two units.

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
    options = Options.of(scale, columns, exclude, nan_policy)
    (x, y), encodings, left_out = two_variables(read_one(x), read_one(y), options)
    left, right = _variables(x, y, encodings)
    generator, chosen = check_rng(rng), as_method(method)
    sizes = _sizes(left, right, kernels, unit_size)
    how = choose(sizes, pairs=pairs, calibration=calibration, method=chosen, budget=budget)
    n, discrete = len(left.rows), (left.discrete, right.discrete)
    units = HsicUnits(
        left.rows,
        right.rows,
        shuffled(n, generator) if shuffle else Natural(),
        TensorBank(()),
        np.arange(sizes.n_units + 1) * n // sizes.n_units,
        range(sizes.n_units),
    )
    units = replace(units, bank=TensorBank(fit_tensors(kernels, units, discrete)))
    for tensor in units.bank.kernels if kernels is not None else ():
        left.check(tensor.x)
        right.check(tensor.y)
    outcome = run(units, chosen, how, generator, workers, progress)
    return to_result(
        outcome,
        question=INDEPENDENCE,
        kernels=units.bank.kernels,
        n_units=units.n_units,
        n_used=n,
        n_left_out=left_out,
        columns=_names(left, right),
        encoding=None if encodings == [None, None] else tuple(encodings),
    )


# -- variables ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Variable:
    """A variable as numbers, and whether they only name categories, or some of them do."""

    rows: NDArray[Any]
    discrete: bool | Parts
    encoding: Encoding | None = None

    def check(self, kernel: Kernel) -> None:
        """Check that a kernel that was given looks at categories as such."""
        if self.encoding is not None and self.encoding.categorical:
            check_looks_at(kernel, self.encoding.categorical)


def _names(*variables: _Variable) -> tuple[str, ...] | None:
    """Names of the columns of tables, one variable after the other."""
    encodings = [v.encoding for v in variables if v.encoding is not None]
    return tuple(name for e in encodings for name in e.names) if encodings else None


def _variables(x: Any, y: Any, encodings: Sequence[Encoding | None]) -> tuple[_Variable, _Variable]:
    left, right = _variable(x, "x", encodings[0]), _variable(y, "y", encodings[1])
    if len(left.rows) != len(right.rows):
        raise InputError(
            "`x` and `y` must have as many rows, observed together, "
            f"got {len(left.rows)} and {len(right.rows)}."
        )
    for variable, name in ((left, "x"), (right, "y")):
        rows = variable.rows
        if np.all(rows[:100] == rows[0]) and np.all(rows == rows[0]):
            raise InputError(f"`{name}` is constant: all rows are the same.")
        if variable.encoding is not None and variable.encoding.idle:
            raise InputError(
                f"`{name}` holds nothing to compare: every column is constant, or holds "
                "categories that are all different."
            )
    return left, right


def _variable(value: ArrayLike, name: str, encoding: Encoding | None) -> _Variable:
    if encoding is not None:
        return _Variable(check_sample(value, name, smallest=4), encoding.parts, encoding)
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind in "SUb" or (array.dtype.kind == "O" and not _numbers(array)):
        return _Variable(_codes(array, name), discrete=True)
    if array.dtype.kind == "O":
        array = array.astype(np.float64)
    return _Variable(check_sample(array, name, smallest=4), discrete=False)


def _numbers(array: NDArray[Any]) -> bool:
    return all(isinstance(v, Real) and not isinstance(v, bool) for v in array.ravel())


def _codes(array: NDArray[Any], name: str) -> Array:
    """Numbers for the categories of each column."""
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2:
        raise InputError(
            f"`{name}` must be a vector or an (n, p) array, got {array.ndim} dimensions."
        )
    try:
        codes = [np.unique(column, return_inverse=True)[1] for column in columns.T]
    except TypeError as error:
        raise InputError(
            f"`{name}` must hold numbers, or categories of one type: {error}."
        ) from error
    return check_sample(np.stack(codes, axis=1).astype(np.float64), name, smallest=4)


# -- cost --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HsicSizes(Sizes):
    """What the cost depends on: n = m is the number of units, p all columns, d the products."""

    q: float = 8.0
    factors: int = 8

    @property
    def rows_per_unit(self) -> float:
        """Observations in a unit."""
        return self.q

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        entries = self.q**2
        values = entries * (NS_ENTRY + self.p + NS_FACTOR * self.factors)
        draws = entries**2 * self.d * NS_SHIFT + flips * self.d * NS_LOOK_UP if flips else 0.0
        return 1e-9 * pairing.n_pairs(self.n_units) * (values + draws)


def _sizes(x: _Variable, y: _Variable, kernels: TensorKernels, unit_size: int) -> HsicSizes:
    whole = isinstance(unit_size, int) and not isinstance(unit_size, bool)
    if not whole or not 2 <= unit_size <= LARGEST_UNIT:
        raise InputError(f"`unit_size` must be an int from 2 to {LARGEST_UNIT}, got {unit_size!r}.")
    discrete = (x.discrete, y.discrete)
    bank = TensorBank(tensor_kernels(kernels, 1.0, 1.0, discrete=discrete))
    n = len(x.rows)
    N = max(2, round(n / unit_size))
    columns = x.rows.shape[1] + y.rows.shape[1]
    factors = sum(len(f) for f in bank.factors)
    return HsicSizes(N, N, columns, len(bank), 2, n / N, factors)
