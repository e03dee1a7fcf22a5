"""Monitors in files, and back, checked: nothing that is read is ever run."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from nosplit._checks import check_int
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.engines.streams.saved.document import DocumentForm, read_document, write_document
from nosplit._old.monitor.arrays import all_finite, packed, unpacked
from nosplit._old.monitor.base import BaseMonitor
from nosplit._old.monitor.bets.bettor import Bettor
from nosplit._old.monitor.bets.estimators import Estimators
from nosplit._old.monitor.bets.learners import Past, Solver
from nosplit._old.monitor.bets.maps import BetMap
from nosplit._old.monitor.bets.wealth import POINTS, Wealth
from nosplit._old.monitor.independence import IndependenceMonitor
from nosplit._old.monitor.two_sample import Monitor
from nosplit._old.monitor.watch import STAGES, Watch
from nosplit._old.sketch.saved.plain import ARRAYS, map_from_plain, map_to_plain
from nosplit._types import Array
from nosplit.backend.threads import one_blas_thread
from nosplit.data.encoding import Encoding
from nosplit.data.options import wanted
from nosplit.errors import FileError, InputError

__all__ = ["MONITOR", "files_seen", "monitor_to_plain", "read_monitor", "write_monitor"]

MONITOR = DocumentForm("monitor", 3)
KINDS: dict[str, type[BaseMonitor]] = {
    "two_sample": Monitor,
    "independence": IndependenceMonitor,
}
PAST = ("counts", "sums", "joint", "columns")
ACCOUNTS = ("accounts", "luck", "begun", "scale", "rang")

M = TypeVar("M", bound=BaseMonitor)


def write_monitor(
    monitor: BaseMonitor, path: str | os.PathLike[str], files: dict[str, str] | None = None
) -> None:
    """Write a monitor in place of what was there, and maybe the files that it has seen."""
    more = {} if files is None else {"files": files}
    write_document(path, {**monitor_to_plain(monitor), **more}, MONITOR)


def files_seen(path: str | os.PathLike[str]) -> dict[str, str]:
    """The files that a monitor has seen: their names, and a short name for what was in them."""
    files = read_document(path, MONITOR).get("files", {})
    texts = isinstance(files, dict) and all(isinstance(v, str) for v in files.values())
    if not texts:
        raise FileError(f"`{path}` is damaged: `files` must be names and digests.")
    return dict(files)


def read_monitor(
    kind: type[M],
    path: str | os.PathLike[str],
    reference: Any,
    estimators: Sequence[Any],
    renew: bool,
) -> M:
    """The monitor in a file, once it is known to be one that could have come about."""
    body = read_document(path, MONITOR)
    try:
        monitor = _from_plain(body, reference, estimators, renew)
    except (InputError, KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, _GivenError):
            raise
        raise FileError(f"`{path}` is damaged: {error}") from error
    if not isinstance(monitor, kind):
        raise FileError(f"`{path}` holds an {type(monitor).__name__}, and no {kind.__name__}.")
    return monitor


class _GivenError(InputError):
    """Raised if what is given beside a file does not fit it; the file may be in order."""


# -- monitors ------------------------------------------------------------------------------------


def monitor_to_plain(monitor: BaseMonitor) -> dict[str, Any]:
    """A monitor as plain values for JSON."""
    kind = next(name for name, known in KINDS.items() if isinstance(monitor, known))
    return {
        "kind": kind,
        "verdict": str(monitor).splitlines()[0],
        "evidence": {k: v for k, v in monitor.to_dict().items() if k != "explanation"},
        "settings": {
            "alpha": monitor.alpha if monitor.alpha is not None else 0.05,
            "guarantee": monitor.guarantee,
            "every": monitor.every,
            "block": monitor.block,
            "picks": [wanted(names, "columns") for names in monitor._picks],
            "nan_policy": monitor._nan_policy,
            "keys": monitor._keys,
            "estimators": [type(e).__name__ for e in monitor._plan.estimators],
        },
        "rows": _rows_to_plain(monitor),
        "watch": None if monitor._watch is None else _watch_to_plain(monitor._watch),
    }


def _rows_to_plain(monitor: BaseMonitor) -> dict[str, Any]:
    """Rows that wait, encodings, and the state of the reference, as plain values."""
    if isinstance(monitor, IndependenceMonitor):
        encodings, waiting = monitor._encodings, monitor._waiting
        return {
            "encodings": None if encodings is None else [e.to_dict() for e in encodings],
            "waiting": None if waiting is None else packed(waiting),
        }
    assert isinstance(monitor, Monitor)
    watch, queue, held = monitor._watch, monitor._queue, monitor._waiting
    return {
        "encoding": None if watch is None else watch.encoding.to_dict(),
        "waiting": None if held is None else [packed(side) for side in held],
        "renewals": monitor._renewals,
        "reference": None
        if queue is None
        else {"digest": queue.digest, "rows": len(queue.rows), "position": queue.position},
    }


def _from_plain(data: Any, reference: Any, estimators: Sequence[Any], renew: bool) -> BaseMonitor:
    """The inverse of `monitor_to_plain`, with what is not written given again."""
    settings = dict(data["settings"])
    keys = [check_int(key, "keys", least=0) for key in settings.pop("keys")]
    named = settings.pop("estimators")
    if named != [type(e).__name__ for e in estimators]:
        raise _GivenError(
            f"`estimators` must be those that it had, {named}, got {list(estimators)!r}."
        )
    columns, exclude = (wanted(p, "columns") for p in settings.pop("picks"))
    kind = KINDS.get(data["kind"])
    if kind is None or len(keys) != 2:
        raise InputError("it is no monitor that is known here.")
    monitor: BaseMonitor = kind(estimators=estimators, **settings)
    monitor._picks = columns, exclude
    monitor._keys = keys
    monitor._plan = replace(monitor._plan, key=keys[0])
    rows, watch = data["rows"], data["watch"]
    if isinstance(monitor, IndependenceMonitor):
        _restore_observations(monitor, rows, watch)
    else:
        assert isinstance(monitor, Monitor)
        _restore_rows(monitor, rows, watch, reference, renew)
    return monitor


def _restore_observations(monitor: IndependenceMonitor, rows: Any, watch: Any) -> None:
    if rows["encodings"] is None:
        return
    monitor.begin([Encoding.from_dict(e) for e in rows["encodings"]])
    assert monitor._watch is not None
    width = monitor._watch.encoding.width
    monitor._waiting = None if rows["waiting"] is None else unpacked(rows["waiting"], (None, width))
    _restore_watch(monitor._watch, watch)


def _restore_rows(monitor: Monitor, rows: Any, watch: Any, reference: Any, renew: bool) -> None:
    known = rows["reference"]
    if (known is None) != (reference is None):
        had = "had none" if known is None else f"had one of {known['rows']:,} rows"
        raise _GivenError(f"`reference` must be given as it was: the monitor {had}.")
    if rows["encoding"] is None:
        return
    monitor._watch = Watch(monitor._plan, Encoding.from_dict(rows["encoding"]))
    width = monitor._watch.encoding.width
    held = rows["waiting"]
    monitor._waiting = None if held is None else [unpacked(side, (None, width)) for side in held]
    monitor._renewals = check_int(rows["renewals"], "renewals", least=0)
    if known is not None and renew:
        monitor._renewals += 1
        monitor._queue = monitor._queued(read_if_path(reference))
    elif known is not None:
        queue = monitor._queued(read_if_path(reference))
        if queue.digest != known["digest"]:
            raise _GivenError(
                "`reference` must be the one it had, or was renewed with: its rows differ."
            )
        queue.position = check_int(known["position"], "position", least=0)
        if queue.left < 0:
            raise InputError("`position` is beyond the reference.")
        monitor._queue = queue
    _restore_watch(monitor._watch, watch)


# -- watches -------------------------------------------------------------------------------------


def _watch_to_plain(watch: Watch) -> dict[str, Any]:
    return {
        "n": watch.n,
        "dependent": watch.dependent,
        "piloted": watch.piloted,
        "kept": [[packed(x), packed(y)] for x, y in watch.kept],
        "bettor": None if watch.bettor is None else _bettor_to_plain(watch.bettor),
    }


def _restore_watch(watch: Watch, data: Any) -> None:
    width, size = watch.encoding.width, watch.plan.size
    watch.n = check_int(data["n"], "n", least=0)
    watch.dependent, watch.piloted = data["dependent"] is True, data["piloted"] is True
    for sides in data["kept"]:
        x, y = (unpacked(side, (None, width)) for side in sides)
        if x.shape != y.shape or len(x) % size:
            raise InputError("`kept` must be whole pairs.")
        watch.kept.append((x, y))
    kept = sum(len(x) for x, _ in watch.kept) // size
    if kept != (watch.n if watch.n < STAGES[-1] else 0):
        raise InputError("`kept` must be the first pairs.")
    if data["bettor"] is not None:
        watch.bettor = _bettor_from_plain(data["bettor"], watch)
    if (watch.bettor is None) != (watch.n < STAGES[0] and not watch.piloted):
        raise InputError("`bettor` must be there once there is a map.")


def _bettor_to_plain(bettor: Bettor) -> dict[str, Any]:
    values, arrays = map_to_plain(bettor.bet_map.sketch)
    wealth, past = bettor.wealth, bettor.past
    estimators = bettor.estimators
    if any(estimators.incremental):
        raise InputError(
            "`estimators` that learn by `partial_fit` cannot be saved: what they learned is known "
            "to them alone. Use some that only have `fit`, or none."
        )
    return {
        "center": packed(bettor.bet_map.center),
        "scale": packed(bettor.bet_map.scale),
        "map": values,
        "arrays": {name: packed(array) for name, array in arrays.items()},
        "past": {
            "n": past.n,
            "n_squares": past.n_squares,
            **{name: packed(getattr(past, name)) for name in PAST},
            "known": past.known and [packed(past.known.joint), packed(past.known.columns)],
        },
        "waiting": packed(
            np.concatenate(bettor.waiting)
            if bettor.waiting
            else np.zeros((0, bettor.bet_map.n_features), np.float32)
        ),
        "wealth": {
            "n": wealth.n,
            "log_wealth": wealth.log_wealth if math.isfinite(wealth.log_wealth) else None,
            "highest": wealth.highest if math.isfinite(wealth.highest) else None,
            "path": [wealth.path.step, packed(np.array(wealth.path.values))],
            **{name: packed(getattr(wealth, name)) for name in ACCOUNTS},
        },
        "estimators": _estimators_to_plain(estimators),
    }


def _estimators_to_plain(estimators: Estimators) -> dict[str, Any]:
    """The rows that estimators learn from."""
    kept = {"past": estimators.past, "fitted_on": estimators.fitted_on}
    return {
        "waiting": [[packed(x), packed(y)] for x, y in estimators.waiting],
        **{name: sides and [packed(side) for side in sides] for name, sides in kept.items()},
    }


def _bettor_from_plain(data: Any, watch: Watch) -> Bettor:
    plan, p = watch.plan, watch.encoding.width
    kinds = {"phases": np.uint32, "pairs": np.int64, "scores": np.float32}
    arrays = {}
    for name in ARRAYS:
        dims = (None,) if name in ("center", "spread", "edges", "weights") else (None, None)
        arrays[name] = unpacked(data["arrays"][name], dims, kinds.get(name, np.float64))
    sketch = map_from_plain(data["map"], arrays)
    center, scale = (all_finite(unpacked(data[k], (p,))) for k in ("center", "scale"))
    categorical = tuple(j for j, b in enumerate(sketch.bins) if b.categories)
    if sketch.p != p or categorical != watch.encoding.categorical or not (scale > 0).all():
        raise InputError("`map` must be of the columns of the rows.")
    bet_map = BetMap(center, scale, sketch)
    wealth = plan.wealth(p)
    bettor = Bettor(
        bet_map, plan.size, plan.columns, wealth, Estimators(plan.estimators, plan.size)
    )
    with one_blas_thread():  # the same digits as those of the monitor that was saved
        _restore_past(bettor.past, data["past"])
        bettor.see()
    waiting = unpacked(data["waiting"], (None, bet_map.n_features), np.float32)
    bettor.waiting = [waiting] if len(waiting) else []
    _restore_wealth(wealth, data["wealth"])
    if bettor.n != watch.n or (wealth.n != watch.n):
        raise InputError("`n` must be the number of pairs that were bet on.")
    _restore_estimators(bettor.estimators, data["estimators"], p)
    return bettor


def _restore_past(past: Past, data: Any) -> None:
    past.n, past.n_squares = (check_int(data[k], k, least=0) for k in ("n", "n_squares"))
    for name in PAST:
        setattr(past, name, all_finite(unpacked(data[name], getattr(past, name).shape)).copy())
    if data["known"] is not None:
        joint, columns = data["known"]
        past.known = Solver(
            all_finite(unpacked(joint, past.joint.shape)),
            all_finite(unpacked(columns, past.columns.shape)),
            past.places,
        )
    if (past.known is None) != (past.n == 0):
        raise InputError("`known` must be there once something was learned.")


def _restore_wealth(wealth: Wealth, data: Any) -> None:
    wealth.n = check_int(data["n"], "n", least=0)
    for name in ACCOUNTS:
        like = getattr(wealth, name)
        array = all_finite(unpacked(data[name], like.shape, like.dtype.type)).copy()
        if name != "scale" and (array < 0).any():
            raise InputError(f"`{name}` must not be negative.")
        setattr(wealth, name, array)
    lowest = -math.inf if wealth.rate else 0.0
    for name in ("log_wealth", "highest"):
        value = data[name]
        setattr(wealth, name, lowest if value is None else float(value))
    step, values = data["path"]
    wealth.path.step = check_int(step, "path", least=1)
    wealth.path.values = unpacked(values, (None,)).tolist()
    if len(wealth.path.values) > POINTS:
        raise InputError(f"`path` must be of at most {POINTS} points.")


def _restore_estimators(estimators: Estimators, data: Any, p: int) -> None:
    def side(value: Any) -> Array:
        return all_finite(unpacked(value, (None, p)))

    for x, y in data["waiting"]:
        estimators.waiting.append((side(x), side(y)))
    if data["past"] is not None:
        estimators.past = tuple(side(s) for s in data["past"])
    if data["fitted_on"] is not None:
        estimators.fit(tuple(side(s) for s in data["fitted_on"]))
