"""Two variables in memory: read them, cut rows into units, and test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._old.data.variables import Variable, as_variables, column_names, two_variables
from nosplit._old.designs.asked import Asked, leaving_out
from nosplit._old.designs.independence import StrataUnits, units_in_strata
from nosplit._old.engines.families.encoded import by_pilot
from nosplit._old.engines.families.independence import (
    InMemory,
    observation_sizes,
    sketched_independence,
)
from nosplit._old.families.fitting import fit_tensors, tensors_for
from nosplit._old.families.independence import HsicUnits, check_unit_size
from nosplit._old.families.permuted import permuted_statistics
from nosplit._old.inference.outcome import Tested, of_unnamed
from nosplit._old.inference.planning.costs import HsicSizes
from nosplit._old.inference.planning.plan import Plan
from nosplit._old.inference.run import run
from nosplit._old.inference.statistics import test_draws
from nosplit.backend.threads import n_workers
from nosplit.core.order import Natural, Order, Permuted, shuffled
from nosplit.core.pairings import Sketch
from nosplit.data.encoding import Mask
from nosplit.data.labels import RowLabels, is_name, labels_of_rows, strata_in
from nosplit.data.series import about_strata, block_length, check_jointly
from nosplit.errors import Caveat, InputError
from nosplit.inference.calibrations import SERIES
from nosplit.inference.questions import INDEPENDENCE, Exchanged
from nosplit.inference.result import TestResult
from nosplit.kernels.tensor import TensorBank

__all__ = ["UNIT_SIZE", "VariablesInMemory"]

# Observations to a unit, about.
UNIT_SIZE = 8


@dataclass(frozen=True, eq=False)
class VariablesInMemory:
    """Two variables, observed together.

    Attributes
    ----------
    given : pair
        The variables as they came.
    x, y : Variable
        The same as numbers.
    kept : array of bool
        Which rows are not left out.
    labels : RowLabels or None
        Strata of the rows.
    asked : Asked
        What is asked for.
    series : bool or int
        Whether rows are in time order; an int is the length of blocks.
    """

    given: tuple[Any, Any]
    x: Variable
    y: Variable
    kept: Mask
    labels: RowLabels | None
    asked: Asked
    series: bool | int = False

    @classmethod
    def read(
        cls,
        given: tuple[Any, Any],
        asked: Asked,
        strata: Any,
        policy: str,
        series: bool | int = False,
    ) -> VariablesInMemory:
        """Read both, and labels of strata; `policy` is for rows without one."""
        labelled: tuple[str, ...] = ()
        if strata is not None and is_name(strata):
            strata_in(strata, given)
            labelled = (strata,)
        options = leaving_out(asked.options, labelled)
        (first, second), encodings, kept = two_variables(*given, options)
        x, y = as_variables(first, second, encodings)
        kept = np.ones(len(x.rows), np.bool_) if kept is None else kept
        labels = None
        if strata is not None:
            labels = labels_of_rows(strata, given, kept, "strata", policy)
        return cls(given, x, y, kept, labels, asked, series)

    def check(self) -> list[Caveat]:
        """Warn if neighbouring rows of both variables are alike, about the mean of their stratum.

        A y whose rows are independent may be permuted, whatever x does.
        """
        x, y = self.x.rows, self.y.rows
        if self.labels is not None:
            x, y = (about_strata(rows, self.labels.codes) for rows in (x, y))
        return check_jointly(x, y)

    def test(
        self, unit_size: int, rng: np.random.Generator, workers: int | None, progress: bool
    ) -> TestResult:
        """Cut the observations into units, plan, and test by a sketch or unit by unit."""
        unit_size, cut = check_unit_size(unit_size), None
        if self.series is not False:
            return self._in_blocks(unit_size, rng, workers)
        if self.labels is not None:
            cut = units_in_strata(self.labels, unit_size, rng if self.asked.shuffle else None)
        sizes = self._sizes(unit_size, cut)
        plan = self.asked.plan(sizes)
        if isinstance(plan.pairing, Sketch):
            tested = self._by_sketch(unit_size, cut, sizes, plan, rng, workers)
        else:
            few = self._permuted(plan, rng, workers) if _permutes(plan) else None
            tested = few or self._by_units(cut, sizes, plan, rng, workers, progress)
        tested = replace(tested, outcome=tested.outcome.noting(self.check()))
        result = tested.result(INDEPENDENCE, len(self.kept), column_names(self.x, self.y))
        return result if cut is None else result.done(design=cut.said)

    def _in_blocks(
        self, unit_size: int, rng: np.random.Generator, workers: int | None
    ) -> TestResult:
        """Permute blocks of consecutive rows of y."""
        rows = self.x.rows, self.y.rows
        length = block_length(*rows) if self.series is True else int(self.series)
        whole = len(rows[0]) if length is None else len(rows[0]) // length * length
        some = replace(self, x=self.x.some(np.arange(whole)), y=self.y.some(np.arange(whole)))
        plan = self.asked.plan(replace(some._sizes(unit_size, None), default=True))
        if not _permutes(plan) or self.asked.kernels is not None:
            raise InputError(
                "`series` needs rows few enough for all of y to be permuted, and default kernels "
                f"and pairs; got {len(rows[0]):,} rows. Use a part of the rows."
            )
        tested = some._permuted(plan, rng, workers, length or whole)
        if tested is None:
            raise InputError("`x` and `y` must vary in more than one block of rows.")
        outcome = replace(tested.outcome, calibration=SERIES)
        names = column_names(self.x, self.y)
        result = replace(tested, outcome=outcome).result(INDEPENDENCE, len(self.kept), names)
        said = f"blocks of {length or whole:,} rows of y are permuted"
        return result.done(design=Exchanged("series", said, "blocks", length or whole))

    def _sizes(self, unit_size: int, cut: StrataUnits | None) -> HsicSizes:
        columns = self.x.rows.shape[1] + self.y.rows.shape[1]
        discrete, kernels = (self.x.discrete, self.y.discrete), self.asked.kernels
        sizes = observation_sizes(len(self.x.rows), columns, discrete, kernels, unit_size)
        if cut is None:
            usual = kernels is None and self.asked.shuffle and unit_size == UNIT_SIZE
            return replace(sizes, default=usual)
        return replace(sizes, n=cut.n_units, m=cut.n_units, q=len(cut.rows) / cut.n_units)

    def _by_sketch(
        self,
        unit_size: int,
        cut: StrataUnits | None,
        sizes: HsicSizes,
        plan: Plan,
        rng: np.random.Generator,
        workers: int | None,
    ) -> Tested:
        """Sum cells of units; tables are encoded by their pilot rows, as those in files are."""
        x, y, asked, shuffle, coded = self.x, self.y, self.asked, self.asked.shuffle, None
        if cut is not None:
            rows, q = cut.alike(unit_size, rng)
            x, y = x.some(rows), y.some(rows)
            sizes, shuffle = replace(sizes, q=float(q)), False
        elif (x.encoding, y.encoding) != (None, None):
            coded = by_pilot(self.given, (x, y), self.kept, asked.options)
        observed = InMemory(x, y, coded)
        kernels, method = asked.kernels, asked.method
        return sketched_independence(observed, kernels, sizes, plan, method, rng, shuffle, workers)

    def _permuted(
        self, plan: Plan, rng: np.random.Generator, workers: int | None, length: int = 1
    ) -> Tested | None:
        """Permute all rows of y, or blocks of them; None where a kernel sees no difference."""
        x, y, n = self.x, self.y, len(self.x.rows)
        kinds = x.discrete, y.discrete
        bank = TensorBank(tensors_for(None, x.rows, y.rows, kinds))
        numbers = kinds == (False, False)
        drawn = permuted_statistics(
            x.rows,
            y.rows,
            bank,
            plan.n_resamples,
            rng,
            numbers=numbers,
            workers=n_workers(workers),
            length=length,
        )
        if drawn is None:
            return None
        outcome = of_unnamed(test_draws(drawn, None, plan.pairs))
        blocks = n // length
        outcome = replace(outcome, relabellings=math.gamma(min(blocks, 100) + 1))
        return Tested(outcome, bank.kernels, n, n, self._encodings, default=True)

    @property
    def _encodings(self) -> Any:
        known = self.x.encoding, self.y.encoding
        return None if known == (None, None) else known

    def _by_units(
        self,
        cut: StrataUnits | None,
        sizes: HsicSizes,
        plan: Plan,
        rng: np.random.Generator,
        workers: int | None,
        progress: bool,
    ) -> Tested:
        """Evaluate kernels on pairs of units."""
        x, y, kernels, n = self.x, self.y, self.asked.kernels, len(self.x.rows)
        starts = np.arange(sizes.n_units + 1) * n // sizes.n_units if cut is None else cut.starts
        order: Order = Natural()
        if cut is not None:
            order = Permuted(cut.rows)
        elif self.asked.shuffle:
            order = shuffled(n, rng)
        units = HsicUnits(x.rows, y.rows, order, TensorBank(()), starts, range(sizes.n_units))
        fitted = fit_tensors(kernels, units, (x.discrete, y.discrete))
        for tensor in fitted if kernels is not None else ():
            x.check(tensor.x)
            y.check(tensor.y)
        units = replace(units, bank=TensorBank(fitted))
        outcome = run(units, self.asked.method, plan, rng, workers, progress)
        outcome = of_unnamed(outcome) if kernels is None else outcome
        n_used = n if cut is None else len(cut.rows)
        default = kernels is None
        return Tested(outcome, fitted, units.n_units, n_used, self._encodings, default)


def _permutes(plan: Plan) -> bool:
    sizes = plan.sizes
    return isinstance(sizes, HsicSizes) and sizes.permutes(plan.pairing, plan.n_resamples)
