"""Files, states and profiles that were damaged or tampered with, and reports of hostile names."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import nosplit
from benchmarks.fuzz import data
from benchmarks.fuzz.checks import Finding, call, check

EXACT = nosplit.Exact(19)


def _damage(rng: np.random.Generator, path: Path) -> None:
    """Change, drop or add some bytes."""
    content = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        place, kind = int(rng.integers(len(content) + 1)), rng.integers(4)
        if kind == 0 and place < len(content):
            content[place] = int(rng.integers(256))
        elif kind == 1:
            del content[place:]
        elif kind == 2:
            content[place:place] = rng.bytes(int(rng.integers(1, 9)))
        else:
            del content[place : place + int(rng.integers(1, 9))]
    path.write_bytes(bytes(content))


def damaged_samples(rng: np.random.Generator) -> int:
    """A sample in a file some bytes of which are wrong."""
    import pandas as pd

    x, y = rng.standard_normal((2, 12, 2))
    with tempfile.TemporaryDirectory() as folder:
        kind = str(rng.choice([".npy", ".npz", ".csv", ".parquet", ".tsv", ".csv.gz"]))
        path = Path(folder) / f"x{kind}"
        if kind == ".npy":
            np.save(path, x)
        elif kind == ".npz":
            np.savez(path, x=x)
        elif kind == ".parquet":
            pd.DataFrame(x, columns=["a", "b"]).to_parquet(path)
        else:
            sep = "\t" if kind == ".tsv" else ","
            pd.DataFrame(x, columns=["a", "b"]).to_csv(path, index=False, sep=sep)
        if rng.random() < 0.95:
            _damage(rng, path)
        other = y if kind in (".npy", ".npz") else pd.DataFrame(y, columns=["a", "b"])
        result = call(lambda: nosplit.two_sample_test(path, other, calibration=EXACT))
    if result is not None:
        check(result)
    return 1


def _tampered(rng: np.random.Generator, value: Any) -> Any:
    """A document with one thing in it changed."""
    odd = (None, -1, 0, 1e308, 10**30, "x", [], {}, True, float(2**53), [[1]], "1e5", -0.5)
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _tampered(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = int(rng.integers(len(value)))
        if rng.random() < 0.1:
            return value[:place] + value[place + 1 :]
        return [*value[:place], _tampered(rng, value[place]), *value[place + 1 :]]
    return odd[rng.integers(len(odd))]


def _stream(rng: np.random.Generator) -> Any:
    kind, n = rng.integers(4), int(rng.integers(2, 40))
    pairs = str(rng.choice(["sketch", "adjacent"]))
    x, y = data.rows(rng, n, 2), data.rows(rng, n, 2)
    if kind == 0:
        stream = nosplit.TwoSampleAccumulator()
    elif kind == 1:
        stream = nosplit.TwoSampleAccumulator(pairs="adjacent")
    elif kind == 2:
        stream = nosplit.IndependenceAccumulator(pairs=pairs)
    else:
        stream = nosplit.GoodnessOfFitAccumulator(lambda z: -z, pairs=pairs)
        call(lambda: stream.update(x))
        return stream
    call(lambda: stream.update(x, y))
    return stream


def states(rng: np.random.Generator) -> int:
    """A stream that is saved, tampered with or not, and loaded again."""
    stream = _stream(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        call(lambda: stream.save(path))
        if not path.exists():
            return 2
        kind = rng.integers(3)
        if kind == 0:
            path.write_text(json.dumps(_tampered(rng, json.loads(path.read_text()))))
        elif kind == 1:
            _damage(rng, path)
        loaded = call(lambda: nosplit.load(path))
        if loaded is None and kind == 2:
            raise Finding("what was saved cannot be loaded")
        if loaded is None:
            return 3
        results = [call(lambda s=s: _result(s)) for s in (stream, loaded)]
        if kind == 2 and _p(results[0]) != _p(results[1]):
            raise Finding(f"saved {results[0]!r} and loaded {results[1]!r}")
        if results[1] is not None:
            check(results[1])
    return 5


def _result(stream: Any) -> Any:
    if isinstance(stream, nosplit.TwoSampleAccumulator) and type(stream).__name__.startswith("Sk"):
        return stream.result(n_resamples=19)
    return stream.result()


def _p(result: Any) -> float | None:
    return None if result is None else result.pvalue


def profiles(rng: np.random.Generator) -> int:
    """A profile, damaged or not, and a sample against it."""
    n = int(rng.integers(300, 500))
    reference, new = rng.standard_normal((n, 2)), data.rows(rng, 250, 2)
    made = call(lambda: nosplit.profile(reference, rows=60, frequencies=4, least=1, workers=1))
    if made is None:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.nosplit"
        call(lambda: made.save(path))
        if path.exists() and rng.random() < 0.9:
            _damage(rng, path)
        loaded = call(lambda: nosplit.load(path))
    if loaded is None:
        return 3
    result = call(lambda: nosplit.two_sample_test(loaded, new, calibration=EXACT, workers=1))
    if result is not None:
        check(result)
    return 4


def reports(rng: np.random.Generator) -> int:
    """A report of columns, levels and samples with hostile names."""
    import pandas as pd

    hostile = '<img src=x onerror="alert(1)">'
    first = data.NAMES[rng.integers(len(data.NAMES))]
    names = [first, hostile]
    frames = [
        pd.DataFrame({names[0]: rng.standard_normal(12), names[1]: rng.choice([hostile, "b"], 12)})
        for _ in range(2)
    ]
    result = call(lambda: nosplit.two_sample_test(*frames, calibration=EXACT))
    if result is None:
        return 1
    check(result)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        call(lambda: nosplit.report(result, *frames, path=path, labels=[hostile, first]))
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    if hostile in text or "<script>alert" in text:
        raise Finding("a name became part of the page")
    return 2
