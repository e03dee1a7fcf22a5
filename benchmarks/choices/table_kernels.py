"""Which kernels a test of tables should use that is told nothing.

Exact tests with all pairs, for sets of kernels × problems with numbers and categories. All sets
see the same samples and the same random flips, and the evidence is that of `Adaptive`.

    python -m benchmarks.choices.table_kernels                # about 5 minutes on one core
    python -m benchmarks.choices.table_kernels --trials 50 --only mixed
"""

from __future__ import annotations

import argparse
import zlib

import numpy as np

from benchmarks.common.exact import hedged_pvalue, swapped
from nosplit.kernels import default_kernels, median_bandwidth
from nosplit.methods import Adaptive

LEVEL = 0.05
N = 200
NUMBERS, LEVELS = 4, (3, 4, 6)


# -- problems --------------------------------------------------------------------------------------
# Each changes columns of y, which were drawn as those of x: z are numbers, c are categories.


def shift(z, c, rng):
    z[:, 0] += 0.4


def spread(z, c, rng):
    z[:, 0] *= 1.45


def frequency(z, c, rng):
    c[rng.random(len(c)) < 0.2, 0] = 0


def every_frequency(z, c, rng):
    c[rng.random(c.shape) < 0.12] = 0


def new_category(z, c, rng):
    c[rng.random(len(c)) < 0.1, 1] = 9


def number_by_category(z, c, rng):
    z[:, 0] += 0.7 * np.sign(c[:, 0] - 1)
    z[:, 0] /= np.sqrt(1 + 2 / 3 * 0.49)


def one_group(z, c, rng):
    z[c[:, 1] == 0] += 0.6


def spread_by_category(z, c, rng):
    z[:, 0] *= np.array([0.3, 1.0, 1.38])[c[:, 0]]


def relation_by_category(z, c, rng):
    sign = np.where(c[:, 1] < 2, 1.0, -1.0)
    z[:, 1] = 0.9 * sign * z[:, 0] + np.sqrt(1 - 0.9**2) * z[:, 1]


def relation(z, c, rng):
    z[:, 1] = 0.6 * z[:, 0] + 0.8 * z[:, 1]


def two_categories(z, c, rng):
    same = rng.random(len(c)) < 0.5
    c[same, 1] = c[same, 0] + (rng.random(np.count_nonzero(same)) < 0.25)


def three_categories(z, c, rng):
    """Any two are independent, all three are not."""
    c %= 2
    odd = rng.random(len(c)) < 0.6
    c[odd, 2] = (c[odd, 0] + c[odd, 1]) % 2


MIXED = (
    shift, spread, frequency, new_category, number_by_category, one_group, spread_by_category,
    relation_by_category, relation, two_categories,
)  # fmt: skip
CATEGORIES = (frequency, every_frequency, new_category, two_categories, three_categories)


def sample(problem, rng):
    """Two samples of numbers and categories."""
    pair = []
    for _ in range(2):
        z = rng.standard_normal((N, NUMBERS))
        c = np.stack([rng.integers(0, levels, N) for levels in LEVELS], axis=1)
        pair.append((z, c % 2 if problem is three_categories else c))
    problem(*pair[1], rng)
    return pair


# -- kernels ---------------------------------------------------------------------------------------


def candidates(z, c, *, mixed: bool) -> dict[str, np.ndarray]:
    """Values of all kernels of the study on the pooled rows."""
    equal = c[:, None, :] == c[None, :, :]
    alike = equal.mean(axis=2)
    half = np.where(equal, 1.0, 0.5).prod(axis=2)
    parts = {"A": alike, "D": (alike == 1.0) * 1.0, "H": half}
    parts |= {f"C{j}": equal[..., j] * 1.0 for j in range(c.shape[1])}
    if not mixed:
        return parts
    kernels = default_kernels(median_bandwidth(z), median_bandwidth(z, base="l1"))
    numbers = {name: k.tile(z, z) for name, k in zip(SEVEN.split(), kernels, strict=True)}
    return parts | numbers | {f"{name}·A": values * alike for name, values in numbers.items()}


SEVEN, FIVE = "G⅛ G½ G2 L⅛ L½ L2 lin", "G½ G2 L½ L2 lin"


def times(kernels: str) -> str:
    """Their products with A."""
    return " ".join(f"{k}·A" for k in kernels.split())


# A: share of categories that agree, H: a half for each that does not, D: 1 if all agree, C: each
# column's own; G, L and lin on the numbers at multiples of the median distance; products by dots.
SETS = {
    "mixed": {
        "7, A": f"{SEVEN} A",
        "7, A, D": f"{SEVEN} A D",
        "7, A, D, 3 G·A": f"{SEVEN} A D {times('G⅛ G½ G2')}",
        "7, A, H, 7·A": f"{SEVEN} A H {times(SEVEN)}",
        "4, A, H, 4·A": f"G½ L½ L2 lin A H {times('G½ L½ L2 lin')}",
        "5, A, D, 5·A": f"{FIVE} A D {times(FIVE)}",
        "5, A, H, 5·A": f"{FIVE} A H {times(FIVE)}",
    },
    "categories": {
        "A": "A",
        "D": "D",
        "H": "H",
        "A, D": "A D",
        "A, H": "A H",
        "A, H, D": "A H D",
        "C, D": "C0 C1 C2 D",
        "C, H": "C0 C1 C2 H",
        "C, H, D": "C0 C1 C2 H D",
    },
}


def verdicts(pair, kind: str, flips: int, rng) -> dict[str, bool]:
    """Whether the test with each set rejects."""
    z, c = (np.concatenate(both) for both in zip(*pair, strict=True))
    values = candidates(z, c, mixed=kind == "mixed")
    names = list(values)
    tau, cov = swapped(values.values(), flips, rng)
    found = {}
    for label, text in SETS[kind].items():
        index = [names.index(name) for name in text.split()]
        evidence = Adaptive().evidence(tau[:, index], cov[np.ix_(index, index)])
        found[label] = hedged_pvalue(evidence) <= LEVEL + 1e-12
    return found


def measure(problem, kind: str, options) -> dict[str, float]:
    """Power of the test with each set on one problem."""
    counts = dict.fromkeys(SETS[kind], 0)
    for trial in range(options.trials):
        rng = np.random.default_rng([options.seed, zlib.crc32(problem.__name__.encode()), trial])
        found = verdicts(sample(problem, rng), kind, options.n_resamples, rng)
        counts = {name: count + found[name] for name, count in counts.items()}
    return {name: count / options.trials for name, count in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--n-resamples", type=int, default=199)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(SETS))
    options = parser.parse_args()
    for kind, problems in (("mixed", MIXED), ("categories", CATEGORIES)):
        if options.only not in (None, kind):
            continue
        power = {problem.__name__: measure(problem, kind, options) for problem in problems}
        best = {name: max(row.values()) for name, row in power.items()}
        print(f"\n{kind}, n = {N}, {options.trials} trials: power, mean, largest shortfall")
        print(" " * 18, *(f"{name[:9]:>9}" for name in power), "     mean     short")
        for label in SETS[kind]:
            cells = [row[label] for row in power.values()]
            short = max(best[name] - row[label] for name, row in power.items())
            print(
                f"{label:18}", *(f"{c:9.2f}" for c in cells), f"{np.mean(cells):9.3f}{short:10.2f}"
            )


if __name__ == "__main__":
    main()
