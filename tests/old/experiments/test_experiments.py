"""The paper's experiments at 60 trials: their numbers, their claims, and that none get lost.

Rates are held against the claims with binomial bounds. Every bound of a test fails by chance with
probability at most 1e-4 over all of the test's comparisons, if the claim is true.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer
from scipy import stats
from typer.testing import CliRunner

import nosplit
from nosplit import InputError
from nosplit._old.experiments.beyond import WAYS, Beyond
from nosplit._old.experiments.catalogue import EXPERIMENTS, STUDIES
from nosplit._old.experiments.command import reproduce
from nosplit._old.experiments.grids import COMBINED
from nosplit._old.experiments.normals import LEVELS, theorem_methods
from nosplit._old.experiments.running import pool, runner
from nosplit._old.experiments.running.runner import run_studies
from nosplit._old.experiments.running.work import Cell, Task, tasks_of
from nosplit._old.experiments.showing.claims import all_clear, none_fails, some_clear, versus
from nosplit._old.experiments.showing.figures import new_figure
from nosplit._old.experiments.showing.table import COLUMNS, TableRow, read_csv
from nosplit._old.experiments.statistics import METHODS, Statistics, pair_values
from nosplit.datasets import DATASETS
from nosplit.kernels import paper_kernels

TRIALS = 60
FALSE_ALARM = 1e-4
QUICK = [name for name in EXPERIMENTS if name != "beyond"]
LIKE_TYPE1 = ("type2", "constraints", "discrete")
COMMAND = (
    "import typer; from nosplit._old.experiments.command import reproduce; typer.run(reproduce)"
)
SPLITS = ["split0.1", "split0.3", "split0.5", "split0.8"]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """All experiments but `beyond`, done in this process.

    Of the figures that one function draws, only that of `type1` is drawn: drawing takes longer
    than the trials.
    """
    folder = tmp_path_factory.mktemp("reproduction")
    drawn = {
        name: replace(e, draw=lambda *_: new_figure(1, 1)) if name in LIKE_TYPE1 else e
        for name, e in EXPERIMENTS.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "EXPERIMENTS", drawn)
        run_studies(QUICK, out=folder, trials=TRIALS, workers=1)
    return folder


@pytest.fixture(scope="module")
def pooled(out):
    """Rejections and trials by experiment, added up over sample sizes."""

    def rate(experiment, method, **where):
        rows = [
            r
            for r in read_csv(out / f"{experiment}.csv")
            if r.method == method and all(getattr(r, k) == v for k, v in where.items())
        ]
        return sum(r.rejections for r in rows), sum(r.trials for r in rows)

    return rate


def assert_above(count, level, comparisons=1):
    """Clearly above: such a count has this probability if the rate is `level`."""
    rejections, trials = count
    assert stats.binom.sf(rejections - 1, trials, level) <= FALSE_ALARM / comparisons


def assert_not_above(count, level, comparisons=1):
    rejections, trials = count
    assert stats.binom.sf(rejections - 1, trials, level) > FALSE_ALARM / comparisons


def assert_not_below(count, level, comparisons=1):
    rejections, trials = count
    assert stats.binom.cdf(rejections, trials, level) > FALSE_ALARM / comparisons


def assert_not_worse(better, worse, comparisons=1):
    """`better` does not reject clearly less often than `worse` (independent normal bound)."""
    p, q = (r / t for r, t in (better, worse))
    error = np.sqrt(sum((r + 1) * (t - r + 1) / (t + 2) ** 2 / t for r, t in (better, worse)))
    assert p - q > stats.norm.ppf(FALSE_ALARM / comparisons) * error


# The claims of the paper ------------------------------------------------------------------------


def test_type2_against_paper(pooled):
    cells = [(name, d) for name in ("diff_var", "mnist", "blobs") for d in (1, 2, 6)]
    for name, d in cells:
        ost, wald = (pooled("type2", m, dataset=name, d=d) for m in ("ost", "wald"))
        for split in SPLITS:
            assert_not_worse(ost, pooled("type2", split, dataset=name, d=d), 36)
        # With six kernels the two truncate Σ on different scales, and cannot be compared.
        if d < 6:
            assert_not_worse(ost, wald, 6)
    only = [pooled("type2", s, dataset="diff_var", d=1) for s in SPLITS]
    for more, less in pairwise(only):
        assert_not_worse(more, less, 3)
    # 80 % of the data for learning leave too little for testing, 10 % learn too little.
    learned = {s: pooled("type2", s, dataset="diff_var", d=6) for s in SPLITS}
    assert learned["split0.3"] > learned["split0.8"]
    assert learned["split0.3"] > learned["split0.1"]


def test_type1_against_paper(pooled):
    cells = [(name, d) for name in ("diff_var", "mnist", "blobs") for d in (1, 2, 6)]
    for name, d in cells:
        if d > 1:
            assert_above(pooled("type1", "naive", dataset=name, d=d), 0.05, 6)
        for method in set(COMBINED) - {"naive"}:
            assert_not_above(pooled("type1", method, dataset=name, d=d), 0.05, 63)


def test_polynomial_against_paper(pooled):
    for d in (1, 2, 3):
        for method in set(COMBINED) - {"naive"}:
            count = pooled("polynomial", method, d=d)
            assert_not_above(count, 0.05, 42)
            assert_not_below(count, 0.05, 42)
    assert_above(pooled("polynomial", "naive", d=3), 0.05)
    for method in ("ost", "ost_default", "wald"):
        assert_above(pooled("polynomial", method, d=4), 0.05, 3)
        assert_not_worse(pooled("polynomial", "ost", d=4), pooled("polynomial", method, d=4), 3)


def test_constraints_against_paper(pooled):
    for name in ("diff_var", "mnist", "blobs"):
        ost, positive = (pooled("constraints", m, dataset=name) for m in ("ost", "nonnegative"))
        # β ≥ 0 helps on MNIST and hurts on Blobs.
        if name != "diff_var":
            assert (positive > ost) == (name == "mnist")


def test_discrete_against_paper(pooled):
    for name in ("diff_var", "blobs"):
        for d in (1, 2, 6):
            best = pooled("discrete", "best", dataset=name, d=d)
            assert_not_worse(best, pooled("discrete", "best_split0.8", dataset=name, d=d), 6)
    small = pooled("discrete", "best_split0.1", dataset="mnist", d=2)
    assert_not_worse(small, pooled("discrete", "best", dataset="mnist", d=2))


def test_theorem_against_theory(pooled):
    for method, level in theorem_methods().items():
        assert_not_above(pooled("theorem", method), level, 2 * len(LEVELS))
        assert_not_below(pooled("theorem", method), level, 2 * len(LEVELS))


def test_geometry_against_theory(out):
    rows = read_csv(out / "geometry.csv")
    assert {r.dataset for r in rows} == {"normal_u1", "normal_u2", "normal_u12"}
    for row in rows:
        assert_not_above((row.rejections, row.trials), 0.05, 6)
        assert_not_below((row.rejections, row.trials), 0.05, 6)


def test_beyond_counts_every_way():
    chunk = Beyond(6).run(Cell("diff_var", 60), 3, np.random.default_rng(0))
    assert [(c.d, c.n, c.method, c.trials) for c in chunk.counts] == [(6, 60, w, 3) for w in WAYS]
    assert all(0 <= c.rejections <= 3 for c in chunk.counts)


# The numbers ------------------------------------------------------------------------------------


def test_statistics_against_the_public_tests():
    x, y = DATASETS["diff_var"].sample(2000, rng=5)
    kernels = paper_kernels(6, 1.2)
    h = pair_values(x, y, kernels)
    found = Statistics.of_values(h)
    for name, d, columns in (("ost_default", 6, range(6)), ("wald", 2, (2, 5)), ("best", 1, (2,))):
        expected = nosplit.two_sample_test(
            x,
            y,
            kernels=paper_kernels(d, 1.2),
            method=METHODS[name],
            pairs="linear",
            calibration="asymptotic",
            shuffle=False,
        )
        part = found.of_kernels(columns)
        np.testing.assert_allclose(part.tau[0], expected.selection.tau, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(part.cov[0], expected.selection.cov, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            part.apply(METHODS[name]).log_pvalue[0], expected.log_pvalue, rtol=1e-4
        )
    for name in (*SPLITS, "best_split0.3"):
        expected = nosplit.mean_test(
            h.T, method=METHODS[name], calibration="asymptotic", shuffle=False
        )
        np.testing.assert_allclose(
            found.apply(METHODS[name]).log_pvalue[0], expected.log_pvalue, rtol=1e-4
        )


def test_table_has_the_columns_of_the_issue(out):
    counts = {}
    for name in QUICK:
        if EXPERIMENTS[name].study is None:
            continue
        with (out / f"{name}.csv").open() as file:
            lines = list(csv.DictReader(file))
        assert tuple(lines[0]) == COLUMNS
        counts[name] = len(lines)
        assert {line["experiment"] for line in lines} == {name}
        for line in lines:
            rejections, trials = int(line["rejections"]), int(line["trials"])
            assert float(line["rate"]) == pytest.approx(rejections / trials, abs=1e-6)
            wilson = stats.binomtest(rejections, trials).proportion_ci(method="wilson")
            assert float(line["low"]) == pytest.approx(wilson.low, abs=1e-6)
            assert float(line["high"]) == pytest.approx(wilson.high, abs=1e-6)
    assert counts == {
        "geometry": 3,
        "type2": 3 * 3 * 5 * 8,
        "polynomial": 5 * 8,
        "theorem": 6,
        "type1": 3 * 3 * 5 * 8,
        "constraints": 3 * 5 * 4,
        "discrete": 3 * 3 * 5 * 6,
    }


def test_grid_is_the_paper_s(out):
    rows = read_csv(out / "type2.csv")
    assert {r.n for r in rows if r.dataset == "diff_var"} == {500, 1900, 3300, 4700, 6100}
    assert {r.n for r in rows if r.dataset == "mnist"} == {400, 800, 1400, 2200, 3200}
    assert {r.n for r in rows if r.dataset == "blobs"} == {1000, 2500, 4000, 6000, 9000}
    assert {r.d for r in rows} == {1, 2, 6}
    assert Counter(r.method for r in rows) == dict.fromkeys(COMBINED, 45)
    assert {r.trials for r in rows} == {TRIALS}


def test_figures_share_their_draws(out):
    type2 = {(r.dataset, r.n, r.method): r for r in read_csv(out / "type2.csv") if r.d == 6}
    for row in read_csv(out / "constraints.csv"):
        if row.method != "nonnegative":
            assert row.rejections == type2[row.dataset, row.n, row.method].rejections


def test_every_figure_is_there_and_on_the_page(out):
    page = (out / "index.html").read_text()
    for name in QUICK:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert f'<img src="{name}.png"' in page
    assert "OST ≤ every split at every n" in page
    assert '<td class="yes">supported</td>' in page


def row(rejections, trials=1000, method="ost"):
    return TableRow("type2", "blobs", 6, 1000, method, trials, rejections)


@pytest.mark.parametrize(
    ("judge", "better", "worse", "supported"),
    [
        (none_fails, 500, 400, True),
        (none_fails, 500, 510, True),  # within the error of 1,000 trials
        (none_fails, 400, 500, False),
        (none_fails, 0, 0, True),
        (all_clear, 500, 400, True),
        (all_clear, 510, 500, False),
        (some_clear, 510, 500, False),
        (some_clear, 500, 400, True),
    ],
)
def test_a_claim_is_judged_by_the_error_of_the_rates(judge, better, worse, supported):
    verdict = judge("a claim", [versus(row(better), row(worse, method="wald"))])
    assert verdict.supported is supported


def test_page_keeps_what_earlier_runs_found(tmp_path):
    run_studies(["densities"], out=tmp_path, workers=1)
    verdicts = run_studies(["samples"], out=tmp_path, workers=1)
    assert list(verdicts) == ["samples", "densities"]
    assert all(verdict.supported for verdict in verdicts["densities"])
    assert 'src="densities.png"' in (tmp_path / "index.html").read_text()


# Nothing is lost, and nothing depends on how the work was shared --------------------------------


def table(folder, name="constraints"):
    return (folder / f"{name}.csv").read_text()


def test_seed_changes_the_table(out, tmp_path):
    run_studies(["theorem"], out=tmp_path, trials=TRIALS, workers=1, seed=1)
    assert table(tmp_path, "theorem") != table(out, "theorem")


def start(folder, *options):
    arguments = ["constraints", "--trials", str(TRIALS), "--out", str(folder), *options]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_chunks(folder, count):
    journal = folder / ".journal" / "power.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if journal.exists() and journal.read_text().count("\n") > count:
            return journal
        time.sleep(0.01)
    raise AssertionError("no chunk was written")


def children(pid):
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers_of(pid):
    return [c for c in children(pid) if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")


@needs_proc
def test_killed_process_loses_nothing_that_was_written(out, tmp_path):
    process = start(tmp_path, "--workers", "2")
    journal = wait_for_chunks(tmp_path, 2)
    orphans = workers_of(process.pid)
    process.kill()
    process.communicate()
    # Workers end with their parent, however it ended.
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}/cmdline").exists() for pid in orphans):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    kept = journal.read_text()
    journal.write_text(kept + '{"chunk": "3/')  # a line that was cut short
    run_studies(["constraints"], out=tmp_path, trials=TRIALS, workers=1, resume=True)
    assert journal.read_text().startswith(kept)
    assert table(tmp_path) == table(out)


@needs_proc
def test_two_workers_one_of_them_killed_give_the_same_table(out, tmp_path):
    process = start(tmp_path, "--workers", "2")
    wait_for_chunks(tmp_path, 1)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "claims supported" in stdout
    assert stderr == ""  # no progress bar where nobody sees it
    assert table(tmp_path) == table(out)


def test_interrupted_run_says_how_to_go_on(out, tmp_path):
    process = start(tmp_path, "--workers", "1")
    journal = wait_for_chunks(tmp_path, 2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume continues" in stderr
    assert "Traceback" not in stderr
    assert 2 <= journal.read_text().count("\n") - 1 < 15


def test_workers_that_die_at_once_are_not_replaced_for_ever(monkeypatch):
    attempts = []

    def broken(*_):
        attempts.append(1)
        raise pool.BrokenProcessPool

    monkeypatch.setattr(pool, "_run_pool", broken)
    tasks = [Task("power", 0, chunk, 100) for chunk in range(3)]
    with pytest.raises(pool.WorkersDiedError, match="died 3 times"):
        pool.run_all(tasks, seed=0, workers=2, record=lambda task, chunk: None)
    assert len(attempts) == 3


def test_resume_does_only_what_is_missing(tmp_path, monkeypatch):
    run_studies(["theorem"], out=tmp_path, trials=700, workers=1)
    asked = []
    original = type(STUDIES["theorem"]).run

    def spy(self, cell, trials, rng):
        asked.append(trials)
        return original(self, cell, trials, rng)

    monkeypatch.setattr(type(STUDIES["theorem"]), "run", spy)
    run_studies(["theorem"], out=tmp_path, trials=700, workers=1, resume=True)
    assert asked == []
    run_studies(["theorem"], out=tmp_path, trials=1200, workers=1, resume=True)
    assert asked == [500, 200]
    assert {r.trials for r in read_csv(tmp_path / "theorem.csv")} == {1200}
    asked.clear()
    run_studies(["theorem"], out=tmp_path, trials=700, workers=1)
    assert asked == [500, 200]


def test_resume_of_another_seed_iv(tmp_path):
    run_studies(["geometry"], out=tmp_path, trials=10, workers=1)
    with pytest.raises(InputError, match="same version and seed"):
        run_studies(["geometry"], out=tmp_path, trials=10, workers=1, resume=True, seed=1)


def test_chunks_cover_all_trials():
    for name, study in STUDIES.items():
        for trials in (1, study.chunk, 2 * study.chunk + 3):
            total = Counter()
            tasks = list(tasks_of(name, study, trials))
            assert len({(t.cell, t.chunk) for t in tasks}) == len(tasks)
            for task in tasks:
                total[task.cell] += task.trials
            assert total == dict.fromkeys(range(len(study.cells)), trials)
    assert len({study.number for study in STUDIES.values()}) == len(STUDIES)


# The command ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["typ2"]}, "got 'typ2'. Did you mean 'type2'?"),
        ({"names": ["type2", "nonsense"]}, "`name` must be one of 'geometry', .*, got 'nonsense'"),
        ({"trials": 0}, "`trials` must be at least 1, got 0"),
        ({"workers": 0}, "`workers` must be at least 1, got 0"),
        ({"seed": -1}, "`seed` must be at least 0, got -1"),
    ],
)
def test_iv(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        run_studies(**{"names": ["samples"], "out": tmp_path / "out", **options})
    assert not (tmp_path / "out").exists()


def test_out_that_is_a_file_iv(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="`out` must be a folder to write to"):
        run_studies(["samples"], out=tmp_path / "file" / "out")


def test_missing_matplotlib_is_named_before_any_work_iv(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'nosplit\[plot\]'"):
        run_studies(["type2"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_command_prints_claims_and_where_the_page_is(tmp_path):
    app = typer.Typer()
    app.command()(reproduce)
    arguments = ["densities", "geometry", "--trials", "200", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, [*arguments, "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "densities    3 of 3 claims supported" in result.output
    assert str(tmp_path / "index.html") in result.output


def test_command_lists_every_experiment():
    help_text = Path(sys.modules[reproduce.__module__].__file__).read_text()
    for name in EXPERIMENTS:
        assert name in help_text
