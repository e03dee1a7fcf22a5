"""What "auto" picks for a test of goodness of fit."""

from __future__ import annotations

from dataclasses import dataclass

from nosplit.errors import InputError
from nosplit.inference.calibrations import (
    ASYMPTOTIC,
    SIMULATE,
    WILD,
    Exact,
    Wild,
    resolve_goodness_of_fit,
)
from nosplit.inference.plan import (
    NS_DRAWN,
    NS_PROJECTION,
    NS_ROW,
    SECONDS_FIXED,
    SECONDS_SKETCH,
    Plan,
    Sizes,
    choose,
)
from nosplit.methods import Method, Naive
from nosplit.pairs.pairing import Complete, Linear, Pairing, Sketch, Window, as_pairing

__all__ = ["SECONDS_REPLICATE", "SteinSizes", "plan_chain", "plan_rows"]

# Nominal cost of a replicate besides its pairs: drawing, scores, bandwidths.
SECONDS_REPLICATE = 5e-4
# Nominal nanoseconds of one core for the Stein features of a wave, and for one of low order.
NS_STEIN_WAVE, NS_LOW_ORDER = 8.0, 4.0


@dataclass(frozen=True)
class SteinSizes(Sizes):
    """What the cost of a test of fit depends on: n = m is the number of rows."""

    @property
    def draws_are(self) -> str:
        """What draws are, in a word."""
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


def plan_chain(
    sizes: Sizes,
    pairs: Pairing | str | int,
    calibration: Exact | Wild | str,
    method: Method | None,
    budget: float,
) -> Plan:
    """The plan for the output of a Markov chain: there is one choice only."""
    if pairs not in ("auto", "linear", Linear()):
        raise InputError(
            f'`pairs` must be "linear" with dependent=True, got {pairs!r}: other pairs join rows '
            "that are near each other in the chain."
        )
    if calibration not in ("auto", ASYMPTOTIC):
        raise InputError(
            f'`calibration` must be "asymptotic" with dependent=True, got {calibration!r}: flips '
            "and draws take rows to be independent."
        )
    return choose(sizes, pairs="linear", calibration=ASYMPTOTIC, method=method, budget=budget)


def plan_rows(
    sizes: Sizes,
    pairs: Pairing | str | int,
    calibration: Exact | Wild | str,
    method: Method | None,
    budget: float,
    sampling: bool,
) -> tuple[Plan, str]:
    """The plan, and what its draws are: "simulate", "wild" or none ("asymptotic")."""
    kind = resolve_goodness_of_fit(calibration)
    sketch = pairs != "auto" and isinstance(as_pairing(pairs), Sketch)
    if kind == "auto" and sampling and not sketch and not isinstance(method, Naive):
        pairing = Complete() if pairs == "auto" else as_pairing(pairs)
        if _replicate_seconds(sizes, pairing) * Exact().flips <= budget:
            return choose(sizes, pairs=pairing, calibration=Exact(), method=method), SIMULATE
    if isinstance(kind, Exact):
        if not sampling:
            raise InputError(
                '`calibration="simulate"` needs a model that can sample: give one of '
                'nosplit.models as `score`, or use calibration="wild".'
            )
        if sketch:
            raise InputError(
                '`pairs="sketch"` goes with calibration="wild" here, got "simulate": sketching a '
                "sample from the model for every draw takes too long. Leave `pairs` out."
            )
        pairing = _simulated_pairs(sizes, kind, budget) if pairs == "auto" else as_pairing(pairs)
        return choose(sizes, pairs=pairing, calibration=kind, method=method), SIMULATE
    flips = Exact(kind.flips) if isinstance(kind, Wild) else kind
    how = choose(sizes, pairs=pairs, calibration=flips, method=method, budget=budget)
    return how, WILD if isinstance(how.calibration, Exact) else ASYMPTOTIC


def _simulated_pairs(sizes: Sizes, kind: Exact, budget: float) -> Pairing:
    """All pairs if their replicates fit the budget, else the widest window that does."""
    each = budget / kind.flips
    if _replicate_seconds(sizes, Complete()) <= each:
        return Complete()
    spare = each - SECONDS_REPLICATE
    R = int(spare / (_replicate_seconds(sizes, Window(1)) - SECONDS_REPLICATE))
    return Window(min(R, (sizes.n_units - 1) // 2)) if R >= 1 else Linear()


def _replicate_seconds(sizes: Sizes, pairing: Pairing) -> float:
    """Nominal seconds of a replicate, which shares what a test does once."""
    return sizes.seconds(pairing, 0) - SECONDS_FIXED + SECONDS_REPLICATE
