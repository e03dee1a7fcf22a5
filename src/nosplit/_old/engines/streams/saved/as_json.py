"""Kernels and the state of a stream as plain values for JSON, and back, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import check_covariance, check_int, check_vector
from nosplit._old.engines.streams.blocks import Scored
from nosplit._old.engines.streams.state import Flow, Rows, State
from nosplit.core.moments import Moments
from nosplit.errors import InputError
from nosplit.kernels import Kernel
from nosplit.kernels.plain import (
    kernel_from_plain,
    kernel_to_plain,
    rows_from_plain,
    rows_to_plain,
)
from nosplit.kernels.tensor import Tensor

__all__ = [
    "kernel_from_plain",
    "kernel_to_plain",
    "kernels_from_plain",
    "kernels_to_plain",
    "rows_from_plain",
    "rows_to_plain",
    "state_from_plain",
    "state_to_plain",
]

COUNTS = ("n_units", "n_dropped", "n_omitted")
# How far below zero rounding may take the eigenvalues of a correlation matrix.
ROUNDING = 1e-6


def kernels_to_plain(kernels: Any) -> Any:
    """Kernels as they were given, or as they are: None, a name, or a list of them."""
    if kernels is None or isinstance(kernels, str):
        return kernels
    if callable(kernels) and not isinstance(kernels, Kernel):
        raise InputError(
            "`kernels` as a function cannot be saved before there are rows for it to look at."
        )
    some = [kernels] if isinstance(kernels, Kernel) else kernels
    return [kernel_to_plain(kernel) for kernel in some]


def kernels_from_plain(data: Any) -> Any:
    """The inverse of `kernels_to_plain`, checked."""
    if data is None or isinstance(data, str):
        return data
    if not isinstance(data, list) or not data:
        raise InputError("`kernels` must be a list of kernels.")
    kernels = [kernel_from_plain(kernel) for kernel in data]
    if not all(isinstance(kernel, Kernel | Tensor) for kernel in kernels):
        raise InputError("`kernels` must be a list of kernels.")
    return kernels


# -- states ------------------------------------------------------------------------------------


def state_to_plain(state: State) -> dict[str, Any]:
    """A state without its kernels."""
    return {
        "moments": {
            "n": state.moments.n,
            "mean": state.moments.mean.tolist(),
            "scatter": state.moments.scatter.tolist(),
        },
        "effective": None if state.effective is None else state.effective.tolist(),
        "waiting": _sides_to_plain(state.waiting),
        **{name: getattr(state, name) for name in COUNTS},
    }


def state_from_plain(data: Any, bank: Any, flow: Flow) -> State:
    """The inverse of `state_to_plain`, for these kernels: a state that could have come about."""
    if not isinstance(data, dict):
        raise InputError(f"`state` must hold a state, got {type(data).__name__}.")
    d = len(bank) if bank is not None else 0
    counts = {k: check_int(data.get(k, -1), k, least=0) for k in COUNTS}
    state = State(
        waiting=_sides_from_plain(data.get("waiting"), flow),
        bank=bank,
        moments=_moments_from_plain(data.get("moments"), d),
        effective=_effective_from_plain(data["effective"], flow, d),
        **counts,
    )
    _check_counts(state, flow)
    return state


def _check_counts(state: State, flow: Flow) -> None:
    """Check that units, pairs and rows fit together."""
    n = state.moments.n
    if state.n_units != 2 * n:
        raise InputError(f"`n_units` must fit {n} pairs, got {state.n_units}.")
    if any(len(side) > flow.limit for side in state.waiting or ()):
        raise InputError(f"`waiting` must be at most {flow.limit} rows of each side, got more.")


def _sides_to_plain(sides: Rows | None) -> list[dict[str, Any]] | None:
    return None if sides is None else [rows_to_plain(side) for side in sides]


def _sides_from_plain(data: Any, flow: Flow) -> Rows | None:
    if data is None:
        return None
    if not isinstance(data, list) or len(data) != len(flow.family.sizes):
        raise InputError(f"`rows` must be of {len(flow.family.sizes)} sides.")
    return tuple(rows_from_plain(side) for side in data)


def _effective_from_plain(data: Any, flow: Flow, d: int) -> NDArray[np.float64] | None:
    size = 1 if isinstance(flow.family, Scored) else d
    effective = None if data is None else check_vector(data, "effective", size=size)
    if effective is not None and effective.min(initial=0.0) < 0.0:
        raise InputError("`effective` must not be negative.")
    return effective


def _moments_from_plain(data: Any, d: int) -> Moments:
    """Moments of d kernels that could come from data: a scatter that is positive semidefinite."""
    if not isinstance(data, dict):
        raise InputError("`moments` must have n, mean and scatter.")
    n = check_int(data.get("n", -1), "n", least=0)
    if d == 0 and (n, data.get("mean"), data.get("scatter")) == (0, [], []):
        return Moments.empty(0)
    mean = check_vector(data["mean"], "mean", size=d)
    check_covariance(data["scatter"], d, "scatter")
    moments = Moments(n, mean, np.array(data["scatter"], dtype=np.float64))
    _check_scatter(moments)
    return moments


def _check_scatter(moments: Moments) -> None:
    scatter = moments.scatter
    sd = np.sqrt(np.diagonal(scatter))
    safe = np.where(sd > 0, sd, 1.0)
    smallest = float(np.linalg.eigvalsh(scatter / safe[:, None] / safe).min())
    if not math.isfinite(smallest) or smallest < -ROUNDING:
        raise InputError("`scatter` must be positive semidefinite, got a negative eigenvalue.")
    if moments.n == 0 and (moments.mean.any() or scatter.any()):
        raise InputError("`moments` of no pairs must be zero.")
