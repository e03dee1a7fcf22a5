"""Reports of goodness of fit and of independence: their pictures, and the sizes they state."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit import models
from nosplit._old.describe.report.pictured.dependence import cramers_v

pytest.importorskip("matplotlib")


def _page(res, *data, tmp_path, **options):
    return res.report(*data, path=tmp_path / "out.html", **options).read_text(encoding="utf-8")


def test_fit(tmp_path):
    x = np.random.default_rng(0).normal(0.0, 1.6, size=(400, 1))
    res = nosplit.goodness_of_fit_test(x, stats.norm())
    page = _page(res, x, stats.norm(), tmp_path=tmp_path)
    assert "The sample beside the model" in page
    assert page.count("<figure>") == 2
    assert "quantiles of the model" in page
    gap, low = map(float, re.search(r"by up to (\d\.\d+), at least (\d\.\d+)", page).groups())
    grid = np.linspace(-5, 5, 999)
    truth = np.abs(stats.norm(0, 1.6).cdf(grid) - stats.norm.cdf(grid)).max()
    assert low <= truth + 0.005
    assert abs(gap - stats.kstest(x[:, 0], "norm").statistic) < 0.03
    private = _page(res, x, stats.norm(), tmp_path=tmp_path, rows=False)
    assert private.count("<figure>") == 1


def test_fit_without_a_model_to_draw_from(tmp_path):
    x = np.random.default_rng(0).normal(size=(100, 1))
    res = nosplit.goodness_of_fit_test(x, lambda x: -x)
    for data in ((x, lambda x: -x), (x,), ()):
        assert "beside the model" not in _page(res, *data, tmp_path=tmp_path)


def test_fit_of_tables_names_columns(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["<a>", "b"])
    model = models.Normal([0.0, 0.0], [1.0, 1.0])
    res = nosplit.goodness_of_fit_test(table, model)
    page = _page(res, table, model, tmp_path=tmp_path)
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert page.count("<figure>") == 4


def test_dependence(tmp_path):
    rng = np.random.default_rng(1)
    x = pd.DataFrame({"distance": rng.normal(size=300), "carrier": rng.choice(["QQ", "DL"], 300)})
    y = pd.DataFrame({"late": np.where(x.carrier == "QQ", rng.random(300) < 0.7, False)})
    res = nosplit.independence_test(x, y)
    page = _page(res, x, y, tmp_path=tmp_path)
    assert "The variables together" in page
    assert "Categories of carrier: 1 " in page
    assert page.index("carrier and late") < page.index("distance and late")
    assert "QQ" not in _page(res, x, y, tmp_path=tmp_path, rows=False)
    arrays = rng.normal(size=(2, 200, 1))
    res = nosplit.independence_test(*arrays)
    assert "A point for every row." in _page(res, *arrays, tmp_path=tmp_path)
    assert "A point for every row." not in _page(res, *arrays, tmp_path=tmp_path, rows=False)
    words = np.array(["a", "b"])[(arrays[0] > 0).astype(int)]
    res = nosplit.independence_test(words, arrays[1])
    assert "Categories of x 0: 1 " in _page(res, words, arrays[1], tmp_path=tmp_path)


def test_cramers_v_against_theory():
    """No bias where columns are independent; 1 where one determines the other."""
    rng = np.random.default_rng(2)
    tables = (np.histogram2d(*rng.random((2, 200)), bins=8)[0] for _ in range(200))
    assert np.mean([cramers_v(table) ** 2 for table in tables]) < 0.01
    assert cramers_v(np.diag([30.0, 20.0, 10.0])) == pytest.approx(1.0, abs=0.02)
    assert cramers_v(np.ones((1, 5))) == 0.0


def test_commands_write_them(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).to_csv("t.csv", index=False)
    assert run("gof", "t.csv", "--columns", "a", "--report", "fit.html")[0] == 0
    assert run("independence", "t.csv", "--x", "a", "--y", "b", "--report", "dep.html")[0] == 0
    assert "beside the model" in (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "a and b" in (tmp_path / "dep.html").read_text(encoding="utf-8")
