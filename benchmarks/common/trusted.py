"""Where the library trusts the closed form for two samples (docs/measured/safe_asymptotics.md)."""

from __future__ import annotations

import math
import warnings

import numpy as np

import nosplit

PAIRS_A_KERNEL = 50


def widest_window(n_units: int) -> int:
    """R = √N / 5."""
    return max(1, math.isqrt(n_units) // 5)


def is_trusted(n_units: int, window: int, n_pairs: int, d: int) -> bool:
    return n_pairs >= PAIRS_A_KERNEL * d and window <= widest_window(n_units)


def check_rule() -> None:
    """The rule is written down here by hand; it must be the one that the library goes by."""
    x, y = np.random.default_rng(0).standard_normal((2, 2500, 1))

    def warns(n: int, pairs: int | str) -> bool:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            nosplit.two_sample_test(
                x[:n], y[:n], kernels="paper1", pairs=pairs, calibration="asymptotic", workers=1
            )
        return any(issubclass(w.category, nosplit.errors.UnsafeAsymptoticsWarning) for w in caught)

    wide, few = widest_window(2500), 2 * PAIRS_A_KERNEL
    found = warns(2500, wide), warns(2500, wide + 1), warns(few, "linear"), warns(few - 2, "linear")
    assert found == (False, True, False, True), found
