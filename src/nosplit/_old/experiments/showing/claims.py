"""The paper's claims about its figures, held against the rates.

A claim is a set of comparisons. One comparison *fails clearly* if it is wrong by more than the
error of the simulation: every comparison is tested, at levels that add up to 1 % over all
comparisons of the claim. A claim that fails clearly anywhere is not supported.

Methods see the same draws, so the error of a difference comes from the differences in chunks of
trials, by Student's law. Where there are too few chunks for that, draws count as independent,
which makes the error too large.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev

from scipy import special

from nosplit import InputError
from nosplit._old.experiments.showing.table import TableRow

__all__ = [
    "Comparison",
    "Verdict",
    "all_clear",
    "at_least",
    "at_most",
    "none_fails",
    "select",
    "some_clear",
    "versus",
]

FALSE_ALARM = 0.01
FEWEST_CHUNKS = 20


@dataclass(frozen=True)
class Verdict:
    """A claim, whether the rates support it, and on what evidence."""

    claim: str
    supported: bool
    evidence: str


@dataclass(frozen=True)
class Comparison:
    """Something that should be at least 0, with its standard error and a description.

    `chunks` is the number of differences that the error was found from; 0 if it was not.
    """

    difference: float
    error: float
    text: str
    chunks: int = 0

    def margin(self, level: float) -> float:
        """Error by chance, one-sided at this level."""
        if self.chunks:
            return self.error * float(special.stdtrit(self.chunks - 1, 1 - level))
        return self.error * NormalDist().inv_cdf(1 - level)


def _variance(row: TableRow) -> float:
    # One more success and failure: the error of a rate of 0 or 1 is not 0.
    p = (row.rejections + 1) / (row.trials + 2)
    return p * (1 - p) / row.trials


def versus(better: TableRow, worse: TableRow) -> Comparison:
    """`better` rejects at least as often as `worse`."""
    text = f"{_place(better)}: {_rate_words(better)} against {_rate_words(worse)}"
    if worse.d != better.d:
        text += f" with d={worse.d}"
    difference = better.rate - worse.rate
    chunks = len(better.by_chunk)
    if chunks < FEWEST_CHUNKS or chunks != len(worse.by_chunk):
        error = math.sqrt(_variance(better) + _variance(worse))
        return Comparison(difference, error, text)
    pairs = zip(better.by_chunk, worse.by_chunk, strict=True)
    spread = stdev(a - b for a, b in pairs)
    return Comparison(difference, spread * math.sqrt(chunks) / better.trials, text, chunks)


def at_least(row: TableRow, level: float) -> Comparison:
    """The rate is at least `level`."""
    error = math.sqrt(level * (1 - level) / row.trials)
    return Comparison(row.rate - level, error, f"{_place(row)}: {_rate_words(row)}")


def at_most(row: TableRow, level: float) -> Comparison:
    """The rate is at most `level`."""
    other = at_least(row, level)
    return Comparison(-other.difference, other.error, other.text)


def none_fails(claim: str, comparisons: Sequence[Comparison], *, share: float = 0.0) -> Verdict:
    """Supported if no comparison fails clearly, or at most this share of them."""
    level = _shared_alarm(comparisons)
    failed = sorted(
        (c for c in comparisons if c.difference < -c.margin(level)), key=_observed_difference
    )
    held, total = sum(c.difference >= 0 for c in comparisons), len(comparisons)
    evidence = f"holds as it stands in {held} of {total} comparisons"
    if held < total:
        evidence += f", fails clearly in {len(failed)}"
    return Verdict(claim, len(failed) <= share * total, evidence + _examples(failed))


def all_clear(claim: str, comparisons: Sequence[Comparison]) -> Verdict:
    """Supported if every comparison holds clearly."""
    level = _shared_alarm(comparisons)
    doubtful = sorted(
        (c for c in comparisons if c.difference <= c.margin(level)), key=_observed_difference
    )
    clear, total = len(comparisons) - len(doubtful), len(comparisons)
    return Verdict(claim, not doubtful, f"clearly so in {clear} of {total}{_examples(doubtful)}")


def some_clear(claim: str, comparisons: Sequence[Comparison]) -> Verdict:
    """Supported if at least one comparison holds clearly."""
    level = _shared_alarm(comparisons)
    clear = sorted(
        (c for c in comparisons if c.difference > c.margin(level)), key=_observed_difference
    )
    evidence = f"clearly so in {len(clear)} of {len(comparisons)}"
    return Verdict(claim, bool(clear), evidence + _examples(clear[::-1], "for example"))


def _shared_alarm(comparisons: Sequence[Comparison]) -> float:
    if not comparisons:
        raise InputError("`comparisons` must not be empty: the rows of a method are missing.")
    return FALSE_ALARM / len(comparisons)


def _observed_difference(comparison: Comparison) -> float:
    return comparison.difference


def _examples(comparisons: Sequence[Comparison], word: str = "worst") -> str:
    texts = "; ".join(c.text for c in comparisons[:3])
    return f" ({word}: {texts})" if texts else ""


def select(
    rows: Iterable[TableRow],
    *,
    dataset: str | None = None,
    d: Collection[int] | None = None,
) -> list[Mapping[str, TableRow]]:
    """Points (dataset, d, n) of a figure, each with its rows by method."""
    table: dict[tuple[str, int, int], dict[str, TableRow]] = {}
    for row in rows:
        if dataset in (None, row.dataset) and (d is None or row.d in d):
            table.setdefault((row.dataset, row.d, row.n), {})[row.method] = row
    return list(table.values())


def _place(row: TableRow) -> str:
    return f"{row.dataset} d={row.d} n={row.n}"


def _rate_words(row: TableRow) -> str:
    return f"{row.method} {row.rate:.3f}"
