"""Ranks among permutations, kinds of evidence and adjusted p-values, by their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nosplit.core.statistics import Statistics
from nosplit.inference.evidence import (
    _own_tails,
    _signed_tails,
    conclude,
    conclude_by,
    kinds_of,
)
from nosplit.inference.rank import (
    benjamini_hochberg,
    combine_ranks,
    holm,
    own_pvalues,
    ranks,
    step_down,
)
from nosplit.methods import OST, Adaptive, Best, ChiBar, Nonnegative, Wald


def test_holm_is_closed_testing_with_bonferroni():
    rng = np.random.default_rng(0)
    for p in rng.uniform(0, 0.2, (50, 5)):
        families = [f for size in range(1, 6) for f in combinations(range(5), size)]
        expected = [
            max(min(1.0, len(f) * min(p[i] for i in f)) for f in families if j in f)
            for j in range(5)
        ]
        np.testing.assert_allclose(holm(p), expected)


def test_benjamini_hochberg_against_scipy():
    p = np.random.default_rng(1).uniform(0, 0.5, 40)
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))


def test_step_down_compares_each_with_those_that_remain():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
    scores /= scores.std(axis=0)
    scores[0] += [3.0, 0.0, 2.0, 0.0, 1.0, 0.0]
    adjusted = step_down(scores)
    order = np.argsort(-scores[0])
    largest, expected = 0.0, {}
    for i, j in enumerate(order):
        rest = scores[:, order[i:]].max(axis=1)
        largest = max(largest, float(np.mean(rest >= rest[0])))
        expected[int(j)] = largest
    np.testing.assert_allclose(adjusted, [expected[j] for j in range(6)], rtol=1e-12)
    assert np.all(np.diff(adjusted[order]) >= 0)


@pytest.mark.parametrize("k", [1, 2])
def test_few_columns(k):
    scores = np.random.default_rng(5).normal(size=(50, k))
    assert step_down(scores).shape == (k,)


# Ranks --------------------------------------------------------------------------------------------


def rank_of_each(values):
    """How many draws have at least the evidence of each, by counting."""
    return np.array([np.sum(values >= v - 2e-6 * max(1.0, abs(v))) for v in values])


def draws(seed, *shape):
    """Evidence with many ties, of which some are rounded apart."""
    rng = np.random.default_rng(seed)
    return rng.integers(-5, 6, shape) * 0.7 + 1e-8 * rng.uniform(-1, 1, shape)


def test_ranks_by_counting():
    values = draws(0, 300)
    assert np.array_equal(ranks(values), rank_of_each(values))
    kinds = draws(1, 3, 300)
    mean = sum(300 / rank_of_each(kind) for kind in kinds)
    expected = rank_of_each(mean) / 300
    np.testing.assert_allclose(np.exp(-combine_ranks(list(kinds))), expected)
    assert np.array_equal(combine_ranks(list(kinds)), combine_ranks(list(kinds[::-1])))
    columns = kinds.T
    np.testing.assert_allclose(own_pvalues(columns), [rank_of_each(k)[0] / 300 for k in kinds])


# Kinds of evidence --------------------------------------------------------------------------------


def test_own_tails_of_gamma_laws_against_scipy():
    """Minus the log of upper tails, of laws with different shapes: they can be compared."""
    rng = np.random.default_rng(2)
    shapes = np.array([1.5, 6.0, 50.0])
    raw = rng.gamma(shapes, [1.0, 9.0, 0.1], (6000, 3))
    tau = np.column_stack([raw - raw.mean(axis=0), np.zeros(6000)])
    found = _own_tails(Statistics(tau, np.append(shapes, 0.0)))
    assert found.shape == (4, 6000)
    assert not found[3].any()
    for tails, own, shape, size in zip(found, raw.T, shapes, [1.0, 9.0, 0.1], strict=False):
        exact = -stats.gamma(shape, scale=size).logsf(own)
        upper = (exact > np.log(10)) & (exact < 7.5)
        np.testing.assert_allclose(tails[upper], exact[upper], atol=0.35)
        assert np.mean(tails >= np.log(10)) == pytest.approx(0.1, abs=1e-3)


def test_signed_tails_of_a_normal_reference_against_scipy():
    """Minus the log of the tail in the direction of the sign; exponential beyond a thousandth."""
    rng = np.random.default_rng(3)
    tails = _signed_tails(Statistics(rng.normal(size=(20_000, 32))))
    z = np.concatenate([np.linspace(-2.9, 2.9, 30), [-30.0, -6.0, -4.0, 4.0, 5.0, 6.0, 20.0]])
    own = Statistics(7.0 * np.stack([z, 0.0 * z], axis=1))
    # In units of their own spread, which is not that of the reference.
    found = tails(own)[0]
    u = 7.0 * z / own.spread[0]
    exact = -stats.norm.logsf(np.abs(u))
    inside = np.abs(u) < 3.0
    np.testing.assert_allclose(found[inside], exact[inside], atol=0.06)
    assert np.all(np.diff(found[z >= 0]) >= 0)
    np.testing.assert_allclose(tails(own)[1], np.log(2.0), atol=0.01)
    spread = Statistics(np.repeat([[4.0], [5.0], [6.0], [0.01]], [1, 1, 1, 50], axis=0))
    steps = np.diff(tails(spread)[0, :3])
    assert steps[1] == pytest.approx(steps[0], rel=0.05)


def statistics_of(seed, columns, **options):
    tau = np.random.default_rng(seed).normal(size=(200, columns)) * np.arange(1, columns + 1)
    return Statistics(tau - tau.mean(axis=0), **options)


def test_kinds_by_their_definitions():
    found = {name: statistics_of(i, 3) for i, name in enumerate(["kernels", "flattened"])}
    found["pairs"] = statistics_of(2, 4, shapes=np.full(4, 9.0))
    found |= {name: statistics_of(9, 2) for name in ("distance", "linear", "quadratic")}
    kinds = kinds_of(found, None)
    learned, _, mean = Adaptive().evidence(found["kernels"].tau, found["kernels"].cov)
    flat = Adaptive().evidence(found["flattened"].tau, found["flattened"].cov)
    expected = {
        "learned": learned,
        "learned, flattened": flat[0],
        "largest, flattened": flat[1],
        "largest pair": found["pairs"].normal_scores.max(axis=1),
        "broad": stats.zscore(mean),
        **dict.fromkeys(
            ("distance", "linear", "quadratic"), found["linear"].deviations.sum(axis=1)
        ),
    }
    assert set(kinds) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(kinds[name], values, atol=1e-12)
    finding = conclude(found)
    np.testing.assert_allclose(finding.evidence, combine_ranks(list(expected.values())))
    assert finding.pvalue == rank_of_each(finding.evidence)[0] / 200
    assert finding.kinds["linear"] == finding.distance == rank_of_each(expected["linear"])[0] / 200
    assert finding.n_draws == 200
    assert (finding.kernels, finding.pairs) == (found["kernels"], found["pairs"])
    # Statistics that no draw changes are no evidence.
    nothing = {name: Statistics(0.0 * own.tau, own.shapes) for name, own in found.items()}
    assert conclude(nothing).kinds == {"none": 1.0}
    some = conclude(nothing | {"linear": found["linear"]})
    assert list(some.kinds) == ["linear"]


def test_evidence_of_columns():
    """The largest of four tails of each column; types are maximised and ranked by themselves."""
    tau = np.random.default_rng(5).gamma(4.0, size=(400, 6))
    shape = Statistics(tau - tau.mean(axis=0), np.full(6, 4.0), np.array([3, 3, 7]))
    shape.tau[:, 2] = 0.0  # a category has no cumulative statistic
    own = {name: statistics_of_columns(i, 2) for i, name in enumerate(["place", "spread"])}
    references = {f"{name} reference": statistics_of_columns(9, 32) for name in own}
    columns = conclude(references, [{"shape": shape, **own}]).columns
    tails = _own_tails(shape)
    signed = [_signed_tails(references[f"{name} reference"])(own[name]) for name in own]
    each = np.maximum(tails[:3], tails[3:])
    for part in signed:  # owned by the second and the first column of the part
        each[[1, 0]] = np.maximum(each[[1, 0]], part)
    assert columns.owner.tolist() == [3, 7]
    expected = np.stack([each[:2].max(axis=0), each[2]], axis=1)
    np.testing.assert_allclose(columns.largest, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(columns.shape, combine_ranks([tails[:3].max(0), tails[3:].max(0)]))
    both = [part.max(axis=0) for part in signed]
    np.testing.assert_allclose(columns.place_spread, combine_ranks(both))
    d = shape.deviations
    np.testing.assert_allclose(columns.broad, (d[:, 0] + d[:, 1] + d[:, 5]) / 3.0)
    np.testing.assert_allclose(columns.adjusted, step_down(columns.largest))
    np.testing.assert_allclose(columns.pvalues, own_pvalues(columns.largest))


def statistics_of_columns(seed, columns):
    tau = np.random.default_rng(seed).normal(size=(400, columns))
    return Statistics(tau - tau.mean(axis=0), owner=np.arange(columns)[::-1])


@pytest.mark.parametrize(
    "method", [OST(), Nonnegative(), Wald(), Best(), ChiBar(draws=50)], ids=str
)
def test_evidence_of_one_method(method):
    """Closed-form p-values order active sets; no statistic above zero is no evidence for OST."""
    found = statistics_of(6, 3)
    finding = conclude_by(method, {"kernels": found})
    picked = method(found.tau, found.cov)
    ordered = isinstance(method, OST | Nonnegative)
    evidence = -picked.log_pvalue if ordered else picked.statistic
    if isinstance(method, OST | ChiBar):
        evidence = np.where((found.tau > 0).any(axis=1), evidence, 0.0)
    np.testing.assert_allclose(finding.evidence, evidence, atol=1e-12)
    assert finding.kinds == {"learned": finding.pvalue}
    nothing = conclude_by(method, {"kernels": Statistics(np.zeros((9, 3)))})
    assert (nothing.pvalue, nothing.kinds) == (1.0, {"none": 1.0})


def test_evidence_of_adaptive_is_joined_by_ranks():
    found = statistics_of(7, 3)
    finding = conclude_by(Adaptive(), {"kernels": found})
    kinds = Adaptive().evidence(found.tau, found.cov)
    np.testing.assert_allclose(finding.evidence, combine_ranks(list(kinds)))
    assert list(finding.kinds) == ["learned", "largest", "broad"]
