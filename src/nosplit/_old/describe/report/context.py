"""The content of the page: everything the template shows, in words and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from nosplit._old.describe.report.changed import what_changed
from nosplit._old.describe.report.figures import null_law
from nosplit._old.describe.report.repeat import code
from nosplit._old.describe.report.words import (
    calibration_words,
    method_words,
    pairs_words,
    verdict_words,
)
from nosplit.inference.print import format_p
from nosplit.inference.result import TestResult
from nosplit.methods.laws import Flips

__all__ = ["PageChoices", "context"]

# Kernels in the table; all of them are in the numbers.
MOST_KERNELS = 20


@dataclass(frozen=True)
class PageChoices:
    """The caller's choices for a report."""

    title: str
    labels: tuple[str, str]
    alpha: float
    rows: bool
    options: Mapping[str, Any]
    files: tuple[str, str] | None = None


def context(res: TestResult, page: PageChoices) -> dict[str, Any]:
    """The parts of a page that need no data."""
    rejects = res.reject(page.alpha)
    return {
        "version": version("nosplit"),
        "title": page.title,
        "labels": page.labels,
        "question": res.question.text,
        "answer": res.question.rejected if rejects else res.question.kept,
        "rejects": rejects,
        "verdict": verdict_words(res, page.alpha),
        "facts": _facts(res, page.alpha),
        "warnings": [text.partition(": ")[2] or text for text in res.warnings],
        "few": None,
        "changed": what_changed(res, page.alpha, private=not page.rows),
        "how": _how_it_was_tested(res, page),
        "null": _null(res, page.alpha),
        "kernels": _kernel_table(res),
        "again": _again(res, page),
        "cite": CITE | {"software": f"nosplit, version {version('nosplit')}."},
    }


def _facts(res: TestResult, alpha: float) -> list[tuple[str, str]]:
    facts = [("p-value", format_p(res.log_pvalue)), ("Level", f"{alpha:g}")]
    if res.how.pairs != "given":
        facts.append(("Rows used", f"{res.how.n_used:,}"))
    if res.how.n_left_out:
        facts.append(("Rows left out", f"{res.how.n_left_out:,}"))
    return facts


def _how_it_was_tested(res: TestResult, page: PageChoices) -> list[tuple[str, str]]:
    lines = [
        ("Method", f"{res.how.method}. {method_words(res.how.method)}"),
        ("p-value", f"{res.how.calibration}. {calibration_words(res)}"),
        ("Statistic", f"{res.statistic:.4g}; it rejects from {_threshold(res, page.alpha)}."),
        ("Pairs", f"{res.how.pairs}. {pairs_words(res)}"),
    ]
    if res.how.design is not None:
        lines.append(("Design", f"{str(res.how.design)[:1].upper()}{str(res.how.design)[1:]}."))
    if res.how.pairs != "given":
        left = f"{res.how.n_left_out:,}" if res.how.n_left_out else "none"
        lines.append(("Rows", f"{res.how.n_used:,} used, {left} left out."))
    return lines


def _threshold(res: TestResult, alpha: float) -> str:
    value = res.threshold(alpha)
    return f"{value:.4g}" if np.isfinite(value) else "no value: there are too few draws or rows"


def _null(res: TestResult, alpha: float) -> dict[str, Any] | None:
    """The null law with the statistic in it."""
    threshold = res.threshold(alpha)
    alt = (
        f"The statistic is {res.statistic:.4g}; chance alone would give at least as much with "
        f"probability {format_p(res.log_pvalue).replace('< ', 'below ')}."
    )
    if isinstance(res.null, Flips):
        drawn: Any = res.null.values[1:]
        law = f"{len(res.null.values) - 1:,} draws by chance alone"
    else:
        drawn = _density(res.null)
        law = "the law by chance alone"
    svg = null_law(drawn, statistic=res.statistic, threshold=threshold)
    return {"svg": svg, "alt": alt, "law": law, "threshold": np.isfinite(threshold)}


def _density(law: Any) -> tuple[Any, Any]:
    """Density of a closed-form null law where it has any weight."""
    values = np.linspace(law.isf(1.0 - 1e-4), law.isf(1e-4), 201)
    return values, law.pdf(values)


def _kernel_table(res: TestResult) -> dict[str, Any]:
    lines = sorted(res.selection.by_kernel(), key=lambda line: -abs(line.weight))
    return {
        "caption": "Weight: in the learned combination, on the scale of standard deviations, the "
        "largest being 1. Alone: what the kernel would say by itself, in standard deviations. "
        "Active: the learned combination rests on it.",
        "lines": lines[:MOST_KERNELS],
        "more": max(0, len(lines) - MOST_KERNELS),
    }


def _again(res: TestResult, page: PageChoices) -> dict[str, Any]:
    numbers = [
        {"name": str(k), "tau": repr(float(t)), "beta": repr(float(b))}
        for k, t, b in zip(
            res.selection.kernels, res.selection.tau, res.selection.weights, strict=True
        )
    ]
    return {
        "code": code(res, page.options, page.files),
        "numbers": numbers,
        "json": json.dumps(_full(res, page), indent=1, allow_nan=False, ensure_ascii=False),
    }


def _full(res: TestResult, page: PageChoices) -> dict[str, Any]:
    options = {name: repr(value) for name, value in page.options.items()}
    if not page.rows:
        # What changed is said with names of categories and medians, which are values of rows.
        told = (replace(c, change=c.change and c.change.private()) for c in res.columns.rows)
        res = replace(res, columns=replace(res.columns, rows=tuple(told)))
    return {"nosplit": version("nosplit"), "alpha": page.alpha, **res.to_dict(), "options": options}


CITE = {
    "paper": "Jonas M. Kübler, Wittawat Jitkrittum, Bernhard Schölkopf and Krikamol Muandet: "
    "Learning Kernel Tests Without Data Splitting. Advances in Neural Information Processing "
    "Systems 33 (NeurIPS 2020).",
    "bibtex": """@inproceedings{kuebler2020learning,
  title     = {Learning Kernel Tests Without Data Splitting},
  author    = {K{\\"u}bler, Jonas M. and Jitkrittum, Wittawat and Sch{\\"o}lkopf, Bernhard
               and Muandet, Krikamol},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {33},
  year      = {2020}
}""",
}
