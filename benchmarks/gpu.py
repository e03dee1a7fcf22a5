"""Tensors on a CUDA device: time there, beside two cores and beside what users write in PyTorch.

    python -m benchmarks.gpu [--write docs/measured/gpu.md]

Times of sketches are those of all work on the device, as its profiler counts it; those of tests are
of whole calls. Each is that of the second of two calls.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from nosplit import Exact, Sketch, two_sample_test
from nosplit.kernels import Gaussian, Laplace


def rows(n: int, p: int, scale: float = 1.0, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return scale * torch.randn(n, p, device="cuda", generator=generator)


def seconds(call) -> float:
    """Of the second of two calls."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def seconds_on_device(call) -> float:
    """Seconds of work on the device, in the second of two calls."""
    call()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    return sum(e.self_device_time_total for e in seen.key_averages()) / 1e6


def sketches(lines: list[str]) -> None:
    lines += ["| rows | products | rows a second |", "| --- | --- | --- |"]
    for n, p in ((10_000_000, 10), (1_000_000, 768)):
        x, y = rows(n, p), rows(n, p, seed=1)
        root = float(np.sqrt(2 * p))
        kernels = [Gaussian(root), Gaussian(root / 2), Laplace(float(p))]
        for products in ("highest", "high"):
            torch.set_float32_matmul_precision(products)
            how = {"kernels": kernels, "pairs": Sketch(1000, 64), "calibration": Exact(99)}
            taken = seconds_on_device(lambda: two_sample_test(x, y, **how))  # noqa: B023
            lines.append(f"| {n:.0e} × {p} | {products} | {2 * n / taken:.2g} |")
            print(lines[-1], flush=True)
        torch.set_float32_matmul_precision("highest")


def calls(lines: list[str], cores: bool) -> None:
    lines += ["", "| test | seconds | on two cores | ratio |", "| --- | --- | --- | --- |"]
    for name, n, p, how in (
        ("complete, 999 flips", 20_000, 10, {"pairs": "complete"}),
        ("complete, 999 flips", 20_000, 768, {"pairs": "complete"}),
        ("complete, 999 flips", 100_000, 10, {"pairs": "complete"}),
        ("sketch, 9,999 flips", 1_000_000, 10, {"pairs": "sketch"}),
    ):
        x, y = rows(n, p), rows(n, p, 1.001, seed=1)
        mine = seconds(lambda: two_sample_test(x, y, **how))  # noqa: B023
        text = "| – | – |"
        if cores and p == 10 and n != 100_000:
            a, b = x.cpu().numpy(), y.cpu().numpy()
            start = time.perf_counter()
            two_sample_test(a, b, workers=2, **how)
            theirs = time.perf_counter() - start
            text = f"| {theirs:.3g} | {theirs / mine:.3g} |"
        lines.append(f"| {name}, {n:,} × {p} | {mine:.3g} {text}")
        print(lines[-1], flush=True)


def plain_aggregated(x: torch.Tensor, y: torch.Tensor, flips: int = 999) -> torch.Tensor:
    """MMD for ten bandwidths with sign flips, as MMDAgg does it: n × n matrices, kept whole."""
    n = len(x)
    signs = torch.randint(0, 2, (n, flips), device=x.device).float() * 2 - 1
    found = []
    for base in (2.0, 1.0):
        parts = [torch.cdist(a, b, p=base) for a, b in ((x, x), (y, y), (x, y))]
        middle = parts[2].flatten()[:1_000_000].median()
        for factor in (0.25, 0.5, 1.0, 2.0, 4.0):
            power = 2 if base == 2.0 else 1
            kxx, kyy, kxy = (torch.exp(-((d / (factor * middle)) ** power)) for d in parts)
            h = kxx + kyy - kxy - kxy.T
            h.fill_diagonal_(0.0)
            found.append(((h @ signs) * signs).sum(dim=0))
    return torch.stack(found)


def peers(lines: list[str]) -> None:
    lines += ["", "| n × 10 | nosplit, s | aggregated MMD in plain PyTorch, s |"]
    lines += ["| --- | --- | --- |"]
    for n in (2_000, 10_000, 20_000, 50_000):
        x, y = rows(n, 10), rows(n, 10, 1.001, seed=1)
        mine = seconds(lambda: two_sample_test(x, y, pairs="complete"))  # noqa: B023
        try:
            theirs = f"{seconds(lambda: plain_aggregated(x, y)):.3g}"  # noqa: B023
        except (torch.OutOfMemoryError, torch.AcceleratorError) as error:
            theirs = type(error).__name__
        torch.cuda.empty_cache()
        lines.append(f"| {n:,} | {mine:.3g} | {theirs} |")
        print(lines[-1], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", type=Path, help="write the tables there, too")
    parser.add_argument("--no-cores", action="store_true", help="leave out the two cores")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:2])
    torch.set_num_threads(2)
    lines = [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", ""]
    sketches(lines)
    calls(lines, not arguments.no_cores)
    peers(lines)
    if arguments.write:
        arguments.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
