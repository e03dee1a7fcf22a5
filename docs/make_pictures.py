"""Make the pictures of the site, in docs/_static: `python docs/make_pictures.py`.

Pages of which the examples draw something are run, and their files kept: the landing page, and the
guide to generated data. The others show the examples of explain.md, gpu.md and report.md, and the
idea of idea.md. A change of the plots or of the report wants them made again. Needs a Chromium for
the picture of the report. `docs/make_large.py` draws large files, and takes longer.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import re
import shutil
import tempfile
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import nosplit

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"
# Pages whose examples save pictures.
DRAWING = ("index.md", "guide/generators.md")
BLUE, ORANGE = "#0072b2", "#e69f00"


def ten_columns() -> tuple[np.ndarray, np.ndarray]:
    """The samples of explain.md."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(800, 10)), rng.normal(size=(800, 10))
    y[:, 3] += 0.6
    y[:, 8] = 0.8 * y[:, 7] + 0.6 * y[:, 8]
    return x, y


def two_months() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of report.md."""
    rng = np.random.default_rng(0)

    def month(n: int, shop: float, growth: float) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "age": rng.normal(45, 12, n).round(),
                "income": rng.lognormal(10 + growth, 0.5, n).round(-2),
                "visits": rng.poisson(3, n),
                "channel": rng.choice(["web", "phone", "shop"], n, p=[0.8 - shop, 0.2, shop]),
            }
        )

    return month(1000, 0.3, 0.0), month(1000, 0.4, 0.2)


def run_pages() -> None:
    """The pictures that examples of pages save."""
    for page in DRAWING:
        examples = re.findall(
            r"^```python\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.M | re.S
        )
        source = "".join(doctest.script_from_examples(text) for text in examples)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            exec(compile(source, page, "exec"), {})
            for picture in Path().glob("*.png"):
                shutil.copy(picture, STATIC)


def draw_embedding() -> None:
    """How samples become curves, and the witness function between them: the first of idea.md."""
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(4)
    x, y = rng.normal(-0.6, 1.0, 12), rng.normal(1.0, 0.7, 12)
    grid = np.linspace(-4, 4, 400)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    means = []
    for rows, color, dash, name in ((x, BLUE, "-", "x"), (y, ORANGE, "--", "y")):
        bumps = np.exp(-0.5 * ((grid[:, None] - rows) / 0.6) ** 2)
        left.plot(grid, bumps / len(rows), color=color, linewidth=0.6, alpha=0.6)
        means.append(bumps.mean(axis=1))
        left.plot(
            grid,
            means[-1],
            color=color,
            linestyle=dash,
            linewidth=2.2,
            label=f"mean bump of {name}",
        )
        left.plot(rows, np.full(len(rows), -0.02), "|", color=color, markersize=9)
    witness = means[0] - means[1]
    right.plot(grid, witness, "k", linewidth=1.8)
    right.axhline(0.0, color="k", linewidth=0.8)
    for side, color, name in ((witness > 0, BLUE, "x"), (witness < 0, ORANGE, "y")):
        right.fill_between(
            grid, witness, where=side, color=color, alpha=0.3, label=f"{name} is denser"
        )
    left.set_title("every row is a bump", fontsize=10)
    right.set_title("their difference: the witness function", fontsize=10)
    finish(left, right)
    figure.savefig(STATIC / "idea_witness.png", dpi=80)


def draw_learning() -> None:
    """What learning does to a statistic, and what can be done about it: the second of idea.md."""
    import matplotlib.pyplot as plt

    problem, trials, n = nosplit.datasets.DiffVar(), 400, 500
    ways = {
        "as if nothing\nwas learned": "naive",
        "split in\nhalves": nosplit.methods.Split(0.5),
        "nosplit": "ost",
    }
    options = {"kernels": "paper6", "pairs": 2, "calibration": "asymptotic"}
    statistics = []
    rates = np.zeros((2, len(ways)))
    for trial in range(trials):
        for row, null in enumerate((True, False)):
            x, y = problem.sample(n, rng=2 * trial + row, null=null)
            for column, method in enumerate(ways.values()):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", nosplit.NosplitWarning)
                    res = nosplit.two_sample_test(x, y, method=method, **options)
                rates[row, column] += res.reject(0.05) / trials
                if null and not column:
                    statistics.append(res.statistic)
    print("false alarms", rates[0], "found", rates[1])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    grid = np.linspace(-3.5, 5, 200)
    left.hist(
        statistics, 30, density=True, color="#bbbbbb", label="learned and tested on the same rows"
    )
    law = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    left.plot(grid, law, "k", label="what it is taken for")
    left.axvline(1.645, color="k", linestyle=":", linewidth=1)
    left.set_title("the best combination, where nothing differs", fontsize=10)
    left.set_ylim(0, 0.75)
    place = np.arange(len(ways))
    right.bar(place - 0.2, rates[0], 0.38, color=ORANGE, label="false alarms")
    right.bar(place + 0.2, rates[1], 0.38, color=BLUE, label="differences found")
    right.axhline(0.05, color="k", linestyle=":", linewidth=1)
    right.set_xticks(place, list(ways))
    right.set_title("share of 400 tests at level 0.05", fontsize=10)
    finish(left, right)
    figure.savefig(STATIC / "idea_learning.png", dpi=80)


def finish(*axes: mpl.axes.Axes) -> None:
    for axis in axes:
        axis.legend(frameon=False, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)


def draw_plots() -> None:
    """The plots of explain.md."""
    x, y = ten_columns()
    told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    for kind in ("overview", "columns"):
        nosplit.plot(told, kind=kind).savefig(STATIC / f"{kind}.png", dpi=80)


def draw_embeddings() -> None:
    """The rows of gpu.md, on the two directions in which the kinds lie most apart."""
    import matplotlib.pyplot as plt
    import torch

    def embeddings(n: int, shares: list[float], seed: int) -> torch.Tensor:
        source = torch.Generator().manual_seed(seed)
        modes = 2.0 * torch.randn(5, 16, generator=torch.Generator().manual_seed(0))
        kind = torch.multinomial(torch.tensor(shares), n, replacement=True, generator=source)
        return torch.tanh(0.5 * (modes[kind] + torch.randn(n, 16, generator=source)))

    x, y = embeddings(4000, [1.0] * 5, 1), embeddings(4000, [1.0] * 4 + [0.8], 2)
    told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    both = torch.cat([x, y])
    _, _, axes = torch.linalg.svd(both - both.mean(dim=0), full_matrices=False)
    figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for rows, color, label in ((x, "#4477aa", "generator 1"), (y, "#cc6677", "generator 2")):
        at = (rows - both.mean(dim=0)) @ axes[:2].T
        axis.scatter(*at.T, s=3, alpha=0.35, color=color, label=label, linewidths=0)
    most = [row.index for row in told.top_rows(100).x]
    at = (x[most] - both.mean(dim=0)) @ axes[:2].T
    label = "100 rows of 1 that the witness separates most"
    axis.scatter(*at.T, s=18, facecolors="none", edgecolors="black", linewidths=0.6, label=label)
    axis.legend(loc="best", markerscale=2, frameon=False)
    axis.set(xlabel="first principal component", ylabel="second")
    figure.savefig(STATIC / "embeddings.png", dpi=80)


def photograph_report(chromium: str | None) -> None:
    """The report of report.md, as a browser shows its beginning."""
    from playwright.sync_api import sync_playwright

    april, may = two_months()
    res = nosplit.two_sample_test(april, may)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        res.report(april, may, path=page, labels=("April", "May"))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 860, "height": 1300})
        view.goto(page.as_uri())
        view.screenshot(path=STATIC / "report.png")
        browser.close()


def main() -> None:
    """Make all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its program")
    options = parser.parse_args()
    STATIC.mkdir(exist_ok=True)
    mpl.use("agg")
    run_pages()
    draw_embedding()
    draw_learning()
    draw_plots()
    draw_embeddings()
    photograph_report(options.chromium)


if __name__ == "__main__":
    main()
