"""How results are shown, whatever is in them, and what they are not asked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nosplit import (
    column_tests,
    independence_test,
    joint_normal_test,
    k_sample_test,
    mean_test,
    two_sample_test,
    witness_test,
)
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


class _Means:
    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)

    def predict(self, rows):
        return rows @ self.w


def _halves(rows):
    return np.arange(len(rows)) * 2 // len(rows)


EXACT_FOR = {
    "rows": (
        two_sample_test,
        independence_test,
        column_tests,
        lambda x, y: mean_test(x - y, symmetric=True),
        lambda x, y: k_sample_test([x, y, 0.5 * (x - y)]),
        lambda x, y: witness_test(x, y, estimator=_Means(), rng=0),
    ),
    "pairs": (lambda x, y: two_sample_test(x, y, paired=True),),
    "groups": (
        lambda x, y: two_sample_test(x, y, groups=(np.arange(24) // 3, np.arange(24, 48) // 3)),
    ),
    "rows inside strata": (
        lambda x, y: two_sample_test(x, y, strata=(_halves(x), _halves(y))),
        lambda x, y: independence_test(x, y, strata=_halves(x)),
    ),
}


@pytest.mark.parametrize(
    ("unit", "test"), [(unit, test) for unit, tests in EXACT_FOR.items() for test in tests]
)
def test_no_result_is_printed_as_exact_without_saying_for_what(unit, test):
    x, y = np.random.default_rng(5).normal(size=(2, 24, 2))
    said = " ".join(str(test(x, y)).split())
    assert f"exact for independent {unit}" in said
    assert "exact calibration" not in said


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
    assert ": column 1; 50 % = chance" in str(two_sample_test(x, y + np.array([0.0, 2.0])))


def test_rows_left_out_for_their_sizes_are_explained():
    rng = np.random.default_rng(0)
    result = two_sample_test(rng.normal(size=50), rng.normal(size=5000))
    text = " ".join(str(result).split())
    assert "4,200 left out (16 of the larger sample for one of the smaller are used)" in text
