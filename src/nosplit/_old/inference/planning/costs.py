"""The cost of tests, by a fixed nominal model: never by a clock or by the data."""

from __future__ import annotations

from dataclasses import dataclass, field

from nosplit._old.pairs.draws import FEW_LABELS, MOST_DEALT, SMALLEST_TILE
from nosplit.core.pairings import Complete, Pairing, Sketch, Window
from nosplit.inference.calibrations import Exact
from nosplit.inference.plan import MAX_PERMUTED, MAX_SHIFTED, is_sketched, plan_variables
from nosplit.kernels.bank import kernel_bases
from nosplit.kernels.recipes import Recipe

__all__ = ["DesignSizes", "HsicSizes", "Sizes", "design_sizes", "sizes_of"]

# Nominal nanoseconds of one core, rounded from measurements on a 2.8 GHz server core.
NS_PAIR, NS_COMBINATION, NS_COLUMN, NS_KERNEL = 10.0, 2.0, 0.3, 1.0
NS_FLIP_PRODUCT, NS_FLIP_SIGN = 0.025, 15.0
SECONDS_FIXED = 0.01
# The same for what is seen besides kernels: a bin under a draw, a landmark of a row, squared and
# cubed; seconds of a column.
NS_COUNT, NS_LANDMARK, NS_EIGEN, SECONDS_COLUMN = 8.0, 0.2, 1.2, 8e-4
# Products of waves of all pairs of columns, about, and columns up to which there are any.
PAIR_PRODUCTS, PAIRED_COLUMNS = 200, 20
# The same for sketches: a row, a bin of it, a frequency, a column of that, a number under a draw.
NS_ROW, NS_BIN, NS_WAVE, NS_PROJECTION, NS_DRAWN = 60.0, 18.0, 1.2, 0.04, 0.03
SECONDS_SKETCH = 0.05
# Looking at a bin of a column under a draw, besides adding it up: however many frequencies there
# are, all columns are looked at.
NS_LOOKED = 45.0
# The share of waves' cost where kernels are those of the default grid: two in three follow.
FOLLOWING = 0.5
# Units from which there are cells enough, also of samples of different sizes; draws on them, and
# bins of all columns of a cell.
SMALLEST_SKETCH, SMALLEST_UNEVEN, SKETCH_FLIPS, SKETCH_BINS = 400, 16, 9_999, 8_192
# Sketches of observations: both numbers of a pair of waves, their product for one shift, and units
# from which there are cells enough.
NS_BOTH, NS_PRODUCT, SMALLEST_SHIFTED = 8.0, 0.7, 100
# The same for several samples: a pair of units under a draw, a number of a unit; and draws.
NS_INSIDE, NS_ADDED, SEVERAL_FLIPS = 0.15, 0.25, 1_999
# The same for designs: a value of a pair of rows that is added to that of its units, and one of two
# units that is centred in their block.
NS_GATHERED, NS_CENTRED = 5.0, 15.0
# The same for units of observations: an entry, a factor of it.
NS_ENTRY, NS_FACTOR = 40.0, 4.0

# Whole tests over what they nominally take, where pairs and draws alone are as fast as measured.
WHOLE = 1.8


@dataclass(frozen=True)
class Sizes:
    """Sizes on which the cost of a test depends."""

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
    def in_rows(self) -> bool:
        """Whether rows are permuted one by one, and none are summed in cells."""
        return not is_sketched(self.n, self.m)

    @property
    def can_sketch(self) -> bool:
        """Whether a sketch serves: there are rows enough for cells."""
        return self.n_units >= (SMALLEST_SKETCH if self.n == self.m else SMALLEST_UNEVEN)

    @property
    def ways(self) -> tuple[Sizes, ...]:
        """Sizes for ways to look at all pairs, that which finds most first."""
        return (self,)

    @property
    def pairs_of(self) -> str:
        """Plural of what pairs are made of."""
        return "rows"

    @property
    def draws_are(self) -> str:
        """Adjective of the draws."""
        return "exact"

    @property
    def whole(self) -> float:
        """Seconds of a whole test over those of its pairs and draws."""
        return WHOLE

    @property
    def sketch_flips(self) -> int:
        """Draws on a sketch, where none are asked for."""
        return SKETCH_FLIPS

    def cells(self, pairing: Sketch) -> int:
        """Cells of a sketch, about: of the smaller sample."""
        return pairing.cells

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        waves, bins = (pairing.frequencies or 0) * self.d, min(128, SKETCH_BINS // self.p)
        wave = (NS_WAVE + NS_PROJECTION * self.p) * (FOLLOWING if self.default else 1.0)
        row = NS_ROW + NS_BIN * self.p + waves * wave
        numbers = 2 * waves + (bins + 1) * self.p
        draws = flips * pairing.cells * numbers * NS_DRAWN
        return SECONDS_SKETCH + 1e-9 * ((self.n + self.m) * row + draws)

    def besides(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of what no choice changes: looking at columns of sketches under draws.

        Of samples of different sizes there are more cells to add up.
        """
        if not (isinstance(pairing, Sketch) and self.default and flips):
            return 0.0
        bins = min(128, SKETCH_BINS // self.p)
        numbers = 2 * (pairing.frequencies or 0) * self.d + (bins + 1) * self.p
        more = max(0, self._labelled(pairing) - pairing.cells)
        return 1e-9 * flips * (bins * self.p * NS_LOOKED + more * numbers * NS_DRAWN)

    def _labelled(self, pairing: Sketch) -> int:
        """Cells that are added up under a draw, about, where sizes differ."""
        few, many = sorted((self.n, self.m))
        if few == many:
            return pairing.cells
        every = min(MOST_DEALT, min(few, pairing.cells) * (few + many) / few)
        return round(min(every, FEW_LABELS * every * few / (few + many)))

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core, of what there is to choose."""
        if isinstance(pairing, Sketch):
            return self.sketch_seconds(pairing, flips)
        pooled = isinstance(pairing, Complete) and flips and self.n != self.m
        kernels = self._pooled(flips) if pooled else self._pairs(pairing, flips)
        seen = self.default and isinstance(pairing, Complete) and flips
        return kernels + self._seen(flips) if seen else kernels

    def rows_or_units(self, pairing: Pairing, flips: int) -> int:
        """Number of units, or of all rows where labels are permuted among all."""
        pooled = isinstance(pairing, Complete) and flips and self.n != self.m
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
        features += PAIR_PRODUCTS if 1 < self.p <= PAIRED_COLUMNS else 0
        drawn = flips * units * (bins * self.p + features) * NS_FLIP_PRODUCT
        columns = flips * bins * self.p * NS_COUNT
        spectra = marks**2 * (rows * NS_LANDMARK + marks * NS_EIGEN)
        return SECONDS_COLUMN * self.p + 1e-9 * (drawn + columns + spectra)

    def _pairs(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of pairs of units."""
        n_pairs = pairing.n_pairs(self.n_units)
        bases = NS_COLUMN * self.p * self.bases
        value = NS_PAIR + 4.0 * (NS_COMBINATION + bases + NS_KERNEL * self.d)
        return SECONDS_FIXED + 1e-9 * (n_pairs * value + flips * self._flip(pairing, n_pairs))

    def _flip(self, pairing: Pairing, n_pairs: int) -> float:
        """Nominal nanoseconds of one draw, by matrix products."""
        products = n_pairs
        if isinstance(pairing, Window):
            products = self.n_units * (max(pairing.R, SMALLEST_TILE) + pairing.R)
        return NS_FLIP_SIGN * self.n_units + NS_FLIP_PRODUCT * self.d * products


@dataclass(frozen=True)
class DesignSizes(Sizes):
    """The same where units change places inside blocks, or among samples."""

    units: int = 0
    samples: int = 2

    @property
    def n_units(self) -> int:
        """Number of units."""
        return self.units

    @property
    def in_rows(self) -> bool:
        """Whether units of two samples are permuted one by one."""
        return self.samples == 2 and super().in_rows

    @property
    def can_sketch(self) -> bool:
        """Whether a sketch serves: always, of few units by themselves."""
        return True

    @property
    def pairs_of(self) -> str:
        """Plural of what pairs are made of."""
        return "units"

    @property
    def sketch_flips(self) -> int:
        """Draws on a sketch: fewer of several samples, of which each has as many sums."""
        return SKETCH_FLIPS if self.samples == 2 else SEVERAL_FLIPS

    def cells(self, pairing: Sketch) -> int:
        """Places in cells of a sketch, about."""
        return min(self.units, 2 * pairing.cells if self.samples == 2 else pairing.cells)

    def rows_or_units(self, pairing: Pairing, flips: int) -> int:
        """Number of units."""
        return self.units

    def besides(self, pairing: Pairing, flips: int) -> float:
        """Nothing that is not in `seconds`."""
        return 0.0

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        waves, bins = (pairing.frequencies or 0) * self.d, min(128, SKETCH_BINS // self.p)
        row = NS_ROW + NS_BIN * self.p + waves * (NS_WAVE + NS_PROJECTION * self.p)
        numbers = 2 * waves + (bins + 1) * self.p
        drawn = NS_DRAWN if self.samples == 2 else NS_ADDED
        draws = flips * self.cells(pairing) * numbers * drawn
        return SECONDS_SKETCH + 1e-9 * ((self.n + self.m) * row + draws)

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        if isinstance(pairing, Sketch):
            return self.sketch_seconds(pairing, flips)
        rows = (self.n + self.m) ** 2 / 2.0
        value = NS_COMBINATION + NS_COLUMN * self.p * self.bases + NS_KERNEL * self.d
        drawn = self.units**2 / 2.0 * NS_FLIP_PRODUCT
        if self.samples > 2:
            drawn = self.units**2 / 2.0 * NS_INSIDE
        else:
            value += NS_GATHERED * self.d
            drawn += self.units**2 * NS_CENTRED / max(flips, 1)
        seen = self._seen(flips) if self.default else 0.0
        return SECONDS_FIXED + seen + 1e-9 * (rows * value + flips * self.d * drawn)


@dataclass(frozen=True)
class HsicSizes(Sizes):
    """The same for independence: n = m is the number of units, p all columns, d the products."""

    q: float = 8.0
    factors: int = 8

    @property
    def in_rows(self) -> bool:
        """Whether y is permuted, or shifted in every unit by itself."""
        return self.observations <= MAX_SHIFTED

    @property
    def can_sketch(self) -> bool:
        """Whether a sketch serves: there are units enough for cells."""
        return self.n_units >= SMALLEST_SHIFTED

    @property
    def pairs_of(self) -> str:
        """Plural of what pairs are made of."""
        return "units"

    @property
    def ways(self) -> tuple[Sizes, ...]:
        """None: units beyond those rows are summed in cells."""
        return ()

    @property
    def whole(self) -> float:
        """Seconds of a whole test over those of its pairs and draws."""
        return 1.0 if self.in_rows else WHOLE

    @property
    def observations(self) -> int:
        """Number of observations."""
        return round(self.n_units * self.q)

    def rows_or_units(self, pairing: Pairing, flips: int) -> int:
        """Number of units, or of all observations where one variable is permuted among them."""
        every = isinstance(pairing, Complete) and flips and self.observations <= MAX_PERMUTED
        return self.observations if every else self.n_units

    def cells(self, pairing: Sketch) -> int:
        """Cells of a sketch, at the most: each has q sums, so that there are fewer than of rows."""
        return max(16, min(2 * pairing.cells // round(self.q), self.n_units))

    def besides(self, pairing: Pairing, flips: int) -> float:
        """Nothing that is not in `seconds`."""
        return 0.0

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        numbers = (pairing.frequencies or 0) * self.d
        row = NS_ROW + numbers * (NS_BOTH + NS_PROJECTION * self.p + NS_PRODUCT * self.q)
        draws = flips * self.cells(pairing) * self.q * 2 * numbers * NS_DRAWN
        return SECONDS_SKETCH + 1e-9 * (self.n_units * self.q * row + draws)

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        if isinstance(pairing, Sketch):
            return self.sketch_seconds(pairing, flips)
        if flips:
            n, draws = self.observations, Exact(flips)
            how = plan_variables(n, self.p, self.d, draws, 1.0, permuted=n <= MAX_PERMUTED)
            return how.effort.seconds
        entries = self.q**2 * (NS_ENTRY + self.p + NS_FACTOR * self.factors)
        return 1e-9 * pairing.n_pairs(self.n_units) * entries


def sizes_of(n: int, m: int, p: int, recipe: Recipe) -> Sizes:
    """Sizes of a test, before any bandwidth is known."""
    trial = recipe.build()
    return Sizes(n, m, p, len(trial), kernel_bases(trial), default=recipe.default)


def design_sizes(n: int, m: int, p: int, recipe: Recipe, units: int, samples: int = 2) -> Sizes:
    """The same with a design of so many units: n and m rows, or n of several samples (m = 0)."""
    trial = recipe.build()
    bases = kernel_bases(trial)
    return DesignSizes(n, m, p, len(trial), bases, units, samples, default=recipe.default)
