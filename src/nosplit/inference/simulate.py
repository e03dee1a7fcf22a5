"""Tests by simulation: a draw is a data set, and all of them but the first come from the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from nosplit._types import Array, Index
from nosplit.backend.threads import mapped
from nosplit.core.statistics import NO_OWNER, Statistics, centred_statistics

__all__ = ["Replicates"]

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Replicates(Generic[S]):
    """The data, and samples of the model: exchangeable under the null hypothesis.

    Everything that is fitted must be independent of the data, so that each statistic is the same
    function of every data set; the rank of the data among the samples is then exact.

    Attributes
    ----------
    samples : iterable
        The data, then samples of the model, some at a time.
    measure : callable
        Computes statistics of each of some samples, (R, s), by name.
    owners : mapping
        Columns that statistics of a name are about.
    """

    samples: Iterable[S]
    measure: Callable[[S], Mapping[str, Array]]
    owners: Mapping[str, Index]

    def statistics(self, workers: int = 1) -> dict[str, Statistics]:
        """Compute the statistics of all data sets, the data first; as of permutations."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = [found for _, found in mapped(self.measure, self.samples, workers)]
            return {
                name: centred_statistics(
                    np.concatenate([part[name] for part in parts]),
                    owner=self.owners.get(name, NO_OWNER),
                    shaped=name in self.owners,
                )
                for name in parts[0]
            }
