"""What differs between two samples: how much, in which columns, at which rows.

Everything here describes. It was learned on the same data as the test, so none of it has a
p-value: the test says whether there is a difference, and this says what it looks like.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nosplit._support.checks import check_int, check_rng
from nosplit.data.files.opening import is_path, read_one
from nosplit.describe.attribution import ColumnEffect, attribute
from nosplit.describe.effect import (
    Effect,
    KernelEffect,
    effect_of,
    kernel_effects,
    learner,
    means_of,
)
from nosplit.describe.rows import Coded, Sampled, draw_rows, encoded, group_names
from nosplit.describe.witness import row_witness, witness_at
from nosplit.engines.files.two_sample import some_rows
from nosplit.errors import InputError
from nosplit.inference.result import TWO_SAMPLE, TestResult, format_p, kernel_label
from nosplit.kernels import Combination
from nosplit.kernels.bank import Bank

__all__ = ["ColumnEffect", "Effect", "Explanation", "KernelEffect", "Row", "TopRows", "explain"]

Array = NDArray[np.float64]

# Rows of either sample that the witness function is made of, and operations on them.
MOST_ROWS, MOST_OPERATIONS = 2000, 1e9
FEWEST_ROWS = 8
# Columns and rows that a summary lists.
MOST_LINES, MOST_TOP = 8, 3


@dataclass(frozen=True)
class Row:
    """A row of a sample: its position from 0, the witness function there, and its values."""

    index: int
    witness: float
    values: dict[str, Any]


class TopRows(NamedTuple):
    """The rows that the witness function separates most: of x its highest, of y its lowest."""

    x: tuple[Row, ...]
    y: tuple[Row, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What differs between two samples; made by `explain`. It describes, and tests nothing.

    Attributes
    ----------
    result : TestResult
        The result that is explained.
    effect : Effect
        The size of the difference, which does not grow with the samples.
    kernel : Combination
        The learned kernel, k = Σ β*_u k_u, which can be evaluated (`kernel.tile(a, b)`). It is
        scaled so that the noise of one pair of units is 1: mean k(x, x') + k(y, y') - 2 k(x, y) is
        `effect.learned`.
    kernels : tuple of KernelEffect
        MMD² of each base kernel with its standard error.
    columns : tuple of ColumnEffect
        How much of the learned statistic each column carries, in the order of the columns.
    level : float
        What is taken off the witness function, so that 0 is midway between the samples.
    x, y : Sampled
        The rows that were looked at, with the witness function there.
    """

    result: TestResult
    effect: Effect
    kernel: Combination
    kernels: tuple[KernelEffect, ...]
    columns: tuple[ColumnEffect, ...]
    level: float
    x: Sampled
    y: Sampled

    def witness(self, points: Any) -> Array:
        """The witness function: mean of k(x, point) over rows of x minus the same for y, centred.

        It is positive where x is denser than y, seen through the learned kernel. A constant is
        taken off, so that its means over the two samples differ in their sign alone: weights may be
        of any sign, and the constant part of a kernel moves all points alike.

        Parameters
        ----------
        points : array_like, shape (k, p), or a table with the same columns
            Where to evaluate it.

        Returns
        -------
        array, shape (k,)
            NaN for rows that the test would leave out because something is missing.
        """
        coded = encoded(self.result, points, "points", smallest=0)
        rows = coded.rows
        if rows.shape[1] != self.x.rows.shape[1]:
            raise InputError(
                f"`points` must have {self.x.rows.shape[1]} columns, got {rows.shape[1]}."
            )
        bank, weights = Bank(self.kernel.kernels), np.array(self.kernel.weights)
        found = witness_at(rows, self.x.rows, self.y.rows, bank, weights) - self.level
        if coded.kept is None:
            return found
        whole = np.full(len(rows) + coded.omitted, np.nan)
        whole[coded.kept] = found
        return whole

    def ranked(self) -> tuple[ColumnEffect, ...]:
        """The columns, those that carry most first."""
        return tuple(sorted(self.columns, key=lambda column: -column.carried))

    def top_rows(self, k: int = 5) -> TopRows:
        """The k rows of either sample that the witness function separates most.

        These are rows of x where it is highest, and rows of y where it is lowest, among the rows
        that were looked at.

        Parameters
        ----------
        k : int
            Rows of each sample; all there are if there are fewer.

        Returns
        -------
        TopRows
        """
        k = check_int(k, "k", least=1)
        names = [column.name for column in self.columns]
        return TopRows(_top(self.x, k, names, -1.0), _top(self.y, k, names, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; of the rows only their positions, not what is in them."""
        top = self.top_rows()
        return {
            "descriptive": True,
            "effect": self.effect.to_dict(),
            "kernels": [kernel._asdict() for kernel in self.kernels],
            "columns": [column._asdict() for column in self.columns],
            "top_rows": {
                name: [{"index": row.index, "witness": row.witness} for row in rows]
                for name, rows in (("x", top.x), ("y", top.y))
            },
            "rows_looked_at": [len(self.x.index), len(self.y.index)],
        }

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.ranked()[:3])
        return f"Explanation(effect={self.effect.crossfitted:.3g}, columns={names})"

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._column_lines(), *self._row_lines(), *_NOTE])

    def _head(self) -> list[str]:
        effect, res = self.effect, self.result
        lines = []
        if not res.reject():
            lines = _wrapped(
                f"The test found no evidence of a difference (p = {format_p(res.log_pvalue)}): "
                "what follows may be chance.",
                "",
            )
        told = f"{100 * effect.separation:.0f} ± {100 * effect.separation_error:.0f} % (chance: 50)"
        learned = f"{effect.learned:.3g} ± {effect.learned_error:.1g}"
        crossed = f"{effect.crossfitted:.3g} ± {effect.crossfitted_error:.1g}"
        return [
            *lines,
            f"A {effect.words} difference: rows are told apart {told} of the time.",
            "  signal     of one pair of rows, in units of its noise; it does not grow with n",
            f"             {learned} as learned, {crossed} on rows not learned from",
        ]

    def _column_lines(self) -> list[str]:
        shown = self.ranked()[:MOST_LINES]
        lines = ["  columns    share    ±   lost  alone"]
        lines += [f"             {_percents(c)}  {_short(c.name)}" for c in shown]
        if len(self.columns) > MOST_LINES:
            lines.append(f"             and {len(self.columns) - MOST_LINES} that carry less")
        return lines

    def _row_lines(self) -> list[str]:
        top = self.top_rows(MOST_TOP)
        return [
            f"  rows       most like {name} alone: "
            + ", ".join(f"{row.index} ({row.witness:+.2g})" for row in rows)
            for name, rows in (("x", top.x), ("y", top.y))
        ]


_NOTE = ["  This describes what the test learned. It has no p-values, and is no test of a column."]


def explain(
    res: TestResult, x: Any, y: Any, *, rows: int = MOST_ROWS, rng: int | np.random.Generator = 0
) -> Explanation:
    """Describe what differs between two samples, as a test has learned it.

    Parameters
    ----------
    res : TestResult
        The result of `two_sample_test`.
    x, y : array_like, table or path
        The samples it was made from. Of files larger than memory some rows are read, from many
        places; positions of rows are then among those.
    rows : int
        Largest number of rows of either sample that the witness function is made of, and that
        `top_rows` looks at; whole rows, drawn at random.
    rng : int or Generator
        Source of the drawing and of the shuffling of columns.

    Returns
    -------
    Explanation
        With `effect` (how large), `columns` (which columns carry it), `kernels` (MMD² of each),
        `witness(points)` and `top_rows(k)` (where), and the learned `kernel`.

    Notes
    -----
    Time and memory are bounded: up to 250,000 rows of either sample are looked at for the effect
    size and the columns, and `rows` for the witness function.

    Columns are shares of what was learned. A column may differ as well and carry nothing, if the
    learned combination shows the difference of others better; and of hundreds of columns each
    carries little, as its standard error tells.

    Examples
    --------
    >>> import numpy as np
    >>> import nosplit
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(400, 4)), rng.normal(size=(400, 4))
    >>> y[:, 2] += 0.8
    >>> told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    >>> told.ranked()[0].name, told.effect.words
    ('column 2', 'medium')
    >>> told.witness([[0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 2.0, 0.0]]) > 0
    array([ True, False])
    """
    most, generator = check_int(rows, "rows", least=FEWEST_ROWS), check_rng(rng)
    _check_result(res)
    files = is_path(x) and is_path(y)
    x, y = some_rows(str(x), str(y)) if files else (read_one(x), read_one(y))
    left, right = (encoded(res, s, name, FEWEST_ROWS) for s, name in ((x, "x"), (y, "y")))
    _check_same_data(res, left, right, some=files)
    names = group_names(res, left.rows.shape[1])
    (i, a), (j, b) = (draw_rows(sample, generator) for sample in (left, right))
    bank = Bank(res.kernels)
    whole = means_of(a, b, bank)
    weights = _scaled(res, whole.noise)
    few = _few(most, a.shape[1])
    at_x, at_y = row_witness(a[:few], b[:few], bank, weights)
    level = float(at_x.mean() + at_y.mean()) / 2.0
    return Explanation(
        result=res,
        effect=effect_of(a, b, bank, whole, weights, learner(res.method), few),
        kernel=Combination(bank.kernels, tuple(map(float, weights))),
        kernels=kernel_effects(whole, [kernel_label(k) for k in bank.kernels]),
        columns=attribute(a, b, bank, weights, names, generator),
        level=level,
        x=Sampled.of(res, x, i[:few], a[:few], at_x - level),
        y=Sampled.of(res, y, j[:few], b[:few], at_y - level),
    )


def _check_result(res: TestResult) -> None:
    if not isinstance(res, TestResult):
        raise InputError(f"`res` must be a TestResult, got {type(res).__name__}.")
    if res.question != TWO_SAMPLE:
        raise InputError(
            f"`res` must be the result of a two-sample test, got one that asks: {res.question}"
        )


def _check_same_data(res: TestResult, x: Coded, y: Coded, *, some: bool) -> None:
    """Check that samples have the size of those that were tested, or are some of their rows."""
    widths = [sample.rows.shape[1] for sample in (x, y)]
    if widths[0] != widths[1]:
        raise InputError(
            f"`x` and `y` must have the same number of columns, got {widths[0]} and {widths[1]}."
        )
    rows, (n, m) = res.n_used + res.n_left_out, (len(x.rows), len(y.rows))
    total = n + m + x.omitted + y.omitted
    same = total == rows and min(n, m) >= res.n_units
    if not same and not (some and total < rows):
        raise InputError(
            f"`x` and `y` must be the samples of `res`, with {rows:,} rows in all and "
            f"{res.n_units:,} or more in the smaller sample; "
            f"got {n + x.omitted:,} and {m + y.omitted:,}."
        )


def _few(most: int, width: int) -> int:
    """Rows of either sample for the witness function: fewer of very wide ones."""
    return max(FEWEST_ROWS, min(most, int(np.sqrt(MOST_OPERATIONS / (4.0 * width)))))


def _scaled(res: TestResult, noise: Any) -> Array:
    """β* for a noise of 1; where nothing was learned, all kernels alike."""
    beta = res.weights
    if not np.any(beta):
        sd = np.sqrt(np.diagonal(res.cov))
        beta = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    size = noise(beta)
    if not (np.isfinite(size) and size > 0):
        raise InputError("The values of the learned kernel do not vary: there is nothing to show.")
    return np.asarray(beta / size)


def _top(sample: Sampled, k: int, names: list[str], sign: float) -> tuple[Row, ...]:
    order = np.argsort(sign * sample.witness, kind="stable")[:k]
    return tuple(
        Row(int(sample.index[i]), float(sample.witness[i]), sample.row(int(i), names))
        for i in order
    )


def _percents(column: ColumnEffect) -> str:
    scale = column.share / column.carried if column.carried else 0.0
    parts = (column.share, column.error, scale * column.lost, scale * column.alone)
    share, error, lost, alone = (round(100 * part) + 0 for part in parts)
    return f"{share:4d} % {error:4d} {lost:6d} {alone:6d}"


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 99, subsequent_indent=indent)
