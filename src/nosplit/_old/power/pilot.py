"""From a pilot sample to what a test of any size would be up against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nosplit._checks import Seed, check_rng
from nosplit._old.data.samples import read_samples
from nosplit._old.pairs.protocols import Units
from nosplit._old.power.alternative import Alternative, root, within
from nosplit._old.power.gaps import gaps_of
from nosplit._old.power.hoeffding import Effects
from nosplit._types import Array
from nosplit.core.pairings import Tile
from nosplit.data.options import Options, by_policy
from nosplit.errors import InputError, NonFiniteError
from nosplit.families.paired import paired_units
from nosplit.kernels.recipes import Kernels, Recipe, as_recipe
from nosplit.methods._base import prepare
from nosplit.methods.ost import project
from nosplit.methods.whitening import Whitened, Whitening

__all__ = ["pilot"]

# Rows of each sample that a pilot must have, and units whose effects are kept.
FEWEST_ROWS, MOST_EFFECTS = 20, 200
# Rows of each sample that the median heuristic looks at.
MEDIAN_ROWS = 1500
# Pairs that are looked at, and units in a block of them.
PAIRS, SMALLEST_BLOCK, LARGEST_BLOCK = 8_000_000, 64, 512
# Simulated pilots for each of so many lengths of μ.
DRAWS, LENGTHS = 2000, 33


def pilot(
    x: ArrayLike,
    y: ArrayLike,
    *,
    kernels: Kernels = None,
    rng: Seed = 0,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
) -> Alternative:
    """Estimate from a pilot sample what a test of any size would be up against.

    μ, Σ and ζ₁ are estimated without bias over all pairs of the pilot (inside blocks of 512 units,
    if there are more). The estimate of μ is then projected on μ ≥ 0, and shortened by what noise
    adds to its length; how far it may be from the truth is kept as two more alternatives, `bounds`.

    Parameters
    ----------
    x, y : array_like, tables or paths of files
        The pilot samples, as for `two_sample_test`, at least 20 rows each. If their sizes differ,
        as many rows of the larger are used as the smaller has.
    kernels : as in `two_sample_test`
        The kernels of the planned test; their bandwidths come from the pilot.
    rng : int, Generator or None
        Source of the shuffling.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`.

    Returns
    -------
    Alternative
        For `predict_power`, `sample_size` and `power_curve`. It holds no rows.

    Examples
    --------
    >>> import nosplit
    >>> x, y = nosplit.datasets.DiffVar().sample(200)
    >>> pilot(x, y, kernels="paper2")
    Alternative(d=2, pilot of 200 rows each)
    """
    data = by_policy(
        nan_policy,
        lambda policy: read_samples(x, y, Options.of(scale, columns, exclude, policy)),
    )
    x, y = data.x, data.y
    n = min(len(x), len(y))
    if n < FEWEST_ROWS:
        raise InputError(
            f"A pilot must have at least {FEWEST_ROWS} rows of `x` and of `y`, got {len(x)} and "
            f"{len(y)}."
        )
    generator = check_rng(rng)
    rows = [s[generator.permutation(len(s))[:n]] for s in (x, y)]
    units = paired_units(rows[0], rows[1], _fitted(data.recipe(kernels), rows))
    found = _usable(units)
    some = range(min(n, MOST_EFFECTS))
    shared: dict[str, Any] = {
        "kernels": units.bank.kernels,
        "columns": x.shape[1],
        "n_rows": n,
        "effects": Effects.from_values(units.values(Tile(some, some))),
    }
    middle = found.lengths[1]
    # ζ₁ goes with the length of μ. Below the noise of the pilot it does not tell that length.
    reference = max(middle, found.noise) or 1.0
    shortest, middling, longest = (found.at(v, v / reference, **shared) for v in found.lengths)
    if kernels is not None:
        return replace(middling, bounds=(shortest, longest))
    low, seen, high = gaps_of(data, rows, data.recipe(None), generator)
    bounds = replace(shortest, gap=low), replace(longest, gap=high)
    return replace(middling, bounds=bounds, gap=seen)


def _fitted(recipe: Recipe, rows: list[NDArray[Any]]) -> Recipe:
    """Kernels with the bandwidths that tests have on average: from more rows than a test uses."""
    if not recipe.looks_at_rows:
        return recipe
    try:
        return as_recipe(recipe.fit(np.concatenate([s[:MEDIAN_ROWS] for s in rows])))
    except InputError as error:  # what is wrong with the rows is said of the samples
        raise InputError(str(error).replace("`rows`", "`x` and `y`")) from None


@dataclass(frozen=True, eq=False)
class _Estimated:
    """Estimates of Σ and ζ₁, the direction of μ and how long it may be.

    `lengths` are the ends of a 95 % interval with the median between them; `noise` is the standard
    error of a length.
    """

    direction: Array
    cov: Array
    zeta: Array
    noise: float
    lengths: tuple[float, float, float]

    def at(self, length: float, factor: float, **shared: Any) -> Alternative:
        """μ of the given length, ζ₁ multiplied by the factor, and the Σ that goes with them."""
        cov = self.cov + 2.0 * (factor - 1.0) * self.zeta
        cov = (cov + cov.T) / 2.0
        return Alternative(length * self.direction, cov, factor * self.zeta, **shared)


def _usable(units: Units) -> _Estimated:
    """Estimates from units whose values have a covariance matrix that a test could use."""
    hint = "Rescale the data, for example to unit variance, or choose other kernels."
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _estimated(units)
    except np.linalg.LinAlgError as error:
        raise NonFiniteError(f"The kernels' values on the pilot are not finite. {hint}") from error
    except InputError as error:
        raise InputError(
            "The kernels' values on the pilot are constant, too small or too large to have a "
            f"covariance matrix. {hint}"
        ) from error


def _estimated(units: Units) -> _Estimated:
    """Estimates from all pairs inside blocks of the pilot's units."""
    n = units.n_units
    size = min(n, LARGEST_BLOCK, max(SMALLEST_BLOCK, 2 * PAIRS // n))
    count = -(-n // size)
    cuts = [n * i // count for i in range(count + 1)]
    blocks = [range(a, b) for a, b in pairwise(cuts)]
    sizes = np.array([len(block) for block in blocks], dtype=np.float64)
    pairs = float((sizes * (sizes - 1.0) / 2.0).sum())
    triples = float((sizes * (sizes - 1.0) * (sizes - 2.0)).sum())
    # Covariances are those of the values minus any vector; near their mean, nothing cancels.
    first = _block_sums(units, blocks[0], np.zeros(1))
    centre = 2.0 * first.total / (sizes[0] * (sizes[0] - 1.0))
    sums = [_block_sums(units, block, centre) for block in blocks]
    rest = np.sum([s.total for s in sums], axis=0) / pairs
    same = np.sum([s.same for s in sums], axis=0) - pairs * np.outer(rest, rest)
    shared = np.sum([s.shared(rest) for s in sums], axis=0)
    apart = -(same + shared) / (pairs * (pairs - 1.0) - triples)
    cov = same / pairs - apart
    if not np.isfinite(cov).all():
        raise np.linalg.LinAlgError("not finite")
    zeta = within(shared / triples - apart, cov)
    return _located(centre + rest, cov, zeta, pairs, triples / pairs)


@dataclass(frozen=True, eq=False)
class _BlockSums:
    """Sums over a block of n units: of h, of hh' (each pair once), and of h over each unit's pairs.

    `rows` (n, d) are the sums of h over the pairs of a unit.
    """

    total: Array
    same: Array
    rows: Array

    def shared(self, mu: Array) -> Array:
        """Sum of (h - μ)(h' - μ)' over the ordered pairs of pairs that share one unit."""
        n = len(self.rows)
        rows = self.rows - (n - 1.0) * mu
        cross = np.outer(self.total, mu)
        pairs = n * (n - 1.0) / 2.0
        same = self.same - cross - cross.T + pairs * np.outer(mu, mu)
        return np.asarray(rows.T @ rows - 2.0 * same)


def _block_sums(units: Units, block: range, centre: Array) -> _BlockSums:
    h = units.values(Tile(block, block)) - centre[:, None, None]
    n = len(block)
    h[:, range(n), range(n)] = 0.0
    flat = h.reshape(len(h), -1)
    return _BlockSums(flat.sum(axis=1) / 2.0, flat @ flat.T / 2.0, h.sum(axis=2).T)


def _located(mu: Array, cov: Array, zeta: Array, pairs: float, shared: float) -> _Estimated:
    """Project μ on μ ≥ 0 in the metric of its own error, and find how long it may be.

    What counts for power is the length of Σ^(-1/2) μ. The noise of a pilot makes it too long, and
    more so in some directions than in others, so the pilot is simulated with means of the same
    direction and of many lengths: those fit that would give a length like the observed one.
    """
    cone = _Cone(cov, cov + shared * zeta)
    rays, sizes = cone.project(np.sqrt(pairs) * mu[None])
    unit, length = rays[0], float(sizes[0])
    sd = cone.noise(unit)
    lengths = np.linspace(0.0, length + 6.0 * sd, LENGTHS)
    # A longer mean has a larger ζ₁, and so more noise.
    growth = np.sqrt(shared * lengths / (max(length, sd) or 1.0))
    z = np.random.default_rng(0).standard_normal((2, DRAWS // 2, len(mu)))
    z = np.concatenate([z, -z], axis=1)
    noise = z[0] @ root(cov) + growth[:, None, None] * (z[1] @ root(zeta))
    tau = lengths[:, None, None] * unit + noise
    again = cone.project(tau.reshape(-1, len(mu)))[1].reshape(LENGTHS, DRAWS)
    low, middle = _fitting(again, lengths, length, (0.025, 0.5))
    # A pilot that shows less than pilots without a difference do knows no more than those.
    (high,) = _fitting(again, lengths, max(length, float(np.median(again[0]))), (0.975,))
    direction = np.maximum(unit, 0.0) / np.sqrt(pairs)
    return _Estimated(direction, cov, zeta, sd, (low, middle, max(high, middle)))


@dataclass(frozen=True, eq=False)
class _Cone:
    """The cone μ ≥ 0, with lengths in the metric of Σ and projections in that of the pilot's error.

    The projection is OST's.
    """

    cov: Array
    spread: Array

    def project(self, tau: Array) -> tuple[Array, Array]:
        """Rays of length one, (B, d), and how far along them the projections are, (B,)."""
        batch = prepare(tau, self.spread, Whitening())
        found = project(batch)
        ray = batch.white.colour(found.direction) * batch.white.scale
        scale = np.linalg.norm(self._white.whiten(ray), axis=1)
        size = np.linalg.norm(found.direction, axis=1)
        # Where no kernel sees a difference, a combination that does is no evidence of one.
        seen = np.where(np.any(tau > 0, axis=1), np.maximum(found.statistic, 0.0), 0.0)
        share = seen / np.where(size > 0, size, 1.0)
        return ray / np.where(scale > 0, scale, 1.0)[:, None], share * scale

    def noise(self, unit: Array) -> float:
        """Standard error of the length of a mean along a ray."""
        beta = self._white.weights(self._white.whiten(unit[None]))[0]
        return float(np.sqrt(beta @ self.spread @ beta))

    @cached_property
    def _white(self) -> Whitened:
        return Whitening()(self.cov)


def _fitting(
    again: Array, lengths: Array, observed: float, chances: tuple[float, ...]
) -> list[float]:
    """Lengths at which a longer estimate than the observed one has the given chances."""
    longer = np.mean(again > observed * (1.0 + 1e-9), axis=1)
    found = np.interp(chances, np.maximum.accumulate(longer), lengths)
    return [float(v) for v in found]
