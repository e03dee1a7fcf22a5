"""The two-sample test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import Seed, check_finite
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
from nosplit.api._run import SampleTask, run
from nosplit.core.pairings import Pairing
from nosplit.data.encoding import columns_in
from nosplit.data.labels import RowLabels, labels_of_both, named_in
from nosplit.data.samples import Samples, two_samples
from nosplit.data.series import block_length, check_rows, checked_rows
from nosplit.errors import Caveat
from nosplit.families.design import Design, design_of, paired_design, plain_design, series_design
from nosplit.families.paired import PairEstimate, estimate_pairs
from nosplit.families.two_sample import PooledRows
from nosplit.inference.calibrations import Exact
from nosplit.inference.changes import (
    SomeColumns,
    describe_columns,
)
from nosplit.inference.columns import ColumnTable
from nosplit.inference.effect import (
    Separation,
    separations_of_both,
    separations_of_rows,
)
from nosplit.inference.evidence import ColumnEvidence
from nosplit.inference.plan import MAX_POOLED, plan_pairs
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels, Recipe, asked_for
from nosplit.methods import Method

__all__ = ["TwoSamples", "test_samples", "two_sample_test"]


@dataclass(frozen=True, eq=False)
class TwoSamples(SampleTask):
    """Two samples in memory."""

    question = TWO_SAMPLE
    request: Request
    samples: Samples
    strata: RowLabels | None
    groups: RowLabels | None

    @classmethod
    def of(cls, request: Request) -> Self:
        """Read the samples and the labels of their rows."""
        both = (("x", request.x), ("y", request.y))
        for name in request.labelled:
            named_in(name, both, "strata" if name == request.strata else "groups")
        options = request.options.leaving_out(request.labelled)
        samples = two_samples(request.x, request.y, options, paired=request.paired).checked()
        labels = [
            labels_of_both(own, (request.x, request.y), samples.kept, name, request.label_policy)
            if own is not None
            else None
            for own, name in ((request.strata, "strata"), (request.groups, "groups"))
        ]
        return cls(request, samples, *labels)

    # -- design ------------------------------------------------------------------------------------

    @property
    def x(self) -> NDArray[Any]:
        """Rows of x."""
        return self.samples.x

    @property
    def y(self) -> NDArray[Any]:
        """Rows of y."""
        return self.samples.y

    @cached_property
    def pooled(self) -> PooledRows:
        """The rows of x, then of y, all finite."""
        for rows, name in ((self.x, "x"), (self.y, "y")):
            check_finite(rows, name, "; nan_policy='omit' leaves out rows with nan")
        label = np.repeat([0, 1], [len(self.x), len(self.y)])
        rows = np.concatenate([self.x, self.y])
        return PooledRows.of(rows, label, self.encoding, self.request.paired)

    @cached_property
    def design(self) -> Design:
        """The atoms that are permuted, and inside which blocks."""
        request, n, m = self.request, len(self.x), len(self.y)
        if request.paired:
            return paired_design(n, self._block if request.series is not False else 1)
        if request.series is not False:
            return series_design((n, m), self._block)
        if self.strata is None and self.groups is None:
            return plain_design((n, m), request.rng if request.shuffle else None, MAX_POOLED)
        found = design_of((n, m), self.strata, self.groups, request.rng)
        name = request.groups if request.strata is None else request.strata
        return found.named(name) if isinstance(name, str) else found

    @property
    def n_rows(self) -> int:
        """Rows that were given, of both samples."""
        return len(self.x) + len(self.y) + self.samples.left_out

    @property
    def encoding(self) -> Any:
        """The encoding of tables; None for arrays as they came."""
        return self.samples.encoding

    @cached_property
    def _block(self) -> int | None:
        """Rows of a block of a series; None if no block is longer than the dependence."""
        if self.request.series is not True:
            return int(self.request.series)
        return block_length(self.x, self.y)

    # -- test --------------------------------------------------------------------------------------

    @cached_property
    def recipe(self) -> Recipe:
        """The kernels."""
        return self.samples.recipe(self.request.kernels)

    def estimate(self) -> PairEstimate:
        """Estimate over pairs of units of a row of each sample."""
        request = self.request
        pairing = plan_pairs(request.pairs, min(len(self.x), len(self.y))).pairing
        rng = request.rng if request.shuffle else None
        return estimate_pairs(
            self.x, self.y, self.recipe, pairing, request.method, rng,
            paired=request.paired, workers=request.workers,
        )  # fmt: skip

    # -- description -------------------------------------------------------------------------------

    @cached_property
    def some(self) -> SomeColumns:
        """The columns as they came."""
        return SomeColumns((self.request.x, self.request.y))

    def _separations(self) -> list[Separation | None]:
        groups, categorical = columns_in(self.samples.encoding, self.x.shape[1])
        if self.request.paired:
            block = self._block if self.request.series is not False else 1
            return separations_of_both(
                self.x, self.y, groups, categorical, paired=True, block=block or len(self.x)
            )
        rows = self.pooled.rows[self.design.dealt]
        return separations_of_rows(rows, self.dealt, groups, categorical)

    def columns(self, evidence: ColumnEvidence, joint: float | None) -> ColumnTable:
        """The table of columns; those that differ, or nearly so, are described."""
        change = self.some.change
        if self.request.paired:
            change = self.some.change_of_pairs
        elif self.strata is not None:
            codes = self.samples.spread_out(self.strata.codes)
            change = partial(self.some.change_inside, strata=codes)
        return describe_columns(self.names, evidence, joint, self._separations(), change)

    def check(self) -> list[Caveat]:
        """Warn if neighbouring rows are alike; a check never changes the test."""
        if not self.request.paired or self.request.series is not False:
            return super().check()
        some = np.array(checked_rows(len(self.x)))  # pairs may share what comes and goes
        return check_rows(self.x[some] - self.y[some])


def two_sample_test(
    x: Sample,
    y: Sample,
    *,
    kernels: Kernels = None,
    method: Method | MethodName = "auto",
    pairs: Pairing | PairsName | int = "auto",
    calibration: Exact | CalibrationName = "auto",
    paired: bool = False,
    strata: LabelsOfRows = None,
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    scale: str | bool | None = None,
    nan_policy: NanPolicy = "auto",
    names: Sequence[str] | None = None,
    budget: float = 1.0,
    shuffle: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
    device: Any = None,
) -> TestResult:
    """Test whether two samples come from the same distribution.

    Compares all columns together and each column by itself. The kernel is learned on all of the
    data, and the p-value accounts for it.

    Parameters
    ----------
    x, y : array, data frame, path, or profile
        The two samples, one observation per row. Sizes may differ. Columns of data frames are
        matched by name. Paths may name .csv, .parquet, .npy or .feather files, folders and globs;
        large files are read in batches. Tensors of PyTorch are compared on their device, and data
        frames of Dask and Spark on their cluster.
    kernels : Kernel, sequence of Kernel, str or callable, optional
        Kernels to choose from. Default: Gaussian and Laplace kernels around the median distance,
        a linear kernel, and kernels on categories, beside evidence of single columns and of pairs
        of columns. If kernels are named, nothing else is tested. "paper1", "paper2" and "paper6"
        are the sets of the paper.
    method : str or Method, default "auto"
        How the kernels are combined. "auto" uses all kinds of evidence; "ost", "wald" and "best"
        are the tests of the paper.
    pairs : str, int or Pairing, default "auto"
        The pairs of units that are compared. "auto" and "complete": all of them; "sketch": all,
        through sums of cells. "linear", an int R (a window) and `Blocks` are the estimates of the
        paper; they need samples of the same size, and use the closed form.
    calibration : {"auto", "exact", "asymptotic"} or Exact, default "auto"
        "exact" permutes the rows, `Exact(n_resamples=9_999)` that many times. "asymptotic" uses
        the closed form of the paper.
    paired : bool, default False
        Whether row i of `x` belongs to row i of `y`, as in before and after.
    strata : str or pair of sequences, optional
        Compare only within strata. The name of a column, or one label per row of each sample.
    groups : str or pair of sequences, optional
        Rows of the same group (a user, a patient) are not independent; whole groups are permuted
        with groups of the same size. Sizes are made equal by leaving out rows at random.
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours. Blocks of rows are permuted;
        an int sets their length. May be combined with `paired`.
    columns, exclude : str or sequence of str, optional
        Compare only these columns, or all but these; positions for arrays.
    scale : {"robust", "none"} or bool, optional
        Whether every column of numbers is divided by its spread. Default: yes for data frames, no
        for arrays.
    nan_policy : {"auto", "raise", "omit", "indicate"}, default "auto"
        What to do with missing values: raise an error, leave out the row, or compare them as a
        value of their own. "auto" is "indicate" for data frames and "raise" for arrays.
    names : pair of str, optional
        Names of the two samples, for printing.
    budget : float, default 1.0
        Nominal seconds of one core that the test may take.
    shuffle : bool, default True
        Whether rows of samples of the same size are paired at random; False pairs them in order.
    rng : int, Generator or None, default 0
        The seed. A Generator is advanced by one integer; None draws a seed, see `res.how.seed`.
    workers : int, optional
        Number of threads. The result does not depend on it.
    device : str or torch.device, optional
        Where to compute, for example "cuda".

    Returns
    -------
    TestResult
        `pvalue`, `statistic`, `verdict(alpha)`, and `columns`, a table of what changed. Unpacks as
        ``statistic, pvalue = result``.

    Notes
    -----
    If neighbouring rows look alike, as they do in a time series, `warnings` of the result says so;
    the p-value does not change.

    The p-value is exact if rows are independent: under the null hypothesis it is at most `alpha`
    with probability at most `alpha`, for any sample size.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) * 1.4
    >>> res = two_sample_test(x, y)
    >>> res.reject(0.05), res.columns.differing(0.05)
    (True, ('1', '0'))

    The paper, to the letter:

    >>> x, y = rng.normal(size=4000), rng.normal(size=4000) * 1.5
    >>> res = two_sample_test(
    ...     x,
    ...     y,
    ...     kernels="paper6",
    ...     method="ost",
    ...     pairs="linear",
    ...     calibration="asymptotic",
    ...     shuffle=False,
    ... )
    >>> res.how.n_pairs, res.reject(0.05)
    (2000, True)
    """
    request = Request.of(
        x, y, kernels=asked_for(kernels), method=method, pairs=pairs, calibration=calibration,
        paired=paired, strata=strata, groups=groups, series=series, columns=columns,
        exclude=exclude, scale=scale, nan_policy=nan_policy, names=names, budget=budget,
        shuffle=shuffle, rng=rng, workers=workers, device=device,
    )  # fmt: skip
    return test_samples(request)


def test_samples(request: Request) -> TestResult:
    """Test two samples, wherever they are stored."""
    if _elsewhere.takes(request):
        return _elsewhere.test_samples(request)
    return run(TwoSamples.of(request))
