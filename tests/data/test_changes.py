"""What changed in a column, in words."""

import numpy as np
import pandas as pd
import pytest

import nosplit
from nosplit.data.changes import column_changes


def tables(n=4000):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"delay": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo", "Bern"], n)})
    y = pd.DataFrame({"delay": rng.normal(size=n), "city": rng.choice(["Rome", "Oslo", "Bern"], n)})
    return x, y


def test_median_and_spread():
    x, y = tables()
    y["delay"] = 2.0 * y["delay"] + 1.0
    change = column_changes(x, y, ["delay"])["delay"]
    assert "median " in change.words
    assert "spread × 2" in change.words or "spread × 1.9" in change.words
    # sup |Φ(x) - Φ((x - 1) / 2)| = .41 for these laws, by theory.
    assert change.told_apart == pytest.approx(0.5 + 0.41 / 2, abs=0.03)


def test_categories_by_name():
    x, y = tables()
    y.loc[:399, "city"] = "Oslo"
    change = column_changes(x, y, ["city"])["city"]
    assert "Oslo 33" in change.words
    assert change.told_apart == pytest.approx(0.533, abs=0.02)


def test_missing_values():
    x, y = tables()
    y.loc[:199, "delay"] = np.nan
    assert column_changes(x, y, ["delay"])["delay"].words == "missing 0 % → 5 %"


def test_arrays_and_shapes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1))
    y = rng.choice([-1.0, 1.0], (4000, 1)) * 0.95 + 0.3 * rng.normal(size=(4000, 1))
    assert column_changes(x, x[::-1], ["0"])["0"].told_apart == 0.5
    assert column_changes(x, y, ["0"])["0"].told_apart > 0.55


def test_a_result_says_what_changed():
    x, y = tables(20_000)
    y["delay"] += 0.2
    res = nosplit.two_sample_test(x, y)
    assert res.differing() == ("delay",)
    text = str(res)
    assert "delay: median" in text
    assert "told apart 54%" in text
    assert [c["column"] for c in res.to_dict()["by_column"]] == ["delay", "city"]
