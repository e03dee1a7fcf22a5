"""The documentation: its examples run, it builds without warnings, and nothing is left out."""

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

import _examples
import nosplit
import nosplit.dask
import nosplit.kernels
import nosplit.spark
import nosplit.streams

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.glob("*.md"))
WITH_EXAMPLES = [p for p in PAGES if _examples.FENCE.search((DOCS / p).read_text("utf-8"))]
MODULES = (nosplit, nosplit.kernels, nosplit.models, nosplit.datasets, nosplit.dask, nosplit.spark)


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    _examples.run_page(DOCS / page, capsys)


def test_pages_that_must_have_examples():
    """A fence that is spelt otherwise would not be run, and nobody would notice."""
    must = {"index", "quick_start", "choosing", "data", "explain", "report", "other_questions"}
    assert {f"{page}.md" for page in must} <= set(WITH_EXAMPLES)
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        fences = re.findall(r"^```(\S*)", text, re.MULTILINE)
        assert not {"py", "pycon", "bash", "sh", "shell"} & set(fences), page


# The site ---------------------------------------------------------------------------------------


# One process builds the site for all of them.
together = pytest.mark.xdist_group("site")


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


@together
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_an_entry(module, entries):
    missing = [name for name in module.__all__ if not _has_entry(module, name, entries)]
    assert not missing


def _has_entry(module, name, entries):
    """One of its own, or that of the same thing under its shorter name."""
    shorter = getattr(nosplit, name, None) is getattr(module, name)
    return f"{module.__name__}.{name}" in entries or (shorter and f"nosplit.{name}" in entries)


@together
def test_methods_have_entries(entries):
    """Those of results, and what the accumulators inherit."""
    for name in ("TestResult.reject", "TwoSampleAccumulator.update", "TwoSampleAccumulator.save"):
        assert f"nosplit.{name}" in entries


@together
def test_every_command_is_there(site):
    text = (site / "command_line.html").read_text(encoding="utf-8")
    for command in _commands():
        assert f"nosplit {command}" in text
    assert "--exit-code" in text


def _commands():
    from typer.main import get_command

    from nosplit.cli import app

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


@together
def test_pages_load_nothing_from_elsewhere(site):
    for page in _html(site):
        loads = _Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        for address in filter(None, loads.found):
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8", errors="replace")
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", text), sheet.name


@together
def test_every_page_can_be_found(site):
    """All pages are in the navigation: none is an orphan."""
    text = "".join(p.read_text(encoding="utf-8") for p in site.glob("*.html"))
    for page in PAGES:
        assert f'href="{page.removesuffix(".md")}.html' in text or page == "index.md"


@together
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
