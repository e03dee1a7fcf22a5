"""What is saved can be loaded, and files that were tampered with are called damaged."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest

from nosplit import GoodnessOfFitAccumulator, IndependenceAccumulator, TwoSampleAccumulator, models
from nosplit._old.engines.streams.saved.document import FileError, write_document
from nosplit._old.engines.streams.saved.loading import load_accumulator

NORMAL = models.MultivariateNormal([0.0])


def fed(kind=TwoSampleAccumulator, scale=1.0):
    x, y = scale * np.random.default_rng(0).normal(size=(2, 1200, 1))
    if kind is GoodnessOfFitAccumulator:
        acc = kind(NORMAL, pairs="adjacent")
        acc.update(x)
        return acc
    acc = kind(pairs="adjacent")
    acc.update(x, y)
    return acc


def test_what_could_not_be_read_is_not_written_iv(tmp_path):
    file = tmp_path / "s.json"
    fed().save(file)
    before = file.read_bytes()
    with pytest.raises(FileError, match="could not be read back"):
        fed(scale=1e-90).save(file)
    assert file.read_bytes() == before
    with pytest.raises(FileError, match="numbers are not finite"):
        write_document(file, {"mean": float("inf")})


def changed(tmp_path, acc, change):
    file = tmp_path / "s.json"
    acc.save(file)
    body = json.loads(file.read_text())
    change(body)
    file.write_text(json.dumps(body))
    return file


def nested(body):
    kernel = {"type": "Linear"}
    for _ in range(900):
        kernel = {"type": "Scaled", "factor": 1.0, "kernel": kernel}
    body["kernels"] = [kernel]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (TwoSampleAccumulator, nested),
        (TwoSampleAccumulator, lambda b: b["settings"].update(encoding={})),
        (GoodnessOfFitAccumulator, lambda b: b["settings"].update(encoding={})),
        (IndependenceAccumulator, lambda b: b["settings"].update(encodings=[None])),
        (IndependenceAccumulator, lambda b: b["settings"].update(encodings=[])),
        (IndependenceAccumulator, lambda b: b["settings"].update(discrete=[True])),
        (
            TwoSampleAccumulator,
            lambda b: b.update(kernels=[{"type": "Polynomial", "degree": 10**15, "offset": 1.0}]),
        ),
    ],
)
def test_files_that_were_tampered_with_iv(tmp_path, kind, change):
    file = changed(tmp_path, fed(kind), change)
    with pytest.raises(FileError, match="is damaged"):
        load_accumulator(file)


def test_what_killed_writers_left_is_tidied_up(tmp_path):
    old, new, other = (tmp_path / name for name in (".s.json.1.tmp", ".s.json.2.tmp", ".t.3.tmp"))
    for left in (old, new, other):
        left.write_text("half")
    for left in (old, other):
        os.utime(left, (time.time() - 7200,) * 2)
    fed().save(tmp_path / "s.json")
    assert sorted(f.name for f in tmp_path.iterdir()) == [".s.json.2.tmp", ".t.3.tmp", "s.json"]
