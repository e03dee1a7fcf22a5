"""The report in a real browser, from a file: nothing loads, nothing runs, nothing sticks out."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

import nosplit

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium is installed: `make browser` installs it where it can"
)
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HACK = "document.title='hacked'"
HOSTILE = [
    f"</script><script>{HACK}</script>",
    f"<img src=x onerror={HACK}>",
    f'" autofocus onfocus="{HACK}',
    "<svg onload=alert(1)>",
    "wide" * 500,
]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


def hostile_table(seed, shift):
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=40) for name in HOSTILE[1:]}
    columns[HOSTILE[1]] += shift
    return pd.DataFrame({HOSTILE[0]: rng.choice(HOSTILE, 40), **columns})


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    x, y = hostile_table(0, 0.0), hostile_table(1, 2.0)
    res = nosplit.two_sample_test(x, y, calibration=nosplit.Exact(99))
    path = tmp_path_factory.mktemp("report") / "report.html"
    return res.report(x, y, path=path, labels=(HOSTILE[1], HOSTILE[2]), title=HOSTILE[0])


@pytest.fixture
def opened(browser, file):
    """Open the report at a width; what it said and asked for is in the lists."""
    pages = []

    def open_(width, **options):
        page = browser.new_page(viewport={"width": width, "height": 800}, **options)
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: page.said.append(dialog.message))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(file.as_uri())
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()


def test_shows_the_verdict_and_asks_for_nothing(opened, file):
    page = opened(1200)
    assert page.locator("h1").inner_text() == "The samples differ."
    assert page.locator("h1").is_visible()
    assert page.locator("svg").first.bounding_box()["height"] > 50
    assert page.said == []
    assert page.asked == [file.as_uri()]


def test_hostile_names_do_not_run(opened):
    page = opened(1200)
    page.locator("summary").first.click()
    page.wait_for_timeout(100)
    assert page.said == []
    assert page.title().startswith("The samples differ: </script><script>")
    assert page.locator("script, img, [onerror], [onload], [onfocus], [autofocus]").count() == 0
    assert HOSTILE[1] in page.locator("main").inner_text()


def test_scripts_would_not_run_either(browser, file, tmp_path):
    """The page's own policy, should an escape ever be missing."""
    broken = tmp_path / "broken.html"
    text = file.read_text(encoding="utf-8")
    broken.write_text(text.replace("<main", f"<script>{HACK}</script><main"), encoding="utf-8")
    page = browser.new_page()
    page.goto(broken.as_uri())
    assert page.title() != "hacked"
    page.close()


@pytest.mark.parametrize("width", [320, 400, 800])
def test_no_horizontal_scroll(opened, width):
    page = opened(width)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.locator("details[open]").count() == page.locator("details").count() > 1
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_keyboard_reaches_what_opens(opened):
    page = opened(800)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 1
