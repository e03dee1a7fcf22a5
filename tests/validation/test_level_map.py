"""A small part of the level map, and that its journal is gone on with."""

from __future__ import annotations

import json

import pytest

from benchmarks.level import map as level_map
from benchmarks.level.cells import cells
from benchmarks.level.map import Above, Count, above, lower_limit

GRID = {cell.name: cell for cell in cells()}
# Cells that are quick, of every public test.
SOME = {
    "two_sample, default: log-normal, 10 v 10, p = 2": 25,
    "two_sample, default: 1 % not 0, 10 v 400, p = 2": 10,
    "two_sample, default: mixed table, 50 v 50, p = 2": 10,
    "two_sample, pairs=linear, calibration=asymptotic: log-normal, 1000 v 1000, p = 2": 60,
    "two_sample, strata: ties, 50, p = 2": 10,
    "k_sample, default: log-normal, 50, p = 2": 10,
    "columns, default: category 5 %, 50, p = 2": 20,
    "witness, means: clusters, 50, p = 2": 20,
    "two_sample, groups: 6 v 3 rows each, 30 v 30 groups": 10,
    "mean, symmetric, series: AR(0.3), 100, p = 1": 100,
    "mean, symmetric, series: AR(0.9), 400, p = 1": 20,
    "two_sample, paired, series: AR(0.5), 100, p = 1": 30,
    "two_sample, series: AR(0.5), 100, p = 1": 15,
    "independence, series: AR(0.9), 200, p = 1": 10,
    "columns, series: AR(0.3), 100, p = 1": 15,
    "independence, default: ties, 50": 20,
    "goodness_of_fit, default: gamma(1.2), 10, p = 1": 4,
    "mean, default: 1 - exponential, 350, d = 7": 8,
    "joint_normal, ost: d = 3": 200,
    "stream, adjacent: log-normal, 2000 v 2000, p = 2": 10,
}


def test_no_cell_is_above_its_level():
    grid = [GRID[name] for name in SOME]
    counts = {cell.name: level_map.turn(cell, 0, 0, SOME[cell.name]) for cell in grid}
    assert all(count.trials for count in counts.values())
    assert above(grid, counts) == []


def test_there_are_500_cells_of_different_names():
    assert len(GRID) == len(cells()) >= 500


def test_lower_limit_against_theory():
    """Above the limit lie just so many hits with the probability that is left."""
    from scipy.stats import binom

    limit = lower_limit(9, 60, 0.999)
    assert binom.sf(8, 60, limit) == pytest.approx(0.001)
    assert lower_limit(0, 60, 0.999) == 0.0


def test_cells_above_are_told_quiet_or_not():
    cell = GRID["mean, default: normal, 20, d = 1"]
    loud = Count(trials=100, rejected=[60, 60, 60])
    quiet = Count(trials=100, quiet=100, rejected=[60, 0, 0], quietly=[60, 0, 0])
    assert [found.which for found in above([cell], {cell.name: loud})] == ["warned of"] * 3
    assert above([cell], {cell.name: quiet}) == [Above(cell.name, 0.05, 60, 100, "quiet")]


def test_series_are_judged_by_all_trials():
    cell = GRID["mean, symmetric, series: AR(0.3), 100, p = 1"]
    # Few stayed quiet, all of them rejected: 2 of 100 in all.
    few = Count(trials=60, refused=40, quiet=2, rejected=[2, 0, 0], quietly=[2, 0, 0])
    assert above([cell], {cell.name: few}) == []
    many = Count(trials=100, quiet=100, rejected=[60, 0, 0], quietly=[60, 0, 0])
    assert above([cell], {cell.name: many}) == [Above(cell.name, 0.05, 60, 100, "series")]


def test_a_journal_is_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr(level_map, "TURN", 0.0)
    cell = GRID["joint_normal, wald: d = 3"]
    journal = tmp_path / "level.jsonl"
    first = level_map.run([cell], journal, 0.02, 0)[cell.name]
    again = level_map.run([cell], journal, 0.02, 0)[cell.name]
    assert again.trials > first.trials > 0
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert sum(line["trials"] for line in lines) == again.trials
    whole = level_map.turn(cell, 0, 0, again.trials)
    assert whole.rejected == again.rejected
