"""The sketch of a stream as plain values for JSON, and back: numbers that could have come about."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_int, check_vector
from nosplit._old.engines.streams.saved.as_json import (
    kernels_from_plain,
    kernels_to_plain,
    rows_from_plain,
    rows_to_plain,
)
from nosplit._old.engines.streams.sketches.cells import BlockSums
from nosplit._old.engines.streams.sketches.sketching import SketchFlow, SketchState
from nosplit._old.engines.streams.state import Rows
from nosplit._old.sketch.bins import MOST_BINS, ColumnBins
from nosplit._old.sketch.maps import LANDMARKS, MOST_PAIRS, SketchMap
from nosplit._old.sketch.saved.plain import order_from_plain, twos_from_plain
from nosplit._old.sketch.sums import CellSums
from nosplit._types import Index
from nosplit.core.feature_map import STEP
from nosplit.errors import InputError
from nosplit.kernels import Kernel

__all__ = [
    "counts_from_plain",
    "integers_from_plain",
    "integers_to_plain",
    "sketch_from_plain",
    "sketch_to_plain",
]

COUNTS = ("n_dropped", "n_omitted")
# Features of a row are no larger than this, in steps: a coordinate is cut off at 2^20 spreads.
LARGEST_FEATURE = 1 << 40
# Bytes of sums that a file may unfold to.
LARGEST_SUMS = 1 << 30


def sketch_to_plain(state: SketchState) -> dict[str, Any]:
    """A state without its encoding."""
    waiting = state.waiting
    return {
        "waiting": None if waiting is None else [rows_to_plain(side) for side in waiting],
        "scaled": state.scaled,
        "map": None if state.blocks is None else _map_to_plain(state.blocks.sketch),
        "blocks": None if state.blocks is None else _blocks_to_plain(state.blocks),
        **{name: getattr(state, name) for name in COUNTS},
    }


def sketch_from_plain(data: Any, flow: SketchFlow, start: SketchState) -> SketchState:
    """The inverse of `sketch_to_plain`, for an empty state that has the encoding."""
    if not isinstance(data, dict):
        raise InputError(f"`state` must hold a state, got {type(data).__name__}.")
    counts = {k: check_int(data.get(k, -1), k, least=0) for k in COUNTS}
    scaled, blocks = data.get("scaled"), None
    if not isinstance(scaled, bool) or (start.encoding is None and not scaled):
        raise InputError("`scaled` must be a bool, and true where there are no tables.")
    if (data.get("map") is None) != (data.get("blocks") is None):
        raise InputError("`map` and `blocks` must both be there, or neither.")
    if data.get("map") is not None:
        sketch = _map_from_plain(data["map"], flow, start)
        blocks = _blocks_from_plain(data.get("blocks"), sketch, flow)
    waiting = _waiting_from_plain(data.get("waiting"))
    state = SketchState(
        waiting=waiting, blocks=blocks, encodings=start.encodings, scaled=scaled, **counts
    )
    _check_waiting(state, flow)
    return state


def _waiting_from_plain(data: Any) -> Rows | None:
    if data is None:
        return None
    if not isinstance(data, list) or len(data) != 2:
        raise InputError("`waiting` must be rows of two sides.")
    return tuple(rows_from_plain(side) for side in data)


def _check_waiting(state: SketchState, flow: SketchFlow) -> None:
    """Check that rows that wait have reason to."""
    widths = {side.shape[1] for side in state.waiting or ()}
    if state.encoding is not None and widths:
        widths.add(state.encoding.width)
    if state.blocks is not None:
        widths.add(state.blocks.sketch.p)
        if state.waiting is None or not state.scaled:
            raise InputError("`waiting` must be there, on the scale of the map.")
    if len(widths) > 1:
        raise InputError("`waiting` must have the columns of the map and of the tables.")
    groups = flow.n_units(state.waiting)
    if groups >= (1 if state.blocks is not None else flow.enough):
        raise InputError("`waiting` must not hold rows of both sides that have found partners.")
    for side, size in zip(state.waiting or (), flow.ratio, strict=state.waiting is not None):
        if len(side) > groups * size + flow.limit:
            raise InputError(f"`waiting` must be at most {flow.limit} rows of a side, got more.")


# -- maps --------------------------------------------------------------------------------------


def _map_to_plain(sketch: SketchMap) -> dict[str, Any]:
    return {
        "kernels": kernels_to_plain(sketch.kernels),
        "center": sketch.center.tolist(),
        "spread": sketch.spread.tolist(),
        "bins": [{"edges": b.edges.tolist(), "categories": b.categories} for b in sketch.bins],
        "frequencies": sketch.frequencies,
        "key": sketch.key,
        "landmarks": rows_to_plain(np.asarray(sketch.landmarks, dtype=np.float64)),
        "pairs": sketch.pairs.tolist(),
        "order": sketch.order.tolist(),
        "twos": sketch.twos,
    }


def _map_from_plain(data: Any, flow: SketchFlow, start: SketchState) -> SketchMap:
    if not isinstance(data, dict):
        raise InputError("`map` must hold a map.")
    kernels = kernels_from_plain(data.get("kernels"))
    if not isinstance(kernels, list) or not all(isinstance(k, Kernel) for k in kernels):
        raise InputError("`kernels` of a map must be a list of kernels.")
    center = check_vector(data.get("center", []), "center")
    spread = check_vector(data.get("spread", []), "spread", size=len(center))
    if not (spread > 0).all():
        raise InputError("`spread` must be positive.")
    if (data.get("frequencies"), data.get("key")) != (flow.frequencies, flow.key):
        raise InputError("`map` must have the frequencies and the key of the settings.")
    landmarks = rows_from_plain(data.get("landmarks"))
    if landmarks.shape[1] != len(center) or len(landmarks) > LANDMARKS:
        raise InputError(f"`landmarks` must be at most {LANDMARKS} rows of the map's columns.")
    bins = _bins_from_plain(data.get("bins"), len(center), start)
    pairs = _pairs_from_plain(data.get("pairs"), len(center))
    order = order_from_plain(data, len(center))
    sketch = SketchMap(
        *(tuple(kernels), center, spread, bins, flow.frequencies, flow.key, landmarks, pairs),
        order,
        twos_from_plain(data),
    )
    if sketch.others and not len(landmarks):
        raise InputError("`landmarks` must be there for kernels that are evaluated at them.")
    return sketch


def _pairs_from_plain(data: Any, p: int) -> Index:
    """Pairs of columns, each of a column and one after it."""
    if not isinstance(data, list) or len(data) > MOST_PAIRS:
        raise InputError(f"`pairs` must be at most {MOST_PAIRS} pairs of columns.")
    for pair in data:
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError("`pairs` must be pairs of columns.")
        first, second = (check_int(column, "pairs", least=0) for column in pair)
        if not first < second < p:
            raise InputError(f"`pairs` must be of different columns out of {p}, got {pair}.")
    return np.array(data, dtype=np.int64).reshape(-1, 2)


def _bins_from_plain(data: Any, p: int, start: SketchState) -> tuple[ColumnBins, ...]:
    if not isinstance(data, list) or len(data) != p:
        raise InputError(f"`bins` must be those of {p} columns.")
    categorical = () if start.encoding is None else start.encoding.categorical
    found = []
    for j, bins in enumerate(data):
        if not isinstance(bins, dict) or bins.get("categories") is not (j in categorical):
            raise InputError("`bins` must be of numbers or of categories, as the columns are.")
        given = bins.get("edges")
        edges = check_vector(given, "edges") if given else np.zeros(0)
        if len(edges) >= MOST_BINS or not (np.diff(edges) > 0).all():
            raise InputError(f"`edges` must be fewer than {MOST_BINS} numbers that rise.")
        found.append(ColumnBins(edges, j in categorical))
    return tuple(found)


# -- sums --------------------------------------------------------------------------------------


def _blocks_to_plain(blocks: BlockSums) -> dict[str, Any]:
    x, y = blocks.cells
    return {
        "length": blocks.length,
        "counts": integers_to_plain(blocks.counts[:, None]),
        "x": [integers_to_plain(x.features), integers_to_plain(x.bins)],
        "y": [integers_to_plain(y.features), integers_to_plain(y.bins)],
    }


def _blocks_from_plain(data: Any, sketch: SketchMap, flow: SketchFlow) -> BlockSums:
    length, counts = counts_from_plain(data, flow.most)
    sides = []
    for name, size in zip("xy", flow.ratio, strict=True):
        rows = np.repeat(counts, size)
        sides.append(_sums_from_plain(data.get(name), sketch, rows))
    return BlockSums(sketch, flow.ratio, flow.most, length, counts, *sides)


def counts_from_plain(data: Any, most: int) -> tuple[int, Index]:
    """Units of a full block, and of each of at most so many blocks."""
    if not isinstance(data, dict):
        raise InputError("`blocks` must hold the sums of blocks.")
    length = check_int(data.get("length", 0), "length", least=1)
    counts = integers_from_plain(data.get("counts"), None, 1)[:, 0]
    if length & (length - 1) or not ((counts >= 1) & (counts <= length)).all():
        raise InputError("`counts` must be from 1 to `length`, a power of two.")
    if len(counts) > most:
        raise InputError(f"`counts` must be of at most {most} blocks, got {len(counts)}.")
    return length, counts


def _sums_from_plain(data: Any, sketch: SketchMap, rows: NDArray[np.int64]) -> CellSums:
    """Cells of so many rows each: every column of every row is in one bin."""
    if not isinstance(data, list) or len(data) != 2:
        raise InputError("`x` and `y` must hold features and bins.")
    features = integers_from_plain(data[0], len(rows), sketch.n_features)
    bins = integers_from_plain(data[1], len(rows), sketch.n_bins)
    most = rows.astype(np.float64)[:, None] * LARGEST_FEATURE
    waves = features[:, : 2 * sketch.n_waves]
    if (np.abs(features.astype(np.float64)) > most).any():
        raise InputError("`features` must be sums of features, got larger ones.")
    if (np.abs(waves.astype(np.float64)) > 1.001 * STEP * rows[:, None]).any():
        raise InputError("`features` must be sums of waves, got larger ones.")
    starts = sketch.edges.starts
    if (bins < 0).any() or (np.add.reduceat(bins, starts, axis=1) != rows[:, None]).any():
        raise InputError("`bins` must count each row of a cell once for each column.")
    return CellSums(features, bins.astype(np.int32))


def integers_to_plain(values: NDArray[Any]) -> dict[str, Any]:
    """Integers in as few bytes as hold them all, compressed."""
    largest = int(np.abs(values).max(initial=0))
    kind = next(kind for kind in ("int16", "int32", "int64") if largest <= np.iinfo(kind).max)
    little = np.ascontiguousarray(values).astype(np.dtype(kind).newbyteorder("<"))
    packed = zlib.compress(little.tobytes(), 1)
    return {"dtype": kind, "shape": list(values.shape), "data": base64.b64encode(packed).decode()}


def integers_from_plain(data: Any, n: int | None, p: int) -> NDArray[np.int64]:
    """The inverse of `integers_to_plain`, of n rows if their number is known."""
    try:
        dtype = {"int16": "<i2", "int32": "<i4", "int64": "<i8"}[data["dtype"]]
        shape = [check_int(size, "shape", least=0) for size in data["shape"]]
        if len(shape) != 2 or shape[1] != p or n not in (None, shape[0]):
            raise InputError(f"`shape` must be that of {n or 'some'} × {p} integers, got {shape}.")
        size = shape[0] * p * np.dtype(dtype).itemsize
        if size > LARGEST_SUMS:
            raise InputError(f"`shape` must be of at most {LARGEST_SUMS >> 20} MB, got {shape}.")
        unpack = zlib.decompressobj()
        # A little more than is wanted: what unfolds to more is not what was written.
        plain = unpack.decompress(base64.b64decode(data["data"], validate=True), size + 1)
        return np.frombuffer(plain, dtype).reshape(shape).astype(np.int64)
    except (KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`blocks` are damaged: {error!r}.") from error
