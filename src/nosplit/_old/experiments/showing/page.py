"""The page that shows all figures with the paper's claims beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from nosplit._old.experiments.catalogue import EXPERIMENTS, Experiment
from nosplit._old.experiments.showing.claims import Verdict
from nosplit._old.experiments.showing.table import read_csv, write_whole

__all__ = ["JOURNALS", "write_page", "write_verdicts"]

# Where what is not for the reader is kept.
JOURNALS = ".journal"

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1rem; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
         border-bottom: 1px solid #ddd; }
.yes { color: #00694e; font-weight: 600; white-space: nowrap; }
.no { color: #a63b00; font-weight: 600; white-space: nowrap; }
.note { color: #555; font-size: .92rem; }
"""


def write_page(out: Path) -> Mapping[str, Sequence[Verdict]]:
    """Write index.html for all experiments whose figure is there; return their verdicts."""
    present = {name: e for name, e in EXPERIMENTS.items() if _is_there(out, name)}
    verdicts = {name: _read_verdicts(out, name) for name in present}
    sections = "\n".join(_section(out, name, e, verdicts[name]) for name, e in present.items())
    write_whole(
        out / "index.html",
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Learning Kernel Tests Without Data Splitting: the figures</title>\n"
        f"<style>{_STYLE}</style>\n"
        "<h1>Learning Kernel Tests Without Data Splitting: the figures</h1>\n"
        "<p>Every figure of the paper (Kübler, Jitkrittum, Schölkopf and Muandet, 2020) drawn "
        "anew, with the paper's claims and whether these data support them. A claim is not "
        "supported if a comparison fails by more than the error of the simulation (level 1 % "
        "over all comparisons of the claim; methods see the same draws, and are compared chunk "
        "of trials by chunk of trials). “≤” compares Type-II errors. Bars are 95 % intervals of "
        "a single rate.</p>\n"
        f"{sections}\n</html>\n",
    )
    return verdicts


def _is_there(out: Path, name: str) -> bool:
    return (out / f"{name}.png").exists() and (out / JOURNALS / f"{name}.claims.json").exists()


def write_verdicts(out: Path, name: str, verdicts: Sequence[Verdict]) -> None:
    """Keep the verdicts on an experiment for the page."""
    (out / JOURNALS).mkdir(exist_ok=True)
    text = json.dumps([asdict(verdict) for verdict in verdicts], indent=1)
    write_whole(out / JOURNALS / f"{name}.claims.json", text)


def _read_verdicts(out: Path, name: str) -> Sequence[Verdict]:
    path = out / JOURNALS / f"{name}.claims.json"
    return [Verdict(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _section(out: Path, name: str, experiment: Experiment, verdicts: Sequence[Verdict]) -> str:
    links = [f'<a href="{name}.pdf">PDF</a>']
    if (out / f"{name}.csv").exists():
        rows = read_csv(out / f"{name}.csv")
        links.append(
            f'<a href="{name}.csv">CSV</a>: {len(rows)} rates of {rows[0].trials:,} trials'
        )
    return (
        f'<h2 id="{name}">{escape(experiment.figure)}: {escape(experiment.title)}</h2>\n'
        f'<p><img src="{name}.png" alt="{escape(experiment.title)}"></p>\n'
        f'<p class="note">{escape(experiment.note)} {" · ".join(links)}</p>\n'
        f"{_claims(verdicts)}"
    )


def _claims(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    lines = "\n".join(
        f"<tr><td>{escape(v.claim)}</td>"
        f'<td class="{"yes" if v.supported else "no"}">'
        f"{'supported' if v.supported else 'not supported'}</td>"
        f"<td>{escape(v.evidence)}</td></tr>"
        for v in verdicts
    )
    return f"<table>\n<tr><th>claim</th><th>our data</th><th>evidence</th></tr>\n{lines}\n</table>"
