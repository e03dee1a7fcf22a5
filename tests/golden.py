"""The golden calls: public tests of small data, and their recorded results in golden.json.

`python tests/golden.py --write WORDS` records the calls whose names contain the words, and --cause
says in the file why a p-value changed. `python tests/golden.py` prints all p-values beside those
recorded. test_golden.py compares what may not change.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import nosplit
from nosplit import Blocks, Exact, Sketch, Wild, models
from nosplit.kernels import Gaussian, Laplace, Spectral

FILE = Path(__file__).with_suffix(".json")
LEVEL = 0.05
# Standard deviations that τ may move, and those below which a statistic is rounding.
MAX_AWAY, ROUNDING = 0.15, 1e-9
# The paper: a closed form, and rows in the order in which they came.
PAPER = {"calibration": "asymptotic", "method": "ost", "kernels": "paper6", "shuffle": False}


# -- data ------------------------------------------------------------------------------------------


def normal(seed: int, n: int, p: int, mean: Any = 0.0, scale: Any = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, p)) * scale + mean


def correlated(seed: int, n: int, p: int, rho: float) -> np.ndarray:
    z = normal(seed, n, p)
    z[:, 1] = rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]
    return z


def walk(seed: int, n: int, p: int, mean: float = 0.0, memory: float = 0.5) -> np.ndarray:
    """Draw autoregressive rows, in time order."""
    rows = normal(seed, n, p)
    for i in range(1, n):
        rows[i] = memory * rows[i - 1] + np.sqrt(1 - memory**2) * rows[i]
    return rows + mean


def columns_of(seed: int, n: int, shift: float = 0.0, missing: float = 0.0) -> dict[str, Any]:
    """Draw columns of numbers, integers, categories and booleans; numbers may be missing."""
    rng = np.random.default_rng(seed)
    size = rng.normal(10.0 + shift, 2.0, n)
    size[rng.random(n) < missing] = np.nan
    cities = np.array(["Bonn", "Oslo", "Rome"])
    share = np.array([0.4, 0.3, 0.3]) + shift * np.array([0.2, 0.0, -0.2])
    return {
        "size": size,
        "visits": rng.poisson(4.0 + shift, n),
        "city": cities[rng.choice(3, n, p=share)],
        "paid": rng.random(n) < 0.5,
    }


def frame(seed: int, n: int, shift: float = 0.0, missing: float = 0.0, **more: Any) -> Any:
    return import_module("pandas").DataFrame(columns_of(seed, n, shift, missing) | more)


def in_strata(seed: int, sizes: tuple[int, ...], shift: float = 0.0) -> tuple[Any, Any]:
    """Draw rows of strata that lie apart, and their labels."""
    label = np.repeat(np.arange(len(sizes)), sizes)
    return normal(seed, len(label), 3) + label[:, None] + shift, label


def in_groups(seed: int, count: int, rows: int, first: int, shift: float = 0.0) -> tuple[Any, Any]:
    """Draw rows of groups that have half of their variance in common, and their labels."""
    label = np.repeat(np.arange(count), rows)
    own = normal(seed, len(label), 3) + normal(seed + 1000, count, 3)[label]
    return np.sqrt(0.5) * own + shift, label + first


def in_both(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw two samples of twenty groups of four rows, in two strata that lie apart."""
    apart = np.repeat([0.0, 3.0], 40)[:, None]
    x, y = in_groups(3, 20, 4, 0)[0], in_groups(4, 20, 4, 0, shift)[0]
    return x + apart, y + apart


# -- calls -----------------------------------------------------------------------------------------


def two(x: Any, y: Any, **options: Any) -> Any:
    return nosplit.two_sample_test(x, y, **options)


def labelled(
    design: str, x: tuple[Any, Any], y: tuple[Any, Any], test: Any = two, **options: Any
) -> Any:
    return test(x[0], y[0], **{design: (x[1], y[1])}, **options)


def shifted(n: int = 100, p: int = 3, by: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    return normal(1, n, p), normal(2, n, p, by)


def alike(n: int = 100, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return normal(3, n, p), normal(4, n, p)


def fit(x: Any, score: Any, **options: Any) -> Any:
    return nosplit.goodness_of_fit_test(x, score, **options)


def square(n: int, by: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    x = normal(5, n, 1)
    return x, by * x**2 + normal(6, n, 1)


def observed(seed: int, n: int, by: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw two variables that a stratum makes depend, and beyond that only by the effect."""
    stratum = np.repeat(np.arange(4), n // 4)
    x = stratum + normal(seed, len(stratum), 1)[:, 0]
    return x, stratum + normal(seed + 1, len(stratum), 1)[:, 0] + by * x, stratum


def conditional(seed: int, n: int, by: float = 0.0) -> Any:
    x, y, stratum = observed(seed, n, by)
    return nosplit.independence_test(x, y, strata=stratum)


class Means:
    """A classifier: the difference of the means."""

    def fit(self, rows: np.ndarray, labels: np.ndarray) -> None:
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return rows @ self.w


def in_tables(module: str) -> Any:
    package = import_module(module)
    make = getattr(package, "table", None) or package.DataFrame
    return two(make(columns_of(7, 120)), make(columns_of(8, 90, 0.6)))


def with_dates() -> Any:
    """Test frames with text, dates and a column of rare values."""
    pd = import_module("pandas")

    def rows(seed: int, n: int, late: int) -> Any:
        rng = np.random.default_rng(seed)
        day = pd.Timestamp("2024-01-01") + pd.to_timedelta(late + rng.integers(0, 60, n), "D")
        return pd.DataFrame({"day": day, "word": rng.choice(list("abcdefgh"), n)})

    return two(rows(9, 100, 0), rows(10, 80, 20))


def with_tensors(x: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    torch = import_module("torch")
    return two(torch.from_numpy(x), torch.from_numpy(y), **options)


def with_dask(x: Any, y: Any, **options: Any) -> Any:
    with import_module("dask").config.set(scheduler="synchronous"):
        return two(x, y, **options)


def dask_arrays() -> Any:
    da = import_module("dask.array")
    x, y = normal(11, 1500, 2), normal(12, 1500, 2, 0.2)
    return with_dask(*(da.from_array(rows, chunks=(400, 2)) for rows in (x, y)))


def dask_frames() -> Any:
    dd = import_module("dask.dataframe")
    return with_dask(*(dd.from_pandas(f, 3) for f in (frame(13, 900), frame(14, 1200, 0.5))))


def stream(pairs: str, by: float) -> Any:
    acc = nosplit.TwoSampleAccumulator(pairs=pairs)
    for batch in range(5):
        acc.update(normal(20 + batch, 400, 2), normal(30 + batch, 400, 2, by))
    return acc.result()


def unequal_stream() -> Any:
    """Test two accumulators added, three rows of y for each row of x."""
    first = nosplit.TwoSampleAccumulator(ratio=(1, 3))
    first.update(normal(20, 700, 2), normal(30, 2100, 2, scale=1.3))
    second = nosplit.TwoSampleAccumulator.like(first)
    second.update(normal(21, 500, 2), normal(31, 1500, 2, scale=1.3))
    first += second
    return first.result()


def fit_stream() -> Any:
    acc = nosplit.GoodnessOfFitAccumulator(models.MultivariateNormal([0.0, 0.0]))
    for batch in range(4):
        acc.update(normal(40 + batch, 500, 2, scale=1.15))
    return acc.result()


def independence_stream() -> Any:
    acc = nosplit.IndependenceAccumulator()
    for batch in range(4):
        x = normal(50 + batch, 600, 1)
        acc.update(x, 0.2 * x + normal(60 + batch, 600, 1))
    return acc.result()


def two_profiles(n: int, by: float) -> Any:
    x = nosplit.profile(normal(15, n, 3))
    return two(x, nosplit.profile(normal(16, n, 3, by), like=x))


def files(x: Any, y: Any, ending: str, **options: Any) -> Callable[[Path], Any]:
    """Prepare a test of two files: arrays for .npy, else frames."""

    def call(folder: Path) -> Any:
        paths = [folder / f"{name}.{ending}" for name in "xy"]
        for path, rows in zip(paths, (x(), y()), strict=True):
            if ending == "npy":
                np.save(path, rows)
            elif ending == "csv":
                rows.to_csv(path, index=False)
            else:
                rows.to_parquet(path)
        return two(*paths, **options)

    return call


# Samples that are correlated in time, and differ.
SERIES = walk(17, 240, 2), walk(18, 240, 2, 1.2)
# Ten groups of each sample in each of two strata.
BOTH = {
    "strata": (np.repeat([0, 1], 40), np.repeat([0, 1], 40)),
    "groups": (np.repeat(np.arange(20), 4), np.repeat(np.arange(20, 40), 4)),
}
# Two observations of the same cases, without a difference.
PAIRED = tuple(normal(19, 60, 3) + normal(seed, 60, 3, scale=0.6) for seed in (22, 23))

CALLS: dict[str, Callable[[], Any]] = {
    # Arrays, exact.
    "equal, shift": lambda: two(*shifted()),
    "equal, null": lambda: two(*alike()),
    "equal, one column": lambda: two(normal(1, 150, 1)[:, 0], normal(2, 150, 1, 0, 1.8)[:, 0]),
    "equal, correlation": lambda: two(normal(1, 150, 2), correlated(2, 150, 2, 0.85)),
    "equal, 600 rows": lambda: two(*shifted(600, 5, 0.2)),
    "unequal, spread": lambda: two(normal(1, 200, 3), normal(2, 100, 3, 0, 1.5)),
    "unequal, null": lambda: two(normal(8, 120, 3), normal(2, 60, 3)),
    "unequal, 300 v 20": lambda: two(normal(1, 300, 3), normal(2, 20, 3, 1.2)),
    "tiny, 8 v 8": lambda: two(*shifted(8, 2, 3.0)),
    "tiny, 10 v 9, null": lambda: two(normal(1, 10, 2), normal(4, 9, 2)),
    "tiny, too little": lambda: two(normal(1, 2, 2), normal(2, 2, 2, 9.0)),
    "wide, shift": lambda: two(*shifted(40, 300, 0.4)),
    "wide, null": lambda: two(*alike(40, 300)),
    "wide, 50 v 50 x 2000": lambda: two(*shifted(50, 2000, 0.15)),
    "small against large": lambda: two(normal(1, 100, 3), normal(2, 10_000, 3, 0.5)),
    "small against large, null": lambda: two(normal(3, 100, 3), normal(4, 10_000, 3)),
    "counts, ties": lambda: two(*(np.round(2 * rows) for rows in shifted(80, 2, 0.8))),
    "scaled, columns excluded": lambda: two(*shifted(by=0.8), scale="robust", exclude=[2]),
    "sorted, order kept": lambda: two(*(np.sort(s, axis=0) for s in shifted()), shuffle=False),
    "missing values omitted": lambda: two(
        *(np.where(s > 1.8, np.nan, s) for s in shifted(by=0.8)), nan_policy="omit"
    ),
    "paper1, exact": lambda: two(*shifted(), kernels="paper1"),
    "paper2, exact": lambda: two(*shifted(), kernels="paper2"),
    "paper6, exact": lambda: two(*alike(), kernels="paper6"),
    "given kernels, 499 draws": lambda: two(
        *alike(), kernels=[Gaussian(1.0), Laplace(2.0)], calibration=Exact(499)
    ),
    "flattened kernel": lambda: two(*shifted(), kernels=[Spectral(Gaussian(1.5))]),
    # Methods, exact.
    "exact ost": lambda: two(*shifted(by=0.6), method="ost", kernels="paper2"),
    "exact wald": lambda: two(*shifted(by=0.6), method="wald", kernels="paper2"),
    "exact best": lambda: two(*shifted(by=0.6), method="best", kernels="paper2"),
    "exact nonnegative": lambda: two(*alike(), method="nonnegative", kernels="paper2"),
    # The paper's engine.
    "paper, linear": lambda: two(*shifted(1000, 2, 0.9), pairs="linear", **PAPER),
    "paper, linear, null": lambda: two(*alike(1200, 2), pairs="linear", **PAPER),
    "paper1, linear": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"kernels": "paper1"}
    ),
    "paper2, linear": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"kernels": "paper2"}
    ),
    "paper, shuffled": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", rng=5, **PAPER | {"shuffle": True}
    ),
    "paper, adjacent": lambda: two(*shifted(1000, 2, 0.9), pairs="adjacent", **PAPER),
    "paper, windows": lambda: two(*shifted(600, 2, 0.8), pairs=10, **PAPER),
    "paper, blocks": lambda: two(*shifted(600, 2, 0.8), pairs=Blocks(20), **PAPER),
    "paper, wald": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"method": "wald"}
    ),
    "paper, best": lambda: two(*alike(1000, 2), pairs="linear", **PAPER | {"method": "best"}),
    "paper, nonnegative": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"method": "nonnegative"}
    ),
    "paper, split": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"method": "split"}
    ),
    "paper, chibar": lambda: two(
        *shifted(1000, 2, 0.9), pairs="linear", **PAPER | {"method": "chibar", "kernels": "paper2"}
    ),
    "paper, naive": lambda: two(*alike(1000, 2), pairs="linear", **PAPER | {"method": "naive"}),
    # Frames.
    "frames, change": lambda: two(frame(7, 120), frame(8, 90, 0.8)),
    "frames, null": lambda: two(frame(7, 120), frame(9, 120)),
    "frames, missing": lambda: two(frame(7, 150), frame(10, 150, missing=0.25)),
    "frames, missing omitted": lambda: two(
        frame(7, 150, missing=0.1), frame(8, 150, 0.8, missing=0.2), nan_policy="omit"
    ),
    "frames, some columns": lambda: two(
        frame(7, 120), frame(9, 100, 0.6), columns=["city", "paid", "visits"]
    ),
    "frames, dates and text": with_dates,
    "polars": lambda: in_tables("polars"),
    "pyarrow": lambda: in_tables("pyarrow"),
    # Designs.
    "paired, shift": lambda: two(PAIRED[0], PAIRED[1] + 0.5, paired=True),
    "paired, null": lambda: two(*PAIRED, paired=True),
    "paired, frames": lambda: two(frame(7, 60), frame(8, 60, 1.0), paired=True),
    "strata, shift": lambda: labelled(
        "strata", in_strata(1, (35, 20, 10)), in_strata(2, (10, 20, 45), 0.9)
    ),
    "strata, null": lambda: labelled(
        "strata", in_strata(1, (35, 20, 10)), in_strata(2, (10, 20, 45))
    ),
    "strata, a column": lambda: two(frame(7, 150), frame(9, 120, 0.7), strata="city"),
    "groups, shift": lambda: labelled(
        "groups", in_groups(1, 12, 8, 0), in_groups(2, 12, 8, 12, 1.6)
    ),
    "groups, null": lambda: labelled("groups", in_groups(3, 12, 8, 0), in_groups(4, 10, 8, 12)),
    "groups, of both": lambda: labelled(
        "groups", in_groups(1, 16, 6, 0), in_groups(2, 16, 6, 0, 0.9)
    ),
    "strata with groups, null": lambda: two(*in_both(0.0), **BOTH),
    "strata with groups, shift": lambda: two(*in_both(2.0), **BOTH),
    "series, shift": lambda: two(*SERIES, series=10),
    "series, null": lambda: two(walk(17, 240, 2), walk(21, 240, 2), series=True),
    "series, unequal": lambda: two(walk(17, 300, 2), walk(18, 180, 2, 1.2), series=10),
    "series, paired": lambda: two(*SERIES, series=10, paired=True),
    # Sketches.
    "sketch, shift": lambda: two(*shifted(1500, 3, 0.2), pairs="sketch"),
    "sketch, null": lambda: two(*alike(1500, 3), pairs="sketch"),
    "sketch, unequal": lambda: two(
        normal(1, 2000, 3), normal(2, 700, 3, 0, 1.3), pairs=Sketch(cells=300, frequencies=16)
    ),
    "sketch, frames": lambda: two(frame(7, 900), frame(8, 1200, 0.3), pairs="sketch"),
    "sketch, paired": lambda: two(
        normal(1, 900, 2), normal(1, 900, 2) + normal(2, 900, 2, 0.3), paired=True, pairs="sketch"
    ),
    "sketch, strata": lambda: labelled(
        "strata", in_strata(1, (350, 200)), in_strata(2, (100, 400), 0.4), pairs="sketch"
    ),
    # Columns, several samples, classifier.
    "columns": lambda: nosplit.column_tests(
        *(normal(s, 120, 4, m) for s, m in ((1, 0), (2, [0, 0, 0, 1])))
    ),
    "columns, frames": lambda: nosplit.column_tests(frame(7, 150), frame(8, 120, 0.8)),
    "columns, paired": lambda: nosplit.column_tests(PAIRED[0], PAIRED[1] + 0.5, paired=True),
    "columns, strata": lambda: labelled(
        "strata",
        in_strata(1, (35, 20, 10)),
        in_strata(2, (10, 20, 45), 0.9),
        nosplit.column_tests,
    ),
    "columns, groups": lambda: labelled(
        "groups",
        in_groups(1, 12, 8, 0),
        in_groups(2, 12, 8, 12, 1.6),
        nosplit.column_tests,
    ),
    "columns, series": lambda: nosplit.column_tests(*SERIES, series=10),
    "three samples": lambda: nosplit.k_sample_test(
        [normal(1, 50, 2), normal(2, 60, 2), normal(3, 40, 2, 1.0)]
    ),
    "three samples, null": lambda: nosplit.k_sample_test(
        {"a": normal(1, 50, 2), "b": normal(2, 60, 2), "c": normal(7, 40, 2)}, control="a"
    ),
    "samples of a frame": lambda: nosplit.k_sample_test(
        frame(7, 180, visits=np.repeat([1, 2, 9], 60)), "city", follow_up=False
    ),
    "classifier": lambda: nosplit.classifier_test(*shifted(by=0.4), estimator=Means()),
    # Independence.
    "independence, square": lambda: nosplit.independence_test(*square(150)),
    "independence, null": lambda: nosplit.independence_test(*alike(150, 1)),
    "independence, frame": lambda: nosplit.independence_test(
        frame(7, 200)[["city", "paid"]],
        np.where(frame(7, 200)["city"] == "Oslo", 1.2, 0.0) + normal(8, 200, 1)[:, 0],
    ),
    "independence, strata": lambda: conditional(5, 160, 0.6),
    "independence, strata, null": lambda: conditional(5, 160),
    "independence, series": lambda: nosplit.independence_test(
        walk(17, 240, 1), walk(17, 240, 1) + walk(18, 240, 1), series=12
    ),
    "independence, paper": lambda: nosplit.independence_test(
        *square(1600), pairs="linear", calibration="asymptotic", method="ost", shuffle=False
    ),
    "independence, units": lambda: nosplit.independence_test(*square(800)),
    "independence, sketch": lambda: nosplit.independence_test(*square(2000), pairs="sketch"),
    # Goodness of fit.
    "fit, simulate": lambda: fit(normal(1, 80, 2, 0.5), models.MultivariateNormal([0.0, 0.0])),
    "fit, simulate, null": lambda: fit(normal(1, 80, 1), models.Normal(0.0, 1.0)),
    "fit, mixture": lambda: fit(
        normal(1, 150, 1), models.GaussianMixture([[-1.5], [1.5]]), calibration="simulate"
    ),
    "fit, scipy": lambda: fit(normal(1, 150, 1)[:, 0] ** 2, stats.expon()),
    "fit, score, wild": lambda: fit(normal(1, 200, 2, scale=1.6), lambda x: -x),
    "fit, score, wild, null": lambda: fit(normal(2, 200, 2), lambda x: -x, calibration=Wild(499)),
    "fit, support": lambda: fit(
        normal(1, 200, 1) ** 2, lambda x: -np.ones_like(x), support=(0.0, np.inf)
    ),
    "fit, scores": lambda: fit(normal(1, 200, 2, 0.5), -normal(1, 200, 2, 0.5)),
    "fit, series": lambda: fit(walk(17, 300, 1, 1.0), models.Normal(0.0, 1.0), series=10),
    "fit, paper": lambda: fit(
        normal(1, 1000, 2, 0.6), lambda x: -x, pairs="linear", calibration="asymptotic"
    ),
    "fit, sketch": lambda: fit(normal(1, 1500, 2, scale=1.2), lambda x: -x, pairs="sketch"),
    # Means.
    "mean": lambda: nosplit.mean_test(normal(1, 300, 3, [0.3, 0.0, 0.1])),
    "mean, symmetric": lambda: nosplit.mean_test(normal(1, 80, 3, 0.4), symmetric=True),
    "mean, series": lambda: nosplit.mean_test(walk(17, 400, 2, 0.5), series=10),
    "joint normal": lambda: nosplit.joint_normal_test(
        [2.5, 0.3, 3.1], [[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]]
    ),
    # Streams, profiles, clusters, tensors.
    "stream": lambda: stream("sketch", 0.2),
    "stream, null": lambda: stream("sketch", 0.0),
    "stream, adjacent": lambda: stream("adjacent", 0.7),
    "stream, unequal, added": unequal_stream,
    "stream, fit": fit_stream,
    "stream, independence": independence_stream,
    "profile v rows": lambda: two(nosplit.profile(normal(15, 1500, 3)), normal(16, 600, 3, 0.3)),
    "two profiles": lambda: two_profiles(1200, 0.0),
    "dask arrays": dask_arrays,
    "dask frames": dask_frames,
    "tensors, shift": lambda: with_tensors(*shifted(150, 3, 0.5)),
    "tensors, null": lambda: with_tensors(*alike(60, 2)),
    "tensors, sketch": lambda: with_tensors(*shifted(1500, 3, 0.2), pairs="sketch"),
}

FILES: dict[str, Callable[[Path], Any]] = {
    "npy files": files(lambda: normal(1, 300, 3), lambda: normal(2, 200, 3, 0.5), "npy"),
    "npy files, paper": files(
        lambda: normal(1, 1000, 2), lambda: normal(2, 1000, 2, 0.9), "npy", pairs="linear", **PAPER
    ),
    "npy files, sketch": files(
        lambda: normal(1, 1500, 2), lambda: normal(3, 1500, 2), "npy", pairs="sketch"
    ),
    "csv files": files(
        lambda: frame(7, 150, missing=0.1), lambda: frame(8, 120, 0.8, missing=0.3), "csv"
    ),
    "parquet files": files(lambda: frame(7, 150), lambda: frame(11, 120), "parquet"),
    "parquet files, sketch": files(
        lambda: frame(7, 900), lambda: frame(8, 800, 0.4), "parquet", pairs="sketch"
    ),
}

NAMES = [*CALLS, *FILES]


# -- records ---------------------------------------------------------------------------------------


def record(name: str, folder: Path) -> dict[str, Any]:
    """Run a call and read its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(CALLS[name]() if name in CALLS else FILES[name](folder))


def read(res: Any) -> dict[str, Any]:
    """Read a result; a table of columns has one adjusted p-value each."""
    res = getattr(res, "overall", res)  # of several samples
    how, selection = getattr(res, "how", res), getattr(res, "selection", None)
    if hasattr(res, "rows"):
        p = [row.adjusted for row in res.rows]
        return {"n_used": how.n_used, "p": p, "verdict": [verdict(q) for q in p]}
    found = {"n_used": how.n_used, "p": res.pvalue, "verdict": res.verdict(LEVEL)}
    if selection is None:  # of a classifier
        return found
    found["tau"] = selection.tau.tolist()
    if how.calibration != "asymptotic":
        return found | {"sd": np.sqrt(np.diag(selection.cov)).tolist()}
    return found | {"cov": selection.cov.tolist(), "log_p": res.log_pvalue}


def verdict(p: float) -> str:
    return "differ" if p <= LEVEL else "no evidence"


def rounded(value: Any, digits: int) -> Any:
    """Round floats, in lists, too."""
    if isinstance(value, list):
        return [rounded(v, digits) for v in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def changed(found: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """List what changed that may not: rows, a clear verdict, τ, and all of a closed form."""
    said = [] if found["n_used"] == old["n_used"] else [f"{found['n_used']} rows are used"]
    p, verdicts = (np.atleast_1d(old.get(key, [])) for key in ("p", "verdict"))
    clear = (p <= 0.002) | (p >= 0.2)
    if not np.array_equal(np.atleast_1d(found["verdict"])[: len(p)][clear], verdicts[clear]):
        said.append(f"p = {found['p']}, was {old['p']}")
    if "tau" in old and np.shape(found.get("tau")) != np.shape(old["tau"]):
        return [*said, f"τ = {found.get('tau')}, was {old['tau']}"]
    said += [
        f"{key} = {found[key]}, was {old[key]}"
        for key in (("tau", "cov", "log_p") if "cov" in old else ())
        if not np.allclose(found[key], old[key], rtol=1e-10, atol=0.0)
    ]
    if "sd" in old:
        sd = np.array(old["sd"])
        away = np.subtract(found["tau"], old["tau"])[sd > ROUNDING] / sd[sd > ROUNDING]
        if np.abs(away).max() > MAX_AWAY:
            said.append(f"τ is {away.round(2)} standard deviations away")
    return said


def recorded() -> dict[str, dict[str, Any]]:
    """Load the records; those of calls that are new have no p-value yet."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def write(words: str, cause: str | None) -> None:
    """Record the calls whose names contain the words; what changed needs a cause."""
    records = recorded()
    for name in (name for name in NAMES if words in name):
        with tempfile.TemporaryDirectory() as folder:
            found = record(name, Path(folder))
        digits = 14 if "cov" in found else 6
        found = {key: rounded(value, digits) for key, value in found.items()}
        old = records.get(name, found)
        said = changed(found, old)
        if found["p"] != old.get("p", found["p"]):
            said.append(f"p = {found['p']}, was {old['p']}")
        if said and not cause:
            raise SystemExit(f"{name}: {'; '.join(said)}. Give its --cause.")
        if cause if said else old.get("cause"):
            found["cause"] = cause if said else old["cause"]
        records[name] = found
    lines = (f"{json.dumps(n)}: {json.dumps(records[n])}" for n in NAMES if n in records)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def show() -> None:
    """Print all p-values beside those recorded."""
    for name, old in recorded().items():
        with tempfile.TemporaryDirectory() as folder:
            p = rounded(record(name, Path(folder))["p"], 6)
        print(f"{name:32} {old.get('p')} -> {p} {old.get('cause', '')}")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="WORDS", help="words in the names of calls to record")
    parser.add_argument("--cause", help="why their p-values changed")
    options = parser.parse_args()
    if options.write is None:
        show()
    else:
        write(options.write, options.cause)


if __name__ == "__main__":
    main()
