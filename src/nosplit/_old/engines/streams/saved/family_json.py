"""Sketches of fit and of independence as plain values for JSON, and back, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from nosplit._checks import check_int, check_vector
from nosplit._old.engines.streams.saved.as_json import (
    kernels_from_plain,
    kernels_to_plain,
    rows_from_plain,
    rows_to_plain,
)
from nosplit._old.engines.streams.saved.sketch_json import (
    counts_from_plain,
    integers_from_plain,
    integers_to_plain,
)
from nosplit._old.engines.streams.sketches.families import FamilyFlow, FamilyState
from nosplit._old.engines.streams.sketches.runs import RunSums
from nosplit._old.sketch.saved.plain import order_from_plain
from nosplit.core.stein_map import SteinMap
from nosplit.core.tensor_map import SketchVariable, TensorMap
from nosplit.errors import InputError
from nosplit.kernels import Kernel
from nosplit.kernels.stein import BoundedLinear, Constant
from nosplit.kernels.tensor import Tensor

__all__ = ["family_from_plain", "family_to_plain", "same_bank"]

# Numbers of a unit are no larger than this, in steps: scores are cut off, and waves bounded.
LARGEST_NUMBER = 1 << 48


def family_to_plain(state: FamilyState, given: Any) -> dict[str, Any]:
    """Kernels and state without the encodings."""
    waiting, blocks = state.waiting, state.blocks
    body = {
        "waiting": None if waiting is None else [rows_to_plain(side) for side in waiting],
        "scaled": state.scaled,
        "discrete": None if state.discrete is None else list(state.discrete),
        "map": None if state.bank is None else _family_map_to_plain(state.bank),
        "blocks": None if blocks is None else _runs_to_plain(blocks),
        "n_omitted": state.n_omitted,
    }
    return {"kernels": None if state.bank is not None else kernels_to_plain(given), "state": body}


def family_from_plain(data: Any, flow: FamilyFlow, start: FamilyState) -> FamilyState:
    """The inverse of `family_to_plain`, for an empty state that has the encodings."""
    if not isinstance(data, dict):
        raise InputError(f"`state` must hold a state, got {type(data).__name__}.")
    waiting, scaled = data.get("waiting"), data.get("scaled")
    if not isinstance(scaled, bool):
        raise InputError(f"`scaled` must be a bool, got {scaled!r}.")
    rows = None if waiting is None else tuple(rows_from_plain(side) for side in waiting)
    if rows is not None and (len(rows) != 2 or len(rows[0]) != len(rows[1])):
        raise InputError("`waiting` must be two sides of as many rows.")
    bank = blocks = None
    if data.get("map") is not None:
        bank = _family_map_from_plain(data["map"], flow)
        blocks = _runs_from_plain(data.get("blocks"), flow.family.width(bank), flow)
        if rows is None or [side.shape[1] for side in rows] != _map_widths(bank):
            raise InputError("`waiting` must have the columns of the map.")
    return FamilyState(
        waiting=rows,
        bank=bank,
        blocks=blocks,
        encodings=start.encodings,
        scaled=scaled,
        discrete=_flags(data.get("discrete")),
        n_omitted=check_int(data.get("n_omitted", -1), "n_omitted", least=0),
    )


def _flags(data: Any) -> tuple[bool, bool] | None:
    if data is None:
        return None
    if not isinstance(data, list) or [type(flag) for flag in data] != [bool, bool]:
        raise InputError(f"`discrete` must be two bools, got {data!r}.")
    return data[0], data[1]


def _map_widths(bank: Any) -> list[int]:
    return [bank.p] * 2 if isinstance(bank, SteinMap) else [bank.x.p, bank.y.p]


# -- maps --------------------------------------------------------------------------------------


def _family_map_to_plain(bank: Any) -> dict[str, Any]:
    if isinstance(bank, SteinMap):
        radial = [k for k in bank.kernels if isinstance(k, Kernel)]
        return {
            "kernels": kernels_to_plain(radial),
            "low_orders": len(radial) < len(bank.kernels),
            "center": bank.center.tolist(),
            "spread": bank.spread.tolist(),
            "scales": bank.scales.tolist(),
            "order": bank.order.tolist(),
        }
    sides = {"x": bank.x, "y": bank.y}
    return {
        "kernels": kernels_to_plain(bank.kernels),
        **{name: _variable_to_plain(side) for name, side in sides.items()},
    }


def _variable_to_plain(variable: SketchVariable) -> dict[str, Any]:
    return {
        "center": variable.center.tolist(),
        "spread": variable.spread.tolist(),
        "landmarks": rows_to_plain(np.asarray(variable.landmarks, dtype=np.float64)),
        "order": variable.order.tolist(),
    }


def _family_map_from_plain(data: Any, flow: FamilyFlow) -> SteinMap | TensorMap:
    if not isinstance(data, dict):
        raise InputError("`map` must hold a map.")
    kernels = kernels_from_plain(data.get("kernels"))
    kind = Tensor if "x" in data else Kernel
    if not isinstance(kernels, list) or not all(isinstance(k, kind) for k in kernels):
        raise InputError("`kernels` of a map must be a list of kernels.")
    if kind is Tensor:
        x, y = (_variable_from_plain(data.get(name), flow) for name in "xy")
        return TensorMap(tuple(kernels), x, y, flow.frequencies, flow.key)
    center, spread = _scales(data)
    more = (Constant(), BoundedLinear()) if data.get("low_orders") is True else ()
    numbers = check_vector(data.get("scales", []), "scales")
    order = order_from_plain(data, len(center))
    bank = SteinMap((*kernels, *more), center, spread, flow.frequencies, flow.key, numbers, order)
    if len(numbers) != bank.n_numbers or not (numbers > 0).all():
        raise InputError(f"`scales` must be {bank.n_numbers} positive numbers.")
    return bank


def _scales(data: Any) -> tuple[Any, Any]:
    center = check_vector(data.get("center", []), "center")
    spread = check_vector(data.get("spread", []), "spread", size=len(center))
    if not (spread > 0).all():
        raise InputError("`spread` must be positive.")
    return center, spread


def _variable_from_plain(data: Any, flow: FamilyFlow) -> SketchVariable:
    if not isinstance(data, dict):
        raise InputError("`x` and `y` of a map must hold scales.")
    center, spread = _scales(data)
    landmarks = rows_from_plain(data.get("landmarks"))
    if landmarks.shape[1] != len(center) or not 1 <= len(landmarks) <= flow.frequencies:
        raise InputError(f"`landmarks` must be 1 to {flow.frequencies} rows of the map's columns.")
    return SketchVariable(center, spread, landmarks, order_from_plain(data, len(center)))


def same_bank(one: Any, two: Any) -> bool:
    """Whether two maps make the same numbers."""
    settings = [(type(bank), bank.kernels, bank.frequencies, bank.key) for bank in (one, two)]
    return settings[0] == settings[1] and all(
        np.array_equal(a, b) for a, b in zip(_map_arrays(one), _map_arrays(two), strict=True)
    )


def _map_arrays(bank: Any) -> list[Any]:
    if isinstance(bank, SteinMap):
        return [bank.center, bank.spread, bank.scales, bank.order]
    return [part for v in (bank.x, bank.y) for part in (v.center, v.spread, v.landmarks, v.order)]


# -- sums --------------------------------------------------------------------------------------


def _runs_to_plain(blocks: RunSums) -> dict[str, Any]:
    return {
        "length": blocks.length,
        "counts": integers_to_plain(blocks.counts[:, None]),
        "numbers": integers_to_plain(blocks.numbers),
    }


def _runs_from_plain(data: Any, width: int, flow: FamilyFlow) -> RunSums:
    length, counts = counts_from_plain(data, flow.most)
    numbers = integers_from_plain(data.get("numbers"), len(counts), width)
    most = counts.astype(np.float64)[:, None] * LARGEST_NUMBER
    if (np.abs(numbers.astype(np.float64)) > most).any():
        raise InputError("`numbers` must be sums of numbers of units, got larger ones.")
    return RunSums(width, flow.most, length, counts, numbers)
