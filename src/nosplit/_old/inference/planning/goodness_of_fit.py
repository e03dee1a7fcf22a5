"""The choice of "auto" for a test of goodness of fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nosplit._old.inference.planning.choice import choose
from nosplit._old.inference.planning.costs import (
    NS_DRAWN,
    NS_PROJECTION,
    NS_ROW,
    SECONDS_FIXED,
    SECONDS_SKETCH,
    Sizes,
)
from nosplit._old.inference.planning.plan import Plan
from nosplit.core.pairings import Complete, LinearPairs, Pairing, Sketch, Window, as_pairing
from nosplit.errors import InputError
from nosplit.inference.calibrations import (
    ASYMPTOTIC,
    SIMULATE,
    WILD,
    Exact,
    Wild,
    resolve_goodness_of_fit,
)
from nosplit.methods import Method, Naive

__all__ = ["SteinSizes", "most_rows", "plan_rows", "plan_series"]

# Nominal cost of a replicate besides its pairs: drawing, scores, bandwidths; and where those of
# many replicates are looked at together, which is where all pairs are.
SECONDS_REPLICATE, SECONDS_TOGETHER = 5e-4, 1.5e-5
UNTRUSTED = "Few rows carry the statistic: samples of the model."
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
class SimulatedSizes(SteinSizes):
    """The same where samples of a model are drawn: each of them is looked at anew."""

    @property
    def draws_are(self) -> str:
        """Adjective of the draws."""
        return SIMULATE

    @property
    def whole(self) -> float:
        """Seconds of a whole test over those of its samples: they are all of it."""
        return 1.0

    def replicate(self, pairing: Pairing) -> float:
        """Nominal seconds of a sample, without what a test does once."""
        own = SECONDS_TOGETHER if isinstance(pairing, Complete) else SECONDS_REPLICATE
        return super().seconds(pairing, 0) - SECONDS_FIXED + own

    def seconds(self, pairing: Pairing, flips: int) -> float:
        """Nominal seconds of one core."""
        return SECONDS_FIXED + (1 + flips) * self.replicate(pairing)


def plan_series(
    sizes: Sizes,
    pairs: Pairing | str | int,
    calibration: Exact | Wild | str,
    method: Method | None,
) -> Plan:
    """Plan the test of rows in time order: all pairs, and random signs of blocks of rows."""
    kind = resolve_goodness_of_fit(calibration)
    if kind != "auto" and not isinstance(kind, Wild):
        raise InputError(
            f'`calibration` must be "auto" or "wild" with series=, got {calibration!r}: other '
            "calibrations need independent rows. Leave it out."
        )
    if isinstance(method, Naive):
        raise InputError("`method` naive needs a closed form, and there is none with series=.")
    if pairs not in ("auto", "complete", Complete()):
        raise InputError(
            f'`pairs` must be "auto" or "complete" with series=, got {pairs!r}. Leave it out.'
        )
    signs = Exact(kind.n_resamples) if isinstance(kind, Wild) else Exact()
    return choose(sizes, pairs="complete", calibration=signs, method=method)


def most_rows(sizes: Sizes, budget: float) -> int:
    """Compute how many rows the budget allows, if all their pairs are evaluated."""
    seconds_of_pairs = sizes.seconds(Complete(), 0) - SECONDS_FIXED
    return int(sizes.n * (budget / seconds_of_pairs) ** 0.5)


def plan_rows(
    sizes: SteinSizes,
    pairs: Pairing | str | int,
    calibration: Exact | Wild | str,
    method: Method | None,
    budget: float,
    sampling: bool,
) -> tuple[Plan, str]:
    """The plan, and what its draws are: "simulate", "wild" or none ("asymptotic").

    What is done otherwise, where the wild bootstrap and the closed form are not to be trusted with
    the data, is to simulate with as many pairs as fit the budget.
    """
    kind = resolve_goodness_of_fit(calibration)
    wanted = as_pairing(pairs)
    sketch = isinstance(wanted, Sketch)
    drawn = SimulatedSizes(**vars(sizes))
    may_simulate = kind == "auto" and sampling and not sketch and not isinstance(method, Naive)
    if may_simulate:
        pairing = wanted or Complete()
        if drawn.replicate(pairing) * Exact().n_resamples <= budget:
            why = f"{Exact().n_resamples} samples of the model fit the budget of {budget:g} s."
            return _simulated(drawn, pairing, Exact(), method, why), SIMULATE
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
        pairing = wanted or _simulated_pairs(drawn, kind, budget)
        why = "Samples of the model were asked for."
        return _simulated(drawn, pairing, kind, method, why), SIMULATE
    flips = Exact(kind.n_resamples) if isinstance(kind, Wild) else kind
    how = choose(sizes, pairs=pairs, calibration=flips, method=method, budget=budget)
    otherwise = None
    if may_simulate:
        pairing = wanted or _simulated_pairs(drawn, Exact(), budget)
        otherwise = _simulated(drawn, pairing, Exact(), method, UNTRUSTED)
    how = replace(how, otherwise=otherwise)
    return how, WILD if isinstance(how.calibration, Exact) else ASYMPTOTIC


def _simulated(
    sizes: SimulatedSizes, pairing: Pairing, calibration: Exact, method: Method | None, why: str
) -> Plan:
    """The plan of samples of a model."""
    return replace(choose(sizes, pairs=pairing, calibration=calibration, method=method), reason=why)


def _simulated_pairs(sizes: SimulatedSizes, kind: Exact, budget: float) -> Pairing:
    """All pairs if their replicates fit the budget, else the widest window that does."""
    each = budget / kind.n_resamples
    if sizes.replicate(Complete()) <= each:
        return Complete()
    spare = each - SECONDS_REPLICATE
    R = int(spare / (sizes.replicate(Window(1)) - SECONDS_REPLICATE))
    return Window(min(R, (sizes.n_units - 1) // 2)) if R >= 1 else LinearPairs()
