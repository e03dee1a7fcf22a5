"""Goodness of fit in memory: named forms of rows and scores, and statistics of samples of a model.

A row x has the score s = ∇ log q(x) of the model. A radial kernel k(x, x') = f(D), with
D = ‖x - x'‖², turns two of them into the Stein kernel (Chwialkowski et al. 2016, Liu et al. 2016)

    u(x, x') = ⟨s, s'⟩ k + ⟨s, ∇_x' k⟩ + ⟨s', ∇_x k⟩ + tr ∇_x ∇_x' k
             = G f - 2 (C + p) f' - 4 D f''

with G = ⟨s, s'⟩ and C = ⟨s - s', x - x'⟩. Its mean over x' ~ q is zero for every x. The kernels may
be Gaussian, inverse multiquadric (IMQ) or Matérn with nu = 3/2 or 5/2. IMQ kernels with an exponent
in (-1, 0) detect samples that do not converge to the model, which the others need not (Gorham and
Mackey 2017). Beside them are Stein features: linear ones for the mean of the model, quadratic ones
for its covariance, both flattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from nosplit._checks import new_key
from nosplit._types import Array, Index
from nosplit.backend.threads import n_workers, one_blas_thread
from nosplit.core.exchange import signs
from nosplit.core.feature_map import MAX_PAIR_COLUMNS, STEP
from nosplit.core.forms import flattened
from nosplit.core.statistics import Statistics, statistics
from nosplit.core.stein_map import SteinMap, SteinSums, fit_stein_map
from nosplit.data.samples import standardised
from nosplit.data.scored import ScoredRows
from nosplit.families.design import Units
from nosplit.inference.calibrations import SIMULATE, WILD
from nosplit.inference.caveats import few_effective_rows, few_signs, safe_signs
from nosplit.inference.evidence import ColumnEvidence, best_of_columns, conclude, conclude_by
from nosplit.inference.plan import Effort
from nosplit.inference.questions import Exchanged
from nosplit.inference.selection import Found, found_by
from nosplit.inference.simulate import Replicates
from nosplit.kernels.eigenbases import spread_out
from nosplit.kernels.stein import SteinBank, SteinKernels, few_stein_kernels, fit_stein_bank
from nosplit.methods import Adaptive, Method

__all__ = ["MAX_ROWS", "compare_by_signs", "compare_with_samples", "effective_rows"]

# Ridge of flattened features, relative to the largest eigenvalue.
RIDGE = 1e-3
# Rows that the check on their own values reads, and rows of the pilot sample at least.
MAX_ROWS, MIN_PILOT = 20_000, 1_000
# Rows drawn from a model at once: a call of a law of scipy.stats costs more than its rows.
AT_ONCE = 20_000
# Kinds of evidence under random signs: those of second order are skewed, which signs do not show.
SIGNED_KINDS = "learned", "linear"


# -- random signs ----------------------------------------------------------------------------------


def compare_by_signs(
    rows: ScoredRows,
    units: Units,
    said: Exchanged | None,
    kernels: SteinKernels,
    effort: Effort,
    rng: np.random.Generator,
    method: Method | None = None,
) -> Found:
    """Test rows by the wild bootstrap: a random sign for each unit of rows.

    There is no symmetry behind it, so the level is right in the limit only. If units are few, two
    kernels are the default: learning which of four to trust costs the level.

    Parameters
    ----------
    rows : ScoredRows
        The rows.
    units : Units
        The atoms: rows, or sums over groups or blocks of rows.
    said : Exchanged or None
        What units are, if they are no rows.
    kernels : SteinKernels
        As they were asked for.
    effort : Effort
        Number of resamples.
    rng : Generator
        Source of the signs.
    method : Method, optional
        The method; None for the default.
    """
    (n, p), what = rows.x.shape, "rows" if said is None else said.unit
    bank = fit_stein_bank(kernels, rows.x)
    if kernels is None and units.n < safe_signs(len(bank), p):
        bank = fit_stein_bank(few_stein_kernels, rows.x)
    doubts = few_effective_rows(effective_rows(rows, bank), n, sampled=what == "rows")
    doubts += few_signs(units.n, len(bank), p, what)
    exchange = signs(units.n, effort.n_resamples, new_key(rng))
    own = ScoredRows(*(np.ascontiguousarray(part[units.row]) for part in rows))

    def tile(left: slice, right: slice) -> Array:
        return bank.tile(*((own.x[at], own.scores[at]) for at in (left, right)))

    forms = {"kernels": units.gram(len(bank), tile)}
    with one_blas_thread():
        if kernels is None and (method is None or isinstance(method, Adaptive)):
            linear = flattened(units.of(rows.scores), exchange, (RIDGE,))
            finding = conclude(statistics(exchange, forms | {"linear": linear}), only=SIGNED_KINDS)
        else:
            finding = conclude_by(method or Adaptive(), statistics(exchange, forms))
    found = found_by(exchange, finding, bank.kernels)
    return replace(found, calibration=WILD, caveats=doubts)


def effective_rows(rows: ScoredRows, bank: SteinBank) -> float:
    """Count the rows that carry Σ u(x, x), for the kernel with the fewest: (Σ u)² / Σ u².

    u(x, x) = ‖Ψ(x)‖². Random signs need its mean to be that of many rows. If the score has no
    finite variance under the model, a few rows next to an end of its support are all of it.
    """
    n = len(rows.x)
    some = spread_out(n, MAX_ROWS)
    u = bank.aligned(*rows, some, some)
    top = np.max(u, axis=1)
    live = (top > 0) & np.isfinite(top)  # others are dropped, or refused
    if not live.any():
        return float(n)
    u = u[live] / top[live, None]
    share = u.sum(axis=1) ** 2 / np.einsum("dm,dm->d", u, u) / len(some)
    return float(share.min()) * n


# -- samples of the model --------------------------------------------------------------------------


def compare_with_samples(
    rows: ScoredRows,
    draw: Callable[[int], ScoredRows],
    kernels: SteinKernels,
    effort: Effort,
    rng: np.random.Generator,
    method: Method | None = None,
    *,
    scaled: bool = False,
    workers: int | None = None,
) -> Found:
    """Test rows by the rank of their evidence among that of samples of the model.

    Bandwidths, scales and flattening are fitted on a pilot sample of the model. It is independent
    of the data, so that data and samples are exchangeable, and the test is exact.

    Parameters
    ----------
    rows : ScoredRows
        The data.
    draw : callable
        Draws so many rows from the model.
    kernels : SteinKernels
        As they were asked for.
    effort : Effort
        Number of samples; frequencies in place of exact kernels.
    rng : Generator
        Source of the key of frequencies.
    method : Method, optional
        The method; None for the default.
    scaled : bool
        Whether columns are divided by the spread that they have under the model.
    workers : int, optional
        Number of threads.
    """
    n, p = rows.x.shape
    pilot = draw(max(MIN_PILOT, 2 * n))
    center, spread = standardised(pilot.x) if scaled else (np.zeros(p), np.ones(p))
    everything = kernels is None and (method is None or isinstance(method, Adaptive))
    pilot = pilot.on_scale(center, spread)
    own = _SampleStatistics.fit(pilot, kernels, effort.n_frequencies, new_key(rng), everything)

    def samples() -> Iterator[ScoredRows]:
        yield ScoredRows(*(part[None] for part in rows.on_scale(center, spread)))
        left, most = effort.n_resamples, max(1, AT_ONCE // n)
        while left:
            count = min(left, most)
            drawn = draw(count * n).on_scale(center, spread)
            yield ScoredRows(*(part.reshape(count, n, p) for part in drawn))
            left -= count

    with one_blas_thread():
        found = Replicates(samples(), own.measure, own.owners).statistics(n_workers(workers))
        columns = found.pop("columns", None)
        finding = conclude(found) if everything else conclude_by(method or Adaptive(), found)
    if everything:
        finding = replace(finding, columns=_column_evidence(finding.evidence, columns))
    return Found(finding, own.bank.kernels, n, sqrt(n * (n - 1) / 2), calibration=SIMULATE)


def _column_evidence(joint: Array, columns: Statistics | None) -> ColumnEvidence:
    """Evidence of each column by its own Stein features; of a single column, all evidence."""
    if columns is None:
        return ColumnEvidence.of(joint[:, None], np.zeros(1, np.int64))
    return best_of_columns(columns)


@dataclass(frozen=True, eq=False)
class _SampleStatistics:
    """Statistics of samples, fitted on a pilot sample of the model.

    Attributes
    ----------
    bank : SteinBank
        The kernels.
    exact : bool
        Whether kernels are exact, and not sums of waves.
    map : SteinMap
        Stein features.
    flat : mapping
        Flattening of linear and of quadratic features, with their places; empty if kernels are
        all that is compared.
    """

    bank: SteinBank
    exact: bool
    map: SteinMap
    flat: Mapping[str, tuple[Index, Array]]

    @classmethod
    def fit(
        cls, pilot: ScoredRows, kernels: SteinKernels, n_frequencies: int, key: int, flat: bool
    ) -> _SampleStatistics:
        """Fit bandwidths, scales and flattening."""
        bank = fit_stein_bank(kernels, pilot.x)
        waves = bank.kernels if n_frequencies else ()
        own = fit_stein_map(*pilot, waves, frequencies=n_frequencies, key=key)
        values = own.low_orders(*pilot) / own.scales[2 * own.n_waves :]
        p = own.p
        places = {"linear": np.arange(p)} if flat else {}
        if flat and p <= MAX_PAIR_COLUMNS:  # spreads and correlations
            places["quadratic"] = np.delete(np.arange(p, values.shape[1]), p + np.arange(p))
        flattening = {k: (2 * own.n_waves + at, _flat(values[:, at])) for k, at in places.items()}
        return cls(bank, not n_frequencies, own, flattening)

    @property
    def owners(self) -> dict[str, Index]:
        """The column of each statistic of columns."""
        return {"columns": np.repeat(np.arange(self.map.p), [len(k) for k in self.map.of_columns])}

    def measure(self, samples: ScoredRows) -> dict[str, Array]:
        """Compute the statistics of each of several samples, (R, s), by name."""
        (R, n, p), found = samples.x.shape, {}
        if self.exact:
            from nosplit.backend.numba.stein import sample_means

            found["kernels"] = np.empty((R, len(self.bank)))
            sample_means(self.bank.program, *samples, found["kernels"])
        if self.exact and not self.flat:
            return found
        sums = SteinSums.empty(self.map, R)
        x, scores = (part.reshape(-1, p) for part in samples)
        sums.add(self.map, x, scores, np.repeat(np.arange(R), n))
        numbers = sums.numbers / np.float64(STEP)
        if not self.exact:
            squares = [
                ((sums.numbers[:, at] * steps) ** 2).sum(axis=1) for at, steps in self.map.features
            ]
            found["kernels"] = np.stack(squares, axis=1) / (n * (n - 1.0))
        for name, (at, axes) in self.flat.items():
            found[name] = ((numbers[:, at] @ axes) ** 2).sum(axis=1, keepdims=True)
        if self.flat and p > 1:
            own = [(numbers[:, at] ** 2).sum(axis=1) for each in self.map.of_columns for at in each]
            found["columns"] = np.stack(own, axis=1)
        return found


def _flat(values: Array) -> Array:
    """Axes along which sums of rows like these have the same variance, but for a ridge, (D, D)."""
    eigenvalues, axes = np.linalg.eigh(values.T @ values / len(values))
    largest = max(float(eigenvalues[-1]), np.finfo(float).tiny)
    return np.asarray(axes / np.sqrt(np.maximum(eigenvalues, 0.0) + RIDGE * largest))
