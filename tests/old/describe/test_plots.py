"""What is in the plots: bars, lines, labels, and where they are."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import matplotlib as mpl
import matplotlib.dates
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import nosplit
from nosplit import InputError
from nosplit._old.describe import plots
from nosplit._old.describe.plots.style import BLACK, RED, X

mpl.use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

KERNELS = [nosplit.kernels.Gaussian(1.0), nosplit.kernels.Gaussian(4.0), nosplit.kernels.Linear()]


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    monkeypatch.setattr("nosplit._old.describe.attribution.SECONDS", 0.02)
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 3)), rng.normal(size=(120, 3))
    y[:, 1] *= 2.0
    return x, y


@pytest.fixture(scope="module")
def res(data):
    return nosplit.two_sample_test(*data, kernels=KERNELS, calibration=nosplit.Exact(199))


@pytest.fixture(scope="module")
def told(res, data):
    return nosplit.explain(res, *data)


def drawn(figure):
    """Draw it for real: every warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    return figure


def overlaps(ax, axis):
    """Whether labels on an axis lie on one another; turned ones lie side by side."""
    renderer = ax.figure.canvas.get_renderer()
    labels = ax.get_yticklabels() if axis == "y" else ax.get_xticklabels()
    upright = [label for label in labels if label.get_text() and not label.get_rotation()]
    boxes = [label.get_window_extent(renderer) for label in upright]
    return any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def lines_at(ax, colour):
    """Where upright lines of a colour are."""
    upright = [line for line in ax.lines if line.get_color() == colour]
    return [line.get_xdata()[0] for line in upright if len(set(line.get_xdata())) == 1]


def test_weights_are_bars_and_the_active_set_is_filled(res):
    res = replace(res, selection=replace(res.selection, active=(0, 2)))
    ax = plots.plot_weights(res)
    drawn(ax.figure)
    widths = [bar.get_width() for bar in ax.patches]
    assert_allclose(widths, [line.weight for line in res.selection.by_kernel()])
    filled = [bar.get_facecolor() == mpl.colors.to_rgba(X.colour) for bar in ax.patches]
    assert filled == [True, False, True]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True, False]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["Gaussian(1)", "Gaussian(4)", "Linear()"]
    assert ax.yaxis_inverted()
    assert not overlaps(ax, "y")
    key = [text.get_text() for text in ax.get_legend().get_texts()]
    assert key == ["active set", "not active"]


def test_null_of_flips_is_a_histogram_with_statistic_and_threshold(res):
    ax = plots.plot_null(res, alpha=0.1)
    drawn(ax.figure)
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert heights.sum() == res.how.n_resamples == 199
    hatched = np.array([bool(bar.get_hatch()) for bar in ax.patches])
    starts = np.array([bar.get_x() for bar in ax.patches])
    threshold = res.threshold(0.1)
    assert np.array_equal(hatched, starts >= threshold - 1e-8)
    assert heights[hatched].sum() == np.count_nonzero(res.null.values[1:] >= threshold - 1e-8)
    assert lines_at(ax, BLACK) == [threshold]
    assert lines_at(ax, RED) == [res.statistic]
    assert ax.get_xlim()[0] < res.statistic < ax.get_xlim()[1]
    assert ax.get_xlabel() == "evidence"


def test_a_statistic_off_the_scale_is_an_arrow_with_its_value():
    res = nosplit.joint_normal_test([100.0, 90.0], np.eye(2))
    ax = plots.plot_null(res)
    drawn(ax.figure)
    assert ax.get_xlim()[1] < 10.0
    arrow = ax.lines[-1]
    assert arrow.get_marker() == ">"
    assert ax.get_xlim()[0] < arrow.get_xdata()[0] < ax.get_xlim()[1]
    assert "statistic 135" in arrow.get_label()
    assert "off the scale" in arrow.get_label()


def test_pvalues_against_a_number_however_small():
    results = {R: nosplit.joint_normal_test([10.0 * R, 1.0], np.eye(2)) for R in (5, 1, 2)}
    ax = plots.plot_pvalues(results, alpha=0.01)
    drawn(ax.figure)
    x, y = ax.lines[0].get_data()
    assert list(x) == [1, 2, 5]
    assert_allclose(y, [results[R].log_pvalue / np.log(10.0) for R in (1, 2, 5)])
    assert min(y) < -400  # far below what a number of double precision holds
    assert_allclose(ax.lines[1].get_ydata(), -2.0)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "5"]
    several = {n: [results[1], results[2], results[5]] for n in (100, 2000)}
    ax = plots.plot_pvalues(several, xlabel="n")
    drawn(ax.figure)
    assert ax.get_xscale() == "log"
    assert_allclose(ax.lines[2].get_ydata(), results[2].log_pvalue / np.log(10.0))


def test_attribution_bars_are_the_shares_in_order(told):
    ax = plots.plot_attribution(told)
    drawn(ax.figure)
    ranked = told.ranked()
    assert_allclose([bar.get_width() for bar in ax.patches], [100 * c.share for c in ranked])
    assert [label.get_text() for label in ax.get_yticklabels()] == [c.name for c in ranked]
    assert ranked[0].name == "column 1"
    markers = {line.get_label(): line for line in ax.lines}
    lost = markers["lost without it"].get_xdata()
    assert_allclose(lost[0] / (100 * ranked[0].share), ranked[0].lost / ranked[0].carried)


def test_witness_of_one_column_is_a_curve_in_its_own_units():
    rng = np.random.default_rng(2)
    frames = [pd.DataFrame({"height": rng.normal(170.0 + 10 * s, 8.0, 100)}) for s in (0, 1)]
    res = nosplit.two_sample_test(*frames, kernels=KERNELS, calibration=nosplit.Exact(99))
    told = nosplit.explain(res, *frames)
    ax = plots.plot_witness(told)
    drawn(ax.figure)
    grid, values = ax.lines[0].get_data()
    assert 130.0 < grid[0] < 165.0
    assert 185.0 < grid[-1] < 220.0
    assert_allclose(values, told.witness(pd.DataFrame({"height": grid})), rtol=1e-6, atol=1e-9)
    assert values[0] > 0 > values[-1]
    assert ax.get_xlabel() == "height"


def test_witness_of_two_columns_is_a_plane(data):
    x, y = (sample[:, :2] for sample in data)
    res = nosplit.two_sample_test(x, y, kernels=KERNELS, calibration=nosplit.Exact(99))
    told = nosplit.explain(res, x, y)
    ax = plots.plot_witness(told, columns=["column 1", "column 0"])
    figure = drawn(ax.figure)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 1", "column 0")
    rows = ax.collections[-2].get_offsets(), ax.collections[-1].get_offsets()
    for offsets, sample in zip(rows, (told.x, told.y), strict=True):
        assert_allclose(offsets, np.stack([sample.values[1], sample.values[0]], axis=1))
    assert figure.axes[1].get_ylabel() == "witness (positive: more like x)"


def test_plot_draws_every_kind_and_returns_a_figure(res, told, data):
    for kind in plots.KINDS:
        what = {5.0: res} if kind == "pvalues" else told
        assert isinstance(nosplit.plot(what, kind=kind), mpl.figure.Figure)
        pyplot.close("all")
    assert len(drawn(res.plot()).axes) == 2
    assert len(drawn(nosplit.plot(told)).axes) == 5  # four, and a colour bar
    x, y = data
    assert len(drawn(res.plot(kind="columns", x=x, y=y, most=1)).axes) == 1
    ax = pyplot.figure().add_subplot()
    assert nosplit.plot(res, kind="null", ax=ax) is ax.figure
    assert ax.patches


def test_plot_iv(res, told, data):
    with pytest.raises(InputError, match=r"`kind` must be one of .*Did you mean 'weights'"):
        res.plot(kind="weight")
    with pytest.raises(InputError, match="`x` and `y` must be given to draw this"):
        res.plot(kind="columns")
    with pytest.raises(InputError, match="`x` and `y` must be given together"):
        res.plot(kind="columns", x=data[0])
    with pytest.raises(InputError, match="`res` must be an Explanation, got int"):
        nosplit.plot(3, kind="witness")
    with pytest.raises(InputError, match="`res` must be a TestResult or an Explanation, got int"):
        nosplit.plot(3)
    with pytest.raises(InputError, match="`results` must be a mapping"):
        nosplit.plot(res, kind="pvalues")
    with pytest.raises(InputError, match="`name` must be one of the columns 'column 0'"):
        plots.plot_column(told, "colour")
    with pytest.raises(InputError, match="`columns` must be one or two names"):
        plots.plot_witness(told, columns=["column 0"] * 3)
    with pytest.raises(InputError, match="`most` must be an int ≥ 1"):
        plots.plot_columns(told, most=0)


def test_without_matplotlib_the_error_names_the_extra():
    program = (
        "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "import nosplit\n"
        "res = nosplit.joint_normal_test([1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])\n"
        "try: res.plot()\n"
        "except nosplit.InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'nosplit[plot]'" in done.stdout
