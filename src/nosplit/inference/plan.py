"""The plan of a test: what will be computed, at which cost, by sizes alone."""

from __future__ import annotations

from dataclasses import dataclass

from nosplit.core.bins import number_of_bins
from nosplit.core.exchange import RARE
from nosplit.core.feature_map import MAX_PAIR_COLUMNS, MAX_PRODUCTS, N_REFERENCE
from nosplit.core.forms import MANY_LABELS, MAX_RANK
from nosplit.core.pairings import Complete, LinearPairs, Pairing, Sketch, Window, pairing_name
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, Wild
from nosplit.inference.caveats import safe_window
from nosplit.kernels.bank import kernel_bases
from nosplit.kernels.eigenbases import SCALE_ROWS, n_landmarks
from nosplit.kernels.recipes import Recipe

__all__ = [
    "MAX_BLOCKED",
    "MAX_PERMUTED",
    "MAX_POOLED",
    "MAX_SHIFTED",
    "Effort",
    "FitSizes",
    "Plan",
    "is_sketched",
    "plan_fit",
    "plan_pairs",
    "plan_samples",
    "plan_variables",
]

# Rows of the smaller sample, and of both, up to which rows are permuted one by one.
MAX_ROWS, MAX_POOLED = 2_000, 20_000
# Rows of the smaller sample from which there are cells enough for a sketch.
MIN_SKETCHED = 400
# Rows of two variables up to which all of y is permuted: one by one, and in groups or blocks. Rows
# up to which y is shifted in every unit of eight; of more, cells of units are.
MAX_PERMUTED, MAX_BLOCKED, MAX_SHIFTED = 400, 500, 2_000
# Nominal nanoseconds of one core, measured on a 2.8 GHz server core. A pair of rows: kernel values,
# a column of them, a kernel of them. A number of an atom: to make it, and under a draw, of a few
# picked atoms and of all; a sum under a draw. A value: to rank it. A column: under a draw.
NS_VALUE, NS_COLUMN, NS_KERNEL = 2.0, 0.15, 1.0
NS_NUMBER, NS_PICKED, NS_PRODUCT, NS_SUM = 8.0, 0.4, 0.022, 1.1
# The same added up for many labels.
NS_ADDED = 0.06
NS_RANKED, NS_TAILS = 60.0, 32.0
# A distance of rows, of which scales and landmarks are found: a column; a landmark of another. A
# wave: a column, and its cosine and sine.
NS_SCALE, NS_LANDMARK, NS_WAVE, NS_TURN = 0.25, 30.0, 25.0, 0.08
# A pair of rows under a permutation of y, for each kernel on x, on y, or on both.
NS_PERMUTED = 0.4
# A pair of rows of a Stein test: its distance, a column, a kernel. Stein features of a row: all, a
# wave, a number of low order; a number drawn from a model with its score.
NS_STEIN, NS_STEIN_COLUMN, NS_STEIN_KERNEL = 2.2, 0.2, 0.6
NS_STEIN_ROW, NS_STEIN_WAVE, NS_LOW_ORDER, NS_MODEL = 60.0, 5.5, 1.5, 40.0
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
    calibration : Exact, Wild or "asymptotic"
        How the p-value is computed.
    effort : Effort
        The cost of permutations.
    """

    pairing: Pairing
    calibration: Exact | Wild | str
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
        k = max(len(sizes) - 1, 1)  # contrasts; that of the last sample follows from the others
        exact = atoms**2 / 2.0 * (rows**2 * value + k * draws * d * NS_PRODUCT)
        scale = some**2 * p * NS_SCALE
        if not recipe.default:
            return cls(n_resamples, seconds=FIXED + 1e-9 * (scale + exact))
        picked = k == 1 and RARE * least <= atoms
        product = NS_ADDED if len(sizes) >= MANY_LABELS else k * NS_PRODUCT
        under = NS_PICKED * least if picked else product * atoms
        number = NS_NUMBER * atoms + draws * (under + k * NS_SUM)
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


def plan_variables(
    n: int, p: int, kernels: int, calibration: Exact | Wild | str, budget: float, permuted: bool
) -> Plan:
    """Plan an independence test of n rows of p columns in all, by so many product kernels.

    If y is shifted inside units of rows, kernels have as many random frequencies as fit the budget.
    """
    exact = calibration if isinstance(calibration, Exact) else Exact()
    draws = exact.n_resamples + 1
    if permuted:
        # Kernels on x, on y and of distances; products of waves count as much as one kernel.
        under = draws * (kernels + 2.0 * kernels**0.5 + 4.0) * NS_PERMUTED
        seconds = n * n / 2.0 * (under + p * NS_SCALE)
        return Plan(Complete(), exact, Effort(exact.n_resamples, seconds=FIXED + 1e-9 * seconds))
    # Two numbers of a frequency under each shift, as they are and with a flattened spectrum.
    number = NS_NUMBER * n + draws * (NS_PICKED * n / 8.0 + NS_SUM)
    wave = kernels * (n * (2 * NS_WAVE + NS_TURN * p) + 4 * number)
    fitting = (count for count in FREQUENCIES if 1e-9 * count * wave <= budget)
    frequencies = next(fitting, FREQUENCIES[-1])
    seconds = frequencies * wave + MAX_PRODUCTS * number
    return Plan(
        Complete(), exact, Effort(exact.n_resamples, frequencies, None, FIXED + 1e-9 * seconds)
    )


# -- goodness of fit -------------------------------------------------------------------------------


def plan_fit(
    sizes: FitSizes,
    pairs: Pairing | None,
    calibration: Exact | Wild | str,
    budget: float,
    *,
    samples: bool = False,
    designed: bool = False,
    default: bool = True,
) -> Plan:
    """Plan a test of fit: by samples of the model if it can be sampled and they fit the budget.

    Otherwise units of rows have random signs, and beyond the budget rows are summed in cells.
    Samples that were asked for have frequencies in place of exact kernels if these do not fit.

    Parameters
    ----------
    sizes : FitSizes
        Rows, units, columns and kernels.
    pairs : Complete, Sketch or None
        The pairs; None for the default.
    calibration : Exact, Wild or "auto"
        Samples of the model, random signs, or whichever is better.
    budget : float
        Nominal seconds of one core.
    samples : bool
        Whether the model can be sampled.
    designed : bool
        Whether rows depend on one another, as samples of the model do not.
    default : bool
        Whether no kernels were named: those that were stay exact.
    """
    sketch, free = isinstance(pairs, Sketch), calibration == "auto" and samples and not designed
    if isinstance(calibration, Exact):
        _check_simulated(samples, designed, sketch)
    draws = calibration if isinstance(calibration, Exact) else Exact()
    exact = sizes.simulated(draws.n_resamples)
    if isinstance(calibration, Exact) or (free and not sketch and exact <= budget):
        costs = {count: sizes.simulated(draws.n_resamples, count) for count in FREQUENCIES}
        fitting = [count for count in FREQUENCIES if costs[count] <= budget] or FREQUENCIES[-1:]
        fewer = default and pairs is None and exact > max(budget, costs[fitting[0]])
        frequencies = fitting[0] if fewer else 0
        seconds = costs[frequencies] if fewer else exact
        return Plan(Complete(), draws, Effort(draws.n_resamples, frequencies, seconds=seconds))
    wild = calibration if isinstance(calibration, Wild) else Wild()
    seconds = sizes.signed(wild.n_resamples)
    if designed and sketch:
        raise InputError(
            "`groups` and `series` need all pairs of rows, one by one, so `pairs` must not be a "
            "sketch. Leave `pairs` out."
        )
    if designed and seconds > budget:
        raise InputError(
            f"`groups` and `series` need all pairs of rows, which take {seconds:.2g} nominal "
            f"seconds for {sizes.n:,} rows, more than budget={budget:g}. Use fewer rows, or a "
            "larger budget."
        )
    summed = sketch or (pairs is None and seconds > budget and sizes.n >= MIN_SKETCHED)
    return Plan(Sketch() if summed else Complete(), wild, Effort(wild.n_resamples, seconds=seconds))


def _check_simulated(samples: bool, designed: bool, sketch: bool) -> None:
    """Check that samples of the model can be what the data is compared with."""
    if designed:
        raise InputError(
            '`calibration="simulate"` draws independent rows from the model, and rows of `groups` '
            "or `series` are not. Leave `calibration` out: their units have random signs."
        )
    if not samples:
        raise InputError(
            '`calibration="simulate"` needs a model that can sample: give one of nosplit.models as '
            '`score`, or use calibration="wild".'
        )
    if sketch:
        raise InputError(
            '`pairs="sketch"` goes with calibration="wild" here, got "simulate": sketching a '
            "sample from the model for every draw takes too long. Leave `pairs` out."
        )


@dataclass(frozen=True)
class FitSizes:
    """Sizes on which the cost of a test of fit depends: rows, atoms, columns and kernels."""

    n: int
    atoms: int
    p: int
    d: int

    @property
    def _pair(self) -> float:
        """Nominal nanoseconds of a pair of rows."""
        return NS_STEIN + NS_STEIN_COLUMN * self.p + NS_STEIN_KERNEL * self.d

    def signed(self, n_resamples: int) -> float:
        """Nominal seconds with a random sign for each atom."""
        pairs = self.n**2 * self._pair + self.atoms**2 * (n_resamples + 1) * self.d * NS_PRODUCT
        numbers = self.p * (NS_NUMBER * self.atoms + (n_resamples + 1) * NS_SUM)
        return FIXED + 1e-9 * (pairs / 2.0 + numbers)

    def simulated(self, n_resamples: int, n_frequencies: int = 0) -> float:
        """Nominal seconds with samples of the model; exact kernels if there are 0 frequencies."""
        n, p = self.n, self.p
        waves = min(8 * p, 512) + self.d * n_frequencies
        low = 3 * p + min(p * p, 256)
        row = NS_STEIN_ROW + NS_STEIN_WAVE * waves + NS_LOW_ORDER * low + NS_MODEL * p
        pairs = 0.0 if n_frequencies else n * (n - 1) / 2.0 * self._pair
        return FIXED + 1e-9 * (n_resamples + 1) * (pairs + n * row)
