"""The independence test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nosplit._checks import Seed, naming, new_key
from nosplit.api import _elsewhere
from nosplit.api._request import (
    CalibrationName,
    LabelsOfRows,
    MethodName,
    NanPolicy,
    PairsName,
    Request,
    Sample,
)
from nosplit.api._run import Described, Task, run
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import Mask
from nosplit.data.labels import RowLabels, column_in, labels_of_rows
from nosplit.data.series import about_strata, block_length, check_jointly
from nosplit.data.variables import Variable, as_variables, two_variables
from nosplit.errors import Caveat, InputError
from nosplit.families.hsic import permute_rows, shift_rows
from nosplit.families.hsic_units import hsic_units
from nosplit.families.paired import PairEstimate, estimate
from nosplit.families.row_design import RowDesign, row_design, unit_starts
from nosplit.inference.calibrations import Exact
from nosplit.inference.caveats import few_effective
from nosplit.inference.dependence import describe_dependence
from nosplit.inference.plan import MAX_BLOCKED, MAX_PERMUTED, Plan, plan_pairs, plan_variables
from nosplit.inference.questions import INDEPENDENCE, Exchanged
from nosplit.inference.result import TestResult
from nosplit.inference.selection import Found
from nosplit.kernels.tensor import TensorKernels, tensor_kernels
from nosplit.methods import Method

__all__ = ["TwoVariables", "independence_test", "test_variables"]


@dataclass(frozen=True, eq=False)
class TwoVariables(Task):
    """Two variables in memory, observed together."""

    question = INDEPENDENCE
    request: Request
    x: Variable
    y: Variable
    kept: Mask
    strata: RowLabels | None
    groups: RowLabels | None

    @classmethod
    def of(cls, request: Request) -> TwoVariables:
        """Read the variables and the labels of their rows."""
        given = request.x, request.y
        for name in request.labelled:
            column_in(name, given, "strata" if name == request.strata else "groups")
        options = request.options.leaving_out(request.labelled)
        (first, second), encodings, kept = two_variables(*given, options)
        x, y = as_variables(first, second, encodings)
        kept = np.ones(len(x.rows), np.bool_) if kept is None else kept
        labels = [
            None if own is None else labels_of_rows(own, given, kept, name, request.label_policy)
            for own, name in ((request.strata, "strata"), (request.groups, "groups"))
        ]
        return cls(request, x, y, kept, *labels)

    @cached_property
    def design(self) -> RowDesign:
        """The rows that are used, and what of y is permuted."""
        length: int | None = 1
        if self.request.series is not False:
            given = self.request.series
            length = block_length(self.x.rows, self.y.rows) if given is True else int(given)
        found = row_design(len(self.x.rows), self.strata, self.groups, length)
        name = self.request.groups if self.request.strata is None else self.request.strata
        return found.named(name) if isinstance(name, str) else found

    @cached_property
    def _in_order(self) -> tuple[Variable, Variable]:
        """Both variables in the order of the design."""
        return self.x.some(self.design.rows), self.y.some(self.design.rows)

    @property
    def n_rows(self) -> int:
        """Rows that were given."""
        return len(self.kept)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows that are used."""
        return (len(self.design.rows),)

    @property
    def n_columns(self) -> tuple[int, ...]:
        """Columns of x and of y that are compared."""
        return self.x.n_columns, self.y.n_columns

    @property
    def encoding(self) -> Any:
        """The encodings of both variables; None if both are arrays as they came."""
        both = self.x.encoding, self.y.encoding
        return None if both == (None, None) else both

    @property
    def exchanged(self) -> Exchanged | None:
        """The permutations under the null hypothesis, if a caller declared a design."""
        return self.design.said

    # -- test --------------------------------------------------------------------------------------

    @property
    def _blocked(self) -> bool:
        """Whether several rows are permuted together."""
        return self.request.series is not False or self.groups is not None

    @property
    def _permuted(self) -> bool:
        """Whether all rows of y are permuted."""
        return self._blocked or self.sizes[0] <= MAX_PERMUTED

    def plan(self) -> Plan:
        """Plan the permutations by sizes alone."""
        request, (n,), discrete = self.request, self.sizes, (self.x.discrete, self.y.discrete)
        if self._blocked and n > MAX_BLOCKED:
            raise InputError(
                f"`series` and `groups` permute all of y, for at most {MAX_BLOCKED:,} rows, got "
                f"{n:,}. Use a part of the rows."
            )
        kernels = len(tensor_kernels(request.kernels, 1.0, 1.0, discrete=discrete))
        p = self.x.rows.shape[1] + self.y.rows.shape[1]
        return plan_variables(n, p, kernels, request.calibration, request.budget, self._permuted)

    def find(self, plan: Plan) -> Found:
        """Permute y, or shift it inside units of a few rows."""
        request, rng = self.request, self.request.rng
        kernels, method = request.kernels, request.method
        if self._permuted:
            exchange = self.design.permutations(plan.effort.n_resamples, new_key(rng))
            return permute_rows(*self._in_order, exchange, kernels, method)
        rows, starts = self.units
        both = self.x.some(rows), self.y.some(rows)
        return shift_rows(*both, starts, kernels, method, plan.effort, rng)

    @cached_property
    def units(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The rows in units of about eight, dealt at random inside strata, and their starts."""
        design, rng = self.design, self.request.rng
        order = np.arange(len(design.rows))
        if self.request.shuffle:
            order = np.lexsort((rng.random(len(order)), design.block))
        return design.rows[order], unit_starts(design.block)

    def estimate(self) -> PairEstimate:
        """Estimate over pairs of units of about eight rows."""
        request, discrete = self.request, (self.x.discrete, self.y.discrete)
        x, y = self.x.rows, self.y.rows
        with naming(x=x, y=y):
            rng = request.rng if request.shuffle else None
            units = hsic_units(x, y, request.kernels, discrete, rng)
            for tensor in units.bank.kernels if request.kernels is not None else ():
                self.x.check(tensor.x)
                self.y.check(tensor.y)
            pairing = plan_pairs(request.pairs, units.n_units).pairing
            found = estimate(
                units, pairing, request.method, sizes=units.used(pairing),
                default=request.kernels is None, workers=request.workers,
            )  # fmt: skip
        if not np.any(found.cov):  # no evidence: nothing is approximated
            return found
        few = few_effective(units.effective(pairing), np.diagonal(found.cov) > 0)
        return replace(found, caveats=(*found.caveats, *few))

    # -- description -------------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """Names of the columns of x and of y."""
        return _names_of(self.x, "x"), _names_of(self.y, "y")

    def describe(self, found: Found) -> Described:
        """Describe pairs of a column of x and one of y."""
        if found.finding.pairs is None:
            return Described()
        strata = None if self.strata is None else self.strata.codes[self.design.rows]
        pairs = describe_dependence(
            self.names, found.pairs, found.finding.pairs, found.finding.pvalue, self._in_order,
            strata, self.design.n_units,
        )  # fmt: skip
        return Described(pairs=pairs)

    def check(self) -> list[Caveat]:
        """Warn if neighbouring rows of both variables are alike; a check never changes the test."""
        if self._blocked:
            return []
        x, y = self.x.rows, self.y.rows
        if self.strata is not None:
            x, y = (about_strata(rows, self.strata.codes) for rows in (x, y))
        return check_jointly(x, y)


def _names_of(variable: Variable, label: str) -> Sequence[str]:
    encoding = variable.encoding
    if encoding is not None and encoding.table:
        return encoding.names
    p = variable.n_columns
    return [label] if p == 1 else [f"{label}[{j}]" for j in range(p)]


def independence_test(
    x: Sample,
    y: Sample,
    *,
    kernels: TensorKernels = None,
    method: Method | MethodName = "auto",
    pairs: Pairing | PairsName | int = "auto",
    calibration: Exact | CalibrationName = "auto",
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    scale: str | bool | None = None,
    nan_policy: NanPolicy = "auto",
    budget: float = 1.0,
    shuffle: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
    device: Any = None,
) -> TestResult:
    """Test whether two variables that were observed together are independent.

    Compares all columns together and each column of x with each column of y. The kernels are
    products of a kernel on x and a kernel on y, as in the Hilbert–Schmidt independence criterion;
    they are learned on all of the data, and the p-value accounts for it.

    Parameters
    ----------
    x, y : array, data frame, series, or path
        The variables: row i of `x` was observed together with row i of `y`. Strings, booleans and
        other categories are compared for equality.
    kernels : sequence of pairs of kernels, or callable, optional
        Pairs (k, l) of a kernel on x and a kernel on y. A callable gets the median distances of x
        and of y and returns pairs. Default: products of three Gaussian kernels around the median
        distances and a product of linear kernels, beside distances, linear dependence of values
        and of ranks, and pairs of columns. If kernels are named, nothing else is tested.
    method : str or Method, default "auto"
        How the kernels are combined. "auto" uses all kinds of evidence; "ost", "wald" and "best"
        are the tests of the paper.
    pairs : str, int or Pairing, default "auto"
        "auto" and "complete": all rows. "sketch": all rows, through sums of cells. "linear", an
        int R (a window) and `Blocks` are pairs of units of eight rows, with the closed form.
    calibration : {"auto", "exact", "asymptotic"} or Exact, default "auto"
        "exact" permutes y, `Exact(n_resamples=9_999)` that many times: all of y up to 400 rows,
        inside units of eight rows beyond. "asymptotic" uses the closed form of the paper.
    strata : str or sequence, optional
        Test independence given a label: y is permuted only within strata. The name of a column of
        `x` or `y`, which is then no part of it, or one label per row.
    groups : str or sequence, optional
        Rows of the same group (a user, a patient) are not independent. The rows of y of a group
        stay together and change places with those of a group of the same size; groups without
        another of their size are left out.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Blocks of rows of y are
        permuted; an int sets their length.
    columns, exclude : str or sequence of str, optional
        Compare only these columns of tables, or all but these; those of x and y in one list.
    scale : {"robust", "none"} or bool, optional
        Whether every column of numbers is divided by its spread. Default: yes for data frames, no
        for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}, default "auto"
        What to do with missing values: raise an error, leave out the row, or compare them as a
        value of their own. "auto" is "indicate" for data frames and "raise" for arrays.
    budget : float, default 1.0
        Nominal seconds of one core that the test may take.
    shuffle : bool, default True
        Whether rows are dealt to units of eight in random order.
    rng : int, Generator or None, default 0
        The seed. A Generator is advanced by one integer; None draws a seed, see `res.how.seed`.
    workers : int, optional
        Number of threads. The result does not depend on it.
    device : str or torch.device, optional
        Where to compute sketches, for example "cuda".

    Returns
    -------
    TestResult
        `pvalue`, `statistic`, `verdict(alpha)`, and `pairs`, a table of columns of x with columns
        of y. Unpacks as ``statistic, pvalue = result``.

    Notes
    -----
    The p-value is exact if the rows of one variable are independent of each other. If neighbouring
    rows of both look alike, `warnings` of the result says so; the p-value does not change.

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
    request = Request.of(
        x, y, kernels=kernels, method=method, pairs=pairs, calibration=calibration, strata=strata,
        groups=groups, series=series, columns=columns, exclude=exclude, scale=scale,
        nan_policy=nan_policy, budget=budget, shuffle=shuffle, rng=rng, workers=workers,
        device=device,
    )  # fmt: skip
    return test_variables(request)


def test_variables(request: Request) -> TestResult:
    """Test two variables, wherever they are stored."""
    if _elsewhere.takes_variables(request):
        return _elsewhere.test_variables(request)
    return run(TwoVariables.of(request))
