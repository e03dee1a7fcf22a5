"""Run experiments: studies done in chunks, then tables, figures and a page."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nosplit import InputError
from nosplit._old.experiments.catalogue import EXPERIMENTS, STUDIES, Experiment
from nosplit._old.experiments.running.journal import Journal
from nosplit._old.experiments.running.pool import run_all
from nosplit._old.experiments.running.work import Chunk, Count, Task, tasks_of
from nosplit._old.experiments.showing.claims import Verdict
from nosplit._old.experiments.showing.figures import require_matplotlib
from nosplit._old.experiments.showing.page import JOURNALS, write_page, write_verdicts
from nosplit._old.experiments.showing.table import TableRow, write_csv

__all__ = ["run_studies"]


def run_studies(
    names: Sequence[str] = (),
    *,
    out: Path,
    trials: int | None = None,
    workers: int | None = None,
    resume: bool = False,
    seed: int = 0,
) -> Mapping[str, Sequence[Verdict]]:
    """Run experiments and write their tables, figures and a page.

    Parameters
    ----------
    names : sequence of str
        Which experiments; all of them by default.
    out : Path
        Folder for what is made; finished chunks are kept there too.
    trials : int, optional
        Trials of each point; 5,000 by default, 200 for `beyond`.
    workers : int, optional
        Processes; all cores by default. Results do not depend on it.
    resume : bool
        Continue an earlier run in the same folder instead of starting anew.
    seed : int
        Seed of all draws.

    Returns
    -------
    dict
        Verdicts on the claims of every experiment that is now in the folder.
    """
    chosen = _chosen(names)
    _check("trials", trials, 1)
    _check("workers", workers, 1)
    _check("seed", seed, 0)
    require_matplotlib()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`out` must be a folder to write to, got {out}: {error}.") from error
    plans = {
        name: list(tasks_of(name, STUDIES[name], trials or STUDIES[name].trials))
        for name in dict.fromkeys(e.study for e in chosen.values() if e.study)
    }
    done = _do(plans, out / JOURNALS, workers or os.cpu_count() or 1, resume, seed)
    for name, experiment in chosen.items():
        _publish(out, name, experiment, done.get(experiment.study or "", []))
    return write_page(out)


def _chosen(names: Sequence[str]) -> dict[str, Experiment]:
    for name in names:
        if name not in EXPERIMENTS:
            near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            known = ", ".join(map(repr, EXPERIMENTS))
            raise InputError(f"`name` must be one of {known}, got {name!r}.{hint}")
    return {name: e for name, e in EXPERIMENTS.items() if not names or name in names}


def _check(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise InputError(f"`{name}` must be at least {least}, got {value}.")


def _do(
    plans: Mapping[str, Sequence[Task]], folder: Path, workers: int, resume: bool, seed: int
) -> dict[str, list[Chunk]]:
    """Do the chunks that are not in the journals yet; all chunks, in order."""
    with ExitStack() as stack:
        journals = {
            name: stack.enter_context(Journal(folder / f"{name}.jsonl", seed=seed, resume=resume))
            for name in plans
        }
        step = stack.enter_context(_progress_bars(plans))
        left = []
        for name, tasks in plans.items():
            old = [task for task in tasks if task.key in journals[name].done]
            step(name, sum(task.trials for task in old))
            left += [task for task in tasks if task.key not in journals[name].done]

        def record(task: Task, chunk: Chunk) -> None:
            journals[task.study].add(task, chunk)
            step(task.study, task.trials)

        run_all(left, seed=seed, workers=workers, record=record)
        return {
            name: [journals[name].done[task.key] for task in tasks] for name, tasks in plans.items()
        }


def _publish(out: Path, name: str, experiment: Experiment, chunks: Sequence[Chunk]) -> None:
    """Write the table, the verdicts and the figure of an experiment."""
    rows = _rows_of_chunks(name, experiment, chunks)
    if rows:
        write_csv(out / f"{name}.csv", rows)
    write_verdicts(out, name, experiment.claims(rows))
    values = [value for chunk in chunks for value in chunk.values]
    figure = experiment.draw(rows, values)
    figure.savefig(out / f"{name}.png", dpi=150)
    figure.set_layout_engine("none")  # it stays as it was laid out
    figure.savefig(out / f"{name}.pdf")


def _rows_of_chunks(name: str, experiment: Experiment, chunks: Sequence[Chunk]) -> list[TableRow]:
    """Counts added up over chunks, in the order of datasets, sizes and the figure's methods."""
    points: dict[tuple[str, int, int, str], list[Count]] = {}
    for count in (c for chunk in chunks for c in chunk.counts):
        if experiment.keeps(count.d, count.method):
            key = (count.dataset, count.d, count.n, count.method)
            points.setdefault(key, []).append(count)
    rows = [_table_row(name, *key, counts) for key, counts in points.items()]
    order = {method: i for i, method in enumerate(experiment.methods)}
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    return sorted(rows, key=lambda r: (datasets.index(r.dataset), r.d, r.n, order[r.method]))


def _table_row(
    name: str, dataset: str, d: int, n: int, method: str, counts: Sequence[Count]
) -> TableRow:
    trials, rejections = sum(c.trials for c in counts), sum(c.rejections for c in counts)
    same = len({c.trials for c in counts}) == 1
    by_chunk = tuple(c.rejections for c in counts) if same else ()
    return TableRow(name, dataset, d, n, method, trials, rejections, by_chunk)


@contextmanager
def _progress_bars(plans: Mapping[str, Sequence[Task]]) -> Iterator[Callable[[str, int], None]]:
    """A progress bar for each study on standard error, if somebody can see it."""
    if not sys.stderr.isatty() or not plans:
        yield lambda name, trials: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trials"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {
            name: progress.add_task(name, total=sum(task.trials for task in tasks), start=False)
            for name, tasks in plans.items()
        }
        started: set[str] = set()

        def step(name: str, trials: int) -> None:
            if name not in started and trials:
                progress.start_task(bars[name])
                started.add(name)
            progress.update(bars[name], advance=trials)

        yield step
