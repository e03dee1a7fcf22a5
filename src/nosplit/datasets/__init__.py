"""Data to try things on: two tables of flights, and the paper's four problems.

Each problem is a frozen dataclass with one method, ``sample(n, rng, null=False)``, that draws `n`
rows from P and `n` from Q, or both from P if `null` is true.
"""

from nosplit.datasets.flights import flights
from nosplit.datasets.problems import DATASETS, MNIST, Blobs, Dataset, DiffVar, SymmetricPair

__all__ = ["DATASETS", "MNIST", "Blobs", "Dataset", "DiffVar", "SymmetricPair", "flights"]
