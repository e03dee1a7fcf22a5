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


def best(run: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of several runs, after one that does not count."""
    return side_by_side(run, repeats=repeats)[0]


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


def limit_rows() -> list[tuple[str, str, str]]:
    """What stands in the way at p = 10: computing and reading, each on its own, on one core."""
    from nosplit._support.loops.values import exp, two_sample_moments
    from nosplit.families.two_sample import Paired
    from nosplit.kernels.bank import Bank
    from nosplit.pairs.dealing import Natural
    from nosplit.pairs.pairing import Aligned

    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((4096, 10)), rng.standard_normal((4096, 10))
    units = Paired(x, y, Natural(), Natural(), Bank(paper_kernels(6, 4.5)), range(4096))
    job = Aligned(range(2048), range(2048, 4096))
    loop, mean, total = units._compiled(job), np.empty(6), np.empty((6, 6))
    compute = 1e9 * best(lambda: two_sample_moments(*loop, mean, total, 2048), 400) / 2048
    large = rng.standard_normal((4_000_000, 10))
    read = 1e9 * 320.0 * best(read_all(large, 1)) / large.nbytes
    q, out = rng.random(8192), np.empty(8192)
    rate = 8192 / best(lambda: exp(q, 1.0, out), 200)
    both = f"{read / (read + compute):.2f} in turn, {min(1.0, read / compute):.2f} if overlapped"
    return [
        ("limit, p = 10: reading a pair's rows", f"{read:.0f} ns", "report"),
        ("limit, p = 10: computing, rows in the cache", f"{compute:.0f} ns", "report"),
        ("limit, p = 10: share of read speed these allow", both, "report"),
        ("limit: exponentials a second, one core", f"{rate / 1e9:.2f}·10⁹", "report"),
    ]


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

    from nosplit.families.two_sample import Paired
    from nosplit.kernels.bank import Bank
    from nosplit.pairs.dealing import Natural
    from nosplit.pairs.loop import accumulate
    from nosplit.pairs.pairing import LinearPairs

    units = Paired(x, y, Natural(), Natural(), Bank(paper_kernels(6, 2.0)), range(n))
    ours, theirs = side_by_side(lambda: accumulate(units, LinearPairs(), workers=1), transcription)
    moments, (tau, cov) = accumulate(units, LinearPairs(), workers=1), transcription()
    assert np.allclose(moments.tau, tau.numpy(), rtol=1e-6, atol=1e-9)
    assert np.allclose(moments.cov, cov.numpy(), rtol=1e-6)
    return (
        "moments against PyTorch, d = 6, n = 10⁶, p = 2",
        f"{theirs / ours:.1f}× ({1e3 * ours:.0f} ms against {1e3 * theirs:.0f} ms)",
        "≥ 20×",
    )


def cvxopt_rows() -> list[tuple[str, str, str]]:
    """The optimisation of OST against the same quadratic program in cvxopt."""
    from cvxopt import matrix, solvers

    from nosplit._support.loops.nnls import solve_batch

    solvers.options["show_progress"] = False
    rng = np.random.default_rng(2)
    d, B = 6, 100_000
    root = rng.standard_normal((d, d + 2))
    C = root @ root.T
    taus = rng.standard_normal((B, d + 2)) @ root.T
    one, G = taus[:1], C[None]
    P, A, h = matrix(C), matrix(-np.eye(d)), matrix(np.zeros(d))

    def qp() -> None:
        for t in taus[:50]:
            solvers.qp(P, matrix(-t), A, h)

    loops = 2000

    def single() -> None:
        for _ in range(loops):
            solve_batch(G, one)

    times = side_by_side(qp, single, lambda: solve_batch(G, taus))
    theirs, ours_single, ours_batch = times[0] / 50, times[1] / loops, times[2] / B
    x = solve_batch(G, taus[:50])
    for i, t in enumerate(taus[:50]):
        there = np.array(solvers.qp(P, matrix(-t), A, h)["x"]).ravel()
        assert np.allclose(x[i], there, atol=1e-4)
    whole = best(lambda: OST()(taus, C))
    return [
        (
            "OST optimisation against cvxopt, single",
            f"{theirs / ours_single:.0f}× ({1e6 * ours_single:.1f} µs against {1e6 * theirs:.0f})",
            "≥ 20×",
        ),
        (
            "OST optimisation against cvxopt, in a batch",
            f"{theirs / ours_batch:.0f}× ({1e6 * ours_batch:.2f} µs a problem)",
            "≥ 500×",
        ),
        ("100,000 OST tests, d = 6, one Σ", f"{whole:.2f} s", "< 2 s"),
    ]


def mmdagg_row() -> tuple[str, str, str]:
    """The default test against MMDAgg with its defaults."""
    import kt

    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((1000, 10)), rng.standard_normal((1000, 10))
    res = nosplit.two_sample_test(x, y)
    assert (res.pairs, res.calibration, res.flips) == ("complete", "exact", 999)
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
        ("first test, cold cache (compiles)", f"{cold[1]:.1f} s", "< 10 s"),
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
  about as long as reading its rows does, and the two overlap in part; the lines on limits say how
  much that allows.
- **Shuffled** rows are read from 512 places in turn; a plain permutation would miss the cache at
  every row.
- **Parquet**: a test reads the files twice, once for the pilot rows and once for the sums. In
  batches is how pyarrow reads files larger than memory. Sorted files take as long as others.
- **First test, cold cache**: the compiler runs once, and again after an update.
"""


SECTIONS: dict[str, Callable[[], list[tuple[str, str, str]]]] = {
    "bandwidth": lambda: bandwidth_rows(40_000_000),
    "limits": limit_rows,
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
