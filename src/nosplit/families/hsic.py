"""Independence of two variables in memory: named forms of their rows.

Of few rows those of y are permuted; of more, y is shifted inside units of a few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._checks import new_key
from nosplit._lazy import special
from nosplit._types import Array, Index
from nosplit.backend.threads import one_blas_thread
from nosplit.core.exchange import Exchange, Permutations, states
from nosplit.core.feature_map import STEP
from nosplit.core.forms import Features, flattened
from nosplit.core.pair_forms import FeaturePair, GramPair, WavePairs, levels, rectangles
from nosplit.core.statistics import statistics
from nosplit.core.tensor_map import fit_tensor_map
from nosplit.data.variables import Variable
from nosplit.inference.evidence import conclude, conclude_by
from nosplit.inference.plan import Effort
from nosplit.inference.selection import Found
from nosplit.kernels import Parts
from nosplit.kernels._base import tile_base
from nosplit.kernels.bank import Bank, rows_tile
from nosplit.kernels.eigenbases import SCALE_ROWS, default_eigenbases, spread_out
from nosplit.kernels.orders import rank_shares, sorted_rows
from nosplit.kernels.recipes import check_own_kernel
from nosplit.kernels.tensor import TensorBank, TensorKernels, tensors_for
from nosplit.methods import Adaptive, Method

__all__ = ["permute_rows", "shift_rows"]

# Ridge of the flattened linear products, relative to the largest eigenvalue, and regularisations of
# flattened random features.
RIDGE, REGULARISATIONS = 1e-3, (1e-1, 1e-3)
# Eigenvectors of a variable, of which all products are seen.
MAX_RANK = 40
# Rows of a category, and categories of a column, that have numbers of their own.
ROWS_A_CATEGORY, MAX_CATEGORIES = 3, 20
# Products of waves of two columns have frequencies k and l with k · l up to 2^6; all pairs of
# columns together have so many products, which cost as much as the kernels.
MAX_LEVEL, MAX_PRODUCTS = 6, 4096


# -- variables -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Side:
    """The numbers of one variable, which no permutation of its rows changes."""

    variable: Variable

    @cached_property
    def rows(self) -> Array:
        """The rows."""
        return np.ascontiguousarray(self.variable.rows, np.float64)

    @property
    def p(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    @cached_property
    def sorted(self) -> tuple[Array, Index]:
        """The rows in an order of their own, and the place of each in it."""
        return sorted_rows(self.rows)

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """Columns of categories."""
        discrete = self.variable.discrete
        if isinstance(discrete, Parts):
            return discrete.categorical
        return tuple(range(self.p)) if discrete else ()

    @cached_property
    def numbers(self) -> Array:
        """Columns of numbers."""
        return np.delete(self.rows, self.categorical, axis=1)

    @cached_property
    def indicators(self) -> list[Array]:
        """Indicators of the frequent values of each column of categories."""
        return [_indicators(self.rows[:, j]) for j in self.categorical]

    @cached_property
    def values(self) -> Array:
        """Numbers, and indicators of categories."""
        return np.concatenate([self.numbers, *self.indicators], axis=1)

    @cached_property
    def scores(self) -> Array:
        """Normal scores of the ranks of numbers, and indicators of categories."""
        return np.concatenate([special.ndtri(rank_shares(self.numbers)), *self.indicators], axis=1)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Features of a kernel, and weights of their squares that flatten its spectrum."""
        parts, gains = [], []
        if self.numbers.shape[1]:
            ordered, place = sorted_rows(self.numbers)
            for basis, features in default_eigenbases(ordered)[:1]:
                parts.append(features[place, :MAX_RANK] / np.sqrt(basis.eigenvalues[0]))
                gains.append(basis.gains()[:MAX_RANK])
        for own in self.indicators:
            parts.append(own / np.sqrt(np.maximum(own.sum(axis=0), 1.0)))
            gains.append(np.ones((own.shape[1], gains[0].shape[1] if gains else 1)))
        if not parts:
            return np.zeros((len(self.rows), 0)), np.zeros((0, 1))
        return np.concatenate(parts, axis=1), np.concatenate(gains)

    def waves(self, top: int) -> Array:
        """Waves of the ranks of each column, frequency by frequency, (n, 2^top · p).

        A category has indicators of its values instead, the most frequent first.
        """
        J, n = 2**top, len(self.rows)
        found = np.zeros((n, J, self.p))
        numeric = [j for j in range(self.p) if j not in set(self.categorical)]
        shares = rank_shares(self.numbers)[:, None]
        found[:, :, numeric] = np.cos(np.pi * shares * np.arange(1, J + 1)[:, None])
        for j, own in zip(self.categorical, self.indicators, strict=True):
            share = own.mean(axis=0)
            found[:, : own.shape[1], j] = (own / np.sqrt(2.0 * share * (1.0 - share)))[:, :J]
        return found.reshape(n, -1)

    def grams(self, bank: Bank) -> Array:
        """Values of kernels on all pairs of rows, (d, n, n)."""
        rows, place = self.sorted
        K = rows_tile(bank, rows, rows, bank.centre(rows), (rows / len(rows)).sum(axis=0))
        return K[:, place][:, :, place]


def _indicators(column: Array) -> Array:
    """Indicators of the values of a column, the most frequent first; not of rare ones."""
    values, rows = np.unique(column, return_counts=True)
    often = np.argsort(-rows, kind="stable")[:MAX_CATEGORIES]
    often = often[(rows[often] >= ROWS_A_CATEGORY) & (rows[often] < len(column))]
    return np.asarray(column[:, None] == values[often], np.float64)


def _limits(pairs: int, n: int) -> tuple[int, int] | None:
    """The largest level of a frequency, and of two together, for so many pairs of columns."""
    fits = [m for m in range(MAX_LEVEL + 1) if pairs * (2**m + m * 2 ** (m - 1)) <= MAX_PRODUCTS]
    if not fits:
        return None
    return min(fits[-1], max(int(np.log2(n / 2)), 0)), fits[-1]


def _fitted_bank(
    x: _Side, y: _Side, kernels: TensorKernels
) -> tuple[TensorBank, tuple[Array, Array]]:
    """Fit kernels to some rows of each variable, and check those of a caller."""
    some = [side.sorted[0][spread_out(len(side.rows), SCALE_ROWS)] for side in (x, y)]
    discrete = x.variable.discrete, y.variable.discrete
    tensors = tensors_for(kernels, some[0], some[1], discrete)
    for tensor in tensors if kernels is not None else ():
        for side, kernel, rows in zip((x, y), (tensor.x, tensor.y), some, strict=True):
            side.variable.check(kernel)
            check_own_kernel(kernel, rows[:2], rows[:4])
    return TensorBank(tensors), (some[0], some[1])


# -- few rows: y is permuted -----------------------------------------------------------------------


def permute_rows(
    x: Variable,
    y: Variable,
    exchange: Permutations,
    kernels: TensorKernels,
    method: Method | None,
) -> Found:
    """Test two variables by permutations of the rows of y, which are in the order of the design.

    Kernels that were named are all that is tested, and so are those of a method other than the
    adaptive one.
    """
    sides, adaptive = (_Side(x), _Side(y)), method is None or isinstance(method, Adaptive)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        bank, _ = _fitted_bank(*sides, kernels)
        K, L = (s.grams(own) for s, own in zip(sides, bank.factors, strict=True))
        forms: dict[str, Any] = {"kernels": _gram_pair(exchange, K, L, *bank.places)}
        if kernels is None and adaptive:
            forms |= _pair_forms(*sides, exchange)
        found = statistics(exchange, forms)
    n = exchange.n_rows
    every = kernels is None and adaptive
    finding = conclude(found) if every else conclude_by(method or Adaptive(), found)
    scale, pairs = 1.0 / np.sqrt(2.0 * n * (n - 1.0)), _pairs_of(x, y)
    return Found(finding, bank.kernels, n, scale, exchange.n_permutations, pairs=pairs)


def _gram_pair(exchange: Permutations, K: Array, L: Array, u: Index, v: Index) -> GramPair:
    def centred(grams: Array) -> Array:
        return np.array([exchange.centred(exchange.centred(own).T) for own in grams])

    return GramPair(centred(K), centred(L), u, v)


def _pair_forms(x: _Side, y: _Side, exchange: Permutations) -> dict[str, Any]:
    """Make the forms besides kernels."""
    forms: dict[str, Any] = {}
    for name, both in (("linear", (x.values, y.values)), ("ranks", (x.scores, y.scores))):
        (A, a), (B, b) = (_whitened(exchange.centred(side)) for side in both)
        forms[name] = FeaturePair(A, B, (a[:, None], b[:, None]))
    (A, a), (B, b) = x.spectrum, y.spectrum
    if A.size and B.size:
        s = max(a.shape[1], b.shape[1])
        gains = [np.broadcast_to(own, (len(own), s)) for own in (a, b)]
        left, right = (exchange.centred(side).astype(np.float32) for side in (A, B))
        forms["flattened"] = FeaturePair(left, right, (gains[0], gains[1]))
    none = np.zeros(1, np.int64)
    K, L = (-_distances(side.values)[None] for side in (x, y))
    forms["distance"] = _gram_pair(exchange, K, L, none, none)
    limits = _limits(x.p * y.p, exchange.n_rows)
    if limits is not None:
        left, right = (
            exchange.centred(side.waves(limits[0])).astype(np.float32) for side in (x, y)
        )
        forms["pairs"] = WavePairs(left, right, *limits)
    return forms


def _whitened(values: Array) -> tuple[Array, Array]:
    """Directions of centred columns on one scale, and gains that flatten their spectrum."""
    size = np.abs(values).max(axis=0, initial=0.0)
    values = values / np.where(size > 0, size, 1.0)
    spread = values.std(axis=0)
    values = values / np.where(spread > 0, spread, 1.0)
    U, s, _ = np.linalg.svd(values, full_matrices=False)
    rank = max(1, min(int(np.count_nonzero(s > 1e-7 * s[0])), len(values) // 3))
    squares = s[:rank] ** 2
    largest = max(float(squares[0]), np.finfo(float).tiny)
    return U[:, :rank], squares / (squares + RIDGE * largest)


def _distances(values: Array) -> Array:
    values = np.ascontiguousarray(values)
    return np.sqrt(tile_base("sq", values, values))


# -- more rows: y is shifted inside units ----------------------------------------------------------


def shift_rows(
    x: Variable,
    y: Variable,
    starts: Index,
    kernels: TensorKernels,
    method: Method | None,
    effort: Effort,
    rng: np.random.Generator,
) -> Found:
    """Test two variables by cyclic shifts of y inside units of rows that follow one another."""
    sides, adaptive = (_Side(x), _Side(y)), method is None or isinstance(method, Adaptive)
    bank, some = _fitted_bank(*sides, kernels)
    tensor_map = fit_tensor_map(
        *some, bank.kernels, frequencies=effort.n_frequencies, key=new_key(rng)
    )
    sizes = np.sort(np.diff(starts))
    exchange = states(sizes, effort.n_resamples, new_key(rng))
    units = _Units.of(starts)
    with one_blas_thread():
        both = zip(tensor_map.sides, sides, strict=True)
        left, right = (waves.numbers(side.rows) for waves, side in both)
        numbers = units.tensors(left, right)
        each = [numbers[:, where] * steps for where, steps in tensor_map.features]
        forms: dict[str, Any] = {
            "kernels": [Features(own, np.ones((own.shape[1], 1))) for own in each]
        }
        if kernels is None and adaptive:
            forms["flattened"] = [flattened(own, exchange, REGULARISATIONS) for own in each]
            forms |= _shifted_forms(*sides, units, exchange)
        found = statistics(exchange, forms)
    every = kernels is None and adaptive
    finding = conclude(found) if every else conclude_by(method or Adaptive(), found)
    n = len(sizes)
    scale = 1.0 / (np.mean(sizes - 1.0) ** 2 * np.sqrt(max(n * (n - 1.0) / 2.0, 1.0)))
    n_permutations, pairs = exchange.n_permutations, _pairs_of(x, y)
    return Found(finding, bank.kernels, n, scale, n_permutations, pairs=pairs)


class _Units(NamedTuple):
    """Rows of units of each size, (units, q)."""

    rows: list[Index]

    @classmethod
    def of(cls, starts: Index) -> _Units:
        sizes = np.diff(starts)
        each = (starts[:-1][sizes == q, None] + np.arange(q) for q in np.unique(sizes))
        return cls(list(each))

    def tensors(self, x: Sequence[NDArray[Any]], y: Sequence[NDArray[Any]]) -> Array:
        """Sums of products of complex numbers in each unit, under all shifts of y, in steps."""
        from nosplit.backend.numba.families import add_shifted

        parts = []
        for rows in self.rows:
            q, order = rows.shape[1], rows.ravel()
            sums = np.zeros((len(rows), q, 2 * x[0].shape[1]), np.int64)
            both = (v[order] for v in (*x, *y))
            add_shifted(*both, q, float(STEP), np.arange(len(rows)), sums)
            parts.append(sums.reshape(len(order), -1))
        return np.concatenate(parts).astype(np.float64)

    def products(self, A: Array, B: Array, left: Index, right: Index) -> Array:
        """Sums of products of some columns in each unit, under all shifts of y."""
        parts = []
        for rows in self.rows:
            a, b = A[rows], B[rows]
            a = (a - a.mean(axis=1, keepdims=True))[:, :, left]
            shifted = (np.roll(b, -s, axis=1)[:, :, right] for s in range(rows.shape[1]))
            each = [np.einsum("tqd,tqd->td", a, own) for own in shifted]
            parts.append(np.stack(each, axis=1).reshape(rows.size, -1))
        return np.concatenate(parts)


def _shifted_forms(x: _Side, y: _Side, units: _Units, exchange: Exchange) -> dict[str, Any]:
    """Make the forms of linear products and of pairs of columns."""
    forms: dict[str, Any] = {}
    D, E = x.scores.shape[1], y.scores.shape[1]
    if D * E <= MAX_PRODUCTS:
        left, right = np.indices((D, E)).reshape(2, -1)
        products = units.products(x.scores, y.scores, left, right)
        forms["linear"] = flattened(products, exchange, (RIDGE,))
    p, r = x.p, y.p
    limits = _limits(p * r, len(x.rows))
    if limits is not None:
        top, most = limits
        level = np.repeat(np.arange(top + 1), [len(own) for own in levels(top)])
        k, l = (own.ravel() for own in np.indices((2**top, 2**top)))
        seen = level[k] + level[l] <= most
        k, l = k[seen], l[seen]
        each = rectangles(top, most)
        gains = np.array([(level[k] <= i) & (level[l] <= j) for i, j in each], float).T
        i, j = (own.ravel()[:, None] for own in np.indices((p, r)))
        left, right = (k * p + i).ravel(), (l * r + j).ravel()
        products = units.products(x.waves(top), y.waves(top), left, right)
        owner = np.repeat(np.arange(p * r), len(each))
        forms["pairs"] = Features(products, gains, p * r, owner)
    return forms


def _pairs_of(x: Variable, y: Variable) -> Sequence[tuple[int, int]]:
    """The columns of the two tables of each pair of columns of numbers."""
    owners = [range(v.rows.shape[1]) if v.encoding is None else v.encoding.owners for v in (x, y)]
    return [(int(i), int(j)) for i in owners[0] for j in owners[1]]
