"""The tests that are compared, each with its own defaults: (x, y, rng) → is the null rejected?"""

from __future__ import annotations

from collections.abc import Callable

import kt
import numpy as np
from goodpoints import ctt
from hyppo.ksample import MMD
from scipy.spatial.distance import cdist, pdist
from scipy.stats import mannwhitneyu
from sklearn.ensemble import HistGradientBoostingClassifier

import nosplit

LEVEL = 0.05
# CTT's compression level: its authors' experiments go up to 5; here 4 keeps nearly every row.
COMPRESSION = 4
PERMUTATIONS = 999

Test = Callable[[np.ndarray, np.ndarray, np.random.Generator], bool]


def ours(x, y, rng):
    """`two_sample_test` with nothing but the data."""
    return nosplit.two_sample_test(x, y).reject(LEVEL)


def kerneltests(method: str) -> Test:
    """MMDAgg, MMDAggInc or MMD-FUSE from the package `kerneltests`."""
    return lambda x, y, rng: kt.two_sample(x, y, method=method, alpha=LEVEL).reject


def compress_then_test(x, y, rng):
    """CTT. It has no default bandwidth: the median distance, as exp(-‖x - y‖² / (2 median²))."""
    rows = np.concatenate([x[:250], y[:250]])
    seeds = rng.integers(2**31, size=2)
    found = ctt.ctt(
        x,
        y,
        COMPRESSION,
        lam=np.sqrt(2.0) * np.median(pdist(rows)),
        null_seed=int(seeds[0]),
        statistic_seed=int(seeds[1]),
        alpha=LEVEL,
    )
    # A rejection on the boundary is a matter of chance, with a probability CTT gives.
    return bool(rng.random() < found.rejects)


def hyppo_mmd(x, y, rng):
    """hyppo's MMD; for more than 20 rows its default is a fast approximation by chi-squared."""
    return MMD().test(x, y)[1] <= LEVEL


def energy(x, y, rng):
    """Energy distance with label permutations: -wᵀDw, w = 1/n on x and -1/m on y."""
    z = np.concatenate([x, y])
    w = np.repeat([1.0 / len(x), -1.0 / len(y)], [len(x), len(y)])
    W = np.stack([w, *(rng.permutation(w) for _ in range(PERMUTATIONS))])
    statistic = -np.einsum("bi,bi->b", W @ cdist(z, z), W)
    return np.mean(statistic >= statistic[0] * (1 - 1e-9)) <= LEVEL


def classifier(x, y, rng):
    """Gradient boosting learns on a random half; its scores on the other are ranked.

    The p-value is that of the one-sided Mann-Whitney test on the scores, that is, of the area
    under the ROC curve.
    """
    z, label = np.concatenate([x, y]), np.repeat([0, 1], [len(x), len(y)])
    learn = np.zeros(len(z), dtype=bool)
    for one in (0, 1):
        rows = np.flatnonzero(label == one)
        learn[rng.permutation(rows)[: len(rows) // 2]] = True
    model = HistGradientBoostingClassifier(random_state=0).fit(z[learn], label[learn])
    score = model.decision_function(z[~learn])
    held = label[~learn]
    return mannwhitneyu(score[held == 1], score[held == 0], alternative="greater").pvalue <= LEVEL


TESTS: dict[str, Test] = {
    "nosplit": ours,
    "MMDAgg": kerneltests("mmdagg"),
    "MMDAggInc": kerneltests("mmdagginc"),
    "MMD-FUSE": kerneltests("mmdfuse"),
    "CTT": compress_then_test,
    "hyppo MMD": hyppo_mmd,
    "energy": energy,
    "boosting": classifier,
}
