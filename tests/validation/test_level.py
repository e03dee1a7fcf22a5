"""The level: p-values under the null, for every method and calibration.

Exact calibration is held to its word at every sample size: P(p ≤ k/100) = k/100 for 99 draws,
or less where there are ties. Asymptotic calibration is held to it where it is called safe.

Bounds are binomial. For exact calibration a comparison gives a false alarm with a chance of 1e-7,
and there are about 1,500 of them; for the others the chance is stated. The seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from _reference import at_most, within
from nosplit import Exact, two_sample_test
from nosplit.core.moments import Moments
from nosplit.core.order import Natural
from nosplit.core.pairings import Adjacent, as_pairing
from nosplit.datasets import MNIST, Blobs, DiffVar
from nosplit.families.design import plain_design
from nosplit.families.paired import Paired
from nosplit.families.two_sample import PooledRows, compare_samples
from nosplit.inference.caveats import safe_window
from nosplit.inference.evidence import conclude_by
from nosplit.inference.plan import MAX_POOLED, Effort
from nosplit.kernels import Gaussian, Laplace, Linear, median_bandwidth, paper_kernels
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import as_recipe
from nosplit.methods import OST, Adaptive, Best, ChiBar, Naive, Nonnegative, Split, Wald

ALARM = 1e-7

# Exact calibration --------------------------------------------------------------------------------

FLIPS = 99
# The chi-bar law's weights play no part in its evidence, so few draws will do for them.
EXACT = [OST(), Nonnegative(), Wald(), Best(), ChiBar(draws=20), Adaptive()]


def recipe(l2, l1):
    return [Gaussian(l2), Gaussian(l2 / 4), Laplace(l1), Linear()]


def exact_pvalues(x, y, seed, methods=EXACT):
    """p-values of all methods: what `two_sample_test` does, with permutations shared."""
    rng, n, m = np.random.default_rng(seed), len(x), len(y)
    pooled = PooledRows(np.concatenate([x, y]), np.repeat([0, 1], [n, m]), (), range(x.shape[1]))
    design = plain_design((n, m), rng, MAX_POOLED)
    found = compare_samples(pooled, design, as_recipe(recipe), Effort(FLIPS), rng, OST())
    kernels = {"kernels": found.finding.kernels}
    return [conclude_by(method, kernels).pvalue for method in methods]


@pytest.mark.parametrize("n", [30, 60])
def test_shortcut_is_the_public_test(n):
    x, y = np.random.default_rng(30).normal(size=(2, n, 1))
    options = {"kernels": recipe, "calibration": Exact(n_resamples=FLIPS), "rng": 3}
    public = [two_sample_test(x, y, method=method, **options).pvalue for method in EXACT]
    np.testing.assert_allclose(exact_pvalues(x, y, 3), public, rtol=1e-12)


def normal(rng, n):
    return rng.normal(size=(n, 1))


def cauchy(rng, n):
    return rng.standard_cauchy(size=(n, 2))


def discrete(rng, n):
    return rng.integers(3, size=(n, 1)).astype(float)


def check_exact(law, n, m, trials, *, ties):
    """Compare the shares of p ≤ k/100 with k/100, on both sides unless there are ties."""
    rng = np.random.default_rng([n, m, trials])
    p = np.array([exact_pvalues(law(rng, n), law(rng, m), [n, m, t]) for t in range(trials)])
    assert np.all((p > 0) & (p <= 1))
    for method, own in zip(EXACT, p.T, strict=True):
        for k in (1, 2, 5, 10, 20, 50, 80):
            hits = np.count_nonzero(own <= k / 100 + 1e-9)
            # Evidence is 0 if every statistic is below zero: ties above the median or so.
            two_sided = not ties and (k <= 20 or not isinstance(method, OST | ChiBar))
            plausible = within if two_sided else at_most
            assert plausible(hits, trials, k / 100, ALARM), (method.name, k, hits)


# Labels are permuted up to 50 rows of each sample and for unequal sizes, pairs of rows are swapped
# beyond. Whether draws are exchangeable does not depend on the law.


@pytest.mark.parametrize(("n", "m"), [(20, 20), (20, 33), (60, 60)])
@pytest.mark.parametrize("law", [normal, cauchy])
def test_exact_against_theory(law, n, m):
    check_exact(law, n, m, 120, ties=False)


@pytest.mark.parametrize("n", [20, 55])
def test_exact_discrete_data_against_theory(n):
    """Integers from 0 to 2: ties count against us, so p-values are larger than uniform ones."""
    check_exact(discrete, n, n, 150, ties=True)


def test_exact_very_few_rows_against_theory():
    """Four rows and three, all 35 permutations: at most uniform."""
    rng, trials = np.random.default_rng(0), 300
    methods = [OST(), Wald(), Adaptive()]
    hits = np.zeros((len(methods), 3))
    for t in range(trials):
        x, y = rng.standard_cauchy((4, 1)), rng.standard_cauchy((3, 1))
        p = np.array(exact_pvalues(x, y, t, methods))
        hits += p[:, None] <= np.array([0.05, 0.1, 0.5])
    for count, chance in zip(hits.T, (0.05, 0.1, 0.5), strict=True):
        assert np.all(at_most(count, trials, chance, ALARM))


@pytest.mark.parametrize(("n", "m", "trials"), [(200, 200, 60), (1000, 700, 15)])
def test_exact_larger_samples_against_theory(n, m, trials):
    check_exact(normal, n, m, trials, ties=False)


# Asymptotic calibration ---------------------------------------------------------------------------

# p-values are linear in the chi-bar law's weights, so the noise of few draws averages out.
ASYMPTOTIC = [OST(), Nonnegative(), Wald(), Best(), ChiBar(draws=150)]
SPLITS = [Split(f) for f in (0.1, 0.3, 0.5, 0.8)]


def trials_of(dataset, n, trials, *, null, seed=0):
    """Values of the adjacent pairs of each trial, (T, d, n/2), for the paper's six kernels.

    For independent rows these have the law of the paper's pairs, and every even part of the rows
    has the first of them: all splits can be read off.
    """
    rng = np.random.default_rng([seed, n])
    first = np.concatenate(dataset.sample(250, rng, null=True))
    bank = Bank(paper_kernels(6, median_bandwidth(first)))
    (job,) = Adjacent().jobs(n, n)
    for _ in range(trials):
        x, y = dataset.sample(n, rng, null=null)
        yield Paired(x, y, Natural(), Natural(), bank, range(n)).values(job)


def asymptotic_pvalues(values, methods=ASYMPTOTIC, splits=SPLITS):
    """p-values of all methods, (methods + splits, T), from the moments of every trial."""
    whole, parts = [], {split: [] for split in splits}
    for h in values:
        whole.append(Moments.from_columns(h))
        for split, taus in parts.items():
            cut = round(split.fraction * h.shape[1])
            pieces = (np.ascontiguousarray(piece) for piece in np.split(h, [cut], axis=1))
            taus.append([Moments.from_columns(piece).tau for piece in pieces])
    tau, cov = np.array([m.tau for m in whole]), np.array([m.cov for m in whole])
    logs = [method(tau, cov).log_pvalue for method in methods]
    logs += [split(np.array(taus), cov).log_pvalue for split, taus in parts.items()]
    return np.exp(logs)


@pytest.mark.parametrize("dataset", [DiffVar(), Blobs(), MNIST()], ids=lambda d: type(d).__name__)
def test_asymptotic_level_on_the_papers_data_against_theory(dataset):
    """n = 1,000, linear pairs, six kernels, every calibrated method: .05 within binomial bounds."""
    trials = 600
    p = asymptotic_pvalues(trials_of(dataset, 1000, trials, null=True))
    for method, own in zip([*ASYMPTOTIC, *SPLITS], p, strict=True):
        hits = np.count_nonzero(own <= 0.05)
        assert within(hits, trials, 0.05, 1e-5), (method.name, hits)


def test_naive_is_far_above_its_level():
    p = asymptotic_pvalues(trials_of(DiffVar(), 1000, 300, null=True), [Naive()], [])
    assert not at_most(np.count_nonzero(p <= 0.05), 300, 0.05, 1e-9)


def test_power_on_diff_var_against_paper():
    """With six kernels OST rejects more often than Wald's test and every split, on the same data.

    Where exactly one of the two rejects, it is OST more often than a fair coin would have it;
    false alarms: 1e-3 a comparison.
    """
    p = asymptotic_pvalues(trials_of(DiffVar(), 2000, 1500, null=False), [OST(), Wald()])
    ost, *others = p <= 0.05
    assert 0.2 < ost.mean() < 0.9
    for method, other in zip([Wald(), *SPLITS], others, strict=True):
        only_ost, only_other = np.sum(ost & ~other), np.sum(other & ~ost)
        assert binom.sf(only_ost - 1, only_ost + only_other, 0.5) < 1e-3, method.name


def test_asymptotic_level_of_safe_windows_against_theory():
    """The widest window that is called safe."""
    n, trials, rng = 2000, 200, np.random.default_rng([2000, 2000])
    bank = Bank(paper_kernels(6, 1.0))
    pairing = as_pairing(safe_window(n))
    moments = []
    for _ in range(trials):
        x, y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
        units = Paired(x, y, Natural(), Natural(), bank, range(n))
        moments.append(units.total(pairing, 1))
    tau, cov = np.array([q.tau for q in moments]), np.array([q.cov for q in moments])
    for method in ASYMPTOTIC:
        hits = np.count_nonzero(method(tau, cov).log_pvalue <= np.log(0.05))
        assert within(hits, trials, 0.05, 1e-5), (method.name, hits)
