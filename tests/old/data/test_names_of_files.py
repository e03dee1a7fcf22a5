"""Files whose names the locale has no letters for, and numbers that floats have no digits for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit import NosplitWarning, two_sample_test

SOURCE = str(Path(nosplit.__file__).parents[1])


def frame(seed, n=30):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 2)), columns=["ä", "v"])


@pytest.mark.skipif(os.name == "nt", reason="names of files are bytes on POSIX only")
def test_a_locale_without_utf_8(tmp_path):
    """Arrow was given names that Python had taken apart: no CSV, Parquet or Feather file opened."""
    for seed, name in enumerate(("é", "b")):
        rows = frame(seed)
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        rows.to_parquet(tmp_path / f"{name}.parquet")
        rows.to_feather(tmp_path / f"{name}.feather")
    code = (
        "import sys, nosplit\n"
        "for end in ('csv', 'parquet', 'feather'):\n"
        "    print(nosplit.two_sample_test(sys.argv[1] + '.' + end, 'b.' + end, kernels='paper1',\n"
        "          pairs='linear', calibration='asymptotic').pvalue)\n"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": SOURCE}
    done = subprocess.run(
        [sys.executable, "-c", code, "é".encode()],
        env={**os.environ, **plain},
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.split()
    assert others == [first, first]


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64"])
def test_whole_numbers_of_tables_that_are_rounded(kind):
    x, y = (pd.DataFrame({"id": pd.array(np.arange(30) + i, dtype=kind)}) for i in (2**60, 2**50))
    with pytest.warns(NosplitWarning, match="Column 'id' of `x` holds whole numbers beyond"):
        two_sample_test(x, y, kernels=lambda *_: [nosplit.kernels.Linear()])
