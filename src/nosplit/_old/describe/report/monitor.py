"""A page on a monitor: what it says, and its evidence over time."""

from __future__ import annotations

import io
import os
import re
from html import escape
from importlib import resources
from pathlib import Path

from nosplit._lazy import extra
from nosplit._old.describe.report.page import check_target, write
from nosplit._old.monitor.base import BaseMonitor
from nosplit._text import printable

__all__ = ["report_monitor"]

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{verdict}</title>
<style>{css}</style>
</head>
<body>
<main>
<h1>{verdict}</h1>
<pre>{rest}</pre>
<figure>{figure}</figure>
</main>
</body>
</html>
"""


def report_monitor(monitor: BaseMonitor, *, path: str | os.PathLike[str]) -> Path:
    """Write a page on a monitor as one HTML file, which loads nothing.

    Parameters
    ----------
    monitor : Monitor or IndependenceMonitor
        What to write about.
    path : path-like
        The file, which is replaced.
    """
    check_target(path)
    verdict, _, rest = str(monitor).partition("\n")
    css = resources.files("nosplit._old.describe.report").joinpath("style.css").read_text("utf-8")
    values = {"verdict": escape(printable(verdict)), "rest": escape(rest)}
    return write(PAGE.format(css=css, figure=_figure(monitor), **values), path)


def _figure(monitor: BaseMonitor) -> str:
    """The plot as inline SVG, the same for the same monitor."""
    pyplot = extra("matplotlib.pyplot", "report")
    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "nosplit"}):
        figure = monitor.plot()
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    text = re.sub(r"<metadata>.*?</metadata>", "", stream.getvalue(), flags=re.DOTALL)
    return text[text.index("<svg") :]
