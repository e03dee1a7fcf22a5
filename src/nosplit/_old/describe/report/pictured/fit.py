"""A sample beside its model: histogram and quantiles of each column, and how far they are apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nosplit._checks import check_sample
from nosplit._old.data.files.whole import pictured_rows, read_if_path
from nosplit._old.describe.report.context import PageChoices
from nosplit._old.describe.report.figures import histogram
from nosplit._old.describe.report.pictured.drawing import quantiles
from nosplit._text import printable
from nosplit._types import Array
from nosplit.data.options import Options
from nosplit.data.samples import one_sample
from nosplit.inference.changes import SomeColumns
from nosplit.inference.result import TestResult
from nosplit.models.drawing import drawing_from
from nosplit.models.scores import as_model

__all__ = ["seen_of_fit"]

# Rows drawn from a model to draw it with, and columns that are drawn.
DRAWN, MOST_FIGURES = 20_000, 6
# Probability that some lower bound of the page is too large.
ERROR = 0.05


def seen_of_fit(res: TestResult, x: Any, model: Any, page: PageChoices) -> dict[str, Any] | None:
    """Pictures and sizes; None without a model that can be drawn from."""
    draw = _drawing(model)
    if x is None or draw is None:
        return None
    (x,), said = pictured_rows(x)
    known = None if res.how.encoding is None else res.how.encoding.names
    sample = one_sample(x, Options.of("none", known, None, "omit"))
    rows = check_sample(sample.x, "x").astype(np.float64)
    drawn = draw(DRAWN, np.random.default_rng(0))
    names = known or tuple(f"column {j}" for j in range(rows.shape[1]))
    gaps = [_gap(a, b) for a, b in zip(rows.T, drawn.T, strict=True)]
    # Dvoretzky, Kiefer, Wolfowitz and Massart: for all values and columns at once.
    chance = np.sqrt(np.log(2.0 * len(gaps) / ERROR) / 2.0 * (1.0 / len(rows) + 1.0 / DRAWN))
    both = SomeColumns((drawn, rows))
    order = np.argsort(gaps)[::-1]
    columns = [
        {
            "name": printable(names[j]),
            "words": _gap_words(gaps[j], chance, both.change(str(j)).text),
            "pictures": list(_pictures(rows[:, j], drawn[:, j], f"fit {j}", page.rows)),
        }
        for j in map(int, order[:MOST_FIGURES])
    ]
    return {
        "title": "The sample beside the model",
        "words": _words_on_gap(max(gaps), chance, len(names) > MOST_FIGURES) + [said] * bool(said),
        "legend": ("sample", "model"),
        "columns": columns,
    }


def _drawing(model: Any) -> Callable[[int, np.random.Generator], Array] | None:
    """The function that draws from a model; None for scores alone."""
    known = read_if_path(as_model(model)) if model is not None else None
    able = any(callable(getattr(known, name, None)) for name in ("sample", "rvs"))
    return drawing_from(known) if able else None


def _pictures(a: Array, b: Array, key: str, rows: bool) -> Iterator[dict[str, str]]:
    """The histogram; and quantiles, unless they would show values of rows."""
    words = "Histograms of the sample and of the model."
    yield {"svg": histogram(a, b, key=key), "alt": words}
    if rows:
        words = "Quantiles of the sample against those of the model."
        yield {"svg": quantiles(a, b, key=key), "alt": words}


def _gap(a: Array, b: Array) -> float:
    """Largest difference of two distribution functions."""
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    shares = [np.searchsorted(v, both, side="right") / len(v) for v in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def _gap_words(gap: float, chance: float, change: str) -> str:
    low = max(0.0, gap - chance)
    words = f"Distribution functions differ by up to {gap:.2f}, at least {low:.2f}."
    return words if "shape" in change else f"{words} From model to sample: {change}."


def _words_on_gap(gap: float, chance: float, more: bool) -> list[str]:
    told, low = 50.0 + 50.0 * gap, 50.0 + 50.0 * max(0.0, gap - chance)
    apart = (
        "Shown one row of the sample and one drawn from the model, a limit on the column that "
        f"differs most tells which is which {told:.0f} % of the time, and at least {low:.0f} % "
        "(with 95 % confidence for all columns, if rows are independent); guessing would be right "
        "50 % of the time."
    )
    words = [apart, f"The line of the model is that of {DRAWN:,} rows drawn from it."]
    return words + [f"The {MOST_FIGURES} columns that differ most are shown."] * more
