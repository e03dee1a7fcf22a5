"""True null hypotheses of the level map: laws of rows, of values, of chains, and models."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.signal import lfilter

import nosplit


def ar1(rng, n, p, phi):
    """AR(1) with standard normal margins, in each of p columns."""
    noise = rng.standard_normal((n, p)) * np.sqrt(1.0 - phi**2)
    noise[0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], noise, axis=0)


def _zero_inflated(rate):
    return lambda rng, n, p: np.where(rng.random((n, p)) < rate, rng.lognormal(size=(n, p)), 0.0)


def _rare(rate):
    def draw(rng, n, p):
        import pandas as pd

        levels = np.array(["usual", "rare"])
        return pd.DataFrame({f"c{j}": levels[1 * (rng.random(n) < rate)] for j in range(p)})

    return draw


def _mixed(rng, n, p):
    """Numbers with gaps, a rare flag and skewed categories; p counts the numbers."""
    import pandas as pd

    numbers = {f"v{j}": rng.lognormal(size=n) for j in range(p)}
    numbers["v0"][rng.random(n) < 0.03] = np.nan
    carrier = rng.choice(list("ABCDE"), n, p=[0.6, 0.3, 0.07, 0.02, 0.01])
    return pd.DataFrame({**numbers, "carrier": carrier, "late": rng.random(n) < 0.01})


def _clusters(rng, n, p):
    return 100.0 * rng.integers(3, size=(n, 1)) + rng.standard_normal((n, p))


def _one_far_out(rng, n, p):
    """Now and then a fill value in the place of a number."""
    rows = rng.standard_normal((n, p))
    rows[rng.random(n) < 0.02, 0] = 1e20
    return rows


def _sorted(rng, n, p):
    rows = rng.exponential(size=(n, p))
    return rows[np.argsort(rows[:, 0], kind="stable")]


# Independent rows: draw(rng, n, p).
ROWS = {
    "normal": lambda rng, n, p: rng.standard_normal((n, p)),
    "log-normal": lambda rng, n, p: rng.lognormal(size=(n, p)),
    "Cauchy": lambda rng, n, p: rng.standard_cauchy((n, p)),
    "ties": lambda rng, n, p: rng.poisson(0.3, (n, p)).astype(float),
    "0.1 % not 0": _zero_inflated(0.001),
    "1 % not 0": _zero_inflated(0.01),
    "5 % not 0": _zero_inflated(0.05),
    "category .5 %": _rare(0.005),
    "category 5 %": _rare(0.05),
    "mixed table": _mixed,
    "clusters": _clusters,
    "fill values": _one_far_out,
    "sorted": _sorted,
}

# Rows that depend on those before them.
CHAINS = {f"AR({phi})": (lambda rng, n, p, phi=phi: ar1(rng, n, p, phi)) for phi in (0.3, 0.5, 0.9)}


def in_groups(rng, group, p):
    """Rows with a correlation of .5 inside groups; `group` numbers the group of each row."""
    common = rng.standard_normal((group.max() + 1, p))[group]
    return (common + rng.standard_normal((len(group), p))) / np.sqrt(2.0)


# Values of mean 0 for tests of means: draw(rng, n, d).
VALUES = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "Student 3": lambda rng, n, d: rng.standard_t(3.0, (n, d)),
    "1 - exponential": lambda rng, n, d: 1.0 - rng.exponential(size=(n, d)),
    "- log-normal": lambda rng, n, d: np.exp(0.5) - rng.lognormal(size=(n, d)),
    "- log-normal 1.5": lambda rng, n, d: np.exp(9 / 8) - rng.lognormal(0.0, 1.5, (n, d)),
    "log-normal -": lambda rng, n, d: rng.lognormal(size=(n, d)) - np.exp(0.5),
    ".02 - rare": lambda rng, n, d: 0.02 - (rng.random((n, d)) < 0.02),
}

# Models of one column, and of p.
MODELS = {
    "gamma(1.2)": stats.gamma(1.2),
    "gamma(2)": stats.gamma(2.0),
    "gamma(3)": stats.gamma(3.0),
    "Weibull(1.5)": stats.weibull_min(1.5),
    "Weibull(2.5)": stats.weibull_min(2.5),
    "log-normal": stats.lognorm(1.0),
    "beta(2, 5)": stats.beta(2.0, 5.0),
    "beta(1.3, 1.3)": stats.beta(1.3, 1.3),
    "Student 3": stats.t(3.0),
    "logistic": stats.logistic(),
}


def one_column(name):
    """A model of one column, by its name."""
    return nosplit.models.from_scipy(MODELS[name])


def normal_model(p):
    """The standard normal law of p columns."""
    return nosplit.models.MultivariateNormal(np.zeros(p), 1.0)


def metropolis(rng, n, p, step):
    """Metropolis' chain for the standard normal law, with normal steps."""
    moves, levels = step * rng.standard_normal((n, p)), np.log(rng.random(n))
    rows, now = np.empty((n, p)), rng.standard_normal(p)
    for i in range(n):
        there = now + moves[i]
        if levels[i] < 0.5 * (now @ now - there @ there):
            now = there
        rows[i] = now
    return rows


# Chains whose stationary law is standard normal: draw(rng, n, p).
STATIONARY = {
    "AR(.9)": lambda rng, n, p: ar1(rng, n, p, 0.9),
    "one slow column": lambda rng, n, p: np.hstack(
        [ar1(rng, n, 1, 0.99), rng.standard_normal((n, p - 1))]
    ),
    "Metropolis .5": lambda rng, n, p: metropolis(rng, n, p, 0.5),
    "Metropolis 3": lambda rng, n, p: metropolis(rng, n, p, 3.0),
    "Metropolis 10": lambda rng, n, p: metropolis(rng, n, p, 10.0),
}


class _Means:
    """A classifier that takes no time."""

    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)

    def predict(self, rows):
        return rows @ self.w


def _strata(x, y, seed):
    halves = [np.arange(len(rows)) * 2 // len(rows) for rows in (x, y)]
    return nosplit.two_sample_test(x, y, strata=halves, rng=seed, workers=1)


def _groups(x, y, seed):
    """Groups of five rows that follow one another."""
    both = [[f"{name}{i // 5}" for i in range(len(rows))] for name, rows in (("x", x), ("y", y))]
    return nosplit.two_sample_test(x, y, groups=both, rng=seed, workers=1)


class _Columns(str):
    """Tests of columns as they print, with the smallest p-value that is adjusted for all."""

    pvalue: float


def _columns(x, y, seed, series=False):
    found = nosplit.column_tests(x, y, series=series, rng=seed, workers=1)
    told = _Columns(found)
    told.pvalue = min(row.adjusted for row in found)
    return told


def _several(x, y, seed):
    half = len(y) // 2
    samples = [x, y[:half], y[half:]] if half >= 20 else [x, y]
    return nosplit.k_sample_test(samples, follow_up=False, rng=seed, workers=1)


# Tests of two samples of numbers, or of variables observed together, by their names: test(x, y,
# seed).
TESTS_OF_TWO = {
    "two_sample, default": lambda x, y, seed: nosplit.two_sample_test(x, y, rng=seed, workers=1),
    "two_sample, paired": lambda x, y, seed: nosplit.two_sample_test(
        x, y, paired=True, rng=seed, workers=1
    ),
    "two_sample, strata": _strata,
    "two_sample, groups": _groups,
    "k_sample, default": _several,
    "columns, default": _columns,
    "witness, means": lambda x, y, seed: nosplit.classifier_test(
        x, y, estimator=_Means(), rng=seed
    ),
    "independence, default": lambda x, y, seed: nosplit.independence_test(
        x, y, rng=seed, workers=1
    ),
    "mean, symmetric": lambda x, y, seed: nosplit.mean_test(x - y, symmetric=True, rng=seed),
}

# The same for rows in time order.
TESTS_OF_SERIES = {
    "two_sample": lambda x, y, seed: nosplit.two_sample_test(
        x, y, series=True, rng=seed, workers=1
    ),
    "two_sample, paired": lambda x, y, seed: nosplit.two_sample_test(
        x, y, paired=True, series=True, rng=seed, workers=1
    ),
    "columns": lambda x, y, seed: _columns(x, y, seed, series=True),
    "independence": lambda x, y, seed: nosplit.independence_test(
        x, y, series=True, rng=seed, workers=1
    ),
    "mean, symmetric": lambda x, y, seed: nosplit.mean_test(
        x - y, symmetric=True, series=True, rng=seed
    ),
}
