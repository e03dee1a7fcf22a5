"""The paper's data: four problems, each a pair of laws P and Q to draw from.

Every dataset is a frozen dataclass with one method, ``sample(n, rng, null=False)``, that draws
`n` rows from P and `n` from Q, or both from P when `null` is true.
"""

from nosplit.datasets.problems import DATASETS, MNIST, Blobs, Dataset, DiffVar, SymmetricPair

__all__ = ["DATASETS", "MNIST", "Blobs", "Dataset", "DiffVar", "SymmetricPair"]
