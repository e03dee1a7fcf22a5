"""The goodness-of-fit test: whether a sample comes from a given model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

from numpy.typing import ArrayLike

from nosplit._checks import Seed
from nosplit.api import _elsewhere
from nosplit.api._request import LabelsOfRows, MethodName, NanPolicy, PairsName, Request, Sample
from nosplit.api._run import Described, Task, run
from nosplit.core.pairings import Pairing, Sketch
from nosplit.data.labels import labels_of_rows, named_in
from nosplit.data.scored import ScoredSample
from nosplit.data.series import check_rows
from nosplit.errors import Caveat, InputError
from nosplit.families.design import Units, signed_design
from nosplit.families.paired import PairEstimate
from nosplit.families.stein import compare_by_signs, compare_with_samples
from nosplit.families.stein_pairs import estimate_fit
from nosplit.inference.calibrations import Exact, Wild, resolve_goodness_of_fit
from nosplit.inference.changes import describe_misfit
from nosplit.inference.plan import FitSizes, Plan, plan_fit, plan_pairs
from nosplit.inference.questions import GOODNESS, Exchanged
from nosplit.inference.result import TestResult
from nosplit.inference.selection import Found
from nosplit.kernels.stein import SteinKernels, stein_kernels
from nosplit.methods import Method
from nosplit.models import Model
from nosplit.models.scores import Score, as_model

__all__ = ["SampleAndModel", "goodness_of_fit_test", "test_in_memory"]

FitCalibrationName = Literal["auto", "simulate", "exact", "wild", "asymptotic"]
# Rows of a sample of the model that the data is described beside: at least, and for each row.
MIN_BESIDE, BESIDE = 10_000, 4
NOT_SIMULATED = 'samples of the model do not fit the budget; calibration="simulate" is exact'


@dataclass(frozen=True, eq=False)
class SampleAndModel(Task):
    """A sample in memory and a model."""

    question = GOODNESS
    request: Request
    sample: ScoredSample

    @classmethod
    def of(cls, request: Request, support: Any = None) -> SampleAndModel:
        """Read the sample, and compute the scores of the model at its rows."""
        for name in request.labelled:
            named_in(name, (("x", request.x),), "groups")
        options, whole = request.options.leaving_out(request.labelled), request.series is not False
        return cls(request, ScoredSample.read(request.x, request.y, options, support, whole=whole))

    @property
    def n_rows(self) -> int:
        """Rows that were given."""
        return len(self.sample.given.x) + self.sample.data.left_out

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows that are used."""
        return (len(self._design[0].row),)

    @property
    def n_columns(self) -> tuple[int, ...]:
        """Columns of the sample."""
        return (len(self.sample.columns),)

    @property
    def encoding(self) -> Any:
        """The encoding of a table; None for an array as it came."""
        return self.sample.encoding

    @property
    def exchanged(self) -> Exchanged | None:
        """The units that have random signs, if a caller declared a design."""
        return self._design[1]

    @cached_property
    def _design(self) -> tuple[Units, Exchanged | None]:
        """The rows, groups or blocks of rows that have a random sign each."""
        request, groups = self.request, self.request.groups
        labels, name = None, groups if isinstance(groups, str) else ""
        if groups is not None:
            both, policy = (request.x, None), request.label_policy
            labels = labels_of_rows(groups, both, self.sample.kept, "groups", policy)
        return signed_design(self.sample.given.x, labels, request.series, name)

    def plan(self) -> Plan:
        """Plan samples of the model, or random signs, by sizes alone."""
        request, (n, p) = self.request, self.sample.given.x.shape
        kernels = len(stein_kernels(request.kernels, 1.0))
        return plan_fit(
            FitSizes(n, self._design[0].n, p, kernels),
            request.pairs, request.calibration, request.budget,
            samples=self.sample.samples, designed=request.designed, default=request.kernels is None,
        )  # fmt: skip

    def find(self, plan: Plan) -> Found:
        """Compare the rows with samples of the model, or give them random signs."""
        request, sample = self.request, self.sample
        how = request.kernels, plan.effort, request.rng, request.method
        if isinstance(plan.calibration, Exact):
            draw = partial(sample.draw, rng=request.rng)
            found = compare_with_samples(
                sample.on_the_line, draw, *how, scaled=sample.scales, workers=request.workers
            )
        else:
            units, said = self._design
            found = compare_by_signs(sample.rows, units, said, *how)
        return replace(found, caveats=[*found.caveats, *sample.undeclared])

    def estimate(self) -> PairEstimate:
        """Estimate over pairs of rows."""
        request, rows = self.request, self.sample.rows
        pairing = plan_pairs(request.pairs, len(rows.x)).pairing
        rng = request.rng if request.shuffle else None
        found = estimate_fit(rows, request.kernels, pairing, request.method, rng, request.workers)
        return replace(found, caveats=(*found.caveats, *self.sample.undeclared))

    def describe(self, found: Found) -> Described:
        """Describe where the sample misfits, beside a sample of the model."""
        if found.finding.columns is None:
            return Described()
        x, names = self.sample.given.x, self.sample.columns
        evidence, joint = found.finding.columns, found.finding.pvalue
        beside = self.sample.drawn(max(MIN_BESIDE, BESIDE * len(x)), self.request.rng)
        return Described(describe_misfit(names, evidence, joint, beside, x))

    def check(self) -> list[Caveat]:
        """Warn if neighbouring rows are alike; a check never changes the test."""
        return [] if self.request.designed else check_rows(self.sample.given.x)

    def notes(self) -> list[str]:
        """List what was done to the data without being asked for, and what would be exact."""
        request, notes = self.request, super().notes()
        left = request.calibration == "auto" and not (request.by_pairs or request.designed)
        if left and self.sample.samples and not isinstance(self.plan().calibration, Exact):
            notes.append(NOT_SIMULATED)
        return notes


def goodness_of_fit_test(
    x: Sample,
    score: Score,
    *,
    support: tuple[ArrayLike, ArrayLike] | None = None,
    kernels: SteinKernels = None,
    method: Method | MethodName = "auto",
    pairs: Pairing | PairsName | int = "auto",
    calibration: Exact | Wild | FitCalibrationName = "auto",
    groups: LabelsOfRows = None,
    series: bool | int = False,
    columns: Sequence[str] | str | None = None,
    exclude: Sequence[str] | str | None = None,
    scale: str | bool | None = None,
    nan_policy: NanPolicy = "raise",
    budget: float = 1.0,
    shuffle: bool = True,
    rng: Seed = 0,
    workers: int | None = None,
    device: Any = None,
) -> TestResult:
    """Test whether a sample comes from a model that is known by its score.

    The statistics are kernelized Stein discrepancies (Chwialkowski et al. 2016, Liu et al. 2016),
    so the density of the model need not be normalised. The kernel is learned on all of the data,
    and the p-value accounts for it.

    Parameters
    ----------
    x : array, data frame or path
        The sample, one observation per row. Columns of a table must be numbers, in the order of
        the model's.
    score : model, callable, array or scipy.stats distribution
        A model of `nosplit.models` or a distribution of `scipy.stats`, or the score ∇ log q alone:
        a function from an (n, p) array to an (n, p) array, or the array of its values at x.
    support : pair of (low, high), optional
        Where the density is positive, if the score is a function or an array: two numbers, or two
        vectors with a number per column. Default: everywhere. A positive variable has
        ``support=(0, inf)``; without it the test rejects true models. Models know their support.
    kernels : Kernel, sequence of Kernel or callable, optional
        Gaussian, IMQ or Matern (nu = 1.5 or 2.5) kernels, or a function that makes them from the
        median distance. Default: an IMQ kernel and Gaussian kernels, beside statistics for the
        mean and the covariance of the model. If kernels are named, nothing else is tested.
    method : str or Method, default "auto"
        How the kernels are combined, as in `two_sample_test`.
    pairs : str, int or Pairing, default "auto"
        The pairs of rows that are compared, as in `two_sample_test`.
    calibration : {"auto", "simulate", "exact", "wild", "asymptotic"}, Exact or Wild
        "simulate" or "exact" compares the sample with samples drawn from the model: exact if rows
        are independent and no parameter was estimated. "wild" gives rows random signs, which is
        right in the limit. "auto", the default, simulates if the model can be sampled and the
        samples fit the budget; otherwise it is "wild". "asymptotic" uses the closed form of the
        paper. `Exact(n_resamples=...)` and `Wild(n_resamples=...)` set the number of resamples.
    groups : str or sequence, optional
        Rows of the same group (a chain, a patient) are not independent: they share a random sign,
        whatever the sizes of the groups. The name of a column, or one label per row. Samples of
        the model have independent rows, so the test is "wild".
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours, as the states of a Markov
        chain do. Blocks of rows share a random sign, as in `groups`; an int sets their length.
    columns, exclude : str or sequence of str, optional
        Test only these columns, or all but these; positions for arrays.
    scale : {"robust", "none"} or bool, optional
        Whether kernels see columns divided by their spread. Default: no.
    nan_policy : {"raise", "omit"}, default "raise"
        What to do with missing values: raise an error, or leave out the row.
    budget : float, default 1.0
        Nominal seconds of one core that the test may take.
    shuffle : bool, default True
        Whether rows are paired at random by the estimates of the paper; False keeps their order.
    rng : int, Generator or None, default 0
        The seed. A Generator is advanced by one integer; None draws a seed, see `res.how.seed`.
    workers : int, optional
        Number of threads. The result does not depend on it.
    device : str or torch.device, optional
        Where to compute sketches, for example "cuda".

    Returns
    -------
    TestResult
        As from `two_sample_test`; `columns` compares each with samples of the model, if there are.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit import models
    >>> x = np.random.default_rng(0).laplace(size=(200, 1))
    >>> goodness_of_fit_test(x, models.Laplace()).reject(0.05)
    False
    >>> res = goodness_of_fit_test(x, lambda x: -x)  # the score of a standard normal law
    >>> res.reject(0.05), res.how.calibration
    (True, 'wild')
    """
    score = as_model(score)
    if support is not None and isinstance(score, Model):
        raise InputError(
            "`support` is for scores given as functions or arrays: a model declares it as `ends`, "
            "as the models in `nosplit.models` and `from_scipy` do."
        )
    request = Request.of(
        x, score, kernels=kernels, method=method, pairs=pairs,
        calibration=resolve_goodness_of_fit(calibration), groups=groups, series=series,
        columns=columns, exclude=exclude, scale=scale, nan_policy=nan_policy, budget=budget,
        shuffle=shuffle, rng=rng, workers=workers, device=device,
    )  # fmt: skip
    if _elsewhere.takes_fit(request):
        return _elsewhere.test_fit(request, support)
    return test_in_memory(request, support)


def test_in_memory(request: Request, support: Any) -> TestResult:
    """Test a sample in memory; if the plan is a sketch, elsewhere."""
    task = SampleAndModel.of(request, support)
    sketches = isinstance(request.pairs, Sketch) or not request.by_pairs
    if sketches and isinstance(task.plan().pairing, Sketch):
        return _elsewhere.sketch_fit(request, task.sample)
    return run(task)
