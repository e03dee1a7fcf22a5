"""The documentation site builds without warnings, loads nothing, and leaves nothing out."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

import nosplit
import nosplit.kernels
import nosplit.methods
import nosplit.power

DOCS = Path(__file__).parent.parent / "docs"
MODULES = (
    nosplit,
    nosplit.kernels,
    nosplit.methods,
    nosplit.models,
    nosplit.power,
    nosplit.datasets,
    nosplit.testing,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it: every warning is an error."""
    out = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-n", "-q", "-d", str(out / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(out / "html")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def entries(site):
    """Names that have an entry, from the inventory that Sphinx writes."""
    raw = (site / "objects.inv").read_bytes()
    head = b"\n".join(raw.split(b"\n", 4)[:4]) + b"\n"
    lines = zlib.decompress(raw[len(head) :]).decode("utf-8").splitlines()
    return {line.split(" py:")[0] for line in lines if " py:" in line}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_an_entry(module, entries):
    missing = [name for name in module.__all__ if not _has_entry(module, name, entries)]
    assert not missing


def _has_entry(module, name, entries):
    """One of its own, or that of the same thing under its shorter name; modules have a page."""
    if inspect.ismodule(getattr(module, name)):
        return True
    shorter = getattr(nosplit, name, None) is getattr(module, name)
    return f"{module.__name__}.{name}" in entries or (shorter and f"nosplit.{name}" in entries)


def test_methods_have_entries(entries):
    """Those of results, and what the accumulators inherit."""
    for name in ("TestResult.reject", "TwoSampleAccumulator.update", "TwoSampleAccumulator.save"):
        assert f"nosplit.{name}" in entries


def test_every_command_is_there(site):
    text = (site / "api" / "command_line.html").read_text(encoding="utf-8")
    for command in _commands():
        assert f"nosplit {command}" in text
    assert "--exit-code" in text


def _commands():
    from typer.main import get_command

    from nosplit._old.cli import app

    found = list(get_command(app).commands)
    assert "test" in found
    return found


def _html(site):
    """The pages, without the theme's templates."""
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) > 20
    return pages


class _Loads(HTMLParser):
    """What a page makes a browser fetch: scripts, styles, fonts, pictures, frames."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "link" and attributes.get("rel") not in ("canonical",):
            self.found.append(attributes.get("href"))
        elif tag in ("script", "img", "iframe", "source", "video", "audio", "embed"):
            self.found.append(attributes.get("src"))


def test_pages_load_nothing_from_elsewhere(site):
    for page in _html(site):
        loads = _Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        for address in filter(None, loads.found):
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8", errors="replace")
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", text), sheet.name


def test_every_page_can_be_found(site):
    """All pages are in the navigation: none is an orphan."""
    found = set()
    for page in _html(site):
        links = re.findall(r'href="(?!https?:)([^"#?]+\.html)', page.read_text(encoding="utf-8"))
        found |= {(page.parent / link).resolve() for link in links}
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts and page != DOCS / "index.md":
            assert (site / page.relative_to(DOCS)).with_suffix(".html").resolve() in found, (
                page.name
            )


def test_links_lead_somewhere(site):
    """Links between pages end in .html: one to a .md file was not understood."""
    for page in _html(site):
        text = page.read_text(encoding="utf-8")
        links = re.findall(r'href="(?!https?:)([^"#]+)', text)
        for link in links:
            assert not link.endswith(".md"), f"{page.name}: {link}"
            if not link.startswith(("mailto:", "data:")):
                assert (page.parent / link.split("?")[0]).exists(), f"{page.name}: {link}"


def test_documented_objects_are_described():
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                assert inspect.getdoc(thing), f"{module.__name__}.{name}"
