"""The two-sample test on a cluster: what Dask and Spark have in common.

Count rows, choose scales and kernels from a few of them, cut the units into blocks, add what the
blocks give.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from nosplit._support.checks import numeric
from nosplit.data.encoding import Encoding
from nosplit.data.fit_encoding import fit_encoding
from nosplit.data.frames import as_source
from nosplit.data.matching import matched
from nosplit.data.options import Options
from nosplit.engines.clusters.layout import Block, as_local_pairing, make_blocks, spread
from nosplit.engines.clusters.parts import Part, Task, changed, check_rows, units_of
from nosplit.errors import InputError
from nosplit.families.fitting import fit_bank
from nosplit.inference.outcome import Outcome
from nosplit.inference.questions import TWO_SAMPLE
from nosplit.inference.run import as_method, test_moments
from nosplit.kernels.bank import Bank
from nosplit.kernels.recipes import Kernels, as_recipe
from nosplit.methods import Method, Split
from nosplit.pairs.dealing import Dealing
from nosplit.pairs.pairing import Pairing

__all__ = ["Cluster", "Encoded", "Found", "Numbers", "Reader", "cluster_test", "settled"]

# Rows that the scales of columns and of kernels are chosen from, both samples together.
PILOT_ROWS = 8192


class Reader(Protocol):
    """How rows of a partition become numbers."""

    def __call__(self, rows: Any, name: str, first: int) -> NDArray[Any]:
        """Numbers (n, p) from rows of the sample `name`, of which the first is at `first`."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Rows of arrays, which are numbers already: all of one type, and finite."""

    dtype: str = "float64"

    def __call__(self, rows: Any, name: str, first: int) -> NDArray[Any]:
        """The rows."""
        return check_rows(numeric(rows, name).astype(self.dtype, copy=False), name, first)


@dataclass(frozen=True)
class Encoded:
    """Rows of tables, or of arrays that are to be scaled."""

    encoding: Encoding

    def __call__(self, rows: Any, name: str, first: int) -> NDArray[Any]:
        """The rows, encoded; what is wrong with them is said of these rows."""
        try:
            return self.encoding.encode(rows, name)
        except InputError as error:
            last = first + len(rows) - 1
            raise InputError(
                f"{error} (Looking at rows {first:,} to {last:,} of `{name}`.)"
            ) from None


class Side(Protocol):
    """One of the samples, counted."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def left_out(self) -> int:
        """Rows that are left out because something in them is missing."""
        ...

    @property
    def missing(self) -> frozenset[str]:
        """Columns in which something is missing, where that is to be compared."""
        ...


S = TypeVar("S", bound=Side)


@dataclass(frozen=True, eq=False)
class Cluster(ABC, Generic[S]):
    """Two samples that lie in partitions somewhere."""

    x: S
    y: S

    @property
    def samples(self) -> Dealing:
        """How many rows there are."""
        return Dealing(self.x.n, self.y.n)

    @property
    def left_out(self) -> int:
        """Rows that are left out because something in them is missing."""
        return self.x.left_out + self.y.left_out

    @property
    def missing(self) -> frozenset[str]:
        """Columns in which something is missing, where that is to be compared."""
        return self.x.missing | self.y.missing

    @abstractmethod
    def read(self, x: Sequence[range], y: Sequence[range]) -> tuple[Any, Any]:
        """A few runs of rows of each sample, brought here, as they are."""

    @abstractmethod
    def cuts(self, width: int) -> Iterable[int]:
        """Units at which to begin another block, for rows of so many numbers."""

    @abstractmethod
    def total(self, task: Task, blocks: Sequence[Block], reader: Reader) -> Part:
        """The sum of what the blocks give."""


@dataclass(frozen=True)
class Found:
    """An outcome, and what else a result says."""

    outcome: Outcome
    kernels: tuple[Any, ...]
    samples: Dealing
    left_out: int
    encoding: Encoding | None

    def facts(self) -> dict[str, Any]:
        """Keywords of `to_result`."""
        used = self.samples.n_used
        return {
            "question": TWO_SAMPLE,
            "kernels": self.kernels,
            "n_units": self.samples.n_units,
            "n_used": used,
            "n_left_out": self.samples.n + self.samples.m - used + self.left_out,
            "columns": None if self.encoding is None else self.encoding.names,
            "encoding": self.encoding,
        }


def settled(x: Any, y: Any, options: Options) -> Options:
    """The columns to compare, named one by one, from samples without rows."""
    source = as_source(x, "x")
    positions, _ = matched(source, as_source(y, "y"), options.columns, options.exclude)
    return replace(options, columns=tuple(source.names[i] for i in positions), exclude=None)


def cluster_test(
    cluster: Cluster[Any],
    options: Options,
    reader: Reader | None,
    *,
    kernels: Kernels,
    method: Method | str,
    pairs: Pairing | str | int,
) -> Found:
    """Test two samples that lie in partitions; without a reader, an encoding is fitted to them."""
    samples, pairing = cluster.samples, as_local_pairing(pairs)
    if isinstance(as_method(method), Split):
        raise InputError(
            "`method` must not be a Split on a cluster, where only moments are kept. Use "
            'method="ost", which learns and tests on all of the data.'
        )
    recipe, encoding = as_recipe(kernels), None
    runs, x, y = _pilot(cluster)
    if reader is None:
        encoding = _fit_encoding(x, y, options, cluster.missing)
        recipe, reader = encoding.recipe(kernels), Encoded(encoding)
    few = units_of(reader(x, "x", 0), reader(y, "y", 0), samples, runs, Bank(()))
    bank = fit_bank(recipe, few)
    blocks = make_blocks(samples.n_units, pairing, cluster.cuts(few.rows(0).shape[1]))
    part = cluster.total(Task(samples, pairing, bank), blocks, reader)
    _check_pairs(part, pairing, samples.n_units)
    unequal = samples.n != samples.m
    outcome = test_moments(part.moments, method, pairing, samples.n_units, unequal=unequal)
    outcome.caveats += part.lags.caveats()
    return Found(outcome, bank.kernels, samples, cluster.left_out, encoding)


def _pilot(cluster: Cluster[Any]) -> tuple[list[range], Any, Any]:
    """A few units from all over the samples, the same whatever the partitions, and their rows."""
    samples = cluster.samples
    for name, n in (("x", samples.n), ("y", samples.m)):
        if n < 2:
            raise InputError(f"`{name}` must have at least 2 rows, got {n}.")
    runs = spread(samples.n_units, int(PILOT_ROWS / samples.rows_per_unit))
    rows = zip(*(samples.rows(run) for run in runs), strict=True)
    x, y = cluster.read(*(list(side) for side in rows))
    return runs, x, y


def _fit_encoding(x: Any, y: Any, options: Options, missing: frozenset[str]) -> Encoding:
    """An encoding from a few rows, with what is known of all of them: where values are missing."""
    encoding = fit_encoding(
        x, y, scale=options.scale, columns=options.columns, nan_policy=options.nan_policy
    )
    columns = (
        column if column.categorical else replace(column, indicated=column.name in missing)
        for column in encoding.columns
    )
    return replace(encoding, columns=tuple(columns))


def _check_pairs(part: Part, pairing: Pairing, n_units: int) -> None:
    """Check that every pair was counted, and once."""
    wanted = pairing.n_pairs(n_units)
    if part.moments.n != wanted:
        raise changed(f"got {part.moments.n:,} pairs where {wanted:,} were")
