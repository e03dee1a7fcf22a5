"""A profile of a large reference against small and large new samples.

Makes a profile of `--rows` rows of ten normal columns in parts, as days would come, and compares
new samples with it: of no difference, of one column's spread a little larger, and of two columns
that have become dependent. Beside it a test of Kolmogorov and Smirnov in every column, with
Bonferroni, against all rows of the reference. Seconds are those of the processor, in one run.

    python -m benchmarks.power.profiles                     # ten million rows
    python -m benchmarks.power.profiles --rows 1000000 --trials 5
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

import nosplit
from benchmarks.common.pages import share, table

COLUMNS = 10
# New rows, how much larger the spread of one column is, and how correlated two others are.
NEW = {2_000: (1.08, 0.1), 200_000: (1.01, 0.01)}
PART = 1_000_000


def same(rng: np.random.Generator, n: int, _spread: float, _rho: float):
    return rng.standard_normal((n, COLUMNS))


def wider(rng: np.random.Generator, n: int, spread: float, _rho: float):
    rows = rng.standard_normal((n, COLUMNS))
    rows[:, 3] *= spread
    return rows


def dependent(rng: np.random.Generator, n: int, _spread: float, rho: float):
    rows = rng.standard_normal((n, COLUMNS))
    rows[:, 5] = rho * rows[:, 4] + np.sqrt(1.0 - rho * rho) * rows[:, 5]
    return rows


CHANGES = {"none": same, "spread of a column": wider, "dependence of two columns": dependent}


def make(rows: int, frequencies: int, seed: int):
    """The profile, its rows, and seconds spent on it; parts are made and added one by one."""
    parts, spent, profile = [], 0.0, None
    for k, start in enumerate(range(0, rows, PART)):
        part = np.random.default_rng([seed, k]).standard_normal((min(PART, rows - start), COLUMNS))
        begin = time.process_time()
        if profile is None:
            profile = nosplit.profile(part, frequencies=frequencies)
        else:
            profile += nosplit.profile(part, like=profile)
        spent += time.process_time() - begin
        parts.append(part)
    return profile, np.concatenate(parts), spent


def bonferroni(reference: np.ndarray, new: np.ndarray) -> float:
    """The smallest p-value of a column, times the number of columns; `reference` is sorted."""
    found = []
    for j in range(COLUMNS):
        values = np.sort(new[:, j])
        below = np.searchsorted(reference[:, j], values, side="right") / len(reference)
        steps = np.arange(1, len(values) + 1) / len(values)
        gap = max(np.max(steps - below), np.max(below - steps + 1.0 / len(values)))
        size = len(values) * len(reference) / (len(values) + len(reference))
        found.append(stats.kstwobign.sf(gap * np.sqrt(size)))
    return min(1.0, COLUMNS * min(found))


def compare(profile, reference, trials: int, seed: int, flips: int):
    """Rejections at .05, median p-values and seconds for each size and change."""
    lines = []
    for n, amounts in NEW.items():
        for name, change in CHANGES.items():
            own, columns, spent = [], [], 0.0
            for trial in range(trials):
                new = change(np.random.default_rng([seed, 1, n, trial]), n, *amounts)
                begin = time.process_time()
                res = nosplit.two_sample_test(
                    profile, new, rng=trial, calibration=nosplit.Exact(flips)
                )
                spent += time.process_time() - begin
                own.append(res.pvalue)
                columns.append(bonferroni(reference, new))
            rejected = [share(np.mean(np.array(p) <= 0.05)) for p in (own, columns)]
            median, used, seconds = f"{np.median(own):.2g}", f"{res.how.n_used:,}", spent / trials
            lines.append([f"{n:,}", name, *rejected, median, used, f"{seconds:.1f}"])
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--frequencies", type=int, default=64)
    parser.add_argument("--n-resamples", type=int, default=9_999)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    nosplit.profile(np.random.default_rng(0).standard_normal((5000, COLUMNS)))  # compiles
    profile, reference, spent = make(options.rows, options.frequencies, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reference.profile"
        begin = time.process_time()
        profile.save(file)
        saving = time.process_time() - begin
        profile = nosplit.load(file)
        size = file.stat().st_size
    begin = time.process_time()
    reference.sum(axis=0)
    plain = time.process_time() - begin
    print(profile)
    print(
        f"made in {spent:.1f} s ({1e9 * spent / options.rows:.0f} ns a row, {spent / plain:.0f} "
        f"times a sum of columns), saved in {saving:.1f} s, {size / 1e6:.0f} MB "
        f"({reference.nbytes / size:.0f} times smaller than the rows)\n"
    )
    reference.sort(axis=0)
    header = ["new rows", "change", "profile", "KS, Bonferroni", "median p", "rows used", "seconds"]
    lines = compare(profile, reference, options.trials, options.seed, options.n_resamples)
    print("\n" + table(header, lines))


if __name__ == "__main__":
    main()
