"""The plan of a test: what will be computed, at which cost, by sizes alone."""

from __future__ import annotations

from dataclasses import dataclass

from nosplit.core.bins import number_of_bins
from nosplit.core.exchange import RARE
from nosplit.core.feature_map import MAX_PAIR_COLUMNS, MAX_PRODUCTS, N_REFERENCE
from nosplit.core.forms import MAX_RANK
from nosplit.core.pairings import Complete, LinearPairs, Pairing, Window, pairing_name
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, Wild
from nosplit.inference.caveats import safe_window
from nosplit.kernels.bank import kernel_bases
from nosplit.kernels.eigenbases import SCALE_ROWS, n_landmarks
from nosplit.kernels.recipes import Recipe

__all__ = ["MAX_POOLED", "Effort", "Plan", "is_sketched", "plan_pairs", "plan_samples"]

# Rows of the smaller sample, and of both, up to which rows are permuted one by one.
MAX_ROWS, MAX_POOLED = 2_000, 20_000
# Rows of the smaller sample from which there are cells enough for a sketch.
MIN_SKETCHED = 400
# Nominal nanoseconds of one core, measured on a 2.8 GHz server core. A pair of rows: kernel values,
# a column of them, a kernel of them. A number of an atom: to make it, and under a draw, of a few
# picked atoms and of all; a sum under a draw. A value: to rank it. A column: under a draw.
NS_VALUE, NS_COLUMN, NS_KERNEL = 2.0, 0.15, 1.0
NS_NUMBER, NS_PICKED, NS_PRODUCT, NS_SUM = 8.0, 0.4, 0.022, 1.1
NS_RANKED, NS_TAILS = 60.0, 32.0
# A distance of rows, of which scales and landmarks are found: a column; a landmark of another. A
# wave: a column, and its cosine and sine.
NS_SCALE, NS_LANDMARK, NS_WAVE, NS_TURN = 0.25, 30.0, 25.0, 0.08
# Seconds of a call that no size changes.
FIXED = 0.008
# Random frequencies of a kernel in place of exact values, and bins of a column if most do not fit.
FREQUENCIES, FEWER_BINS = (64, 32, 16), (32, 16, 8, 4)


def is_sketched(*sizes: int) -> bool:
    """Whether samples of these sizes are compared through sums of cells, and not row by row."""
    return min(sizes) > MAX_ROWS or (sum(sizes) > MAX_POOLED and min(sizes) >= MIN_SKETCHED)


@dataclass(frozen=True)
class Plan:
    """The plan of a test.

    Attributes
    ----------
    pairing : Pairing
        The pairs of units that are compared.
    calibration : Exact or "asymptotic"
        How the p-value is computed.
    effort : Effort
        The cost of permutations.
    """

    pairing: Pairing
    calibration: Exact | str
    effort: Effort

    @property
    def pairs(self) -> str:
        """Short name of the pairs."""
        return pairing_name(self.pairing)


def plan_pairs(pairing: Pairing | None, n_units: int) -> Plan:
    """Plan an estimate over pairs with its closed form; by default the widest safe window."""
    if pairing is None:
        R = min(safe_window(n_units), (n_units - 1) // 2)
        pairing = Window(R) if R >= 1 else LinearPairs()
    return Plan(pairing, ASYMPTOTIC, Effort(0))


@dataclass(frozen=True)
class Effort:
    """The cost of a test: permutations, frequencies and bins.

    Attributes
    ----------
    n_resamples : int
        Random permutations besides the data.
    n_frequencies : int
        Random frequencies of a kernel; 0 for exact kernels.
    n_bins : int or None
        Bins of a column of numbers; None for as many as the rows allow.
    seconds : float
        Nominal seconds of one core.
    """

    n_resamples: int
    n_frequencies: int = 0
    n_bins: int | None = None
    seconds: float = 0.0

    @classmethod
    def of(
        cls,
        sizes: tuple[int, ...],
        atoms: int,
        p: int,
        recipe: Recipe,
        n_resamples: int,
        budget: float,
    ) -> Effort:
        """Choose what fits the budget, in nominal seconds: first kernels give way, then bins.

        Kernels that were named stay exact. Place and spread of every column always stay.

        Parameters
        ----------
        sizes : tuple of int
            Rows of each sample.
        atoms : int
            Atoms of the design.
        p : int
            Columns.
        recipe : Recipe
            The kernels.
        n_resamples : int
            Random permutations besides the data.
        budget : float
            Seconds of one core, for kernels and for shapes of columns each.
        """
        n, least, draws = sum(sizes), min(sizes), n_resamples + 1
        trial = recipe.build()
        d, some, marks = len(trial), min(n, SCALE_ROWS), n_landmarks(n)
        value = NS_VALUE + NS_COLUMN * p * kernel_bases(trial) + NS_KERNEL * d
        rows = n / atoms  # rows of an atom: kernels of two atoms have their product
        k = len(sizes) if len(sizes) > 2 else 1  # contrasts
        exact = atoms**2 / 2.0 * (rows**2 * value + k * draws * d * NS_PRODUCT)
        scale = some**2 * p * NS_SCALE
        if not recipe.default:
            return cls(n_resamples, seconds=FIXED + 1e-9 * (scale + exact))
        picked = k == 1 and RARE * least <= atoms
        under = NS_PICKED * least if picked else NS_PRODUCT * atoms
        number = NS_NUMBER * atoms + k * draws * (under + NS_SUM)
        rank = min(MAX_RANK, atoms // 3)
        exact += n * marks * (NS_LANDMARK + 0.1 * marks + 2 * NS_SCALE * p) + 2 * rank * number
        wave = d * (n * (NS_WAVE + NS_TURN * p) + 4 * number)
        waves = [count for count in FREQUENCIES if 1e-9 * count * wave <= budget]
        frequencies = 0 if 1e-9 * exact <= budget else (waves or FREQUENCIES[-1:])[0]
        most = number_of_bins(n)
        counts = [most, *(count for count in FEWER_BINS if count < most)]
        fitting = (count for count in counts if 1e-9 * count * p * number <= budget)
        bins = next(fitting, counts[-1])
        numbers = min(MAX_PRODUCTS, 16 * p * p) if p <= MAX_PAIR_COLUMNS else 0
        numbers += 2 * N_REFERENCE + min(rank, p) + (bins + 2) * p
        seconds = numbers * number + n * p * NS_RANKED + draws * p * NS_TAILS + scale
        seconds += atoms * p * min(atoms, p, 4 * MAX_RANK) * NS_PRODUCT
        seconds += frequencies * wave if frequencies else exact
        return cls(n_resamples, frequencies, bins, FIXED + 1e-9 * seconds)


def plan_samples(
    sizes: tuple[int, ...],
    atoms: int,
    p: int,
    recipe: Recipe,
    calibration: Exact | Wild | str,
    budget: float,
) -> Plan:
    """Plan a permutation test of samples of these sizes and p columns, in so many atoms."""
    exact = calibration if isinstance(calibration, Exact) else Exact()
    return Plan(Complete(), exact, Effort.of(sizes, atoms, p, recipe, exact.n_resamples, budget))
