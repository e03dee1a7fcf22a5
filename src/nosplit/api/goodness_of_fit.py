"""The goodness-of-fit test: whether a sample comes from a given model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._support.checks import (
    check_budget,
    check_flags,
    check_int,
    check_rng,
    check_sample,
    check_varies,
)
from nosplit._support.types import Array
from nosplit.data.files.opening import is_path, open_source
from nosplit.data.files.whole import read_if_path
from nosplit.data.options import Options
from nosplit.data.samples import Sample, one_sample, standardised
from nosplit.data.tables.encoding import Encoding
from nosplit.designs.asked import Asked
from nosplit.engines.devices import fit_on_device, lies_on_device
from nosplit.engines.families.goodness_of_fit import ScoredArrays, sketched_fit
from nosplit.engines.files.goodness_of_fit import fit_of_file
from nosplit.errors import Caveat, InputError, UnsafeAsymptoticsWarning
from nosplit.families.chain import (
    ChainBlocks,
    Runs,
    chain_blocks,
    chain_units,
    default_chain_kernels,
    few_batches,
    few_blocks,
    looks_like_a_chain,
    smallest_safe_batches,
)
from nosplit.families.fitting import SteinKernels, fit_stein_bank, stein_kernels
from nosplit.families.goodness_of_fit import SteinUnits
from nosplit.inference.calibrating.simulation import simulate
from nosplit.inference.calibrations import SIMULATE, WILD, Exact, Wild
from nosplit.inference.caveats import few_effective_rows, stein_caveats
from nosplit.inference.limits import as_method, settle
from nosplit.inference.outcome import Outcome, of_unnamed, to_result
from nosplit.inference.planning.goodness_of_fit import SteinSizes, most_rows, plan_chain, plan_rows
from nosplit.inference.questions import GOODNESS
from nosplit.inference.result import TestResult
from nosplit.inference.run import run
from nosplit.kernels import IMQ
from nosplit.methods import Method
from nosplit.models import Model, SamplingModel
from nosplit.models.ends import on_the_line
from nosplit.models.scores import Score, as_model, scores_of
from nosplit.pairs.dealing import Natural, shuffled
from nosplit.pairs.pairing import Pairing, Sketch

__all__ = ["goodness_of_fit_test"]

# Rows from which the level of the wild bootstrap is called safe (docs/measured/goodness_of_fit.md).
SMALLEST_WILD = 50
# Rows drawn from a model at once.
AT_ONCE = 20_000


def goodness_of_fit_test(
    x: Any,
    score: Score,
    *,
    kernels: SteinKernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | Wild | str = "auto",
    budget: float = 1.0,
    rng: int | np.random.Generator = 0,
    shuffle: bool = True,
    nan_policy: str = "raise",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    workers: int | None = None,
    progress: bool = False,
    dependent: bool = False,
    thin: int = 1,
    device: Any = None,
) -> TestResult:
    """Test whether a sample comes from a model that is known by its score.

    The statistics are kernelized Stein discrepancies (Chwialkowski et al. 2016, Liu et al. 2016),
    so the model's density need not be normalised. Their kernels are combined by learning, on the
    same data, all of it (Section 3 of the paper).

    Parameters
    ----------
    x : array_like, shape (n, p) or (n,); or table; or name of a file
        The sample, one observation a row. The columns of a table must be numbers, in the order of
        the model's.
    score : model, callable or array_like
        ∇ log q of the model: a function from an (n, p) array to an (n, p) array (of NumPy, torch
        or JAX), the (n, p) array of its values at x, a model of `nosplit.models`, or a distribution
        of `scipy.stats` with its parameters set.
    kernels : None, Kernel, sequence of them or callable
        Gaussian, IMQ or Matern (nu = 1.5 or 2.5) kernels. By default IMQ and Gaussian kernels
        around the median distance; a callable gets that distance and returns kernels.
    method : Method or name
        As in `two_sample_test`.
    pairs : Pairing, name or int
        As in `two_sample_test`. "sketch": sums of Stein features in cells, which "auto" takes where
        all pairs do not fit the budget; then there are two more kernels by default, for means,
        spreads and correlations, and every column is looked at by itself, too.
    calibration : Exact, Wild or name
        "asymptotic" (closed form), "wild" (random signs of rows, or of the cells of a sketch; right
        in the limit if the score has a finite variance) or "simulate" (samples drawn from the
        model: exact over those draws, when rows are independent and the model has no estimated
        parameters; `Exact(flips=B)` for B of them). "auto" with a model that can sample: simulate
        if all pairs fit the budget; else wild, if few rows do not carry the statistic alone; if
        they do, simulate with fewer pairs. For a score alone: wild, with a warning where few rows
        carry the statistic.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int or Generator
        Source of the shuffling and the draws.
    shuffle : bool
        Deal rows to units in random order. `False` keeps the order.
    nan_policy : {"raise", "omit"}
        Where values are missing: an error, or leave out the row.
    scale : {"robust", "none"}, bool or None
        Whether kernels see every column divided by a robust spread; the model is that of the data
        as it is, always. None: no.
    columns, exclude : names of columns, optional
        Columns to look at, in the order of the model's, or to leave out; positions for arrays.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
    dependent : bool
        Whether rows are the output of a Markov chain, in its order. Blocks of six correlation
        times are then the units, with random signs of their own (right in the limit), and rows are
        thinned inside them; a warning says where the chain is too short for that. With
        calibration="asymptotic" pairs are (i, n/2 + i), and Σ comes from batch means.
    thin : int
        Use every `thin`-th row only.
    device : str or torch.device, optional
        Where sketches are made: "cuda" moves rows to a GPU. Those of tensors are made where they
        lie, with a score that takes tensors; few rows are compared in memory. Needs
        `nosplit[torch]`.

    Returns
    -------
    TestResult
        As from `two_sample_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from nosplit import models
    >>> x = np.random.default_rng(0).laplace(size=(200, 1))
    >>> goodness_of_fit_test(x, models.Laplace()).reject(0.05)
    False
    >>> res = goodness_of_fit_test(x, lambda x: -x)  # the score of a standard normal law
    >>> res.reject(0.05), res.calibration
    (True, 'wild')
    """
    check_flags(shuffle=shuffle, progress=progress, dependent=dependent)
    score = as_model(read_if_path(score))
    options, generator = Options.of(scale, columns, exclude, nan_policy), check_rng(rng)
    chosen = as_method(method)
    if is_path(x):
        source = open_source(x)
        if not dependent and check_int(thin, "thin", least=1) == 1:
            asked = Asked(options, kernels, chosen, pairs, calibration, budget, shuffle)
            found = fit_of_file(
                source, score, asked, rng=generator, workers=workers, progress=progress
            )
            if found is not None:
                return found
        x = source.whole()
    if (device is not None or lies_on_device(x)) and not dependent and thin == 1:
        asked = Asked(options, kernels, chosen, pairs, calibration, budget, shuffle)
        found = fit_on_device(x, score, asked, rng=generator, workers=workers, device=device)
        if found is not None:
            return found
    data = one_sample(x, options)
    x, scores = _check_rows(data, score, thin, dependent)
    scaler, encoding = _scaler(data, score, x, scores)
    sizes = SteinSizes(len(x), len(x), x.shape[1], len(stein_kernels(kernels, 1.0)), 2)
    rows = _units_of_rows(
        *scaler(x, scores), kernels, generator if shuffle and not dependent else None
    )
    units: SteinUnits | Runs | ChainBlocks
    if dependent:
        how, kind = plan_chain(sizes, pairs, calibration, chosen)
        units, doubts = _chain(rows, kernels, kind, most_rows(sizes, check_budget(budget))), []
    else:
        sampling = isinstance(score, SamplingModel)
        how, kind = plan_rows(sizes, pairs, calibration, chosen, budget, sampling)
        units, doubts = rows, [] if kind == SIMULATE else _doubts(rows)
        if doubts and how.otherwise is not None:
            how, kind, doubts = how.otherwise, SIMULATE, []
        if isinstance(how.pairing, Sketch):
            done = sketched_fit(
                ScoredArrays(*on_the_line(score, x, scores)),
                kernels,
                how,
                chosen,
                generator,
                shuffle,
                workers,
                scaled=data.scaled,
                encoding=data.encoding,
            )
            columns = None if encoding is None else encoding.names
            return done.result(GOODNESS, len(x) + data.left_out, columns)
    if kind == SIMULATE and isinstance(units, SteinUnits) and isinstance(score, SamplingModel):
        again = _sampled(score, len(x), generator, scaler, kernels)
        outcome = simulate(
            units, again.__next__, settle(chosen, how.calibration), how, workers, progress
        )
    else:
        outcome = run(units, chosen, how, generator, workers, progress)
        outcome = replace(outcome, calibration=kind)
    outcome = _with_caveats(outcome.noting(doubts), units)
    outcome = of_unnamed(outcome) if kernels is None else outcome
    n_used = round(units.rows_per_unit * units.n_units)
    return to_result(
        outcome,
        question=GOODNESS,
        kernels=units.bank.kernels,
        n_units=units.n_units,
        n_used=n_used,
        n_left_out=len(x) - n_used + data.left_out,
        columns=None if encoding is None else encoding.names,
        encoding=encoding,
    )


# -- rows, scores and kernels ------------------------------------------------------------------


def _check_rows(data: Sample, score: Score, thin: int, dependent: bool) -> tuple[Array, Array]:
    """Rows in the units of the model, and its scores there."""
    rows = np.ascontiguousarray(check_sample(data.x, "x"), dtype=np.float64)
    if data.left_out and dependent:
        raise InputError(
            f"`nan_policy` must not be 'omit' with dependent=True: the {data.left_out} rows with "
            "missing values leave gaps in the chain."
        )
    if data.left_out and not callable(score) and not isinstance(score, Model):
        score = np.asarray(score)[data.kept]
    thin = check_int(thin, "thin", least=1)
    scores = scores_of(score, rows)
    if thin > 1:
        rows, scores = rows[::thin].copy(), scores[::thin].copy()
    if len(rows) < 4:
        raise InputError(f"`x` must have at least 4 rows (after thinning), got {len(rows)}.")
    check_varies(rows, "x")
    return rows, scores


Scaler = Callable[[Array, Array], tuple[Array, Array]]


def _scaler(data: Sample, model: Score, x: Array, scores: Array) -> tuple[Scaler, Encoding | None]:
    """The function that puts rows and scores on the scale of kernels, and the encoding it uses."""

    def plain(x: Array, scores: Array) -> tuple[Array, Array]:
        return on_the_line(model, x, scores)

    if not data.scaled or data.encoding is None:
        return plain, data.encoding
    encoding = data.encoding.scaled(*standardised(plain(x, scores)[0]))
    return lambda x, scores: _standardise(*plain(x, scores)), encoding


def _standardise(x: Array, scores: Array) -> tuple[Array, Array]:
    """Rows divided by their spread: ∇ log q of the law of (x - c) / s is s ∇ log q(x)."""
    center, spread = standardised(x)
    return (x - center) / spread, scores * spread


def _units_of_rows(
    x: Array, scores: Array, kernels: SteinKernels, rng: np.random.Generator | None
) -> SteinUnits:
    order = Natural() if rng is None else shuffled(len(x), rng)
    return SteinUnits(x, scores, order, fit_stein_bank(kernels, x), range(len(x)))


def _chain(
    rows: SteinUnits, kernels: SteinKernels, kind: str, most_rows: int
) -> Runs | ChainBlocks:
    """Blocks of rows; for the closed form runs of them, with three kernels by default, or one."""
    if kind == WILD:
        return chain_blocks(rows, most_rows)
    if kernels is not None:
        return chain_units(rows)
    three = chain_units(replace(rows, bank=fit_stein_bank(default_chain_kernels, rows.x)))
    if three.n_units // 2 >= smallest_safe_batches(3):
        return three
    one = fit_stein_bank(lambda bandwidth: (IMQ(bandwidth),), rows.x)
    return chain_units(replace(rows, bank=one))


# -- doing it ----------------------------------------------------------------------------------


def _sampled(
    model: SamplingModel,
    n: int,
    rng: np.random.Generator,
    scaler: Scaler,
    kernels: SteinKernels,
) -> Iterator[SteinUnits]:
    """Draw samples of n rows from the model, treated as the data was, without end.

    Many samples are drawn at once: a call of a law of scipy.stats costs more than its rows.
    """
    count = n * max(1, AT_ONCE // n)
    while True:
        x = np.ascontiguousarray(model.sample(count, rng), dtype=np.float64).reshape(count, -1)
        if not np.isfinite(x).all():
            raise InputError("`score` is a model that draws numbers beyond all bounds. Rescale it.")
        scores = scores_of(model, x)
        for start in range(0, len(x), n):
            rows = slice(start, start + n)
            yield _units_of_rows(*scaler(x[rows], scores[rows]), kernels, None)


def _doubts(units: SteinUnits) -> list[Caveat]:
    """Say why random signs and the closed form are not to be trusted with these rows."""
    return few_effective_rows(units.effective_rows(), units.n_units)


def _with_caveats(outcome: Outcome, units: SteinUnits | Runs | ChainBlocks) -> Outcome:
    """Add the caveats of goodness-of-fit tests."""
    if isinstance(units, ChainBlocks):
        return outcome.noting(few_blocks(units.n_units))
    if isinstance(units, Runs):
        unsafe = UnsafeAsymptoticsWarning
        kept = tuple(c for c in outcome.caveats if c[0] is not unsafe)
        few = few_batches(units.n_units // 2, len(units.bank))
        return replace(outcome, caveats=kept).noting(few)
    found = looks_like_a_chain(units) + stein_caveats(outcome, units.x.shape[1])
    if outcome.calibration == WILD and units.n_units < SMALLEST_WILD:
        text = (
            f"{units.n_units} rows are few for the wild bootstrap (at least {SMALLEST_WILD} are "
            "safe): give a model that can sample and use calibration='simulate'."
        )
        found.append((UnsafeAsymptoticsWarning, text))
    return outcome.noting(found)
