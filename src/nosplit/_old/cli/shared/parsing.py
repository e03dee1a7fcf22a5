"""Words on the command line → the values they stand for."""

from __future__ import annotations

from difflib import get_close_matches

import numpy as np

from nosplit import models
from nosplit.core.pairings import Blocks, Pairing
from nosplit.errors import InputError

__all__ = ["parse_model", "parse_pairs"]


def parse_pairs(text: str) -> Pairing | str | int:
    """A window such as 5, blocks:64, or a name as it is."""
    kind, _, size = text.partition(":")
    if kind == "blocks":
        if not _is_countable(size):
            raise InputError(
                f"`--pairs` as blocks must have a size, as in blocks:64, got {text!r}."
            )
        return Blocks(int(size))
    return int(text) if _is_countable(text.removeprefix("-")) else text


def _is_countable(text: str) -> bool:
    """Whether a text is a number that can be counted to."""
    return text.isdecimal() and len(text) <= 18


def parse_model(text: str, p: int) -> models.SamplingModel:
    """A model of p columns from its name and parameters, as in normal, t:5 or gamma:3,0,2."""
    name, _, rest = text.partition(":")
    try:
        given = [float(number) for number in rest.split(",")] if rest else []
    except ValueError as error:
        raise InputError(
            f"`--model` must have numbers after the colon, as in t:5 or normal:0,2, got {text!r}."
        ) from error
    origin = np.zeros(p)
    match name, given:
        case "normal", []:
            return models.MultivariateNormal(origin)
        case "normal", [mean, sd]:
            if not (np.isfinite(mean) and sd > 0 and 0 < sd * sd < np.inf):
                raise InputError(
                    "`--model` normal:MEAN,SD must have a finite mean and a positive sd whose "
                    f"square is a number, got {text!r}."
                )
            return models.MultivariateNormal(origin + mean, sd * sd)
        case "t", [dof]:
            return models.StudentT(dof, origin)
        case "laplace", []:
            return models.Laplace(origin)
        case "laplace", [loc, scale]:
            return models.Laplace(origin + loc, scale)
        case "exponential", []:
            return models.Exponential(origin + 1.0)
        case "exponential", [scale]:
            return models.Exponential(origin + scale)
    return _scipy_model(name, given, text, p)


def _scipy_model(name: str, given: list[float], text: str, p: int) -> models.SamplingModel:
    from scipy import stats

    law = getattr(stats, name, None)
    if not isinstance(law, stats.rv_continuous):
        known = [n for n in dir(stats) if isinstance(getattr(stats, n), stats.rv_continuous)]
        own = ["normal", "exponential"]
        near = [] if name in own else get_close_matches(name, [*own, *known], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            "`--model` must be normal, normal:MEAN,SD, laplace, laplace:LOC,SCALE, t:DOF, "
            "exponential, exponential:SCALE or a continuous distribution of scipy.stats with its "
            f"parameters, got {text!r}.{hint}"
        )
    if p != 1:
        raise InputError(f"`--model` {name} is a law of one column, and the sample has {p}.")
    try:
        frozen = law(*given)
        valid = bool(np.all(np.isfinite(frozen.support()) | np.isinf(frozen.support())))
    except (TypeError, ValueError) as error:
        shapes = [*(law.shapes or "").replace(" ", "").split(","), "loc", "scale"]
        wanted = ", ".join(filter(None, shapes))
        raise InputError(
            f"`--model` {name} must have its parameters ({wanted}; the last two may be left out), "
            f"as in {name}:{','.join('1' for _ in shapes[:-2]) or '0,1'}, got {text!r}."
        ) from error
    if not valid:
        raise InputError(f"`--model` {text!r} has parameters out of range.")
    return models.from_scipy(frozen)
