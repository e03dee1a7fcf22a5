"""How long until ten changes are found, that are there from the first row on.

    python -m benchmarks.monitor.delay --trials 20

The monitor watches two streams. Beside it: the number of rows at which the fixed-size default test
has power .8 (by bisection over powers of 2^(1/4)); the default test repeated at 100, 200, 400, …
rows with the level shared out evenly over the ten looks of a stream of up to 51,200 pairs; and
KSWIN and ADWIN of river on every column of y, with Bonferroni's correction, if river is installed
(they know nothing of x: a change comes after as many rows without one).
"""

from __future__ import annotations

import argparse

import numpy as np

import nosplit
from benchmarks.monitor.laws import CHANGES

LOOKS = [100 * 2**k for k in range(6)]
LONGEST = 3200
SIZES = [round(16 * 2 ** (k / 4)) for k in range(29)]


def watched(change, seed):
    rng = np.random.default_rng([seed, 1])
    monitor = nosplit.Monitor(rng=seed)
    for _ in range(LONGEST // 100):
        monitor.update(*change(rng, 100))
        if monitor.alarm:
            return monitor.alarm
    return np.inf


def repeated(change, seed):
    rng = np.random.default_rng([seed, 1])
    x, y = change(rng, LONGEST)
    for n in LOOKS:
        if nosplit.two_sample_test(x[:n], y[:n], rng=seed).reject(0.05 / 10):
            return n
    return np.inf


def enough(change, trials):
    """The smallest size with power of at least .8, by bisection."""
    low, high = 0, len(SIZES) - 1
    while low < high:
        middle = (low + high) // 2
        if power(change, SIZES[middle], trials) >= 0.8:
            high = middle
        else:
            low = middle + 1
    return SIZES[low] if low < len(SIZES) - 1 else np.inf


def power(change, n, trials):
    found = 0
    for seed in range(trials):
        x, y = change(np.random.default_rng([seed, n]), n)
        found += nosplit.two_sample_test(x, y, rng=seed).reject(0.05)
    return found / trials


def by_column(change, seed, make):
    """Rows after the change until any column of y rings; the first 1,000 rows are those of x."""
    rng = np.random.default_rng([seed, 1])
    x, y = change(rng, LONGEST)
    columns = [make(y.shape[1]) for _ in range(y.shape[1])]
    for t, row in enumerate(np.concatenate([x[:1000], y])):
        rang = False
        for value, detector in zip(row, columns, strict=True):
            detector.update(float(value))
            rang |= detector.drift_detected
        if rang and t >= 1000:
            return t - 999
        if rang:
            columns = [make(y.shape[1]) for _ in range(y.shape[1])]
    return np.inf


def peers():
    try:
        from river import drift
    except ImportError:
        return {}
    return {
        "KSWIN": lambda p: drift.KSWIN(alpha=0.05 / 1000 / p, seed=0),
        "ADWIN": lambda p: drift.ADWIN(delta=0.05 / p),
    }


def said(values):
    middle = np.median(values)
    share = np.mean(np.isfinite(values))
    return f"{middle:.0f}" if np.isfinite(middle) else f"- ({share:.0%})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--peer-trials", type=int, default=10)
    parser.add_argument("--peers", nargs="*", default=["KSWIN", "ADWIN"], help="of these two")
    parser.add_argument("--only", nargs="*", help="of watched, fixed, repeated, peers")
    options = parser.parse_args()
    parts = options.only or ["watched", "fixed", "repeated", "peers"]
    for name, change in CHANGES.items():
        found = []
        if "watched" in parts:
            delays = [watched(change, seed) for seed in range(options.trials)]
            most = np.quantile(delays, 0.8, method="higher")
            found.append(f"monitor {said(delays)}, 80% within {most:.0f}")
        if "fixed" in parts:
            found.append(f"fixed test power .8 at {enough(change, options.trials)}")
        if "repeated" in parts:
            found.append(f"repeated {said([repeated(change, s) for s in range(options.trials)])}")
        if "peers" in parts:
            for peer, make in peers().items():
                if peer not in options.peers:
                    continue
                delays = [by_column(change, s, make) for s in range(options.peer_trials)]
                found.append(f"{peer} {said(delays)}")
        print(f"{name}: {'; '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
