"""How results are shown, whatever is in them, and what they are not asked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nosplit import joint_normal_test, two_sample_test
from nosplit._support.pvalues import format_p, said_p
from nosplit.describe.report.words import verdict_words


@pytest.fixture(scope="module")
def result():
    return joint_normal_test([1.0, 2.0], np.eye(2))


@pytest.mark.parametrize(
    "log_p", [0.0, -1e-300, -1.0, -9.2, -36.8, -36.9, -709.0, -1e5, -4.1e32, -1e300, -math.inf]
)
def test_p_values_are_printed_whatever_their_size(result, log_p):
    res = replace(result, log_pvalue=log_p)
    text = format_p(log_p)
    assert len(text) <= 7
    if log_p < math.log(1e-16):
        assert text == "< 1e-16"
        assert "p < 1e-16, level 0.05" in res.summary()
        assert "pvalue<1e-16" in repr(res)
        assert "(p < 1e-16)" in verdict_words(res, 0.05)[0]
    else:
        assert float(text) == pytest.approx(math.exp(log_p), rel=0.05)
        assert f"p = {text}, level 0.05" in str(res)
        assert f"pvalue={text}" in repr(res)
    assert res.log_pvalue == log_p


def test_p_values_that_are_none_are_printed():
    assert said_p(math.nan) == "p = nan"


def test_results_are_not_true_or_false_iv(result):
    with pytest.raises(ValueError, match=r"neither true nor false. Ask `res.reject\(alpha\)`"):
        bool(result)
    with pytest.raises(ValueError, match="neither true nor false"):
        assert result


def test_results_in_notebooks_are_escaped():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    name = "<script>alert(1)</script>"
    x, y = (pd.DataFrame({name: rng.choice(["a", "b"], 60, p=p)}) for p in ((0.9, 0.1), (0.2, 0.8)))
    html = two_sample_test(x, y)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.startswith("<div><strong>The samples differ (p = ")
    assert html.count("<strong>") == 3  # the verdict, that of the columns, and what changed


def test_columns_of_arrays_have_numbers():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    assert "of the time by column 1 alone" in str(two_sample_test(x, y + np.array([0.0, 2.0])))


def test_rows_left_out_for_their_sizes_are_explained():
    rng = np.random.default_rng(0)
    result = two_sample_test(rng.normal(size=50), rng.normal(size=5000))
    text = " ".join(str(result).split())
    assert "4,200 left out (16 of the larger sample for one of the smaller are used)" in text
