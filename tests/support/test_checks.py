"""Bad input: every message names the argument, the rule and what came; garbage never gets through.

Warnings are errors here (see pyproject.toml), so a stray overflow fails these tests too.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nosplit import _checks as check
from nosplit.backend.numba.jit import is_private
from nosplit.errors import InputError
from nosplit.methods import OST, Best, ChiBar, Naive, Nonnegative, Split, Wald
from nosplit.methods.polyhedral import polyhedral_truncation
from nosplit.methods.whitening import Whitening, optimal_weights

ONE_VECTOR = [OST(), Nonnegative(), Wald(), Best(), ChiBar(draws=20), Naive()]

every_method = pytest.mark.parametrize("method", ONE_VECTOR, ids=lambda m: m.name)


def says(*words):
    """A pattern for `match` that finds the words in this order."""
    return "(?s)" + ".*".join(re.escape(word) for word in words)


# Methods on (τ, Σ) ------------------------------------------------------------------------------

BAD = {
    "text": (["a", "b"], np.eye(2), says("`tau`", "real numbers", "dtype <U1")),
    "complex": ([1.0, 2j], np.eye(2), says("`tau`", "real numbers", "complex128")),
    "nothing": (None, np.eye(2), says("`tau`", "real numbers", "object")),
    "ragged": ([[1.0, 2.0], [1.0]], np.eye(2), says("`tau`", "rectangular")),
    "a number": (1.0, np.eye(2), says("`cov` must be (d, d)", "() and (2, 2)")),
    "no kernels": ([], np.zeros((0, 0)), says("`cov` must be (d, d)", "(0,) and (0, 0)")),
    "not square": ([1.0, 2.0], np.ones((2, 3)), says("`cov` must be (d, d)", "(2,) and (2, 3)")),
    "other size": ([1.0, 2.0], np.eye(3), says("`cov` must be (d, d)", "(2,) and (3, 3)")),
    "other batch": (
        np.ones((3, 2)),
        np.broadcast_to(np.eye(2), (4, 2, 2)),
        says("batch shape of `tau`", "(3, 2) and (4, 2, 2)"),
    ),
    "nan": ([1.0, np.nan], np.eye(2), says("`tau` must be finite, got nan at index (1,)")),
    "inf": ([1.0, 2.0], np.diag([1.0, np.inf]), says("`cov` must be finite, got inf", "(1, 1)")),
    "asymmetric": ([1.0, 2.0], [[1.0, 0.2], [0.1, 1.0]], says("`cov` must be symmetric", "0.1")),
    "negative": ([1.0, 2.0], np.diag([1.0, -2.0]), says("`cov`", "diagonal ≥ 0, got -2")),
    "correlation": (
        [1.0, 2.0],
        [[1.0, 3.0], [3.0, 4.0]],
        says("`cov` must be positive semidefinite", "correlation of 1.5"),
    ),
    "indefinite": (
        [1.0, 2.0, 3.0],
        [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]],
        says("`cov` must be positive semidefinite", "smallest eigenvalue is -0.42 times"),
    ),
    "tiny": ([0.0, 0.0], np.diag([1.0, 1e-310]), says("`cov`", "from 1e-304", "got 1e-310")),
    "huge": ([0.0, 0.0], np.diag([1.0, 1e305]), says("`cov`", "to 1e+304", "got 1e+305")),
    "certain": ([1.0, 2.0], np.diag([1.0, 0.0]), says("`tau`", "other than 0", "variance of 0")),
    "half dead": (
        [1.0, 0.0],
        [[1.0, 0.5], [0.5, 0.0]],
        says("`cov`", "variance of 0 with a covariance other than 0"),
    ),
    "dead": ([0.0, 0.0], np.zeros((2, 2)), says("`cov`", "positive variance, got zeros only")),
    "far": ([1e200, 0.0], np.eye(2), says("`tau`", "within 1e+140", "got 1e+200", "`cov`")),
}


@every_method
@pytest.mark.parametrize("name", BAD)
def test_methods_iv(method, name):
    tau, cov, message = BAD[name]
    with pytest.raises(InputError, match=message):
        method(tau, cov)


@pytest.mark.parametrize("inner", [OST(), Nonnegative(), Wald(), Best()], ids=lambda m: m.name)
def test_split_iv(inner):
    method = Split(0.5, inner)
    with pytest.raises(InputError, match=says("`tau`", "(..., 2, d)", "(2,)", "mean_test")):
        method([1.0, 2.0], np.eye(2))
    with pytest.raises(InputError, match=says("`tau`", "(3, 2)")):
        method(np.ones((3, 2)), np.eye(2))
    for bad in (np.nan, np.inf, 1e200):
        for part in (0, 1):
            tau = np.ones((2, 2))
            tau[part, 1] = bad
            with pytest.raises(InputError, match="`tau` must be"):
                method(tau, np.eye(2))
    with pytest.raises(InputError, match="variance of 0"):
        method([[1.0, 0.0], [1.0, 2.0]], np.diag([1.0, 0.0]))


def test_method_arguments_iv():
    for fraction in (0.0, 1.0, -0.1, 2, np.nan, "half", None):
        with pytest.raises(InputError, match=says("`fraction`", "between 0 and 1", repr(fraction))):
            Split(fraction)
    with pytest.raises(InputError, match=says("`method` of a Split", "OST()", "Naive")):
        Split(0.5, Naive())
    for rcond in (-1e-3, 1.0, np.nan):
        with pytest.raises(InputError, match=says("`rcond` must be in [0, 1)", repr(rcond))):
            Whitening(rcond=rcond)


# The polyhedral lemma and the best weights ------------------------------------------------------


def test_polyhedral_truncation_iv():
    good = {"tau": [2.0, 1.5], "cov": np.eye(2), "A": [[-1.0, 1.0]], "b": [0.0], "eta": [1.0, 0.0]}
    bad = [
        ("tau", [[1.0]], says("`tau`", "non-empty vector", "(1, 1)")),
        ("tau", [1.0, np.nan], says("`tau` must be finite", "nan")),
        ("tau", [1.0, 1.5], says("`tau`", "A τ ≤ b; it does not")),
        ("cov", np.eye(3), says("`cov` must have 2 columns, got 3")),
        ("cov", np.ones((3, 2)), says("`cov` must be 2 × 2, got shape (3, 2)")),
        ("cov", [[1.0, 2.0], [2.0, 1.0]], says("`cov` must be positive semidefinite")),
        ("A", [1.0, 1.0], says("`A`", "non-empty matrix", "(2,)")),
        ("A", [[1.0, 1.0, 1.0]], says("`A` must have 2 columns, got 3")),
        ("b", [0.0, 1.0], says("`b` must have 1 entries, got 2")),
        ("eta", [1.0], says("`eta` must have 2 entries, got 1")),
        ("eta", [0.0, 0.0], says("`eta` must have positive variance", "got 0")),
        ("eta", [1e200, 0.0], says("overflow")),
    ]
    assert polyhedral_truncation(**good).lower == 1.5
    for name, value, message in bad:
        with pytest.raises(InputError, match=message):
            polyhedral_truncation(**(good | {name: value}))


def test_polyhedral_truncation_refuses_a_direction_that_rounding_alone_moves():
    v = np.random.default_rng(0).standard_normal((3, 2))
    with pytest.raises(InputError, match="`eta` must have positive variance"):
        polyhedral_truncation(
            np.zeros(3), v @ v.T, np.zeros((1, 3)), [1.0], np.cross(v[:, 0], v[:, 1])
        )


def test_optimal_weights_iv():
    with pytest.raises(InputError, match=says("`mu`", "other than 0: no combination is best")):
        optimal_weights([0.0, 0.0], np.eye(2))
    with pytest.raises(InputError, match=says("`mu`", "`cov` has a variance of 0")):
        optimal_weights([1.0, 1.0], np.diag([1.0, 0.0]))
    with pytest.raises(InputError, match=says("`mu` must be finite")):
        optimal_weights([1.0, np.inf], np.eye(2))


# Single checks ----------------------------------------------------------------------------------


def test_bad_values_far_down_are_found_and_counted():
    x = np.zeros((200_000, 1))
    x[150_000], x[199_999] = np.inf, -np.inf
    with pytest.raises(InputError, match=says("inf at index (150000, 0)", "2 such values")):
        check.check_finite(x, "x")


def test_values_whose_sum_overflows_are_finite():
    assert check.check_sample(np.full((4, 1), 1.7e308), "x").shape == (4, 1)
    assert check.check_sample(np.array([[1.7e308], [-1.7e308]] * 2), "x").shape == (4, 1)


# Garbage ----------------------------------------------------------------------------------------

anything = st.floats(allow_nan=True, allow_infinity=True)
plausible = st.floats(-1e3, 1e3)


def vector(d, values):
    return arrays.arrays(np.float64, d, elements=values)


def square(d, values):
    return arrays.arrays(np.float64, (d, d), elements=values)


@st.composite
def semidefinite_pair(draw):
    """τ and a Σ that is semidefinite but for rounding: of any rank, on any scales."""
    d = draw(st.integers(1, 4))
    values = draw(st.sampled_from([plausible, st.sampled_from([-1.0, 0.0, 1.0, 1 + 1e-9])]))
    R = draw(square(d, values))
    scale = 10.0 ** draw(vector(d, st.sampled_from([-150.0, -140, -20, 0, 1, 20, 140, 150])))
    R[np.abs(R).max(axis=1) < 1e-100] = 0.0
    R /= np.maximum(np.linalg.norm(R, axis=1, keepdims=True), 1e-110)
    tau = draw(vector(d, values))
    if draw(st.booleans()):
        tau = R @ tau
    cov = R @ R.T
    return tau * scale, cov * scale[:, None] * scale


def assert_number_or_input_error(method, tau, cov):
    try:
        out = method(tau, cov)
    except InputError:
        return False
    assert np.all(np.isfinite(out.log_pvalue))
    assert np.all(out.log_pvalue <= 0)
    assert not np.any(np.isnan(out.statistic))
    assert not np.any(np.isnan(out.weights))
    return True


@every_method
@settings(max_examples=150, deadline=None, derandomize=True)
@given(pair=semidefinite_pair())
def test_strange_covariances_are_answered(method, pair):
    tau, cov = pair
    answered = assert_number_or_input_error(method, tau, cov)
    variance = np.diagonal(cov)
    if not answered:  # for a reason: nothing varies, or something certain does not vanish
        assert not variance.any() or np.any(tau[variance == 0])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(pair=semidefinite_pair(), other=st.data())
def test_garbage_is_refused_or_answered_by_split(pair, other):
    tau, cov = pair
    held_out = other.draw(vector(len(tau), anything))
    for inner in (OST(), Nonnegative(), Wald(), Best()):
        try:
            out = Split(0.5, inner)(np.stack([tau, held_out]), cov)
        except InputError:
            continue
        assert np.isfinite(out.log_pvalue)
        assert out.log_pvalue <= 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data(), wild=st.booleans())
def test_garbage_is_refused_or_answered_by_the_polyhedral_lemma(data, wild):
    d, s = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    values = anything if wild else plausible
    tau, eta = data.draw(vector(d, values)), data.draw(vector(d, values))
    A = data.draw(arrays.arrays(np.float64, (s, d), elements=values))
    R = data.draw(square(d, values))
    with np.errstate(all="ignore"):
        cov, b = R @ R.T, np.abs(A @ tau) + 1
    try:
        cut = polyhedral_truncation(tau, cov, A, b, eta)
    except InputError:
        return
    assert 0 <= cut.pvalue <= 1
    assert not np.isnan(cut.log_pvalue)


# Compiled code is cached only where nobody else can write -----------------------------------------

needs_posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")


@needs_posix
@pytest.mark.parametrize(
    ("mode", "private"), [(0o700, True), (0o755, True), (0o777, False), (0o757, False)]
)
def test_cache_folder_must_be_private(tmp_path, mode, private):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    assert is_private(folder) is private
    assert is_private(folder / "made" / "later") is private


@needs_posix
def test_cache_folder_of_somebody_else_is_not_private(monkeypatch):
    """Owner and group as the system reports them: another user's, and a group we are not."""
    me, group = os.getuid(), os.getgid()

    def owned_by(uid, gid, mode):
        status = SimpleNamespace(st_uid=uid, st_gid=gid, st_mode=stat.S_IFDIR | mode)
        monkeypatch.setattr(Path, "stat", lambda *_, **__: status)
        monkeypatch.setattr(Path, "exists", lambda *_, **__: True)
        return is_private(Path("cache"))

    assert owned_by(me, group, 0o755)
    assert owned_by(0, 0, 0o755)
    assert not owned_by(me + 1, group, 0o755)
    assert not owned_by(me, group + 1, 0o775)
    assert owned_by(me, group, 0o775)
