"""How often monitors ring without a change, looked at after every row.

    python -m benchmarks.monitor.level --streams 10000 --pairs 2000
    python -m benchmarks.monitor.level --rate 200 --streams 400

Streams are shared out over laws, with and without a common trend in both (of the first number).
Progress is printed after every hundredth, so that a part can be used.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nosplit
from benchmarks.monitor.laws import NULLS


def with_trend(rows, start, stop, total):
    """The first column of numbers rises by three units over the stream."""
    trend = 3.0 * np.arange(start, stop) / total
    if isinstance(rows, np.ndarray):
        rows[:, 0] += trend
        return rows
    return rows.assign(value=rows["value"] + trend)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rate", type=int, help="watch for a rate of one false alarm in so many")
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    guarantee = {} if options.rate is None else {"guarantee": "rate", "every": options.rate}
    laws = [(name, law, trend) for name, law in NULLS.items() for trend in (False, True)]
    tally = {(name, trend): [0, 0, 0] for name, _, trend in laws}
    started = time.process_time()
    for i in range(options.first, options.first + options.streams):
        name, law, trend = laws[i % len(laws)]
        rng = np.random.default_rng([17, i])
        monitor = nosplit.Monitor(rng=i, **guarantee)
        x, y = law(rng, options.pairs), law(rng, options.pairs)
        if trend:
            x, y = (with_trend(rows, 0, options.pairs, options.pairs) for rows in (x, y))
        monitor.update(x, y)
        own = tally[name, trend]
        own[0] += 1
        own[1] += monitor.alarm is not None
        own[2] += monitor.alarm or options.pairs
        if (i + 1 - options.first) % 100 == 0:
            counts = [sum(column) for column in zip(*tally.values(), strict=True)]
            seconds = time.process_time() - started
            print(f"{counts[0]} streams, {counts[1]} rang, {seconds:.0f} s", flush=True)
    print("law, trend: streams, rang, share, mean pairs until it rang or ended")
    for (name, trend), (count, rang, pairs) in tally.items():
        if count:
            said = "trend" if trend else "stationary"
            print(f"{name}, {said}: {count}, {rang}, {rang / count:.4f}, {pairs / count:.0f}")


if __name__ == "__main__":
    main()
