"""Classifiers without a split, beside half and half, and the default kernels.

    python -m benchmarks.monitor.witness --sizes 500 2000 --trials 20

All use the same gradient boosting. Half and half: learned on one half, the other half tested by its
ranks (Mann and Whitney). Needs scikit-learn.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier

import nosplit
from benchmarks.monitor.laws import CHANGES


def clusters(rng, n):
    """Two clusters in ten dimensions; in one of them two coordinates are correlated, in y."""

    def sample(rho):
        rows = rng.normal(size=(n, 10))
        which = rng.random(n) < 0.5
        rows[which] += 3.0
        rows[which, 1] = (
            3.0 + rho * (rows[which, 0] - 3.0) + np.sqrt(1.0 - rho**2) * (rows[which, 1] - 3.0)
        )
        return rows

    return sample(0.0), sample(0.5)


def xor(rng, n):
    """Independent signs of three columns, or signs whose product is mostly positive."""
    x, y = rng.normal(size=(n, 6)), rng.normal(size=(n, 6))
    odd = (np.sign(y[:, :3]).prod(axis=1) < 0) & (rng.random(n) < 0.3)
    y[odd, 0] *= -1.0
    return x, y


PROBLEMS = {
    "two clusters, 10-d": clusters,
    "signs of three columns, 6-d": xor,
    "none": lambda rng, n: (rng.normal(size=(n, 5)), rng.normal(size=(n, 5))),
    **{
        name: CHANGES[name]
        for name in (
            "shift of .3, one of 5",
            "shift of .15, all of 10",
            "spread of 1.5, one of 3",
            "spread of 1.2, all of 5",
            "correlation of .6, two of 5",
            "t with 3 degrees of freedom, 2-d",
            "blobs, 2-d",
            "a tenth of rows shifted, 5-d",
        )
    },
}


def halves(x, y, rng):
    """The usual test: learn on one half, test the other."""
    n = len(x) // 2
    a, b = rng.permutation(len(x)), rng.permutation(len(y))
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
    rows = np.concatenate([x[a[:n]], y[b[:n]]])
    model.fit(rows, np.repeat([1, 0], n))
    scores = [model.predict_proba(part)[:, 1] for part in (x[a[n:]], y[b[n:]])]
    return stats.mannwhitneyu(*scores, alternative="greater").pvalue


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 2000])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--problems", nargs="*", choices=PROBLEMS, default=list(PROBLEMS))
    options = parser.parse_args()
    for n in options.sizes:
        for name in options.problems:
            problem = PROBLEMS[name]
            found = np.zeros(3)
            for seed in range(options.trials):
                rng = np.random.default_rng([seed, n])
                x, y = problem(rng, n)
                found += (
                    nosplit.classifier_test(x, y, rng=seed).pvalue <= 0.05,
                    halves(x, y, rng) <= 0.05,
                    nosplit.two_sample_test(x, y, rng=seed).pvalue <= 0.05,
                )
            power = found / options.trials
            print(
                f"n = {n}, {name}: without a split {power[0]:.2f}, halves {power[1]:.2f}, "
                f"kernels {power[2]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
