"""What would find more of a shift? Goodness of fit of a normal law, wild flips.

Wider kernels, or the mean of the score as a kind of evidence of its own (Rao's score test of a
shift), ranked on the same signs as the others. Beside them KSDAgg, and the two-sided test of the
mean, which looks for nothing but a shift.

    python -m benchmarks.power.stein_kernels --trials 300    # three minutes of one core
"""

from __future__ import annotations

import argparse
import warnings

import kt
import numpy as np

from benchmarks.common.pages import share, table
from nosplit import Wild, goodness_of_fit_test
from nosplit.kernels import IMQ, Gaussian, median_bandwidth
from nosplit.methods import Adaptive

FLIPS = 199


def _normal(mean, scale):
    return lambda n, rng: rng.normal(size=(n, 1)) * scale + mean


PROBLEMS = {
    "nothing": _normal(0.0, 1.0),
    "shift by .3": _normal(0.3, 1.0),
    "spread 1.3": _normal(0.0, 1.3),
    "t₄": lambda n, rng: rng.standard_t(4.0, (n, 1)) / np.sqrt(2.0),
    "Laplace": lambda n, rng: rng.laplace(size=(n, 1)) / np.sqrt(2.0),
}
SETS = {
    "default": None,
    "8 medians for 2": lambda b: [IMQ(b), *(Gaussian(f * b) for f in (0.5, 1.0, 8.0))],
    "and 8, 16": lambda b: [IMQ(b), *(Gaussian(f * b) for f in (0.5, 1.0, 2.0, 8.0, 16.0))],
    "8 medians alone": lambda b: [Gaussian(8.0 * b)],
}
# Kinds that are joined: 0 to 2 are the default's (learned, largest, mean), 3 is the score's mean.
JOINED = {"and the score": (0, 1, 2, 3), "learned, score": (0, 3)}


def stein_matrices(x):
    """The Stein kernels of the default at all pairs of rows of one column, for N(0, 1)."""
    b = median_bandwidth(x)
    x = x[:, 0]
    D, G = np.subtract.outer(x, x) ** 2, np.outer(x, x)
    q = 1.0 / (1.0 + D / b**2)
    profiles = [(q**0.5, -0.5 * q**1.5 / b**2, 0.75 * q**2.5 / b**4)]
    for width in (0.5 * b, b, 2.0 * b):
        f, c = np.exp(-D / (2.0 * width**2)), -0.5 / width**2
        profiles.append((f, c * f, c * c * f))
    return np.stack([G * f - 2.0 * (1.0 - D) * f1 - 4.0 * D * f2 for f, f1, f2 in profiles])


def kinds(x, rng):
    """Four kinds of evidence under random signs of the rows, (4, F), the data first."""
    H, n = stein_matrices(x), len(x)
    signs = rng.choice([-1.0, 1.0], (FLIPS + 1, n))
    signs[0] = 1.0
    first, second = np.triu_indices(n, 1)
    values = H[:, first, second]
    H[:, np.arange(n), np.arange(n)] = 0.0
    tau = np.stack([np.sum((signs @ h) * signs, axis=1) for h in H], axis=1) / 2.0
    pairs = len(first)
    own = Adaptive().evidence(tau / np.sqrt(pairs), values @ values.T / pairs)
    return np.concatenate([own, np.abs(signs @ x).T])


def joined_pvalue(evidence):
    """P-value of kinds joined by the harmonic mean of their ranks."""
    ranks = np.sum(evidence[:, None, :] >= evidence[:, :, None] * (1.0 - 1e-12), axis=2)
    score = np.sum(1.0 / ranks, axis=0)
    return np.mean(score >= score[0] * (1.0 - 1e-12))


def trial(x, seed):
    """Whether each way finds something."""
    found = {
        label: goodness_of_fit_test(
            x, -x, kernels=kernels, calibration=Wild(FLIPS), rng=seed, workers=1
        ).pvalue
        <= 0.05
        for label, kernels in SETS.items()
    }
    evidence = kinds(x, np.random.default_rng(seed))
    found |= {name: joined_pvalue(evidence[list(which)]) <= 0.05 for name, which in JOINED.items()}
    found["KSDAgg"] = bool(kt.goodness_of_fit(x, -x, method="ksdagg", alpha=0.05).reject)
    found["mean"] = abs(x.mean()) * np.sqrt(len(x)) > 1.96
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--n", type=int, default=70)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n, rows, ways = options.n, [], [*SETS, *JOINED, "KSDAgg", "mean"]
    for name, draw in PROBLEMS.items():
        results = [trial(draw(n, np.random.default_rng([11, t])), t) for t in range(options.trials)]
        rows.append([name, *(share(np.mean([found[way] for found in results])) for way in ways)])
    print(table([f"n = {n}", *ways], rows))


if __name__ == "__main__":
    main()
