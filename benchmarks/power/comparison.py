"""What two-sample tests of other packages take and give, found by running them.

    python -m benchmarks.power.comparison            # prints the tables
    python -m benchmarks.power.comparison --page     # writes them to docs/measured/comparison.md

Each test runs with its own defaults, except that dcor is asked for 999 permutations: by default it
makes none, and its p-value is always 1.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import dcor
import hyppo.conditional
import hyppo.independence
import hyppo.kgof
import hyppo.ksample
import kt
import numpy as np
import pandas as pd
from goodpoints import ctt
from hyppo.kgof import density, kernel
from scipy import stats
from scipy.spatial.distance import pdist

import nosplit
from benchmarks.common.pages import DOCS, table, write_section

# What a test may use on the large samples.
LARGE, COLUMNS = 20_000, 10
MOST_BYTES, MOST_SECONDS = 4 << 30, 60
CALLS, SHIFTS = 12, (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


class Answer(NamedTuple):
    """What a test says: a p-value if there is one, and whether it rejects at level .05."""

    pvalue: float | None
    reject: bool


Test = Callable[[Any, Any], Answer]


class SeveralAnswers(Exception):
    """One p-value a column, where one for all was asked for."""


def by_pvalue(test: Callable[[Any, Any], Any]) -> Test:
    def run(x: Any, y: Any) -> Answer:
        p = np.asarray(test(x, y), dtype=float)
        if p.size > 1:
            raise SeveralAnswers
        return Answer(p.item(), p.item() <= 0.05)

    return run


def kerneltests(method: str) -> Test:
    def run(x: Any, y: Any) -> Answer:
        found = kt.two_sample(x, y, method=method)
        return Answer(getattr(found, "pvalue", None), bool(found.reject))

    return run


def compress_then_test(x: Any, y: Any) -> Answer:
    """It has no default bandwidth: the median distance."""
    lam = np.sqrt(2.0) * np.median(pdist(np.concatenate([x[:250], y[:250]])))
    found = ctt.ctt(x, y, 4, lam=lam)
    # A rejection on the boundary is left to chance, with this probability.
    lucky = np.random.default_rng().random() < found.rejects
    return Answer(getattr(found, "pvalue", None), bool(lucky))


TESTS: dict[str, Test] = {
    "nosplit": by_pvalue(lambda x, y: nosplit.two_sample_test(x, y).pvalue),
    "kerneltests MMDAgg": kerneltests("mmdagg"),
    "kerneltests MMDAggInc": kerneltests("mmdagginc"),
    "kerneltests MMD-FUSE": kerneltests("mmdfuse"),
    "hyppo MMD": by_pvalue(lambda x, y: hyppo.ksample.MMD().test(x, y).pvalue),
    "dcor energy": by_pvalue(
        lambda x, y: dcor.homogeneity.energy_test(x, y, num_resamples=999).pvalue
    ),
    "goodpoints CTT": compress_then_test,
    "scipy KS": by_pvalue(lambda x, y: stats.ks_2samp(x, y).pvalue),
}
PACKAGES = ("nosplit", "kerneltests", "hyppo", "dcor", "goodpoints", "scipy")


# -- facts -----------------------------------------------------------------------------------------


def fact(check: Callable[[Test], str], test: Test) -> str:
    """The outcome of a check, or that the test does not do it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return check(test)
        except SeveralAnswers:
            return "no, one verdict each"
        except Exception as error:
            return f"no: {type(error).__name__}"


def samples(shift: float, n: int = 100, m: int = 100, p: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, p)), rng.normal(size=(m, p)) + shift
    return x, y


def columns(test: Test) -> str:
    """Several columns at once: one verdict about both."""
    test(*samples(1.0))
    return "yes"


def sizes(test: Test) -> str:
    one(test, 1.0, m=50)
    return "yes"


def one(test: Test, shift: float, **options: Any) -> Answer:
    """A test of vectors where a test takes no more than those."""
    x, y = samples(shift, **options)
    return test(x[:, 0], y[:, 0]) if test is TESTS["scipy KS"] else test(x, y)


def pvalue(test: Test) -> str:
    p = one(test, 10.0).pvalue
    return "no, only a verdict" if p is None else f"yes, {p:.2g}"


def again(test: Test) -> str:
    """Whether calls on the same data agree, for differences that are hard to see."""
    for shift in SHIFTS:
        first = one(test, shift)
        if any(one(test, shift) != first for _ in range(CALLS - 1)):
            return "no"
    return "yes"


def tables(test: Test) -> str:
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["u", "v"], 60)}) for _ in "xy"
    ]
    test(*frames)
    return "yes"


def missing(test: Test) -> str:
    """One value that is not a number."""
    x, y = samples(1.0)
    x[3, 0] = np.nan
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = test(x[:, 0], y[:, 0]) if test is TESTS["scipy KS"] else test(x, y)
        except Exception as error:
            return f"{type(error).__name__}"
    if found.pvalue is not None and np.isnan(found.pvalue):
        return "p = nan"
    return "answers, with a warning" if said else "answers, without a word"


def memory(name: str) -> str:
    """Peak memory of a test of large samples beyond that of small ones, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.power.comparison", "--large", name],
        capture_output=True,
        text=True,
    )
    lines = done.stdout.split()
    if done.returncode == 0 and lines:
        return f"{float(lines[-1]):,.0f} MB"
    if "MemoryError" in done.stderr or "allocate" in done.stderr:
        return f"more than {MOST_BYTES >> 30} GB"
    if done.returncode < 0:
        return f"more than {MOST_SECONDS} s"
    return "no: " + done.stderr.strip().splitlines()[-1].split(":")[0]


def run_large(name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    warnings.simplefilter("ignore")
    one(TESTS[name], 0.0, n=100, m=100, p=COLUMNS)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    one(TESTS[name], 0.0, n=LARGE, m=LARGE, p=COLUMNS)
    print(resident("VmHWM") - before)


def resident(field: str) -> float:
    """Memory of this process, in MB: what it has now, or the most it had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


FACTS: dict[str, Callable[[Test], str]] = {
    "several columns": columns,
    "samples of different sizes": sizes,
    "a p-value; the smallest seen": pvalue,
    "the same answer when called again": again,
    "a data frame with a column of text": tables,
    "a missing value": missing,
}


# -- other questions -------------------------------------------------------------------------------


X = np.random.default_rng(0).normal(size=(100, 2))
OTHER: dict[str, dict[str, Callable[[], Any]]] = {
    "goodness of fit": {
        "nosplit": lambda: nosplit.goodness_of_fit_test(X, lambda x: -x),
        "kerneltests": lambda: kt.goodness_of_fit(X, -X),
        "hyppo": lambda: fssd(),
        "scipy": lambda: stats.kstest(X[:, 0], stats.norm.cdf),
    },
    "independence": {
        "nosplit": lambda: nosplit.independence_test(X[:, :1], X[:, 1:]),
        "kerneltests": lambda: kt.independence(X[:, :1], X[:, 1:]),
        "hyppo": lambda: hyppo.independence.Hsic().test(X[:, :1], X[:, 1:]),
        "dcor": lambda: dcor.independence.distance_covariance_test(
            X[:, :1], X[:, 1:], num_resamples=99
        ),
        "scipy": lambda: stats.multiscale_graphcorr(X[:, :1], X[:, 1:], reps=99),
    },
    "independence given a third": {
        "nosplit": lambda: nosplit.independence_test(X[:, :1], X[:, 1:], strata=X[:, 0] ** 2 > 1.0),
        "hyppo": lambda: hyppo.conditional.ConditionalDcorr().test(
            X[:, :1], X[:, 1:], X[:, :1] ** 2, reps=99
        ),
        "dcor": lambda: dcor.independence.partial_distance_covariance_test(
            X[:, :1], X[:, 1:], X[:, :1] ** 2, num_resamples=99
        ),
    },
    "more than two samples": {
        "nosplit": lambda: nosplit.k_sample_test([X, X + 1.0, X - 1.0]),
        "hyppo": lambda: hyppo.ksample.KSample("Dcorr").test(X, X + 1.0, X - 1.0),
        "dcor": lambda: dcor.homogeneity.energy_test(X, X + 1.0, X - 1.0, num_resamples=99),
        "scipy": lambda: stats.anderson_ksamp([X[:, 0], X[:, 1], X[:, 0] + 1.0]),
    },
}


def fssd() -> Any:
    """hyppo's goodness of fit, at one location."""
    model = density.IsotropicNormal(np.zeros(2), 1.0)
    simulator = hyppo.kgof.FSSDH0SimCovObs(n_simulate=100, seed=0)
    return hyppo.kgof.FSSD(model, kernel.KGauss(1.0), X[:1], null_sim=simulator, alpha=0.05).test(X)


def other(question: str, package: str) -> str:
    call = OTHER[question].get(package)
    if call is None:
        return "no"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    return "yes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/measured/comparison.md")
    parser.add_argument("--large", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        run_large(options.large)
        return
    rows = []
    for name, test in TESTS.items():
        facts = [fact(check, test) for check in FACTS.values()]
        rows.append([name, *facts, memory(name)])
        print(*rows[-1], sep=" | ", flush=True)
    large = f"memory for {LARGE:,} × {COLUMNS} and as many"
    text = left(table(["test", *FACTS, large], rows))
    questions = [[q, *(other(q, p) for p in PACKAGES)] for q in OTHER]
    text += "\n\n" + left(table(["question", *PACKAGES], questions))
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in PACKAGES)
    text += f"\n\nVersions: {versions}."
    print(text)
    if options.page:
        write_section(DOCS / "measured" / "comparison.md", "facts", text)


def left(text: str) -> str:
    """Words to the left, where numbers would go to the right."""
    return text.replace("--:", "---")


if __name__ == "__main__":
    main()
