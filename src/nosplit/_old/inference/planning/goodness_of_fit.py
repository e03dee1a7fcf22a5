"""The choice of "auto" for a test of goodness of fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import (
    NS_DRAWN,
    NS_PROJECTION,
    NS_ROW,
    SECONDS_SKETCH,
    Sizes,
)
from nosplit._old.inference.planning.plan import Plan
from nosplit.core.pairings import Pairing, Sketch
from nosplit.inference.calibrations import SIMULATE, WILD, Exact, Wild
from nosplit.inference.plan import FitSizes, plan_fit
from nosplit.methods import Method

__all__ = ["SteinSizes", "WholeSizes", "plan_sketch"]

# Nominal nanoseconds of one core for the Stein features of a wave, and for one of low order.
NS_STEIN_WAVE, NS_LOW_ORDER = 8.0, 4.0


@dataclass(frozen=True)
class SteinSizes(Sizes):
    """Sizes of a goodness-of-fit test: n = m is the number of rows."""

    @property
    def in_rows(self) -> bool:
        """Whether all pairs are looked at whatever they cost: never."""
        return False

    @property
    def draws_are(self) -> str:
        """Adjective of the draws."""
        return WILD

    def sketch_seconds(self, pairing: Sketch, flips: int) -> float:
        """Nominal seconds of one core for a sketch."""
        waves = (pairing.frequencies or 0) * self.d + min(8 * self.p, 512)
        low = 3 * self.p + min(self.p**2, 256)
        each = NS_STEIN_WAVE + 3.0 * NS_PROJECTION * self.p
        draws = flips * pairing.cells * (2 * waves + low) * NS_DRAWN
        return SECONDS_SKETCH + 1e-9 * (
            self.n * (NS_ROW + waves * each + low * NS_LOW_ORDER) + draws
        )


@dataclass(frozen=True)
class WholeSizes(SteinSizes):
    """Sizes of a test whose nominal seconds are those of the whole test."""

    simulated: bool = field(default=False, kw_only=True)

    @property
    def draws_are(self) -> str:
        """Adjective of the draws."""
        return SIMULATE if self.simulated else WILD

    @property
    def whole(self) -> float:
        """Seconds of a whole test over its nominal ones."""
        return 1.0


def plan_sketch(
    sizes: SteinSizes,
    pairs: Pairing | None,
    calibration: Exact | Wild | str,
    method: Method | None,
    budget: float,
    sampling: bool,
) -> Plan | None:
    """Plan a sketch of rows; None if they are compared one by one, or simulated."""
    own = FitSizes(sizes.n, sizes.n, sizes.p, sizes.d)
    if not isinstance(plan_fit(own, pairs, calibration, budget, samples=sampling).pairing, Sketch):
        return None
    signs = Exact(calibration.n_resamples) if isinstance(calibration, Wild) else "auto"
    wanted = Sketch() if pairs is None else pairs
    found = choose(sizes, pairs=wanted, calibration=signs, method=method, budget=budget)
    why = f"All pairs one by one do not fit {budget:g} s."
    return replace(found, reason=why) if pairs is None else found
