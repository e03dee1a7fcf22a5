"""Power and time of the goodness-of-fit and independence tests beside those of other packages.

    python -m benchmarks.power.goodness_of_fit_independence  # about 15 minutes of one core
    python -m benchmarks.power.goodness_of_fit_independence --trials 200

Every test gets the same data, its own defaults and level 0.05, but for the slowest: MGC's
permutations are 99 (1,000 by default). Times are seconds of CPU for one test, all of it. The tables
of docs/measured/goodness_of_fit.md and docs/measured/independence.md come from here.
"""

from __future__ import annotations

import argparse
import time
import warnings

import dcor
import kt
import numpy as np
from hyppo.independence import MGC, Dcorr, Hsic
from hyppo.kgof import FSSD, IsotropicNormal, KGauss, fit_gaussian_draw, meddistance

from benchmarks.common.independence_problems import PROBLEMS as PAIRS
from nosplit import goodness_of_fit_test, independence_test, models

ALPHA = 0.05

# -- goodness of fit: the model is a standard normal law ----------------------------------------


def _normal(p, mean=0.0, scale=1.0):
    return lambda n, rng: rng.standard_normal((n, p)) * scale + mean


def _correlated(n, rng):
    root = np.linalg.cholesky(0.75 * np.eye(5) + 0.25)
    return rng.standard_normal((n, 5)) @ root.T


def _wiggle(n, rng):
    x = rng.standard_normal((n, 1))
    return x + 0.25 * np.sin(4.0 * x)


SAMPLES = {
    "null, p = 1": _normal(1),
    "null, p = 10": _normal(10),
    "shift": _normal(1, 0.25),
    "shift, p = 10": _normal(10, 0.08),
    "scale": _normal(1, scale=1.25),
    "scale, p = 5": _normal(5, scale=0.88),
    "t₄": lambda n, rng: rng.standard_t(4.0, (n, 1)) / np.sqrt(2.0),
    "Laplace": lambda n, rng: rng.laplace(size=(n, 1)) / np.sqrt(2.0),
    "t₆, p = 5": lambda n, rng: models.StudentT(6.0, np.zeros(5), 4.0 / 6.0).sample(n, rng),
    "correlated, p = 5": _correlated,
    "wiggle": _wiggle,
}


def ours_sampling(x, rng):
    model = models.MultivariateNormal(np.zeros(x.shape[1]))
    return goodness_of_fit_test(x, model, rng=rng, workers=1).pvalue <= ALPHA


def ours_wild(x, rng):
    return goodness_of_fit_test(x, -x, rng=rng, workers=1).pvalue <= ALPHA


def ksdagg(method):
    return lambda x, rng: kt.goodness_of_fit(x, -x, method=method, alpha=ALPHA).reject


def fssd(x, rng):
    places = fit_gaussian_draw(x, 5, seed=int(rng.integers(2**31)))
    kernel = KGauss(meddistance(x) ** 2)
    test = FSSD(IsotropicNormal(np.zeros(x.shape[1]), 1.0), kernel, places, alpha=ALPHA)
    return test.test(x)["pvalue"] <= ALPHA


FITS = {
    "nosplit, simulate": ours_sampling,
    "nosplit, wild": ours_wild,
    "KSDAgg": ksdagg("ksdagg"),
    "KSDAggInc": ksdagg("ksdagginc"),
    "hyppo FSSD": fssd,
}

# -- independence -------------------------------------------------------------------------------


def ours_pairs(x, y, rng):
    return independence_test(x, y, rng=rng, workers=1).pvalue <= ALPHA


def hsicagginc(x, y, rng):
    return kt.independence(x, y, method="hsicagginc", alpha=ALPHA).reject


def hyppo_test(make, **options):
    return lambda x, y, rng: make().test(x, y, workers=1, **options)[1] <= ALPHA


def distance_covariance(x, y, rng):
    found = dcor.independence.distance_covariance_test(x, y, num_resamples=199, random_state=rng)
    return found.pvalue <= ALPHA


INDEPENDENCE = {
    "nosplit": ours_pairs,
    "HSICAggInc": hsicagginc,
    "hyppo Hsic": hyppo_test(Hsic),
    "hyppo Dcorr": hyppo_test(Dcorr),
    "hyppo MGC": hyppo_test(MGC, reps=99),
    "dcor": distance_covariance,
}

# -- running and printing -----------------------------------------------------------------------


def study(title, problems, tests, n, trials):
    print(f"\n{title}, n = {n}, {trials} trials\n\n| | " + " | ".join(tests) + " |")
    print("|---" * (len(tests) + 1) + "|")
    spent = dict.fromkeys(tests, 0.0)
    table = []
    for name, draw in problems.items():
        rng, hits = np.random.default_rng(1), dict.fromkeys(tests, 0)
        for _ in range(trials):
            data = draw(n, rng)
            data = data if isinstance(data, tuple) else (data,)
            for test, run in tests.items():
                start = time.process_time()
                hits[test] += bool(run(*data, np.random.default_rng(int(rng.integers(2**31)))))
                spent[test] += time.process_time() - start
        shares = [hits[test] / trials for test in tests]
        if not name.startswith("null"):
            table.append(shares)
        print(f"| {name} | " + " | ".join(f"{s:.2f}" for s in shares) + " |", flush=True)
    print("| **mean power** | " + " | ".join(f"**{m:.2f}**" for m in np.mean(table, axis=0)) + " |")
    each = [spent[test] / trials / len(problems) for test in tests]
    print("| seconds | " + " | ".join(f"{s:.3g}" for s in each) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--only", choices=("gof", "independence"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.only != "independence":
        study("Goodness of fit", SAMPLES, FITS, options.n, options.trials)
    if options.only != "gof":
        study("Independence", PAIRS, INDEPENDENCE, options.n, options.trials)


if __name__ == "__main__":
    main()
