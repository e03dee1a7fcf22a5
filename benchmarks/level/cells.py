"""The cells of the level map: a public test, how it is called, and a true null hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import nosplit
from benchmarks.level import nulls

Trial = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Cell:
    """Trials of one kind.

    Attributes
    ----------
    name : str
        What is tested, how, on what, and how many rows.
    trial : callable
        Makes a result of a random number generator, for the data, and a seed, for the test.
    rows : int
        Rows of the smaller sample: how many trials there are to be.
    default : bool
        Whether the call is the one without options. Calibrations that were asked for are only
        judged where they give no warning.
    quick : bool
        Whether a trial takes no time, so that there are enough of them for the level .001.
    series : bool
        Whether rows depend on those before them.
    """

    name: str
    trial: Trial
    rows: int
    default: bool = True
    quick: bool = False
    series: bool = False

    @property
    def trials(self) -> int:
        """Trials that are to be made."""
        if self.quick:
            return 20_000
        steps = ((200, 2000), (2_000, 400), (20_000, 200), (100_000, 100))
        return next((trials for rows, trials in steps if self.rows <= rows), 40)


def cells() -> list[Cell]:
    """All cells, in the order in which they are printed."""
    parts = (
        *(two_samples, asked_for, series, group_sizes, designs, profiles),
        *(independence, models, chains, means, streams),
    )
    return [cell for part in parts for cell in part()]


def _two(name, law, n, m, p, default=True, **options) -> Cell:
    if name in ("mixed table",):
        options["nan_policy"] = "indicate"

    def trial(rng, seed):
        x, y = law(rng, n, p), law(rng, m, p)
        return nosplit.two_sample_test(x, y, rng=seed, workers=1, **options)

    how = ", ".join(f"{k}={v}" for k, v in options.items() if k != "nan_policy") or "default"
    title = f"two_sample, {how}: {name}, {n} v {m}, p = {p}"
    return Cell(title, trial, min(n, m), default)


SIZES = ((10, 10), (50, 50), (200, 200), (1000, 1000), (10, 400), (60, 180), (500, 20_000))
LARGE = ((5000, 5000), (2000, 6000), (100_000, 100_000))


def two_samples() -> Iterator[Cell]:
    """The two-sample test as it is called without options."""
    for name, law in nulls.ROWS.items():
        for n, m in SIZES:
            yield _two(name, law, n, m, 2)
    for name in ("normal", "log-normal", "ties", "1 % not 0", "mixed table", "fill values"):
        for p in (1, 10, 50):
            yield _two(name, nulls.ROWS[name], 100, 100, p)
        for n, m in LARGE:
            yield _two(name, nulls.ROWS[name], n, m, 2)
    yield _two("normal", nulls.ROWS["normal"], 1_000_000, 1_000_000, 1)
    yield _two("5 % not 0", nulls.ROWS["5 % not 0"], 1_000_000, 1_000_000, 1)


def asked_for() -> Iterator[Cell]:
    """Pairs, calibrations and methods that are asked for."""
    laws = ("normal", "log-normal", "Cauchy", "ties", "1 % not 0", "category .5 %", "mixed table")
    closed = {"calibration": "asymptotic"}
    ways: tuple[dict[str, Any], ...] = (
        {"pairs": "linear", **closed},
        {"pairs": "linear", "method": "wald", **closed},
        {"pairs": 4, "method": "best", **closed},
        closed,
    )
    for name in laws:
        for way in ways:
            yield _two(name, nulls.ROWS[name], 1000, 1000, 2, default=False, **way)
        for method in ("ost", "wald", "best", "nonnegative"):
            yield _two(name, nulls.ROWS[name], 40, 40, 2, False, method=method)
        yield _two(name, nulls.ROWS[name], 600, 600, 2, False, pairs="sketch")
    yield _two("normal", nulls.ROWS["normal"], 60, 60, 2, False, method=nosplit.methods.Split(0.5))


def series() -> Iterator[Cell]:
    """Rows in time order, which is declared: blocks of rows are permuted."""
    for law, draw in nulls.CHAINS.items():
        for n in (100, 200, 400):
            for name, test in nulls.TESTS_OF_SERIES.items():

                def trial(rng, seed, n=n, draw=draw, test=test):
                    return test(draw(rng, n, 1), draw(rng, n, 1), seed)

                yield Cell(f"{name}, series: {law}, {n}, p = 1", trial, n, series=True)


def group_sizes() -> Iterator[Cell]:
    """Groups of rows that are alike, of different sizes in the two samples."""
    for of_x, of_y in ((5, 5), (6, 3), (8, 6), (10, 1)):
        for n, m in ((30, 30), (100, 30)):

            def trial(rng, seed, n=n, m=m, of_x=of_x, of_y=of_y):
                groups = np.repeat(np.arange(n), of_x), np.repeat(np.arange(n, n + m), of_y)
                x, y = (nulls.in_groups(rng, own, 2) for own in groups)
                return nosplit.two_sample_test(x, y, groups=groups, rng=seed, workers=1)

            title = f"two_sample, groups: {of_x} v {of_y} rows each, {n} v {m} groups"
            yield Cell(title, trial, n * of_x)


def designs() -> Iterator[Cell]:
    """Several samples, columns, pairs, strata and groups, and a classifier."""
    for law in ("normal", "log-normal", "ties", "category 5 %", "clusters", "sorted"):
        for n in (50, 200):
            for name, test in nulls.TESTS_OF_TWO.items():
                if name.startswith(("two_sample, default", "independence")):
                    continue  # above, and below
                if law == "sorted" and name.startswith(("two_sample", "mean", "k_sample")):
                    continue  # rows that belong together were sorted apart, or are cut in two
                if law == "category 5 %" and name.startswith(("witness", "mean")):
                    continue  # they take numbers

                def trial(rng, seed, n=n, draw=nulls.ROWS[law], test=test):
                    return test(draw(rng, n, 2), draw(rng, n, 2), seed)

                yield Cell(f"{name}: {law}, {n}, p = 2", trial, n)


def profiles() -> Iterator[Cell]:
    """New samples against a profile."""
    for name in ("normal", "log-normal", "ties", "1 % not 0", "category 5 %", "mixed table"):
        for n, m in ((5000, 500), (20_000, 2000)):

            def trial(rng, seed, n=n, m=m, law=nulls.ROWS[name]):
                told = nosplit.profile(
                    law(rng, n, 2), rows=m, nan_policy="indicate", rng=seed, workers=1
                )
                return nosplit.two_sample_test(told, law(rng, m, 2), rng=seed, workers=1)

            yield Cell(f"profile, default: {name}, {n} v {m}, p = 2", trial, m)


def independence() -> Iterator[Cell]:
    """Variables that are drawn one without the other."""
    closed = {"calibration": "asymptotic"}
    for name in ("normal", "log-normal", "Cauchy", "ties", "1 % not 0", "5 % not 0", "clusters"):
        sizes = ((16, {}), (50, {}), (200, {}), (1500, {}), (20_000, {}), (4000, closed))
        for n, options in sizes:

            def trial(rng, seed, n=n, law=nulls.ROWS[name], options=options):
                x, y = law(rng, n, 1), law(rng, n, 1)
                return nosplit.independence_test(x, y, rng=seed, workers=1, **options)

            how = "asymptotic" if options else "default"
            yield Cell(f"independence, {how}: {name}, {n}", trial, n, not options)


def models() -> Iterator[Cell]:
    """Samples of a model."""
    for name in nulls.MODELS:
        for n in (10, 50, 250, 2000, 20_000):
            yield _fit(name, nulls.one_column(name), n, 1)
        for n in (250, 2000):
            yield _fit(name, nulls.one_column(name), n, 1, calibration="wild")
            yield _fit(name, nulls.one_column(name), n, 1, calibration="asymptotic")
    for p in (2, 10, 50):
        for n in (50, 200, 2000):
            model = nulls.normal_model(p)
            yield _fit("normal", model, n, p)
            yield _fit("normal", model, n, p, calibration="asymptotic")
            yield _fit("normal, score alone", model, n, p, alone=True)


def _fit(name, model, n, p, alone=False, **options) -> Cell:
    def trial(rng, seed):
        x = model.sample(n, rng)
        target = model.score if alone else model
        return nosplit.goodness_of_fit_test(x, target, rng=seed, workers=1, **options)

    how = options.get("calibration", "default")
    return Cell(f"goodness_of_fit, {how}: {name}, {n}, p = {p}", trial, n, not options)


def chains() -> Iterator[Cell]:
    """Markov chains whose stationary law is the model's, declared as series."""
    for name, law in nulls.STATIONARY.items():
        for n in (500, 2000):

            def trial(rng, seed, n=n, law=law):
                x = law(rng, n, 3)
                return nosplit.goodness_of_fit_test(x, -x, series=True, rng=seed, workers=1)

            yield Cell(f"goodness_of_fit, series: {name}, {n}, p = 3", trial, n, series=True)


def means() -> Iterator[Cell]:
    """Values whose mean is 0, and normal vectors."""
    for name, law in nulls.VALUES.items():
        for n, d in ((20, 1), (50, 1), (350, 7), (1000, 1), (5000, 3)):
            yield _mean(name, law, n, d)
        yield _mean(name, law, 1000, 1, calibration="asymptotic")
        yield _mean(name, law, 350, 7, calibration="bootstrap")
    for name in ("normal", "Student 3"):
        yield _mean(name, nulls.VALUES[name], 20, 3, symmetric=True)
    for method in ("ost", "wald", "best", "nonnegative", "chibar"):

        def trial(rng, seed, method=method):
            root = rng.standard_normal((3, 5))
            tau = root @ rng.standard_normal(5)
            return nosplit.joint_normal_test(tau, root @ root.T, method=method)

        yield Cell(f"joint_normal, {method}: d = 3", trial, 3, default=False, quick=True)


def _mean(name, law, n, d, **options) -> Cell:
    def trial(rng, seed):
        return nosplit.mean_test(law(rng, n, d), rng=seed, **options)

    how = ", ".join(map(str, options.values())) or "default"
    return Cell(f"mean, {how}: {name}, {n}, d = {d}", trial, n, not options)


def streams() -> Iterator[Cell]:
    """Accumulators, fed in batches."""
    for name, law in nulls.ROWS.items():
        if "category" in name or "mixed" in name or name == "sorted":
            continue
        for n in (500, 5000):
            yield _stream(name, law, n, (1, 1))
        yield _stream(name, law, 2000, (1, 3))
        yield _stream(name, law, 2000, (1, 1), pairs="adjacent")


def _stream(name, law, n, ratio, **options) -> Cell:
    def trial(rng, seed):
        stream = nosplit.TwoSampleAccumulator(ratio=ratio, rng=seed, **options)
        x, y = law(rng, ratio[0] * n, 2), law(rng, ratio[1] * n, 2)
        for k in range(4):
            stream.update(
                x[k * len(x) // 4 : (k + 1) * len(x) // 4],
                y[k * len(y) // 4 : (k + 1) * len(y) // 4],
            )
        return stream.result(n_resamples=999) if not options else stream.result()

    how = options.get("pairs", "default")
    title = f"stream, {how}: {name}, {ratio[0] * n} v {ratio[1] * n}, p = 2"
    return Cell(title, trial, n, not options)
