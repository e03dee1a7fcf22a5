"""The goodness-of-fit test: whether a sample comes from a given model."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from nosplit._checks import (
    Seed,
    check_flags,
    check_rng,
    seed_of,
)
from nosplit._old.api.ways.scored import ScoredSample
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.designs.asked import (
    Asked,
    DesignLabels,
    check_series,
    left_to_library,
    no_series,
)
from nosplit._old.engines.devices import fit_on_device, lies_on_device
from nosplit._old.engines.files.goodness_of_fit import fit_of_file
from nosplit._old.families.fitting import SteinKernels
from nosplit._old.inference.planning.limits import as_method
from nosplit.core.pairings import Pairing
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact, Wild
from nosplit.inference.result import TestResult
from nosplit.methods import Method
from nosplit.models import Model
from nosplit.models.scores import Score, as_model

__all__ = ["goodness_of_fit_test"]


def goodness_of_fit_test(
    x: Any,
    score: Score,
    *,
    support: tuple[ArrayLike, ArrayLike] | None = None,
    kernels: SteinKernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | Wild | str = "auto",
    budget: float = 1.0,
    rng: Seed = 0,
    shuffle: bool = True,
    nan_policy: str = "raise",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    series: bool | int = False,
    workers: int | None = None,
    progress: bool = False,
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
    support : tuple of (low, high), optional
        Where the density is positive, for a score that is given as a function or an array: two
        numbers, or two vectors with a number for each column, which may be infinite. A positive
        variable has ``support=(0, inf)``. The kernels then vanish at finite ends, without which the
        test rejects true models. By default the density is positive everywhere. Models know their
        support. A file is read whole.
    kernels : None, Kernel, sequence of them or callable
        Gaussian, IMQ or Matern (nu = 1.5 or 2.5) kernels. By default IMQ and Gaussian kernels
        around the median distance, four of them, or two where random signs of few rows would not
        keep the level with more; a callable gets that distance and returns kernels.
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
        parameters; `Exact(n_resamples=B)` for B of them). "auto" with a model that can sample:
        simulate if all pairs fit the budget; else wild, if few rows do not carry the statistic
        alone; if they do, simulate with fewer pairs. For a score alone: wild, with a warning where
        few rows carry the statistic.
    budget : float
        Nominal seconds of one core that "auto" may spend.
    rng : int, Generator or None
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
    series : bool or int, default False
        Whether rows are in time order and depend on their neighbours, as the states of a Markov
        chain do. Blocks of consecutive rows then have random signs, which is right in the limit; an
        int sets their length. All pairs of rows must fit the budget. By default rows are
        independent: if neighbouring rows are alike, `warnings` of the result says so, and the
        p-value does not change.
    workers : int, optional
        Threads; all cores by default. The result does not depend on it.
    progress : bool
        Show a progress bar on the terminal.
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
    >>> res.reject(0.05), res.how.calibration
    (True, 'wild')
    """
    check_flags(shuffle=shuffle, progress=progress)
    score, generator = read_if_path(as_model(score)), check_rng(rng)
    options = Options.of(scale, columns, exclude, nan_policy)
    labels = DesignLabels(series=check_series(series))
    asked = Asked(
        options, kernels, as_method(method), pairs, calibration, budget, shuffle, labels=labels
    )
    in_order = labels.series is not False
    if support is not None and isinstance(score, Model):
        raise InputError(
            "`support` is for scores given as functions or arrays: a model declares it as `ends`, "
            "as the models in `nosplit.models` and `from_scipy` do."
        )
    if in_order and device is not None:
        no_series(series, "on a device")

    def answer() -> TestResult:
        if is_path(x) and not in_order and support is None:
            source = open_source(x)
            found = fit_of_file(
                source, score, asked, rng=generator, workers=workers, progress=progress
            )
            if found is not None:
                return found
        rows = read_if_path(x)
        on_device = device is not None or lies_on_device(rows)
        if on_device and not in_order and support is None:
            found = fit_on_device(rows, score, asked, rng=generator, workers=workers, device=device)
            if found is not None:
                return found
        sample = ScoredSample.read(rows, score, asked, support)
        test = sample.test_series if in_order else sample.test_independent
        return test(generator, workers, progress)

    how = kernels, method, pairs, calibration
    automatic = left_to_library(*how, scale, columns, exclude) and nan_policy == "raise"
    automatic = automatic and not in_order and budget == 1.0
    return answer().done(automatic=automatic, seed=seed_of(rng, generator))
