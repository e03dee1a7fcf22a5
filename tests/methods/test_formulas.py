"""Formulas against scipy, plain enumeration, and closed forms in one and two dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from nosplit import InputError
from nosplit.methods import OST, Adaptive, Best, ChiBar, Naive, Nonnegative, Split, Wald
from nosplit.methods._base import above_chance, in_deviations, settled
from nosplit.methods.laws import Chi, ChiBarLaw, Flips, TruncatedNormal, law_of
from nosplit.methods.polyhedral import polyhedral_truncation
from nosplit.methods.split import split_at
from nosplit.methods.tails import log_ndtr
from nosplit.methods.whitening import Whitening, optimal_weights, unit

ALPHAS = [0.7, 0.3, 0.05, 1e-3, 1e-8]

# Null laws ----------------------------------------------------------------------------------------

LAWS = {
    "chi 1": (Chi(1), stats.chi(1)),
    "chi 2": (Chi(2), stats.chi(2)),
    "chi 7": (Chi(7), stats.chi(7)),
    "normal": (TruncatedNormal(), stats.norm()),
    "from -0.5": (TruncatedNormal(-0.5), stats.truncnorm(-0.5, np.inf)),
    "from 1.3": (TruncatedNormal(1.3), stats.truncnorm(1.3, np.inf)),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws_against_scipy(name):
    law, reference = LAWS[name]
    x = np.array([-2.0, -0.7, 0.0, 0.4, 1.0, 1.5, 2.6, 4.0])
    np.testing.assert_allclose(law.pdf(x), reference.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(
        [law.log_sf(v) for v in x], reference.logsf(x), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose([law.isf(a) for a in ALPHAS], reference.isf(ALPHAS), rtol=1e-9)


@pytest.mark.parametrize("mixture", [[0.2, 0.5, 0.3], [0.5, 0.5], [0.05, 0.2, 0.45, 0.3]])
def test_chi_bar_law_against_scipy(mixture):
    """The mass at 0 is the weight of no degrees of freedom; the rest is a mixture of densities."""
    law = ChiBarLaw(np.array(mixture))
    for x in (0.1, 1.0, 3.0, 6.0):
        parts = [w * stats.chi(k).sf(x) for k, w in enumerate(mixture) if k]
        assert law.log_sf(x) == pytest.approx(math.log(sum(parts)), rel=1e-9)
        assert quad(law.pdf, x, np.inf)[0] == pytest.approx(sum(parts), rel=1e-7)
    assert law.log_sf(0.0) == 0.0
    positive = 1.0 - mixture[0]
    for alpha in (0.9 * positive, 0.05, 1e-6):
        assert law.log_sf(law.isf(alpha)) == pytest.approx(math.log(alpha), abs=1e-9)
    for alpha in (positive, 0.99):  # any positive value rejects
        assert 0.0 < law.isf(alpha) < 1e-300


def test_a_selection_has_the_law_of_its_pvalue():
    tau, cov = np.array([1.2, 0.9, -0.4]), np.eye(3) + 0.2
    kinds = {OST(): Chi, Wald(): Chi, Best(): TruncatedNormal, ChiBar(draws=99): ChiBarLaw}
    for method, kind in kinds.items():
        picked = method(tau, cov)
        law = law_of(picked)
        assert type(law) is kind
        assert law.log_sf(float(picked.statistic)) == pytest.approx(float(picked.log_pvalue))
    assert law_of(Wald()(tau, cov)).dof == 3


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_flips_by_counting(scale):
    """Draws that agree to 1e-7 are ties, and at 1.5e-6 they are none (relative if large)."""
    rng, step = np.random.default_rng(0), 0.5 * scale
    level = rng.integers(-6, 7, 200)
    noise = 1e-7 * rng.uniform(-1, 1, 200)
    law = Flips(step * level * (1.0 + noise) + noise)
    for at in range(-7, 8):
        share, near = np.mean(level >= at), 1.5e-6 * max(1.0, abs(step * at))
        assert law.sf(step * at) == share
        assert law.sf(step * at + near) == np.mean(level >= at + 1)
        if share:
            assert law.log_sf(step * at) == math.log(share)
    for alpha in (0.03, 0.1, 0.5, 0.999, np.mean(level == 6)):
        enough = [at for at in range(-6, 7) if np.mean(level >= at) <= alpha]
        expected = step * min(enough) if enough else np.inf
        assert law.isf(alpha) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert law.isf(0.0) == np.inf


# Small parts --------------------------------------------------------------------------------------


def test_statistics_in_deviations():
    """A statistic without variance is 0; rounding is not above chance."""
    t = in_deviations(np.array([[3.0, 5.0], [-1.0, 0.0]]), np.diag([4.0, 0.0]))
    assert t.tolist() == [[1.5, 0.0], [-0.5, 0.0]]
    each = in_deviations(np.array([[3.0, 5.0]]), np.array([np.diag([0.25, 100.0])]))
    assert each.tolist() == [[6.0, 0.5]]
    rows = np.array([[-3.0, -1.0], [-3.0, 0.0], [-3.0, 1e-8], [-3.0, 1e-5], [2.0, -9.0]])
    assert above_chance(rows).tolist() == [False, False, False, True, True]


def test_rounding_is_no_part_of_a_solution():
    """Less than 1e-12 of the largest value of the row, whatever its sign."""
    solution = np.array([[1.0, 5e-13, 0.0, -1e-20], [1.0, 5e-12, 5e-12, 0.0]])
    kept = settled(solution, np.array([[0.2, -1.0], [0.5, 1.0]]))
    assert (kept > 0).tolist() == [[True, False, False, False], [True, True, True, False]]
    assert settled(solution, np.array([[0.2, -10.0], [0.5, 10.0]]))[1].tolist() == [1.0, 0, 0, 0]


@pytest.mark.parametrize("shared", [True, False])
def test_kinds_of_evidence_of_adaptive(shared):
    """OST's -log p, the largest and the mean of the statistics in standard deviations."""
    tau = np.array([[2.0, 0.0, -1.0], [-1.0, 0.0, -3.0], [0.5, 0.0, 6.0]]) / 10.0
    cov = np.array([[4.0, 0, 1.0], [0, 0, 0], [1.0, 0, 9.0]]) / 100.0
    found = Adaptive().evidence(tau, cov if shared else np.stack([cov] * 3))
    t = tau[:, [0, 2]] / [0.2, 0.3]
    learned = -OST()(tau[:, [0, 2]], cov[np.ix_([0, 2], [0, 2])]).log_pvalue
    np.testing.assert_allclose(found[0], [learned[0], 0.0, learned[2]], rtol=1e-12)
    np.testing.assert_allclose(found[1], t.max(axis=1))
    np.testing.assert_allclose(found[2], t.mean(axis=1))
    assert learned[1] > 0.0  # a combination without a positive statistic is no evidence
    assert Adaptive()(tau, cov).log_pvalue[0] == pytest.approx(-learned[0])
    lone = Adaptive().evidence(tau[:, :2], cov[:2, :2])
    np.testing.assert_allclose(lone[1:], [t[:, 0]] * 2)


def test_copies_of_copies_count_as_one():
    """Five unit vectors, each within rounding of the next: the best is their mean, alone."""
    angle = 3e-5 * np.arange(5)
    R = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    tau = np.array([1.0, 1.001, 1.002, 1.003, 1.004])
    for method in (Best(), Nonnegative(), OST()):
        assert method(tau, R @ R.T).statistic == pytest.approx(1.002, abs=1e-7)
    # A sixth that is no copy is left alone, in any units.
    wide = np.pad(R, ((0, 1), (0, 1)))
    wide[5, 2] = 2.0
    out = Best()(np.append(tau, 3.0), wide @ wide.T)
    assert (float(out.statistic), out.active.tolist()) == (1.5, [False] * 5 + [True])


# Splits and the naive baseline --------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("n", [4, 5, 9, 20, 37])
def test_parts_of_a_split(fraction, n):
    """The first part is even and as near to its share as that allows; both hold two units."""
    even = np.arange(0, n + 2, 2)
    cut = int(even[np.argmin(np.abs(even - fraction * n))])
    if 2 <= cut <= n - 2:
        assert split_at(Split(fraction), n) == [range(cut), range(cut, n)]
    else:
        with pytest.raises(InputError, match=rf"splits {n} units into {cut} and {n - cut}"):
            split_at(Split(fraction), n)
    assert split_at(OST(), n) == [range(n)]


def test_split_and_naive_are_one_sided_normal():
    tau, held_out, cov = np.array([2.0, 1.0]), np.array([1.5, -3.0]), np.array([[4.0, 1], [1, 1]])
    out = Split(0.5, Best())([tau, held_out], cov)  # both standardised values are 1: the first
    assert float(out.statistic) == 0.75
    assert float(out.log_pvalue) == pytest.approx(stats.norm.logsf(0.75))
    assert (int(out.dof), float(out.truncation)) == (1, -np.inf)
    naive = Naive()([3.0, 4.0], np.eye(2))
    assert float(naive.log_pvalue) == pytest.approx(stats.norm.logsf(5.0))
    assert (int(naive.dof), float(naive.truncation)) == (1, -np.inf)
    nothing = Split()([[3.0, -3.0], [1.0, -1.0]], [[1.0, -1.0], [-1.0, 1.0]])
    assert (float(nothing.statistic), float(nothing.log_pvalue)) == (-np.inf, 0.0)
    np.testing.assert_allclose(log_ndtr([-40.0, 0.3]), stats.norm.logcdf([-40.0, 0.3]))


# Whitening ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("rank", [4, 2])
def test_whitening_against_numpy(standardise, rank):
    rng = np.random.default_rng(rank)
    R = rng.normal(size=(3, 4, rank)) * np.array([1.0, 2.0, 0.5, 3.0])[:, None]
    cov = R @ R.transpose(0, 2, 1)
    tau = np.einsum("kij,kj->ki", R, rng.normal(size=(3, rank)))
    white = Whitening(standardise)(cov)
    w, pinv = white.whiten(tau), np.linalg.pinv(cov, rcond=1e-8, hermitian=True)
    assert white.rank.tolist() == [rank] * 3
    np.testing.assert_allclose(white.colour(w), tau / white.scale)
    if rank == 4 or not standardise:
        length = np.einsum("ki,kij,kj->k", tau, pinv, tau)
        np.testing.assert_allclose((w**2).sum(axis=1), length)
        np.testing.assert_allclose(white.weights(w), np.einsum("kij,kj->ki", pinv, tau), atol=1e-9)
        both = white.scale[:, :, None] * white.scale[:, None, :]
        np.testing.assert_allclose(white.inverse_gram(), pinv * both, atol=1e-7)
    v = rng.normal(size=(3, 4))
    np.testing.assert_allclose((white.weights(v) * tau).sum(axis=1), (v * w).sum(axis=1))
    for field in ("scale", "matrix", "root", "inverse_root", "rank", "gram"):
        assert np.array_equal(getattr(white.one(1), field), getattr(white, field)[1:2])


@pytest.mark.parametrize(("gap", "rank"), [(1e-8, 2), (1e-9, 2), (1.5e-10, 1), (1e-11, 1)])
def test_eigenvalues_that_count_as_zero(gap, rank):
    """Below 1e-10 of the largest by default: those of a correlation 1 - g are 2 - g and g."""
    assert Whitening()(np.array([[1.0, 1 - gap], [1 - gap, 1.0]])).rank == [rank]
    assert Whitening(False, rcond=gap / 10)(np.diag([1.0, gap])).rank == [2]
    assert Whitening(False, rcond=gap * 10)(np.diag([1.0, gap])).rank == [1]


def test_unit_vectors():
    found = unit(np.array([[3e200, 4e200], [0.0, 0.0], [-3e-200, 4e-200]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0], [-0.6, 0.8]])
    assert unit(np.zeros((2, 0))).shape == (2, 0)


# The polyhedral lemma in one dimension ------------------------------------------------------------


def test_an_interval_in_closed_form():
    """τ ~ N(μ, 4) given -2 ≤ τ ≤ 6: its multiple by -3 lies in [-18, 6], with sd 6."""
    box = {"cov": [[4.0]], "A": [[1.0], [-1.0]], "b": [6.0, 2.0]}
    cut = polyhedral_truncation([1.0], eta=[-3.0], **box)
    assert (cut.statistic, cut.sd, cut.lower, cut.upper) == pytest.approx((-3.0, 6.0, -18.0, 6.0))
    law = stats.truncnorm(-3.0, 1.0)
    assert cut.pvalue == pytest.approx(law.sf(-0.5))
    assert cut.log_pvalue == pytest.approx(law.logsf(-0.5))
    for edge, at in ((6.0, "lower"), (-2.0, "upper")):  # on the edge of the event
        found = polyhedral_truncation([edge], eta=[-3.0], **box)
        assert getattr(found, at) == found.statistic
    # A constraint on what is independent of η'τ leaves it as it is.
    rest = polyhedral_truncation(
        [1.0, 1.0], [[1.0, 0.1], [0.1, 0.07]], [[0.1, -1.0]], [0.5], [1.0, 0.0]
    )
    assert (rest.lower, rest.upper) == (-np.inf, np.inf)


VALID = {"tau": [1.0], "cov": [[4.0]], "A": [[1.0]], "b": [6.0], "eta": [1.0]}
BAD = [
    (lambda: polyhedral_truncation(**VALID | {"tau": [6.1]}), r"must satisfy the selection event"),
    (lambda: polyhedral_truncation(**VALID | {"tau": [6.0 + 1e-6]}), r"must satisfy the selection"),
    (lambda: polyhedral_truncation(**VALID | {"eta": [0.0]}), r"`eta` must have positive variance"),
    (lambda: polyhedral_truncation(**VALID | {"eta": [1e200]}), r"products that overflow"),
    (
        lambda: polyhedral_truncation([1, 1], [[1, 1], [1, 1]], [[1, 0]], [6], [1, -1]),
        r"`eta` must have positive variance under `cov`, got 0",
    ),
    (lambda: Whitening(rcond=1.0), r"`rcond` must be in \[0, 1\), got 1.0"),
    (lambda: Whitening(rcond=-1e-9), r"`rcond` must be in \[0, 1\), got -1e-09"),
    (
        lambda: Whitening()(np.array([[1.0, 1.1], [1.1, 1.0]])),
        r"eigenvalue is -0.048 times its lar",
    ),
    (lambda: optimal_weights([0.0, 0.0], np.eye(2)), r"`mu` must have an entry other than 0"),
    (lambda: OST()([], np.eye(2)), r"got shapes \(0,\) and \(2, 2\)"),
    (lambda: OST()(1.0, np.eye(1)), r"got shapes \(\) and \(1, 1\)"),
    (lambda: OST()([1.0, 2.0], np.eye(3)), r"`cov` must be \(d, d\).*\(2,\) and \(3, 3\)"),
    (lambda: OST()(np.ones((4, 2)), np.ones((3, 2, 2))), r"got shapes \(4, 2\) and \(3, 2, 2\)"),
    (lambda: OST()([np.nan, 1.0], np.eye(2)), r"`tau` must be finite"),
    (lambda: OST()([1.0, 1.0], np.diag([1.0, np.inf])), r"`cov` must be finite"),
    (lambda: Split(0.0), r"`fraction` must be strictly between 0 and 1"),
    (lambda: Split(0.5, ChiBar()), r"`method` of a Split must be OST"),
    (lambda: Split()([1.0, 2.0], np.eye(2)), r"shape \(\.\.\., 2, d\), got \(2,\)"),
    (lambda: Split()(np.ones((3, 2)), np.eye(2)), r"shape \(\.\.\., 2, d\), got \(3, 2\)"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_methods_iv(make, message):
    with pytest.raises(InputError, match=message):
        make()
    Whitening(rcond=0.0)
