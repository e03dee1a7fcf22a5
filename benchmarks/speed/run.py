"""Speed, as ratios measured side by side in one run: `make bench`.

Every row names what is compared and the aim; the table goes to standard output and, with
`--write`, to a file. What is compared runs in turns, and the best of several runs of each counts:
the speed of a shared machine drifts by more than the differences of interest. One core unless
said; `make bench` keeps the peers' linear algebra to one thread for that.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import nosplit
from benchmarks.speed import files
from nosplit.kernels import paper_kernels
from nosplit.methods import OST

LINEAR = {"pairs": "linear", "calibration": "asymptotic", "method": "ost"}
CORES = len(os.sched_getaffinity(0))


def side_by_side(*runs: Callable[[], object], repeats: int = 9) -> list[float]:
    """Seconds of the fastest of several runs of each, in turns, after one that does not count."""
    times: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(repeats):
        for run, seconds in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    return [min(seconds) for seconds in times]


def read_all(array: np.ndarray, workers: int) -> Callable[[], object]:
    """A plain sum of a large array, which reads it once, on one or more cores."""
    parts = np.array_split(array.reshape(-1), 8 * workers)
    if workers == 1:
        return lambda: [part.sum() for part in parts]

    def read() -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(np.sum, parts))

    return read


def linear_test(
    x: np.ndarray, y: np.ndarray, workers: int, *, shuffle: bool = False
) -> Callable[[], object]:
    kernels = paper_kernels(6, float(np.sqrt(2.0 * x.shape[1])))
    return lambda: nosplit.two_sample_test(
        x, y, kernels=kernels, workers=workers, shuffle=shuffle, **LINEAR
    )


def bandwidth_rows(rows: int) -> list[tuple[str, str, str]]:
    """Bytes of input a second against the machine's read bandwidth."""
    out = []
    rng = np.random.default_rng(0)
    for p in (10, 49):
        n = rows // p
        both = rng.standard_normal((2, n, p))
        x, y = both
        for workers in sorted({1, CORES}):
            seconds = side_by_side(
                read_all(both, workers),
                linear_test(x, y, workers),
                linear_test(x, y, workers, shuffle=True),
            )
            read, *rates = (both.nbytes / s for s in seconds)
            label = "one core" if workers == 1 else f"{workers} cores"
            for shuffle, rate in zip((False, True), rates, strict=True):
                name = f"input read, p = {p}, {label}{', shuffled' if shuffle else ''}"
                what = f"{rate / read:.2f} ({rate / 1e9:.1f} of {read / 1e9:.1f} GB/s)"
                out.append((name, what, "report" if shuffle else "≥ 0.6"))
    return out


def torch_row() -> tuple[str, str, str]:
    """Against a straightforward PyTorch transcription of the estimator."""
    import torch

    torch.set_num_threads(1)
    n, p = 1_000_000, 2
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((n, p)), rng.standard_normal((n, p))
    sigmas = [f * 2.0 for f in (0.25, 0.5, 1.0, 2.0, 4.0)]
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)

    def transcription() -> torch.Tensor:
        half = n // 2
        a, b, c, d = tx[:half], tx[half:], ty[:half], ty[half:]
        columns = []
        for s in sigmas:

            def k(u, v, s=s):
                return torch.exp(-((u - v) ** 2).sum(1) / (2 * s * s))

            columns.append(k(a, b) + k(c, d) - k(a, d) - k(c, b))
        columns.append((a * b).sum(1) + (c * d).sum(1) - (a * d).sum(1) - (c * b).sum(1))
        h = torch.stack(columns, 1)
        tau = half**0.5 * h.mean(0)
        return tau, h.T @ h / half - torch.outer(h.mean(0), h.mean(0))

    ours, theirs = side_by_side(linear_test(x, y, 1), transcription)
    result, (tau, cov) = linear_test(x, y, 1)(), transcription()
    assert np.allclose(result.selection.tau, tau.numpy(), rtol=1e-6, atol=1e-9)
    assert np.allclose(result.selection.cov, cov.numpy(), rtol=1e-6)
    return (
        "linear test against its moments in PyTorch, d = 6, n = 10⁶, p = 2",
        f"{theirs / ours:.1f}× ({1e3 * ours:.0f} ms against {1e3 * theirs:.0f} ms)",
        "≥ 20×",
    )


def cvxopt_rows() -> list[tuple[str, str, str]]:
    """OST, p-values and all, against the quadratic program that it solves in cvxopt."""
    from cvxopt import matrix, solvers

    solvers.options["show_progress"] = False
    rng = np.random.default_rng(2)
    d, B, some = 6, 100_000, 50
    root = rng.standard_normal((d, d + 2))
    cov = root @ root.T
    taus = rng.standard_normal((B, d + 2)) @ root.T
    P, A, h = matrix(np.linalg.inv(cov)), matrix(-np.eye(d)), matrix(np.zeros(d))

    def projections() -> list[np.ndarray]:
        """Points of the cone Σβ = u ≥ 0 that are nearest to each τ, in the metric of Σ⁻¹."""
        q = [matrix(-np.linalg.solve(cov, tau)) for tau in taus[:some]]
        return [np.array(solvers.qp(P, one, A, h)["x"]).ravel() for one in q]

    test = OST()
    theirs, ours = side_by_side(projections, lambda: test(taus, cov))
    found = test(taus[:some], cov)
    for statistic, dof, u in zip(found.statistic, found.dof, projections(), strict=True):
        length = np.sqrt(u @ np.linalg.solve(cov, u))
        assert dof < 2 or np.isclose(statistic, length, atol=1e-4)
    return [
        (
            "OST in a batch, p-values and all, against its optimisation in cvxopt",
            f"{theirs / some / (ours / B):.0f}× ({1e6 * ours / B:.2f} µs a test)",
            "≥ 500× for the optimisation alone",
        ),
        ("100,000 OST tests, d = 6, one Σ", f"{ours:.2f} s", "< 2 s"),
    ]


def mmdagg_row() -> tuple[str, str, str]:
    """The default test against MMDAgg with its defaults."""
    import kt

    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((1000, 10)), rng.standard_normal((1000, 10))
    res = nosplit.two_sample_test(x, y)
    how = res.how
    assert (how.pairs, how.calibration, how.n_resamples) == ("complete", "exact", 999)
    ours, theirs = side_by_side(
        lambda: nosplit.two_sample_test(x, y, workers=1),
        lambda: kt.two_sample(x, y, method="mmdagg"),
        repeats=3,
    )
    return (
        "default test against MMDAgg, n = 1,000, p = 10",
        f"{theirs / ours:.0f}× ({ours:.2f} s against {theirs:.1f} s)",
        "≥ 10×",
    )


def stein_row() -> tuple[str, str, str]:
    """The linear-time goodness-of-fit test, scores included, against the two-sample test."""
    n, p = 1_000_000, 10
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((n, p)), rng.standard_normal((n, p))
    model = nosplit.models.MultivariateNormal(np.zeros(p))
    ksd, mmd = side_by_side(
        lambda: nosplit.goodness_of_fit_test(x, model, workers=1, shuffle=False, **LINEAR),
        lambda: nosplit.two_sample_test(x, y, workers=1, shuffle=False, **LINEAR),
    )
    return (
        "linear KSD against linear MMD, default kernels, n = 10⁶, p = 10",
        f"{ksd / mmd:.2f}× the time ({1e3 * ksd:.0f} ms against {1e3 * mmd:.0f} ms)",
        "≤ 3×",
    )


def scaling_rows() -> list[tuple[str, str, str]]:
    """Ten times the data; two workers."""
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((10_000_000, 2)), rng.standard_normal((10_000_000, 2))
    small, large, two = side_by_side(
        linear_test(x[:1_000_000], y[:1_000_000], 1),
        linear_test(x, y, 1),
        linear_test(x, y, CORES),
        repeats=40,
    )
    rows = [("time at n = 10⁷ over n = 10⁶, linear", f"{large / small:.1f}", "10 ± 1.5")]
    if CORES > 1:
        rows.append(("two workers against one, n = 10⁷, p = 2", f"{large / two:.2f}×", "≥ 1.6×"))
    return rows


SMALL_TEST = """
import time
start = time.perf_counter()
import nosplit
imported = time.perf_counter() - start
import numpy as np
x, y = np.random.default_rng(0).normal(size=(2, 100, 3))
start = time.perf_counter()
nosplit.two_sample_test(x, y)
print(imported, time.perf_counter() - start)
"""


def latency_rows() -> list[tuple[str, str, str]]:
    """Import, first call with a warm cache, and with a cold one."""

    def run(folder: str | None) -> tuple[float, float]:
        env = dict(os.environ, **({"NUMBA_CACHE_DIR": folder} if folder else {}))
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # users keep their bytecode
        out = subprocess.run(
            [sys.executable, "-c", SMALL_TEST], env=env, capture_output=True, text=True, check=True
        )
        imported, first = map(float, out.stdout.split())
        return imported, first

    run(None)
    warm = [run(None) for _ in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        cold = run(folder)
    return [
        ("import nosplit", f"{min(w[0] for w in warm):.2f} s", "< 0.3 s"),
        ("first test, warm cache", f"{min(w[1] for w in warm):.2f} s", "< 1 s"),
        ("first test, cold cache (compiles)", f"{cold[1]:.1f} s", "< 5 s"),
    ]


def memory_row() -> tuple[str, str, str]:
    """What a linear-time test allocates beside its input."""
    import tracemalloc

    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2_000_000, 10)), rng.standard_normal((2_000_000, 10))
    kernels = paper_kernels(6, 4.0)
    tracemalloc.start()
    nosplit.two_sample_test(x, y, kernels=kernels, shuffle=False, **LINEAR)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return ("memory of a linear test, 320 MB of input", f"{peak / 1e6:.0f} MB", "< 50 MB")


def table(rows: list[tuple[str, ...]]) -> str:
    lines = ["| what | measured | aim | `benchmarks/speed/run.py` |", "|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


PAGE = """# Benchmarks

Ratios measured in one run of `make bench` on {cores} cores of a shared server, whose speed drifts:
what is compared runs in turns, and the best of several runs of each counts. The last column is the
section that measures a line alone, as in `python -m benchmarks.speed.run torch`. Linear-time
tests keep the order of the rows unless a line says shuffled.

{table}

How to read it:

- **Input read** compares with a plain sum over the same arrays. At p = 49 a test reads at the speed
  of memory. At p = 10 the arithmetic of a pair (four distances, their kernels, the scatter) takes
  about as long as reading its rows does, and the two overlap in part.
- **Shuffled** rows are read from 512 places in turn; a plain permutation would miss the cache at
  every row.
- **Parquet**: a test reads the files twice, once for the pilot rows and once for the sums. In
  batches is how pyarrow reads files larger than memory. Sorted files take as long as others.
- **First test, cold cache**: the compiler runs once, and again after an update.
"""


SECTIONS: dict[str, Callable[[], list[tuple[str, str, str]]]] = {
    "bandwidth": lambda: bandwidth_rows(40_000_000),
    "torch": lambda: [torch_row()],
    "cvxopt": cvxopt_rows,
    "mmdagg": lambda: [mmdagg_row()],
    "stein": lambda: [stein_row()],
    "scaling": scaling_rows,
    "latency": latency_rows,
    "memory": lambda: [memory_row()],
    "files": files.rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], help="all by default")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    for name in arguments.sections or SECTIONS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        rows += [(*row, name) for row in SECTIONS[name]()]
    print(table(rows))
    if arguments.write:
        arguments.write.write_text(PAGE.format(cores=CORES, table=table(rows)))


if __name__ == "__main__":
    main()
