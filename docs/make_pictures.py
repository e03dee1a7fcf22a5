"""Make the pictures of the site, in docs/_static: `python docs/make_pictures.py`.

They show the examples of explain.md, gpu.md and report.md. A change of the plots or of the report
wants them made again. Needs a Chromium for the picture of the report.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import nosplit

STATIC = Path(__file__).parent / "_static"


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


def draw_plots() -> None:
    """The plots of explain.md."""
    mpl.use("agg")
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

    x, y = embeddings(4000, [1.0] * 5, 1), embeddings(4000, [1.0] * 4 + [0.85], 2)
    told = nosplit.explain(nosplit.two_sample_test(x, y), x, y)
    both = torch.cat([x, y])
    _, _, axes = torch.linalg.svd(both - both.mean(dim=0), full_matrices=False)
    figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for rows, color, label in ((x, "#4477aa", "generator 1"), (y, "#cc6677", "generator 2")):
        at = (rows - both.mean(dim=0)) @ axes[:2].T
        axis.scatter(*at.T, s=3, alpha=0.35, color=color, label=label, linewidths=0)
    most = [row.index for row in told.top_rows(200).x]
    at = (x[most] - both.mean(dim=0)) @ axes[:2].T
    label = "200 rows of 1 that the witness separates most"
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
    STATIC.mkdir(exist_ok=True)
    draw_plots()
    draw_embeddings()
    photograph_report(parser.parse_args().chromium)


if __name__ == "__main__":
    main()
