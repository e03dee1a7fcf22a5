"""What "auto" picks, and what it will cost.

The choice rests on sizes and on a fixed nominal cost model, never on a clock or on the data: the
same data gives the same verdict on every machine, and exact calibration stays exact.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from nosplit._support.checks import check_budget
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_calibration
from nosplit.inference.caveats import safe_window
from nosplit.kernels.bank import kernel_bases
from nosplit.kernels.recipes import Recipe
from nosplit.methods import Adaptive, Method, Naive, Split
from nosplit.pairs.dealing import MOST_ROWS
from nosplit.pairs.draws import SMALLEST_TILE
from nosplit.pairs.pairing import Blocks, Complete, Linear, Pairing, Sketch, Window, as_pairing

__all__ = ["HsicSizes", "Plan", "Sizes", "choose", "pairing_name", "sizes_of"]

# Nominal nanoseconds of one core, rounded from measurements on a 2.8 GHz server core.
NS_PAIR, NS_COMBINATION, NS_COLUMN, NS_KERNEL = 10.0, 2.0, 0.3, 1.0
NS_FLIP_PRODUCT, NS_FLIP_SIGN, NS_FLIP_LABEL = 0.025, 15.0, 1.6
SECONDS_FIXED = 0.01
# The same for what is seen besides kernels: a bin under a draw, a landmark of a row, squared and
# cubed; seconds of a column.
NS_COUNT, NS_LANDMARK, NS_EIGEN, SECONDS_COLUMN = 8.0, 0.2, 1.2, 4e-4
# The same for sketches: a row, a bin of it, a frequency, a column of that, a number under a draw.
NS_ROW, NS_BIN, NS_WAVE, NS_PROJECTION, NS_DRAWN = 60.0, 18.0, 1.2, 0.04, 0.03
SECONDS_SKETCH = 0.05
# Units from which there are cells enough, draws on them, and bins of all columns of a cell.
SMALLEST_SKETCH, SKETCH_FLIPS, SKETCH_BINS = 400, 9_999, 8_192
# Sketches of observations: both numbers of a pair of waves, their product for one shift, and units
# from which there are cells enough.
NS_BOTH, NS_PRODUCT, SMALLEST_SHIFTED = 8.0, 0.7, 100
# A window narrower than this is not worth the price of exact calibration.
SMALLEST_EXACT_WINDOW = 5
# How far over the budget pairs that were asked for may go where their closed form is not trusted.
MOST_OVER = 10.0
UNTRUSTED = "Too few pairs carry some kernel for the closed form"

# Nominal nanoseconds of one core, rounded from measurements on a 2.8 GHz server core.
NS_ENTRY, NS_FACTOR, NS_SHIFT, NS_LOOK_UP = 40.0, 4.0, 0.5, 1.0


@dataclass(frozen=True)
class Sizes:
    """What the cost of a test depends on."""

    n: int
    m: int
    p: int
    d: int
    bases: int = 1
    # Whether no kernels were named: all pairs are then not all that is looked at.
    default: bool = field(default=False, kw_only=True)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return min(self.n, self.m)

    @property
    def rows_per_unit(self) -> float:
        """Rows in a unit, both samples together."""
        return 1.0 + min(max(self.n, self.m) / self.n_units, MOST_ROWS)

    @property
    def can_sketch(self) -> bool:
        """Whether a sketch serves: there are rows enough for cells."""
        return self.n_units >= SMALLEST_SKETCH

    @property
    def pairs_of(self) -> str:
        """What pairs are made of, in a word."""
        return "rows"

    @property
    def draws_are(self) -> str:
        """What draws are, in a word."""
        return "exact"

    def cells(self, pairing: Sketch) -> int:
        """Cells of a sketch, about: of the smaller sample."""
        return pairing.cells

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        waves, bins = (pairing.frequencies or 0) * self.d, min(128, SKETCH_BINS // self.p)
        row = NS_ROW + NS_BIN * self.p + waves * (NS_WAVE + NS_PROJECTION * self.p)
        numbers = 2 * waves + (bins + 1) * self.p
        draws = flips * pairing.cells * numbers * NS_DRAWN
        return SECONDS_SKETCH + 1e-9 * ((self.n + self.m) * row + draws)

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        if isinstance(pairing, Sketch):
            return self.sketch_seconds(pairing, flips)
        if self.default and isinstance(pairing, Complete) and flips:
            kernels = self._pooled(flips) if self.n != self.m else self._pairs(pairing, flips)
            return kernels + self._seen(flips)
        return self._pairs(pairing, flips)

    def rows_or_units(self, pairing: Pairing, flips: int) -> int:
        """What pairs are made of: units, or all rows where labels are permuted among all."""
        pooled = self.default and isinstance(pairing, Complete) and flips and self.n != self.m
        return self.n + self.m if pooled else self.n_units

    def _pooled(self, flips: int) -> float:
        """Nominal seconds of all pairs of rows whose labels are permuted."""
        n_pairs = (self.n + self.m) ** 2 / 2.0
        value = NS_COMBINATION + NS_COLUMN * self.p * self.bases + NS_KERNEL * self.d
        return SECONDS_FIXED + 1e-9 * n_pairs * (value + flips * self.d * NS_FLIP_PRODUCT)

    def _seen(self, flips: int) -> float:
        """Nominal seconds of columns and flattened spectra."""
        rows = self.n + self.m
        units = self.n if self.n == self.m else rows
        bins = max(4, min(rows // 12, 32), min(rows // 40, 128))
        bins = min(bins, max(16, SKETCH_BINS // self.p)) + 1
        marks, features = min(300, max(rows // 4, 60)), 2 * min(rows // 6, 200)
        drawn = flips * units * (bins * self.p + features) * NS_FLIP_PRODUCT
        columns = flips * bins * self.p * NS_COUNT
        spectra = marks**2 * (rows * NS_LANDMARK + marks * NS_EIGEN)
        return SECONDS_COLUMN * self.p + 1e-9 * (drawn + columns + spectra)

    def _pairs(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of pairs of units."""
        n_pairs, combinations = pairing.n_pairs(self.n_units), self.rows_per_unit**2
        bases = NS_COLUMN * self.p * self.bases
        value = NS_PAIR + combinations * (NS_COMBINATION + bases + NS_KERNEL * self.d)
        return SECONDS_FIXED + 1e-9 * (n_pairs * value + flips * self._flip(pairing, n_pairs))

    def _flip(self, pairing: Pairing, n_pairs: int) -> float:
        """Nominal nanoseconds of one draw: matrix products, or look-ups for unequal sizes."""
        if self.n != self.m:
            return NS_FLIP_LABEL * self.d * n_pairs
        products = n_pairs
        if isinstance(pairing, Window):
            products = self.n_units * (max(pairing.R, SMALLEST_TILE) + pairing.R)
        return NS_FLIP_SIGN * self.n_units + NS_FLIP_PRODUCT * self.d * products


def sizes_of(n: int, m: int, p: int, recipe: Recipe) -> Sizes:
    """What the cost depends on, before any bandwidth is known."""
    trial = recipe.build()
    return Sizes(n, m, p, len(trial), kernel_bases(trial), default=recipe.default)


@dataclass(frozen=True)
class Plan:
    """How a test will be done.

    Attributes
    ----------
    pairing : Pairing
        Which pairs of units are looked at.
    calibration : Exact or "asymptotic"
        How the p-value is found.
    n_units, n_pairs : int
        Number of units and of pairs.
    nominal_seconds : float
        Cost by the fixed model, on one core; what `budget` is compared with.
    reason : str
        Why, in one sentence.
    sizes : Sizes
        What the cost depends on.
    otherwise : Plan or None
        What is done instead if the closed form is not to be trusted with the data: "auto" is free
        to choose, and chooses exact calibration.
    """

    pairing: Pairing
    calibration: Exact | str
    n_units: int
    n_pairs: int
    nominal_seconds: float
    reason: str
    sizes: Sizes
    otherwise: Plan | None = None

    @property
    def pairs(self) -> str:
        """Short name of the pairing."""
        return pairing_name(self.pairing)

    @property
    def flips(self) -> int:
        """Number of random draws; 0 for asymptotic calibration."""
        return self.calibration.flips if isinstance(self.calibration, Exact) else 0

    def estimated_seconds(self) -> float:
        """Seconds this would take here on one core, from a short measurement of this machine."""
        return self.nominal_seconds * _machine_factor()

    def __str__(self) -> str:
        how = f"{self.sizes.draws_are} ({self.flips:,} draws)" if self.flips else ASYMPTOTIC
        if isinstance(self.pairing, Sketch):
            return (
                f"sketch of all pairs, {how} calibration: {self.n_pairs:,} pairs of "
                f"{self.sizes.pairs_of} in about {self.sizes.cells(self.pairing):,} cells, "
                f"{self.pairing.frequencies} frequencies a kernel, "
                f"nominally {self.nominal_seconds:.2g} s of one core.\n{self.reason}"
            )
        return (
            f"{self.pairs} pairs, {how} calibration: {self.n_pairs:,} pairs of "
            f"{self.n_units:,} units, nominally {self.nominal_seconds:.2g} s of one core.\n"
            f"{self.reason}"
        )


def pairing_name(pairing: Pairing) -> str:
    """Short name of a pairing."""
    match pairing:
        case Window(R):
            return f"window {R}"
        case Blocks(size):
            return f"blocks of {size}"
        case Sketch():
            return "sketch"
    return type(pairing).__name__.lower()


def choose(
    sizes: Sizes,
    *,
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    method: Method | None = None,
    budget: float = 1.0,
) -> Plan:
    """The most powerful test that fits the budget and is still calibrated.

    Exact and complete if it fits; else a sketch, which is exact and sees all pairs through
    features, with as many frequencies as fit. Windows and closed forms are for who asks for them.
    """
    budget = check_budget(budget)
    if method is not None and not isinstance(method, Adaptive):
        sizes = replace(sizes, default=False)
    wanted = None if isinstance(pairs, str) and pairs == "auto" else as_pairing(pairs)
    kind = resolve_calibration(calibration)
    if isinstance(method, Naive):
        if isinstance(kind, Exact):
            raise InputError('`method="naive"` has no exact form. Use calibration="asymptotic".')
        kind = ASYMPTOTIC
    if isinstance(wanted, Complete) and kind == ASYMPTOTIC:
        raise InputError(
            f'`pairs="{pairing_name(wanted)}"` has no normal limit, so calibration="asymptotic" '
            "would be wrong. "
            'Use calibration="exact", or a window such as '
            f"pairs={safe_window(sizes.n_units)}."
        )
    if isinstance(wanted, Sketch):
        return _sketch(sizes, wanted, kind, budget, "A sketch is what was asked for.")
    if wanted is not None:
        return _fixed_pairs(sizes, wanted, kind, budget)
    if kind != ASYMPTOTIC and sizes.can_sketch and not isinstance(method, Split):
        return _complete(sizes, kind, budget) or _sketch(
            sizes, Sketch(), kind, budget, f"All pairs one by one do not fit {budget:g} s."
        )
    if isinstance(kind, Exact):
        return _exact(sizes, kind, budget, smallest=1) or _plan(
            sizes, Linear(), kind, "Not even a window of 1 fits the budget: linear pairs."
        )
    if kind == ASYMPTOTIC:
        return _asymptotic(sizes, budget)
    exact = _exact(sizes, Exact(), budget, SMALLEST_EXACT_WINDOW)
    if exact is not None:
        return exact
    narrow = _exact(sizes, Exact(), budget, smallest=1) or _plan(
        sizes, Linear(), Exact(), f"{UNTRUSTED}: exact flips on linear pairs."
    )
    return replace(_asymptotic(sizes, budget), otherwise=narrow)


def _plan(sizes: Sizes, pairing: Pairing, calibration: Exact | str, reason: str) -> Plan:
    flips = calibration.flips if isinstance(calibration, Exact) else 0
    n_units = sizes.rows_or_units(pairing, flips)
    n_pairs = pairing.n_pairs(n_units)
    seconds = sizes.seconds(pairing, flips)
    return Plan(pairing, calibration, n_units, n_pairs, seconds, reason, sizes)


def _complete(sizes: Sizes, kind: Exact | str, budget: float) -> Plan | None:
    """All pairs, if they fit the budget."""
    exact = kind if isinstance(kind, Exact) else Exact()
    plan = _plan(sizes, Complete(), exact, f"All pairs fit the budget of {budget:g} s.")
    return plan if plan.nominal_seconds <= budget else None


def _sketch(sizes: Sizes, wanted: Sketch, kind: Exact | str, budget: float, why: str) -> Plan:
    """A sketch with the frequencies asked for, or as many of 64, 32 and 16 as fit."""
    exact = kind if isinstance(kind, Exact) else Exact(SKETCH_FLIPS)
    counts = (64, 32, 16) if wanted.frequencies is None else (wanted.frequencies,)
    plans = [_plan(sizes, Sketch(wanted.cells, count), exact, why) for count in counts]
    return next((plan for plan in plans if plan.nominal_seconds <= budget), plans[-1])


def _fixed_pairs(sizes: Sizes, pairing: Pairing, kind: Exact | str, budget: float) -> Plan:
    if kind != "auto":
        return _plan(sizes, pairing, kind, "Pairs and calibration are as asked for.")
    exact = _plan(sizes, pairing, Exact(), "The pairs asked for fit the budget with exact flips.")
    if isinstance(pairing, Complete) or exact.nominal_seconds <= budget:
        return exact
    closed = _plan(
        sizes,
        pairing,
        ASYMPTOTIC,
        f"Exact flips on the pairs asked for would take {exact.nominal_seconds:.2g} nominal "
        f"seconds, more than the budget of {budget:g}.",
    )
    affordable = exact.nominal_seconds <= MOST_OVER * budget
    return replace(closed, otherwise=exact) if affordable else closed


def _exact(sizes: Sizes, kind: Exact, budget: float, smallest: int) -> Plan | None:
    """All pairs, or the widest window that fits if it is not narrower than `smallest`."""
    complete = _complete(sizes, kind, budget)
    if complete is not None:
        return complete
    R = _widest(sizes, kind.flips, budget)
    if smallest > R:
        return None
    return _plan(sizes, Window(R), kind, f"A window of {R} is the widest that fits {budget:g} s.")


def _widest(sizes: Sizes, flips: int, budget: float) -> int:
    """The widest window that fits the budget, by bisection; 0 if none does."""
    low, high = 0, (sizes.n_units - 1) // 2
    while low < high:
        middle = (low + high + 1) // 2
        if sizes.seconds(Window(middle), flips) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _asymptotic(sizes: Sizes, budget: float) -> Plan:
    safe = safe_window(sizes.n_units)
    R = min(safe, _widest(sizes, 0, budget))
    if R < 1:
        return _plan(sizes, Linear(), ASYMPTOTIC, "The data is large for the budget: linear pairs.")
    why = (
        "the widest for which the normal approximation is trusted"
        if safe == R
        else f"the widest that fits the budget of {budget:g} s"
    )
    return _plan(sizes, Window(R), ASYMPTOTIC, f"A window of {R} is {why}.")


def _machine_factor() -> float:
    """Measured over nominal time of a small test: how much slower than nominal this machine is."""
    from nosplit.families.two_sample import Paired
    from nosplit.kernels import default_kernels
    from nosplit.kernels.bank import Bank
    from nosplit.pairs.loop import accumulate_draws
    from nosplit.pairs.order import Natural

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 400, 4))
    kernels = default_kernels(2.0, 4.0)
    units = Paired(x, y, Natural(), Natural(), Bank(kernels), range(400))
    nominal = Sizes(400, 400, 4, len(kernels), 2).seconds(Complete(), 199)
    best = math.inf
    for _ in range(3):
        draws = units.draws(199, np.random.default_rng(0))
        start = time.perf_counter()
        accumulate_draws(units, Complete(), draws, workers=1)
        best = min(best, time.perf_counter() - start)
    return best / nominal


@dataclass(frozen=True)
class HsicSizes(Sizes):
    """What the cost depends on: n = m is the number of units, p all columns, d the products."""

    q: float = 8.0
    factors: int = 8

    @property
    def can_sketch(self) -> bool:
        """Whether a sketch serves: there are units enough for cells."""
        return self.n_units >= SMALLEST_SHIFTED

    @property
    def pairs_of(self) -> str:
        """What pairs are made of, in a word."""
        return "units"

    def cells(self, pairing: Sketch) -> int:
        """Cells of a sketch, at the most: each has q sums, so that there are fewer than of rows."""
        return max(16, min(2 * pairing.cells // round(self.q), self.n_units))

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        numbers = (pairing.frequencies or 0) * self.d
        row = NS_ROW + numbers * (NS_BOTH + NS_PROJECTION * self.p + NS_PRODUCT * self.q)
        draws = flips * self.cells(pairing) * self.q * 2 * numbers * NS_DRAWN
        return SECONDS_SKETCH + 1e-9 * (self.n_units * self.q * row + draws)

    @property
    def rows_per_unit(self) -> float:
        """Observations in a unit."""
        return self.q

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        if isinstance(pairing, Sketch):
            return self.sketch_seconds(pairing, flips)
        entries = self.q**2
        values = entries * (NS_ENTRY + self.p + NS_FACTOR * self.factors)
        draws = entries**2 * self.d * NS_SHIFT + flips * self.d * NS_LOOK_UP if flips else 0.0
        return 1e-9 * pairing.n_pairs(self.n_units) * (values + draws)
