"""Tables and sections of the pages in docs/ that the studies write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[2] / "docs"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [header, rule, *rows])


def share(value: float) -> str:
    """A proportion as .05, which reads faster than 0.05 in a table."""
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0") else text


def fine_share(value: float) -> str:
    """A proportion with three digits."""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def wilson(count: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The Wilson interval of a proportion, 95 % by default."""
    p, spread = count / trials, z * z / trials
    centre = (p + spread / 2) / (1 + spread)
    half = z * np.sqrt(p * (1 - p) / trials + spread / trials / 4) / (1 + spread)
    return centre - half, centre + half


def write_section(page: Path, name: str, text: str) -> None:
    """Put a section into a page, in the place of its older version if there is one."""
    start, stop = f"<!-- {name}: start -->", f"<!-- {name}: stop -->"
    block = f"{start}\n\n{text.strip()}\n\n{stop}"
    old = page.read_text() if page.exists() else ""
    pattern = re.compile(re.escape(start) + ".*" + re.escape(stop), re.DOTALL)
    new = pattern.sub(lambda _: block, old) if pattern.search(old) else f"{old}\n{block}\n"
    page.parent.mkdir(exist_ok=True)
    page.write_text(new.lstrip("\n"))
