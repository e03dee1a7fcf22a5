"""The tests of the paper on a jointly normal vector (τ, Σ), one file each.

Every method is a frozen dataclass that is called with τ, (..., d), and Σ, (d, d) or (..., d, d),
and gives a `Selection`. A single vector and a batch run through the same code.
"""

from __future__ import annotations

from nosplit.methods._base import Method, Selection
from nosplit.methods.adaptive import Adaptive
from nosplit.methods.best import Best
from nosplit.methods.chibar import ChiBar
from nosplit.methods.naive import Naive
from nosplit.methods.nonnegative import Nonnegative
from nosplit.methods.ost import OST
from nosplit.methods.polyhedral import polyhedral_truncation
from nosplit.methods.split import Split
from nosplit.methods.wald import Wald
from nosplit.methods.whitening import Whitening, optimal_weights

__all__ = [
    "METHODS",
    "OST",
    "Adaptive",
    "Best",
    "ChiBar",
    "Method",
    "Naive",
    "Nonnegative",
    "Selection",
    "Split",
    "Wald",
    "Whitening",
    "optimal_weights",
    "polyhedral_truncation",
]

METHODS: dict[str, Method] = {
    "ost": OST(),
    "nonnegative": Nonnegative(),
    "wald": Wald(),
    "best": Best(),
    "split": Split(),
    "chibar": ChiBar(),
    "naive": Naive(),
    "adaptive": Adaptive(),
}
