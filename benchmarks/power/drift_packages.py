"""Packages for drift beside nosplit, on the same tables: what they find, and how often wrongly.

They need an environment of their own: `pip install evidently alibi-detect mapie torch`, with
nosplit and pyarrow. Every tool has its own defaults, at level .05 where it has a level.

    python -m benchmarks.power.drift_packages --nulls 20 --trials 10 --page
"""

from __future__ import annotations

import argparse
import importlib.metadata
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nosplit
from benchmarks.common.pages import DOCS, table, write_section
from benchmarks.power.flights import by_columns

ROWS, LARGE = 800, 20_000
MOST_BYTES, MOST_SECONDS = 6 << 30, 120
CITIES = np.array(["Bern", "Oslo", "Riga", "Rome"])
# A verdict: whether the tables differ.
Tool = Callable[[Any, Any], bool]


# -- tables ----------------------------------------------------------------------------------------


def plain(n: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.normal(45, 12, n),
            "income": rng.lognormal(10, 0.5, n),
            "minutes": rng.gamma(4.0, 8.0, n),
            "visits": rng.poisson(3.0, n),
            "city": rng.choice(CITIES, n, p=[0.4, 0.3, 0.2, 0.1]),
            "paying": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
        }
    )


def rounded(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Ties, heavy tails and a rare category."""
    return pd.DataFrame(
        {
            "amount": np.where(rng.random(n) < 0.8, 0.0, rng.standard_cauchy(n).round(1)),
            "stars": rng.integers(1, 6, n),
            "kind": rng.choice(["a", "b", "rare"], n, p=[0.6, 0.39, 0.01]),
        }
    )


def with_gaps(n: int, rng: np.random.Generator, share: float = 0.02) -> pd.DataFrame:
    found = plain(n, rng)
    found.loc[rng.random(n) < share, "income"] = np.nan
    return found


def older(n: int, rng: np.random.Generator) -> pd.DataFrame:
    return plain(n, rng).assign(age=lambda found: found["age"] + 3.0)


def moved(n: int, rng: np.random.Generator) -> pd.DataFrame:
    return plain(n, rng).assign(city=rng.choice(CITIES, n, p=[0.3, 0.3, 0.2, 0.2]))


def tied(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Age and minutes go together; no column has changed."""
    found = plain(n, rng)
    both = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], n)
    for name, values in zip(("age", "minutes"), both.T, strict=True):
        found[name] = np.sort(found[name])[np.argsort(np.argsort(values))]
    return found


NULLS = {"plain": plain, "ties, tails": rounded, "gaps": with_gaps}
CHANGES = {
    "age + 3 years": (plain, older),
    "10 % move to another city": (plain, moved),
    "2 % → 6 % missing": (with_gaps, lambda n, rng: with_gaps(n, rng, 0.06)),
    "age and minutes correlated .4": (plain, tied),
}


# -- tools -----------------------------------------------------------------------------------------


def by_nosplit(x: Any, y: Any) -> bool:
    return nosplit.two_sample_test(x, y).reject(0.05)


def bonferroni(x: Any, y: Any) -> bool:
    return bool(by_columns(x, y) <= 0.05)


def evidently_report(x: Any, y: Any) -> list[dict[str, Any]]:
    from evidently import Report
    from evidently.presets import DataDriftPreset

    found: list[dict[str, Any]] = Report([DataDriftPreset()]).run(y, x).dict()["metrics"]
    return found


def evidently_share(x: Any, y: Any) -> bool:
    """Half of the columns: what it calls a drift of the data set."""
    return bool(evidently_report(x, y)[0]["value"]["share"] >= 0.5)


def evidently_any(x: Any, y: Any) -> bool:
    return bool(evidently_report(x, y)[0]["value"]["count"] > 0)


def coded(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray, dict[int, None]]:
    """Arrays, with categories as codes, and the places of those."""
    both = pd.concat([x, y])
    texts = {i: None for i, name in enumerate(both) if both[name].dtype == object}
    for i in texts:
        both.isetitem(i, pd.factorize(both.iloc[:, i])[0])
    rows = both.to_numpy(np.float64)
    return rows[: len(x)], rows[len(x) :], texts


def alibi_tabular(x: Any, y: Any) -> bool:
    from alibi_detect.cd import TabularDrift

    a, b, texts = coded(x, y)
    return bool(TabularDrift(a, categories_per_feature=texts).predict(b)["data"]["is_drift"])


def standard(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Columns of mean 0 and spread 1 in the reference, with 0 or 1 for each category."""
    both = pd.get_dummies(pd.concat([x, y]), dtype=float)
    rows = both.to_numpy(np.float64)
    a = rows[: len(x)]
    rows = (rows - np.nanmean(a, axis=0)) / np.maximum(np.nanstd(a, axis=0), 1e-9)
    return rows[: len(x)], rows[len(x) :]


def alibi_mmd(x: Any, y: Any) -> bool:
    from alibi_detect.cd import MMDDrift

    a, b = standard(x, y)
    return bool(
        MMDDrift(a.astype(np.float32), backend="pytorch").predict(b.astype(np.float32))["data"][
            "is_drift"
        ]
    )


def alibi_classifier(x: Any, y: Any) -> bool:
    from alibi_detect.cd import ClassifierDrift
    from sklearn.ensemble import HistGradientBoostingClassifier

    a, b = standard(x, y)
    model = HistGradientBoostingClassifier(max_iter=50)
    found = ClassifierDrift(a, model, backend="sklearn", n_folds=2).predict(b)
    return bool(found["data"]["is_drift"])


def mapie_permutation(x: Any, y: Any) -> bool:
    """Exchangeability of labelled rows, in order: the second column is taken for the label."""
    from mapie.exchangeability_testing import FixedDatasetExchangeabilityTest

    a, b = standard(x, y)
    rows = np.concatenate([a, b])
    name = "pvalue_permutation"
    test = FixedDatasetExchangeabilityTest(
        method_names=name, method_params={name: {"num_permutations": 99, "random_state": 0}}
    )
    test.run(np.delete(rows, 1, axis=1), rows[:, 1])
    return not test.test_methods[0].is_exchangeable


TOOLS: dict[str, Tool] = {
    "nosplit": by_nosplit,
    "KS and χ², Bonferroni": bonferroni,
    "evidently, half of the columns": evidently_share,
    "evidently, any column": evidently_any,
    "alibi-detect TabularDrift": alibi_tabular,
    "alibi-detect MMDDrift": alibi_mmd,
    "alibi-detect ClassifierDrift": alibi_classifier,
    "MAPIE permutations": mapie_permutation,
}
PACKAGES = ("nosplit", "scipy", "evidently", "alibi-detect", "MAPIE", "torch", "numpy")


# -- measuring -------------------------------------------------------------------------------------


def rate(tool: Tool, first: Any, second: Any, trials: int, seed: int) -> str:
    """Rejections, or the error that the tool raises."""
    count = 0
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        try:
            count += tool(first(ROWS, rng), second(ROWS, rng))
        except Exception as error:
            return type(error).__name__
    return f"{count} of {trials}"


def large(name: str) -> str:
    """Seconds of processor time and memory of one call, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.power.drift_packages", "--large", name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        seconds, peak = map(float, done.stdout.split()[-2:])
        return f"{seconds:.1f} s, {peak:,.0f} MB"
    if done.returncode < 0:
        return f"more than {MOST_SECONDS} s"
    if any(word in done.stderr for word in ("MemoryError", "allocate")):
        return f"more than {MOST_BYTES >> 30} GB"
    return done.stderr.strip().splitlines()[-1].split(":")[0]


def run_large(name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    TOOLS[name](plain(500, rng), plain(500, rng))
    before = peak()
    start = time.process_time()
    TOOLS[name](plain(LARGE, rng), plain(LARGE, rng))
    print(time.process_time() - start, peak() - before)


def peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nulls", type=int, default=20)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--page", action="store_true", help="write docs/measured/comparison.md")
    parser.add_argument("--large", choices=TOOLS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        run_large(options.large)
        return
    warnings.simplefilter("ignore")
    rows = []
    for name in options.tools:
        tool = TOOLS[name]
        seen = [rate(tool, draw, draw, options.nulls, 1) for draw in NULLS.values()]
        seen += [rate(tool, *change, options.trials, 2) for change in CHANGES.values()]
        rows.append([name, *seen, large(name)])
        print(*rows[-1], sep=" | ", flush=True)
    heads = [f"false: {name}" for name in NULLS] + [f"found: {name}" for name in CHANGES]
    text = table(["tool", *heads, f"{LARGE:,} rows each"], rows)
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} {getattr(nosplit, '__version__', '')}")
    text += f"\n\nVersions: {', '.join(versions)}; Python {sys.version.split()[0]}."
    if options.page:
        write_section(DOCS / "measured" / "comparison.md", "drift", text)


if __name__ == "__main__":
    main()
