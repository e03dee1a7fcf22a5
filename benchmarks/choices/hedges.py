"""How several kinds of evidence are made one: ways to join ranks, on the same random swaps.

The kinds are those of an earlier default, which had weights: plain kernels learned together;
kernels with flattened spectra learned together, and their largest; the best column; where all
columns lie, and how wide they are; a little of all kernels and all columns; the best pair of up to
twenty columns; the shape of a single one; and how far rows lie from the middle. Each draw has a
rank under each kind of evidence, and something of the ranks orders the draws: the place of the data
among them is exact, whatever it is.

    python -m benchmarks.choices.hedges --trials 40      # about half an hour on one core

Problems are those of `benchmarks/common/other_problems.py`, none of which is reported elsewhere.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
from scipy import special, stats

from benchmarks.common.exact import TIE, swapped
from benchmarks.common.other_problems import OTHERS
from benchmarks.common.pages import fine_share, share, table
from nosplit.kernels import Gaussian, Shared, default_kernels
from nosplit.kernels import median_bandwidth as median
from nosplit.methods import Adaptive

LEVEL = 0.05
REGULARISATIONS = (1e-1, 1e-2, 1e-3)
KINDS = (
    "learned",
    "learned, flattened",
    "largest, flattened",
    "column",
    "broad",
    "place",
    "spread",
    "largest pair",
    "smooth",
    "distance",
)
# How much they counted, and the power of the ranks.
WEIGHTS, POWER = np.array([6.0, 4.0, 4.0, 3.0, 4.0, 6.0, 2.0, 4.0, 4.0, 2.0])[:, None], 0.75
FIRST, SEVEN = np.arange(10)[:, None] < 5, np.arange(10)[:, None] < 7
# Each is of the shares of draws with at least as much evidence, (K, F); larger is stronger.
WAYS = {
    "best rank": lambda p: -np.min(p, axis=0) - 1e-4 * np.sort(p, axis=0)[1],
    "five, equal weights": lambda p: np.sum(FIRST / p, axis=0),
    "first seven": lambda p: np.sum(SEVEN * WEIGHTS * p**-POWER, axis=0),
    "equal weights": lambda p: np.sum(1.0 / p, axis=0),
    "weights": lambda p: np.sum(WEIGHTS / p, axis=0),
    "weights, r^(−¾)": lambda p: np.sum(WEIGHTS * p**-POWER, axis=0),
    "1/√rank": lambda p: np.sum(WEIGHTS * p**-0.5, axis=0),
    "logarithms": lambda p: -np.sum(np.log(p), axis=0),
}


def flattened(K, regularisation: float):
    """A kernel matrix with its centred spectrum λ → λ/(λ + γ λ_max), on a third of the axes."""
    centred = K - K.mean(axis=0)
    centred = centred - centred.mean(axis=1)[:, None]
    values, axes = np.linalg.eigh(centred)
    keep = len(K) // 6
    values, axes = np.maximum(values[-keep:], 0.0), axes[:, -keep:]
    return (axes * (values / (values + regularisation * values[-1]))) @ axes.T


def gram(features):
    return features @ features.T


def column_tiles(rows):
    """For each column kernels of thresholds (Anderson-Darling), of its place and of its spread."""
    place = (stats.rankdata(rows, axis=0) - 0.5) / len(rows)
    score = special.ndtri(place)
    levels = np.arange(1, 32) / 32
    for own, z in zip(place.T, score.T, strict=True):
        below = (own[:, None] <= levels) / np.sqrt(levels * (1.0 - levels))
        yield gram(below), np.outer(z, z), np.outer(z * z - 1.0, z * z - 1.0)


def wave_tiles(rows):
    """For a column, or each pair, kernels of products of cosines of ranks: at several scales."""
    n, p = rows.shape
    places = (stats.rankdata(rows, axis=0) - 0.5) / n
    waves = np.sqrt(2.0) * np.cos(np.pi * places[:, :, None] * np.arange(1, 10))
    if p == 1:
        yield gram(waves[:, 0, :8]), 8
    elif p <= 20:
        pairs = list(combinations(range(p), 2))
        scales = [J for J in (1, 3, 9) if J == 1 or min(n / 4, 256 / len(pairs)) >= J * J]
        for j, k in pairs:
            yield from ((gram(waves[:, j, :J]) * gram(waves[:, k, :J]), J * J) for J in scales)


def distance_tile(rows):
    """A kernel of how far rows lie from the middle: its normal scores, and their squares."""

    def scores(values):
        z = special.ndtri((stats.rankdata(values, axis=0) - 0.5) / len(rows))
        return z, (z * z - (z * z).mean(axis=0)) / (z * z).std(axis=0)

    return gram(np.stack(scores(scores(rows)[1].sum(axis=1)), axis=1))


def normal_scores(t, dof):
    """Standardised statistics as scores that are nearly normal, by their gamma laws."""
    spread = 2.0 / (9.0 * dof)
    return (np.cbrt(np.maximum(1.0 + t * np.sqrt(2.0 / dof), 0.0)) - 1.0 + spread) / np.sqrt(spread)


def kinds(x, y, flips: int, rng) -> np.ndarray:
    """The kinds of evidence under every draw, (10, F), the data first; 0 where one has nothing."""
    rows = np.concatenate([x, y])
    width = median(rows)
    shared = Shared("tile", rows, rows)
    plain = [shared.values(k) for k in default_kernels(width, median(rows, base="l1"))]
    finer = [shared.values(Gaussian(factor * width)) for factor in (0.5, 0.125)]
    flat = [flattened(K, g) for K in finer for g in REGULARISATIONS]
    by_column = list(zip(*column_tiles(rows), strict=True))
    waves, far = list(wave_tiles(rows)), distance_tile(rows)
    d, e, p = len(plain), len(plain) + len(flat), x.shape[1]
    tiles = [*plain, *flat, *(K for own in by_column for K in own), *(K for K, _ in waves), far]
    tau, cov = swapped(tiles, flips, rng)
    learned, _, mean = Adaptive().evidence(tau[:, :d], cov[:d, :d])
    learned_flat, largest, _ = Adaptive().evidence(tau[:, d:e], cov[d:e, d:e])
    parts = np.split((tau / np.sqrt(np.diagonal(cov)))[:, e:], [3 * p, 3 * p + len(waves)], axis=1)
    t, fine, distance = parts
    t = t.reshape(len(tau), 3, p)
    broad = sum((part - part.mean()) / part.std() for part in (mean, t[:, 0].mean(axis=1)))
    place, spread = t[:, 1].mean(axis=1), t[:, 2].mean(axis=1)
    shown = np.zeros((2, len(tau)))
    if waves:
        shown[int(p == 1)] = normal_scores(fine, np.array([dof for _, dof in waves])).max(axis=1)
    seven = learned, learned_flat, largest, t.max(axis=(1, 2)), broad, place, spread
    return np.stack([*seven, *shown, distance[:, 0] * (p > 1)])


def shares(evidence: np.ndarray) -> np.ndarray:
    """Share of draws with at least as much evidence, for each kind and draw; ties count against."""
    least = evidence - TIE * np.maximum(np.abs(evidence), 1.0)
    ordered = np.sort(evidence, axis=1)
    below = [np.searchsorted(own, at) for own, at in zip(ordered, least, strict=True)]
    return 1.0 - np.stack(below) / evidence.shape[1]


def rejects(score: np.ndarray) -> bool:
    return bool(np.mean(score >= score[0] - TIE * max(abs(score[0]), 1.0)) <= LEVEL + 1e-12)


def measure(name: str, options) -> dict[str, float]:
    """Power of each kind by itself, and of each way to join all of them."""
    first, second, n = OTHERS[name]
    found: dict[str, list[bool]] = {}
    for trial in range(options.trials):
        rng = np.random.default_rng([options.seed, list(OTHERS).index(name), trial])
        p = shares(kinds(first(n, rng), second(n, rng), options.n_resamples, rng))
        for kind, own in zip(KINDS, p, strict=True):
            found.setdefault(kind, []).append(bool(own[0] <= LEVEL + 1e-12))
        for way, join in WAYS.items():
            found.setdefault(way, []).append(rejects(join(p)))
    return {key: float(np.mean(value)) for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--n-resamples", type=int, default=499)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", nargs="*", default=list(OTHERS))
    options = parser.parse_args()
    rows = []
    for name in options.problems:
        power = measure(name, options)
        rows.append([name, OTHERS[name][2], power])
        print(name, {key: round(value, 2) for key, value in power.items()}, flush=True)
    best = [max(power[kind] for kind in KINDS) for _, _, power in rows]
    lines = [
        [name, n, share(b), *(share(power[w]) for w in WAYS)]
        for (name, n, power), b in zip(rows, best, strict=True)
    ]
    every = {w: np.array([power[w] for _, _, power in rows]) for w in WAYS}
    lines.append(
        [
            "mean",
            "",
            fine_share(float(np.mean(best))),
            *(fine_share(v.mean()) for v in every.values()),
        ]
    )
    short = [max(0.0, float(np.max(np.array(best) - v))) for v in every.values()]
    lines.append(["largest shortfall", "", "", *map(share, short)])
    print(table(["problem", "n", "best kind", *WAYS], lines))


if __name__ == "__main__":
    main()
