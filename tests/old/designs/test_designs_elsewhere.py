"""Designs on the command line, in plans, in checks of the level and in reports."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import nosplit
from nosplit import Exact, InputError


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    paths = []
    for k in range(3):
        site = np.repeat(["n", "s"], [40 - 20 * k, 20 + 20 * k] if k < 2 else [30, 30])
        rows = {"v": rng.normal(size=60) + 3.0 * (site == "s"), "w": rng.normal(size=60)}
        frame = pd.DataFrame(rows | {"site": site, "id": np.arange(60) // 5 + 100 * k})
        paths.append(tmp_path / f"{'abc'[k]}.csv")
        frame.to_csv(paths[-1], index=False)
    return [str(path) for path in paths]


def test_test_command(run, files):
    a, b, _ = files
    code, out, _ = run("test", a, b, "--strata", "site", "--exclude", "id", "--json")
    told = json.loads(out)
    assert code == 0
    assert [row["column"] for row in told["columns"]] == ["v", "w"]
    assert told["how"]["design"]["kind"] == "strata"
    x, y = pd.read_csv(a), pd.read_csv(b)
    expected = nosplit.two_sample_test(x, y, strata="site", exclude="id")
    assert told["pvalue"] == expected.pvalue
    _, out, _ = run("test", a, b, "--groups", "id", "--strata", "site", "--columns", "v")
    said = " ".join(out.split())
    assert "120 rows in groups, 1 column, 2 strata (site)" in said
    assert "999 permutations of groups of the same size inside strata" in said
    _, out, _ = run("test", a, b, "--paired", "--exclude", "id,site")
    assert (
        "60 pairs, 2 columns; exact for independent pairs, 999 permutations inside pairs"
        in " ".join(out.split())
    )
    code, _, err = run("test", a, b, "--strata", "sites")
    assert code == 2
    assert "`--strata` must name a column" in err


def test_independence_command(run, files, tmp_path):
    x, y = tmp_path / "x.csv", tmp_path / "y.csv"
    frame = pd.read_csv(files[0])
    frame[["v", "site"]].to_csv(x, index=False)
    frame[["w"]].to_csv(y, index=False)
    _, out, _ = run("independence", x, y, "--strata", "site")
    assert (
        "60 rows, 1 with 1 columns, 2 strata (site); exact, 999 permutations inside strata"
        in " ".join(out.split())
    )


def test_ksample_command(run, files, tmp_path):
    code, out, _ = run("ksample", *files, "--exclude", "id", "--control", files[0], "--exit-code")
    assert code == 1
    assert "1 of 2 pairs differs (adjusted for all 2)" in " ".join(out.split())
    both = pd.concat([pd.read_csv(f).assign(file=f[-5]) for f in files])
    both.to_csv(tmp_path / "all.csv", index=False)
    _, out, _ = run("ksample", tmp_path / "all.csv", "--by", "file", "--exclude", "id", "--json")
    told = json.loads(out)
    assert [s["name"] for s in told["samples"]] == ["a", "b", "c"]
    assert len(told["comparisons"]) == 3
    _, out, _ = run("ksample", *files, "--strata", "site", "--exclude", "id")
    assert "3 samples of 60 rows, 2 columns, 2 strata (site); exact" in " ".join(out.split())
    code, _, err = run("ksample", files[0])
    assert code == 2
    assert "`--by COLUMN`" in err


def test_plan_says_what_changes_places(run):
    assert "swapped inside pairs" in str(nosplit.plan(n=500, paired=True))
    strata = nosplit.plan(n=300, m=400, strata=5)
    assert (strata.n_units, strata.pairs) == (700, "complete")
    assert strata.reason.endswith("Rows are permuted inside 5 strata.")
    groups = nosplit.plan(n=20_000, p=5, groups=200)
    assert groups.n_units == 200
    large = nosplit.plan(n=100_000, strata=50)
    assert large.pairs == "sketch"
    several = nosplit.plan(n=600, test="k_sample", samples=4)
    assert several.reason.endswith("Rows are permuted among 4 samples.")
    assert "3 strata" in str(nosplit.plan(n=800, test="independence", strata=3))
    _, out, _ = run("plan", "--n", 300, "--groups", 40)
    assert "40 groups are permuted" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"m": 400, "paired": True}, "`paired` samples must be of one size"),
        ({"samples": 3}, "`samples` goes with"),
        ({"test": "k_sample"}, "`samples` goes with"),
        ({"test": "k_sample", "samples": 3, "m": 300}, "`m` is the size of a second"),
        ({"strata": 0}, "`strata` must be"),
        ({"paired": True, "groups": 5}, "`paired` rows have no"),
        ({"test": "goodness_of_fit", "strata": 3}, "do not go with"),
        ({"test": "independence", "groups": 3}, "do not go with"),
        ({"strata": 3, "pairs": "linear"}, "`pairs` with"),
    ],
)
def test_plans_of_bad_designs_iv(options, match):
    with pytest.raises(InputError, match=match):
        nosplit.plan(n=300, **options)


def test_level_is_checked_by_the_exchanges_of_the_design(run, files):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 1))
    y = x + 0.1 * rng.normal(size=(40, 1)) + 1.0
    check = nosplit.power.calibration_check(
        x, y, paired=True, trials=40, kernels="paper2", calibration=Exact(99)
    )
    assert np.sum(check.pvalues <= 0.05) <= binom.ppf(1 - 1e-4, 40, 0.05)
    closed_form = nosplit.power.calibration_check(x, y, paired=True, trials=100, kernels="paper2")
    assert closed_form.pvalues.shape == (2, 50)
    ids = np.arange(40) // 5
    grouped = nosplit.power.calibration_check(
        x, y, groups=(ids, ids + 8), trials=40, kernels="paper2", calibration=Exact(99)
    )
    assert np.sum(grouped.pvalues <= 0.05) <= binom.ppf(1 - 1e-4, 40, 0.05)
    a, b, _ = files
    out = run("calibrate", a, b, "--strata", "site", "--exclude", "id", "--trials", 10)[1]
    assert "Type-I error" in out


def test_reports_say_what_changes_places(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 1))
    res = nosplit.two_sample_test(x, x + 0.5, paired=True)
    page = res.report(x, x + 0.5, path=tmp_path / "a.html", options={"rng": 0, "paired": True})
    text = page.read_text(encoding="utf-8")
    assert "X and y are swapped inside 40 pairs." in text
    assert "paired=True" in text
    s = np.arange(40) % 2
    inside = nosplit.two_sample_test(x, x + 0.5, strata=(s, s))
    text = inside.report(x, x + 0.5, path=tmp_path / "b.html").read_text(encoding="utf-8")
    assert "Add the design of the test (paired=, strata=, groups= or series=): rows are" in text
    with pytest.raises(InputError, match="Test and explain the rows of one stratum"):
        nosplit.explain(inside, x, x + 0.5)
    several = nosplit.k_sample_test([x, x + 2.0, x], follow_up=False)
    text = several.overall.report(path=tmp_path / "c.html").read_text(encoding="utf-8")
    assert "not all samples come from the same distribution" in text
