"""The commands `accumulate`, `merge` and `result`: map-reduce by hand, across machines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Annotated, Any

import numpy as np
import typer

from nosplit._support.checks import check_alpha
from nosplit._support.terminal import printable, progress_bar
from nosplit.api.ways.against_profile import is_profile
from nosplit.cli.profiles import merge_profiles
from nosplit.cli.shared import options as opt
from nosplit.cli.shared.printing import finish, print_json, quietly
from nosplit.cli.shared.targets import Force, check_out
from nosplit.data.files.opening import open_source, said_of
from nosplit.data.files.source import Source
from nosplit.data.files.whole import in_memory, is_small, some_rows
from nosplit.data.options import Options
from nosplit.data.samples import two_samples
from nosplit.data.tables.encoding import Encoding
from nosplit.engines.streams.base import LIMIT
from nosplit.engines.streams.saved.loading import FAMILIES, load_accumulator
from nosplit.engines.streams.two_sample import TwoSampleAccumulator
from nosplit.errors import InputError
from nosplit.kernels.defaults.recipes import asked_for

__all__ = ["accumulate_command", "merge", "result"]

Out = Annotated[str, typer.Option("--out", "-o", help="File to write.", metavar="STATE")]

# Rows of the larger side of a batch.
BATCH = 1 << 16


def accumulate_command(
    ref: opt.Ref,
    cur: opt.Cur,
    out: Out,
    kernels: opt.Kernels = "default",
    kernels_from: Annotated[
        str | None,
        typer.Option(
            help="Take kernels, pairs, ratio and columns from another STATE, so that both add up.",
            metavar="STATE",
        ),
    ] = None,
    pairs: Annotated[
        str, typer.Option(help="sketch, or adjacent (the paper's estimate).", metavar="PAIRS")
    ] = "sketch",
    ratio: Annotated[
        str, typer.Option(help="Rows of REF to rows of CUR in a unit, as in 1:3.", metavar="A:B")
    ] = "1:1",
    limit: Annotated[
        int, typer.Option(help="Rows of a side that may wait for the other; others are dropped.")
    ] = LIMIT,
    seed: opt.Seed = 0,
    no_shuffle: opt.NoShuffle = False,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    scale: opt.Scale = None,
    nan_policy: opt.NanPolicy = "raise",
    force: Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write what a two-sample test needs to know of two files to a small file.

    Files of several machines add up with `nosplit merge`, and `nosplit result` tests them. Their
    kernels must agree: make the first, copy it, and give it to the others as --kernels-from.
    """
    check_out(out, force)
    options = Options.of(scale, columns, exclude, nan_policy)
    with said_of(x=ref, y=cur):
        data = _Data.of(ref, cur, options)
        if kernels_from is None:
            acc = TwoSampleAccumulator(
                asked_for(kernels),
                pairs=pairs,
                ratio=_parse_ratio(ratio),
                limit=limit,
                encoding=data.encoding(),
                rng=seed,
            )
        else:
            asked = (kernels, pairs, ratio) != ("default", "sketch", "1:1") or not options.idle
            acc = _empty_like(kernels_from, asked)
        data.feed(acc, None if no_shuffle else np.random.default_rng(seed))
    with suppress(InputError):  # there may be too few rows, or none that differ
        acc.fix_kernels()
    acc.save(out)
    _print_accumulator(acc, out, as_json)


def _empty_like(path: str, asked: bool) -> TwoSampleAccumulator:
    """An empty accumulator that can be added to the one in a file."""
    if asked:
        raise InputError(
            "`--kernels-from` brings kernels, pairs, ratio and columns with it: leave out the "
            "options that say otherwise."
        )
    first = TwoSampleAccumulator.load(path)
    if first.kernels is None:
        raise InputError(f"`{path}` has seen too few rows to have kernels for others to take.")
    return TwoSampleAccumulator.like(first)


@dataclass(frozen=True, eq=False)
class _Data:
    """Two files, and their rows if they are small."""

    sources: tuple[Source, Source]
    rows: tuple[Any, Any] | None
    options: Options

    @classmethod
    def of(cls, ref: str, cur: str, options: Options) -> _Data:
        sources = open_source(ref), open_source(cur)
        if not is_small(*sources):
            return cls(sources, None, options)
        x, y, options = in_memory(*sources, options)
        return cls(sources, (x, y), options)

    def encoding(self) -> Encoding | None:
        """The encoding of their rows, fitted to all of them or to a sample."""
        some = self.rows or some_rows(*(source.path for source in self.sources))
        return two_samples(*some, self.options).encoding

    def feed(self, acc: TwoSampleAccumulator, rng: np.random.Generator | None) -> None:
        """Feed all rows, in random order as far as the files allow."""
        a, b = acc.ratio
        n, m = (source.n_rows or 0 for source in self.sources)
        n_pairs = min(n // a, m // b)
        with progress_bar(sys.stderr.isatty() and n_pairs > 0, n_pairs) as step:
            for x, y in self._batches(acc.ratio, rng):
                acc.update(_in_random_order(x, rng), _in_random_order(y, rng))
                if step is not None and x is not None:
                    step(len(x) // a)

    def _batches(
        self, ratio: tuple[int, int], rng: np.random.Generator | None
    ) -> Iterable[tuple[Any, Any]]:
        """Batches of both files side by side, so that few rows wait for their partners."""
        if self.rows is not None:
            return [self.rows]
        sizes = [max(1, BATCH * side // max(ratio)) for side in ratio]
        sides = zip(self.sources, sizes, strict=True)
        return zip_longest(*(source.batches(size, None, rng) for source, size in sides))


def _in_random_order(rows: Any, rng: np.random.Generator | None) -> Any:
    """Rows of an array or a table of Arrow in random order."""
    if rng is None or rows is None:
        return rows
    order = rng.permutation(len(rows))
    return rows[order] if isinstance(rows, np.ndarray) else rows.take(order)


def merge(
    states: Annotated[list[str], typer.Argument(metavar="STATE...", help="Files to add up.")],
    out: Out,
    force: Force = False,
    as_json: opt.Json = False,
) -> None:
    """Add up what `nosplit accumulate` or `nosplit profile` wrote, on one machine or on several."""
    check_out(out, force)
    if len({os.path.realpath(state) for state in states}) < len(states):
        raise InputError("`STATE` must be different files: rows would count twice.")
    if is_profile(states[0]):
        merge_profiles(states, out, as_json)
        return
    total = load_accumulator(states[0])
    for state in states[1:]:
        other = load_accumulator(state)
        if other.family != total.family:
            raise InputError(
                f"`{state}` must hold a {_class_name(total)}, as `{states[0]}` does, got a "
                f"{_class_name(other)}."
            )
        try:
            total += other
        except InputError as error:
            raise InputError(
                f"`{state}` cannot be added to `{states[0]}`. {error} On the command line: "
                f"nosplit accumulate ... --kernels-from {states[0]}"
            ) from error
    total.save(out)
    _print_accumulator(total, out, as_json)


def result(
    state: Annotated[str, typer.Argument(metavar="STATE", help="What to test.")],
    alpha: opt.Alpha = 0.05,
    method: Annotated[
        str,
        typer.Option(help="As of `nosplit test`, but for splits.", metavar="NAME"),
    ] = "auto",
    flips: Annotated[
        int | None, typer.Option(help="Random draws of a sketch: p is at least 1 / (flips + 1).")
    ] = None,
    as_json: opt.Json = False,
    exit_code: opt.ExitCode = False,
) -> None:
    """Test what `nosplit accumulate` or `nosplit merge` wrote."""
    check_alpha(alpha)
    acc = load_accumulator(state)
    if flips is not None and acc.pairs != "sketch":
        raise InputError(
            f"`--flips` is for sketches, got a {_class_name(acc)} of {acc.pairs} pairs."
        )
    ask = acc.result if flips is None else partial(acc.result, flips=flips)
    res = quietly(ask, method)
    raise finish(res, state, alpha=alpha, as_json=as_json, exit_code=exit_code)


def _class_name(acc: Any) -> str:
    """The public name of the class of an accumulator."""
    return next(kind.__name__ for kind in FAMILIES if kind.family == acc.family)


def _parse_ratio(text: str) -> tuple[int, int]:
    a, colon, b = text.partition(":")
    if not (colon and a.isdecimal() and b.isdecimal() and len(text) < 20):
        raise InputError(f"`--ratio` must be two numbers, as in 1:3, got {text!r}.")
    return int(a), int(b)


def _print_accumulator(acc: Any, out: str, as_json: bool) -> None:
    counts = acc.counts()
    if as_json:
        kernels = [str(kernel) for kernel in acc.kernels or ()]
        print_json(
            {"state": out, "family": acc.family, "pairs": acc.pairs, "kernels": kernels, **counts}
        )
        return
    left = [
        f"{counts[name]:,} {word}"
        for name, word in (
            ("n_waiting", "waiting"),
            ("n_dropped", "dropped"),
            ("n_omitted", "with missing values"),
        )
        if counts[name]
    ]
    rows = ", ".join([f"{counts['n_used']:,} used", *left])
    typer.echo(printable(out))
    units = "blocks" if acc.pairs == "sketch" else "units"
    typer.echo(f"  pairs      {acc.pairs}: {counts['n_pairs']:,} of {counts['n_units']:,} {units}")
    typer.echo(f"  rows       {rows}")
