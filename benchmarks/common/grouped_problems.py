"""Two samples without a difference, whose groups have different numbers of rows."""

from __future__ import annotations

import numpy as np

# Groups of x and of y.
GROUPS = (100, 30)
# Correlation of two rows of a group.
CORRELATIONS = (0.0, 0.3)
# Rows of the groups of x and of y, at least and at most.
SIZES = {
    "6 v 3": ((6, 6), (3, 3)),
    "8 v 6": ((8, 8), (6, 6)),
    "10 v 1": ((10, 10), (1, 1)),
    "1 to 50 v 1 to 50": ((1, 50), (1, 50)),
    "1 to 50 v 1 to 5": ((1, 50), (1, 5)),
}
OF_BOTH = "1 to 6 of both samples"
SIZES[OF_BOTH] = ((1, 6), (1, 6))


def samples_in_groups(
    sizes: str, correlation: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Draw rows of x and of y, and the labels of their groups; logarithms of sizes are uniform."""
    counts = GROUPS if sizes != OF_BOTH else (GROUPS[1], GROUPS[1])
    rows = [
        np.exp(rng.uniform(np.log(low), np.log(high + 1), count)).astype(int)
        for (low, high), count in zip(SIZES[sizes], counts, strict=True)
    ]
    first = 0 if sizes == OF_BOTH else counts[0]
    x = np.repeat(np.arange(counts[0]), rows[0])
    y = np.repeat(first + np.arange(counts[1]), rows[1])
    centre = np.sqrt(correlation) * rng.normal(size=(first + counts[1], 2))
    own = np.sqrt(1.0 - correlation)
    return (
        centre[x] + own * rng.normal(size=(len(x), 2)),
        centre[y] + own * rng.normal(size=(len(y), 2)),
        (x, y),
    )
