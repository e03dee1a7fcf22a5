"""The map of a sketch as plain values and arrays, and back, checked.

What was drawn is kept as it was: another version of NumPy may draw other numbers from the same key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int
from nosplit._old.sketch.bins import MOST_BINS, ColumnBins
from nosplit._old.sketch.maps import MOST_PAIRS, MOST_TWOS, SketchMap
from nosplit._types import Index
from nosplit.core.tensor_map import linear_columns
from nosplit.errors import InputError
from nosplit.kernels import Kernel
from nosplit.kernels.frequencies import Frequencies, has_frequencies
from nosplit.kernels.plain import kernel_from_plain, kernel_to_plain

__all__ = [
    "ARRAYS",
    "LARGEST_SCORE",
    "digest_of",
    "map_from_plain",
    "map_to_plain",
    "order_from_plain",
    "twos_from_plain",
]

ARRAYS = ("center", "spread", "edges", "turns", "phases", "weights", "pairs", "scores")
# Kernels of a map, and how deep they may lie in one another.
MOST_KERNELS, DEEPEST = 1000, 20
# The largest score of a bin: the square root of two, and rounding.
LARGEST_SCORE = 1.5


def map_to_plain(sketch: SketchMap) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A map as values for JSON and arrays."""
    drawn = sketch.drawn
    values = {
        "kernels": [kernel_to_plain(kernel) for kernel in sketch.kernels],
        "frequencies": sketch.frequencies,
        "key": sketch.key,
        "order": sketch.order.tolist(),
        "waves": [[u, len(waves)] for u, waves in drawn.items()],
        "bins": [[len(bins.edges), bins.categories] for bins in sketch.bins],
        "twos": sketch.twos,
    }
    none = np.zeros((sketch.p, 0))
    arrays = {
        "center": sketch.center,
        "spread": sketch.spread,
        "edges": np.concatenate([bins.edges for bins in sketch.bins]),
        "turns": np.concatenate([none, *(d.turns for d in drawn.values())], axis=1),
        "phases": np.concatenate(
            [none.astype(np.uint32), *(d.phases for d in drawn.values())], axis=1
        ),
        "weights": np.concatenate([none[0], *(d.weights for d in drawn.values())]),
        "pairs": sketch.pairs.astype(np.int64).reshape(-1, 2),
        "scores": sketch.scores.reshape(len(sketch.scores), -1) if len(sketch.pairs) else none,
    }
    return values, arrays


def digest_of(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """A short name for values and arrays: the same for the same ones."""
    found = hashlib.blake2b(digest_size=16)
    found.update(json.dumps(values, sort_keys=True, allow_nan=False).encode())
    for name in sorted(arrays):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def map_from_plain(data: Any, arrays: Mapping[str, NDArray[Any]]) -> SketchMap:
    """The inverse of `map_to_plain`: a map that could have come about."""
    if not isinstance(data, dict):
        raise InputError("`map` must have kernels, frequencies and bins.")
    center, spread = (_finite_array(arrays, name, 1) for name in ("center", "spread"))
    if len(center) != len(spread) or not len(center) or spread.min() <= 0:
        raise InputError("`spread` must be positive, and as long as `center`.")
    key = data.get("key")
    if type(key) is not int or not 0 <= key < 1 << 63:
        raise InputError("`key` must be a number of 63 bits.")
    sketch = SketchMap(
        _checked_kernels(data.get("kernels")),
        center,
        spread,
        _checked_bins(data.get("bins"), _finite_array(arrays, "edges", 1), len(center)),
        check_int(data.get("frequencies", 0), "frequencies", least=1),
        key,
        np.zeros((0, len(center))),
        _checked_pairs(arrays, len(center)),
        order_from_plain(data, len(center)),
        twos_from_plain(data),
    )
    # What would be drawn from the key where this version draws as the one that made the map.
    sketch.__dict__["drawn"] = _saved_frequencies(sketch, data.get("waves"), arrays)
    if len(sketch.pairs):
        sketch.__dict__["scores"] = _checked_scores(arrays, sketch.twos * len(center))
    linear = [linear_columns(kernel, sketch.p) or () for kernel in sketch.kernels]
    if sketch.others or max((max(c, default=0) for c in linear), default=0) >= sketch.p:
        raise InputError("`kernels` must be linear or have frequencies, on columns there are.")
    return sketch


def order_from_plain(data: Mapping[str, Any], p: int) -> Index:
    """Read the order of the columns of a map."""
    order = data.get("order")
    if not isinstance(order, list) or any(type(j) is not int for j in order):
        raise InputError("`order` must be a list of columns.")
    if sorted(order) != list(range(p)):
        raise InputError(f"`order` must have each of {p} columns once.")
    return np.array(order, dtype=np.int64)


def twos_from_plain(data: Mapping[str, Any]) -> int:
    """Read the number of pairs of scores of a column of numbers."""
    twos = check_int(data.get("twos", 0), "twos", least=1)
    if twos > MOST_TWOS:
        raise InputError(f"`twos` must be at most {MOST_TWOS}, got {twos}.")
    return twos


def _checked_kernels(data: Any) -> tuple[Kernel, ...]:
    if not isinstance(data, list) or not 1 <= len(data) <= MOST_KERNELS or _depth(data) > DEEPEST:
        raise InputError("`kernels` must be a list of kernels.")
    kernels = tuple(kernel_from_plain(kernel) for kernel in data)
    if not all(isinstance(kernel, Kernel) for kernel in kernels):
        raise InputError("`kernels` must be kernels.")
    return kernels


def _depth(data: Any) -> int:
    """Depth of nested lists and objects, up to one more than is allowed."""
    depth, layer = 0, [data]
    while layer and depth <= DEEPEST:
        inside = [v.values() if isinstance(v, dict) else v for v in layer]
        layer = [part for value in inside for part in value if isinstance(part, list | dict)]
        depth += 1
    return depth


def _checked_bins(data: Any, edges: NDArray[Any], p: int) -> tuple[ColumnBins, ...]:
    if not isinstance(data, list) or len(data) != p:
        raise InputError(f"`bins` must be those of {p} columns.")
    found, start = [], 0
    for pair in data:
        if not (isinstance(pair, list) and len(pair) == 2 and type(pair[1]) is bool):
            raise InputError("`bins` must have a number of edges, and whether they are categories.")
        stop = start + check_int(pair[0], "edges", least=0)
        own = edges[start:stop]
        if stop - start >= MOST_BINS or len(own) < stop - start or np.any(np.diff(own) <= 0):
            raise InputError(f"`edges` of a column must be up to {MOST_BINS - 1}, in order.")
        found.append(ColumnBins(own, pair[1]))
        start = stop
    if start != len(edges):
        raise InputError(f"`edges` must be those of {p} columns, got more.")
    return tuple(found)


def _saved_frequencies(
    sketch: SketchMap, waves: Any, arrays: Mapping[str, NDArray[Any]]
) -> dict[int, Frequencies]:
    turns, weights = _finite_array(arrays, "turns", 2), _finite_array(arrays, "weights", 1)
    phases = arrays["phases"]
    if phases.dtype != np.uint32 or not turns.shape == phases.shape == (sketch.p, len(weights)):
        raise InputError("`turns` and `phases` must be those of all columns and frequencies.")
    known = [u for u, kernel in enumerate(sketch.kernels) if has_frequencies(kernel)]
    if not isinstance(waves, list) or not all(isinstance(w, list) and len(w) == 2 for w in waves):
        raise InputError("`waves` must have a number for each kernel.")
    if any(type(u) is not int for u, _ in waves):
        raise InputError("`waves` must be of kernels by their number.")
    if sorted(u for u, _ in waves) != known or np.any(weights < 0):
        raise InputError("`waves` must be those of the kernels, with positive weights.")
    counts = [check_int(count, "waves", least=1) for _, count in waves]
    ends = np.cumsum(counts, dtype=np.int64)
    if (int(ends[-1]) if len(ends) else 0) != len(weights):
        raise InputError(f"`waves` must be {len(weights)} in all.")
    parts = [np.split(a, ends[:-1], axis=-1) for a in (turns, phases, weights)]
    return {u: Frequencies(*part) for (u, _), *part in zip(waves, *parts, strict=True)}


def _checked_pairs(arrays: Mapping[str, NDArray[Any]], p: int) -> NDArray[np.int64]:
    pairs = arrays["pairs"]
    fits = pairs.dtype == np.int64 and pairs.ndim == 2 and pairs.shape[1] == 2
    if not fits or len(pairs) > MOST_PAIRS or np.any((pairs < 0) | (pairs >= p)):
        raise InputError(f"`pairs` must be up to {MOST_PAIRS} pairs of columns.")
    return pairs


def _checked_scores(arrays: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.float32]:
    scores = arrays["scores"]
    if scores.dtype != np.float32 or scores.shape != (rows, 2 * MOST_BINS):
        raise InputError("`scores` must be two for each bin of each column, and so many twos.")
    if not np.all(np.abs(scores) <= LARGEST_SCORE):
        raise InputError("`scores` must be of variance one.")
    return scores.reshape(rows, MOST_BINS, 2)


def _finite_array(arrays: Mapping[str, NDArray[Any]], name: str, ndim: int) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != np.float64 or array.ndim != ndim or not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite numbers.")
    return array
