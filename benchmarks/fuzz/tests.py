"""Calls of the tests with options of all kinds, each followed by one that must agree with it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np

import nosplit
from benchmarks.fuzz import data
from benchmarks.fuzz.checks import Finding, call, check, check_same

METHODS = (
    "auto",
    "ost",
    "wald",
    "best",
    "nonnegative",
    "adaptive",
    nosplit.methods.Split(0.5),
    "naive",
)
PAIRS = ("auto", "auto", "linear", "adjacent", 1, 3, "complete", nosplit.Blocks(4))
CALIBRATIONS = ("auto", nosplit.Exact(19), nosplit.Exact(19), nosplit.Exact(39), "asymptotic")
KERNELS: tuple[Any, ...] = (
    None,
    None,
    None,
    "paper6",
    [nosplit.kernels.Gaussian(1.0)],
    [nosplit.kernels.Linear(), nosplit.kernels.Polynomial(2, 1.0)],
    [nosplit.kernels.Gaussian(1e-80), nosplit.kernels.Gaussian(1e80)],
    [nosplit.kernels.IMQ(1.0), nosplit.kernels.Laplace(2.0), nosplit.kernels.Matern(1.0, nu=1.5)],
    [nosplit.kernels.Gaussian(1.0) + nosplit.kernels.Linear(), 2.0 * nosplit.kernels.Laplace(1.0)],
    [nosplit.kernels.Gaussian(1.0), nosplit.kernels.Gaussian(1.0)],
    nosplit.kernels.Spectral(nosplit.kernels.Gaussian(1.0), 0.1),
)


def _pick(rng, options):
    return options[rng.integers(len(options))]


def _options(rng: np.random.Generator, **more: Any) -> dict[str, Any]:
    found = {
        "method": _pick(rng, METHODS),
        "pairs": _pick(rng, PAIRS),
        "calibration": _pick(rng, CALIBRATIONS),
        "budget": float(rng.choice([0.02, 0.1])),
        "rng": int(rng.integers(100)),
        "shuffle": bool(rng.random() < 0.8),
        **more,
    }
    # Most calls leave most options alone.
    return {k: v for k, v in found.items() if rng.random() < 0.5 or k in ("calibration", "budget")}


def _rows(rng: np.random.Generator) -> int:
    return int(_pick(rng, (1, 2, 3, 4, 5, 7, 8, 12, 16, 21, 30)))


def two_sample(rng: np.random.Generator) -> int:
    """Arrays."""
    n, m, p = _rows(rng), _rows(rng), int(_pick(rng, (1, 1, 2, 2, 3, 5, 33)))
    x, y = data.sample(rng, n, p), data.sample(rng, m if rng.random() < 0.4 else n, p)
    options = _options(rng, kernels=_pick(rng, KERNELS), nan_policy=_pick(rng, NAN))
    return _agree(nosplit.two_sample_test, x, y, options)


NAN = ("raise", "omit", "indicate")
ORDER = "columns in another order"


def _agree(test: Any, x: Any, y: Any, options: dict[str, Any]) -> int:
    """Call a test twice: with one thread, and with two."""
    first = call(lambda: test(x, y, workers=1, **options))
    if first is None:
        return 1
    check(first)
    check_same(first, call(lambda: test(x, y, workers=2, **options)), "one and two threads")
    return 2


def units_and_columns(rng: np.random.Generator) -> int:
    """Default kernels: data in other units, and columns in another order."""
    n, m, p = _rows(rng), _rows(rng), int(_pick(rng, (1, 2, 3)))
    options = {"calibration": nosplit.Exact(39), "rng": int(rng.integers(100))}
    if rng.random() < 0.2:
        n, m, p = 200 + n, 200 + m, int(_pick(rng, (2, 3, 23)))
        options["pairs"] = nosplit.Sketch(frequencies=4)
    x, y = rng.standard_normal((n, p)), rng.standard_normal((m, p))
    if rng.random() < 0.3:
        x, y = np.round(x), np.round(y)

    def test(x, y):
        return call(lambda: nosplit.two_sample_test(x, y, **options))

    first = test(x, y)
    if first is None:
        return 1
    check(first)
    factor = 2.0 ** rng.integers(-40, 40)
    check_same(first, test(factor * x, factor * y), "other units")
    order = rng.permutation(p)
    # Sums of columns are rounded in another order, and draws that tie may then not.
    check_same(first, test(x[:, order], y[:, order]), ORDER, 1.5 / 40)
    return 3


def families_and_columns(rng: np.random.Generator) -> int:
    """The same for independence, and columns in another order for tests of fit."""
    n, p = _rows(rng), int(_pick(rng, (1, 2, 3, 23)))
    options: dict[str, Any] = {"rng": int(rng.integers(100))}
    if rng.random() < 0.5:
        n, options["pairs"] = 300 + n, nosplit.Sketch(frequencies=4)
    x, y = rng.standard_normal((n, p)), rng.standard_normal((n, 2))
    if rng.random() < 0.3:
        x, y = np.round(x), np.round(y)
    order, factor = rng.permutation(p), 2.0 ** rng.integers(-40, 40)
    if rng.random() < 0.5:
        options["calibration"] = nosplit.Exact(39)
        ways = {"": (x, y), "other units": (factor * x, factor * y), ORDER: (x[:, order], y)}
        test = nosplit.independence_test
    else:
        options["calibration"] = nosplit.Wild(39)
        means = rng.standard_normal(p)
        models = [nosplit.models.MultivariateNormal(m, 1.0) for m in (means, means[order])]
        ways = {"": (x, models[0]), ORDER: (x[:, order], models[1])}
        test = nosplit.goodness_of_fit_test
    first = None
    for what, samples in ways.items():
        found = call(lambda samples=samples: test(*samples, **options))
        if not what:
            first = found
        else:
            check_same(first, found, what, 1.5 / 40 if what == ORDER else 0.0)
    if first is not None:
        check(first)
    return len(ways)


def orbits(rng: np.random.Generator) -> int:
    """All swaps of four units of odd values: at most k of the eight p-values are up to k / 8."""
    x = data.rows(rng, 4, int(_pick(rng, (1, 2, 33))))
    y = x + rng.choice([1e-16, 1e-9, 1.0]) * rng.standard_normal(x.shape)
    if rng.random() < 0.3:
        x, y = np.round(x), np.round(y)
    options = {
        "kernels": _pick(rng, KERNELS[3:]),
        "method": _pick(rng, METHODS[:6]),
        "paired": True,
    }
    found = []
    for swapped in itertools.product((False, True), repeat=3):
        which = np.array([False, *swapped])[:, None]
        a, b = np.where(which, y, x), np.where(which, x, y)
        found.append(call(lambda a=a, b=b: nosplit.two_sample_test(a, b, **options)))
    if not any(result is None for result in found):
        p = np.sort([result.pvalue for result in found])
        if np.any(np.searchsorted(p, p + 1e-12) > 8 * p + 1e-9):
            raise Finding(f"p-values of all swaps: {p}")
    return len(found)


def tables(rng: np.random.Generator) -> int:
    """Data frames with columns of all kinds, and what is told of them."""
    kinds = [str(k) for k in rng.choice(data.KINDS, int(rng.integers(1, 5)))]
    options = {"calibration": nosplit.Exact(19), "nan_policy": _pick(rng, NAN)}
    more = 3
    if rng.random() < 0.2:
        more, options["pairs"] = 203, nosplit.Sketch(frequencies=4)
    x, y = (data.table(rng, _rows(rng) + more, kinds) for _ in range(2))
    first = call(lambda: nosplit.two_sample_test(x, y, workers=1, **options))
    if first is None:
        return 1
    check(first)
    if rng.random() < 0.1 and min(len(x), len(y)) >= 8:
        told = call(lambda: nosplit.explain(first, x, y, rows=20))
        if told is not None and "\x1b" in str(told):
            raise Finding("control characters in an explanation")
    names = list(x.columns)[::-1]
    turned = call(lambda: nosplit.two_sample_test(x[names], y[names], workers=1, **options))
    check_same(first, turned, ORDER, 1.5 / 20)
    return 2


def independence(rng: np.random.Generator) -> int:
    """Two variables."""
    n = _rows(rng)
    x, y = (data.sample(rng, n, int(rng.integers(1, 4))) for _ in range(2))
    options = _options(rng, nan_policy=_pick(rng, NAN))
    return _agree(nosplit.independence_test, x, y, options)


def goodness_of_fit(rng: np.random.Generator) -> int:
    """Normal rows and others against scores of several kinds."""
    n, p = _rows(rng), int(rng.integers(1, 4))
    x = data.sample(rng, n, p)
    model = nosplit.models.MultivariateNormal(np.zeros(p), 1.0)
    score = _pick(rng, (model, model.score, _steep, np.zeros((n, p)), np.full((n, p), 1e200)))
    options = _options(rng, series=_pick(rng, (True, 1, 5)))
    if rng.random() < 0.3:
        options["calibration"] = _pick(rng, ("wild", nosplit.Wild(19)))
    return _agree(nosplit.goodness_of_fit_test, x, score, options)


def _steep(x: np.ndarray) -> np.ndarray:
    """A score that overflows for large x."""
    with np.errstate(over="ignore"):
        return -(x**3)


def means(rng: np.random.Generator) -> int:
    """Rows of values, and normal vectors."""
    n, d = _rows(rng), int(rng.integers(1, 5))
    h = data.sample(rng, n, d)
    options = {
        "method": _pick(rng, METHODS),
        "symmetric": bool(rng.random() < 0.5),
        "calibration": _pick(rng, (*CALIBRATIONS, "bootstrap", "cautious")),
    }
    result = call(lambda: nosplit.mean_test(h, **options))
    if result is not None:
        check(result)
        values = np.asarray(h)
        # Of columns that tie, the best is the first one; and half of few rows may be all alike.
        if values.ndim == 2 and options["method"] in ("auto", "ost", "wald", "nonnegative"):
            turned = call(lambda: nosplit.mean_test(values[:, ::-1], **options))
            check_same(result, turned, ORDER, 0.02)
    root = data.rows(rng, d, int(rng.integers(1, d + 1)))
    with np.errstate(all="ignore"):
        tau, cov = root @ rng.standard_normal(root.shape[1]), root @ root.T
    method = _pick(rng, ("ost", "wald", "best", "nonnegative", "chibar", "naive"))
    result = call(lambda: nosplit.joint_normal_test(tau, cov, method=method))
    if result is not None:
        check(result)
    return 3


def monitors(rng: np.random.Generator) -> int:
    """Monitors of odd rows; of plain ones with columns in another order, too."""
    n, p, plain = 20 + 4 * _rows(rng), int(rng.integers(1, 4)), bool(rng.random() < 0.5)
    x, y = (rng.standard_normal((n, p)) if plain else data.sample(rng, n, p) for _ in range(2))
    kind = _pick(rng, (nosplit.Monitor, nosplit.IndependenceMonitor))

    def watched(x: Any, y: Any) -> Any:
        monitor = kind()
        for part in (slice(0, n // 2), slice(n // 2, n)):
            monitor.update(x[part], y[part])
        return monitor

    first = call(lambda: watched(x, y))
    if first is None:
        return 1
    if not (0.0 < first.pvalue <= 1.0 and np.isfinite(first.log_evidence)):
        raise Finding(f"p = {first.pvalue}, log evidence {first.log_evidence}")
    call(lambda: (json.dumps(first.to_dict(), allow_nan=False), repr(first), str(first)))
    if not plain:
        return 1
    order = rng.permutation(p)
    second = call(lambda: watched(x[:, order], y[:, order]))
    if second is None or abs(first.log_evidence - second.log_evidence) > 0.01:
        raise Finding(f"{ORDER}: {first.log_evidence} and {second and second.log_evidence}")
    return 2


def plans(rng: np.random.Generator) -> int:
    """Plans: a larger budget never looks at fewer pairs."""
    n, m = (int(10 ** rng.uniform(0.4, 7)) for _ in range(2))
    p = int(rng.integers(1, 60))
    options = {
        "n": n,
        "m": m if rng.random() < 0.5 else n,
        "p": p,
        "categorical": int(rng.integers(0, p + 1)),
        "calibration": _pick(rng, ("auto", "exact", "asymptotic")),
    }
    budget = float(10 ** rng.uniform(-3, 1))
    small = call(lambda: nosplit.plan(budget=budget, **options))
    large = call(lambda: nosplit.plan(budget=budget * float(10 ** rng.uniform(0, 2)), **options))
    if (small is None) != (large is None) or (small and large.n_pairs < small.n_pairs):
        raise Finding(f"more budget, fewer pairs: {small} and {large}")
    return 2
