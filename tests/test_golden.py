"""Golden calls keep what golden.json has recorded: see golden.py."""

from __future__ import annotations

import pytest

import golden

RECORDS = golden.recorded()


@pytest.mark.parametrize("name", golden.NAMES)
def test_golden_call_against_record(name, tmp_path):
    found, old = golden.record(name, tmp_path), RECORDS[name]
    assert not golden.changed(found, old), f"p = {found['p']}, recorded {old.get('p')}"


def test_every_record_has_a_call():
    assert list(RECORDS) == golden.NAMES


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("equal, null", {"n_used": 199}),
        ("equal, null", {"verdict": "differ"}),
        ("equal, null", {"tau": [0.0] * 7}),
        ("paper, linear", {"log_p": RECORDS["paper, linear"]["log_p"] * (1 + 1e-9)}),
    ],
)
def test_changes_are_seen(name, change):
    assert golden.changed(RECORDS[name], RECORDS[name]) == []
    assert len(golden.changed(RECORDS[name] | change, RECORDS[name])) == 1
