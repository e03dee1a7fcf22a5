"""Commands accumulate, merge and result: the same as one call, and errors that say what to do."""

from __future__ import annotations

import json

import numpy as np
import pytest

import nosplit
from nosplit import Gaussian, GoodnessOfFitAccumulator, Linear, TwoSampleAccumulator, models

KERNELS = ("--kernels", "paper2")
ADJACENT = ("--pairs", "adjacent", *KERNELS)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4000, 2)), rng.normal(size=(4000, 2)) * 1.5


@pytest.fixture
def files(tmp_path, samples, monkeypatch):
    """Two halves of either sample, as two machines might hold them."""
    monkeypatch.chdir(tmp_path)
    for name, values in zip(("x", "y"), samples, strict=True):
        np.save(f"{name}.npy", values)
        np.save(f"{name}1.npy", values[:2000])
        np.save(f"{name}2.npy", values[2000:])
        np.savetxt(f"{name}.csv", values, delimiter=",", header="u,v", comments="")
    return tmp_path


def failed(answer, *texts):
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    for text in texts:
        assert text in err


def test_parts_add_up_against_one_call(run, files, samples):
    options = ("--no-shuffle", "--json")
    code, out, err = run("accumulate", "x1.npy", "y1.npy", "--out", "s1", *ADJACENT, *options)
    assert (code, err) == (0, "")
    first = json.loads(out)
    expected = {
        "state": "s1",
        "family": "two_sample",
        "pairs": "adjacent",
        "n_pairs": 1000,
        "n_units": 2000,
        "n_used": 4000,
        "n_waiting": 0,
        "n_dropped": 0,
        "n_omitted": 0,
    }
    assert {name: first[name] for name in expected} == expected
    assert len(first["kernels"]) == 2
    run("accumulate", "x2.npy", "y2.npy", "--out", "s2", "--kernels-from", "s1", *options)
    assert json.loads(run("merge", "s1", "s2", "--out", "s", "--json")[1])["n_pairs"] == 2000
    res = json.loads(run("result", "s", "--json", "--alpha", "0.01")[1])
    kernels = TwoSampleAccumulator.load("s").kernels
    expected = nosplit.two_sample_test(
        *samples, kernels=kernels, pairs="adjacent", calibration="asymptotic", shuffle=False
    )
    assert res["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert res.keys() >= {*expected.to_dict(), "reject", "alpha"}
    assert (res["reject"], res["alpha"], res["n_left_out"]) == (True, 0.01, 0)
    assert run("result", "s", "--exit-code")[0] == 1


def test_sketches_of_parts(run, files, samples):
    code, out, err = run("accumulate", "x1.npy", "y1.npy", "--out", "s1", *KERNELS, "--json")
    assert (code, err) == (0, "")
    first = json.loads(out)
    expected = {"pairs": "sketch", "n_units": 1000, "n_pairs": 499_500, "n_used": 4000}
    assert {name: first[name] for name in expected} == expected
    run("accumulate", "x2.npy", "y2.npy", "--out", "s2", "--kernels-from", "s1")
    assert json.loads(run("merge", "s1", "s2", "--out", "s", "--json")[1])["n_used"] == 8000
    res = json.loads(run("result", "s", "--json", "--flips", "999")[1])
    assert (res["pvalue"], res["reject"], res["calibration"]) == (0.001, True, "exact")
    assert (res["flips"], res["n_used"], res["n_left_out"]) == (999, 8000, 0)
    # A file of few rows has a map for others, too, and no rows.
    np.save("few.npy", samples[0][:40])
    run("accumulate", "few.npy", "few.npy", "--out", "few", "--kernels", "paper2")
    assert json.loads((files / "few").read_text())["state"]["waiting"][0]["shape"] == [0, 2]
    assert run("accumulate", "x1.npy", "y1.npy", "-o", "t", "--kernels-from", "few")[0] == 0


def test_in_words(run, files):
    code, out, err = run("accumulate", "x.npy", "y1.npy", "-o", "s", "--ratio", "2:1", *ADJACENT)
    assert (code, err) == (0, "")
    assert out == "s\n  pairs      adjacent: 1,000 of 2,000 units\n  rows       6,000 used\n"
    out = run("accumulate", "x.npy", "y1.npy", "-o", "t", "--limit", "5", *KERNELS)[1]
    assert "sketch: 499,500 of 1,000 blocks" in out
    assert "4,000 used, 5 waiting, 1,995 dropped" in out
    code, out, err = run("result", "s", "--method", "best")
    assert (code, err) == (0, "")
    assert out.startswith("s\nThe samples differ (p = ")
    assert "best, asymptotic calibration" in out
    assert "Split where only moments are kept" in run("result", "s", "--method", "split")[2]
    assert (
        "best, exact for independent rows, 199 draws"
        in (run("result", "t", "--method", "best", "--flips", "199")[1])
    )
    assert "must not be Split with a sketch" in run("result", "t", "--method", "split")[2]


def test_rows_are_shuffled(run, files):
    rng = np.random.default_rng(0)
    np.save("up.npy", np.sort(rng.normal(size=3000)))
    np.save("also.npy", np.sort(rng.normal(size=3000)))
    run("accumulate", "up.npy", "also.npy", "-o", "s", *KERNELS)
    assert "DependentRowsWarning" not in run("result", "s")[1]
    run("accumulate", "up.npy", "also.npy", "-o", "t", "--no-shuffle", *KERNELS)
    assert "DependentRowsWarning" in run("result", "t")[1]
    before = (files / "s").read_bytes()
    run("accumulate", "up.npy", "also.npy", "-o", "s", "--force", "--seed", "0", *KERNELS)
    assert (files / "s").read_bytes() == before
    run("accumulate", "up.npy", "also.npy", "-o", "s", "--force", "--seed", "1", *KERNELS)
    assert (files / "s").read_bytes() != before


def test_tables_and_large_files(run, files, samples, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    for name, values in zip(("x", "y"), samples, strict=True):
        columns = {"u": values[:, 0], "v": values[:, 1], "w": rng.choice(["a", "b"], 4000)}
        pq.write_table(pa.table(columns), f"{name}.parquet", row_group_size=500)
    small = json.loads(run("accumulate", "x.parquet", "y.parquet", "-o", "s", "--json")[1])
    monkeypatch.setattr("nosplit.data.files.whole.SMALL", 100)
    monkeypatch.setattr("nosplit.cli.streams.BATCH", 512)
    options = ("--kernels-from", "s", "--json")
    large = json.loads(run("accumulate", "x.parquet", "y.parquet", "-o", "t", *options)[1])
    counts = ("n_pairs", "n_units", "n_used", "n_dropped", "kernels")
    assert all(small[name] == large[name] for name in counts)
    assert small["n_used"] == 8000
    assert run("merge", "s", "t", "--out", "both")[0] == 0
    assert "2 numeric, 1 categorical" in run("result", "both")[1]
    options = ("--exclude", "w", "--nan-policy", "omit")
    assert run("accumulate", "x.parquet", "y.csv", "-o", "u", *options)[0] == 0
    res = json.loads(run("result", "u", "--json")[1])
    assert res["columns"] == ["u", "v"]
    failed(run("accumulate", "x.parquet", "y.csv", "-o", "v"), "w", "y.csv")


# Errors -----------------------------------------------------------------------------------------


def test_nothing_is_replaced_unasked(run, files):
    run("accumulate", "x1.npy", "y1.npy", "-o", "s", *KERNELS)
    before = (files / "s").read_bytes()
    failed(run("accumulate", "x2.npy", "y2.npy", "-o", "s"), "`s` is there already", "--force")
    failed(run("merge", "s", "--out", "x.npy"), "`x.npy` is there already")
    assert (files / "s").read_bytes() == before
    assert run("merge", "s", "--out", "s", "--force")[0] == 0
    assert TwoSampleAccumulator.load("s").counts()["n_used"] == 4000


def test_options_iv(run, files):
    run("accumulate", "x1.npy", "y1.npy", "-o", "s", *KERNELS)
    base = ("accumulate", "x1.npy", "y1.npy", "--out")
    failed(run(*base, "t", "--ratio", "3"), "`--ratio`", "1:3")
    failed(run(*base, "t", "--ratio", "1:40"), "at most 16 to 1")
    failed(run(*base, "t", "--pairs", "complete"), '"sketch" or "adjacent"')
    failed(run(*base, "t", "--limit", "0"), "`--limit`")
    failed(run(*base, "t", "--kernels", "papr2"), "Did you mean 'paper2'")
    failed(run(*base, "no/t"), "folder that exists")
    failed(run(*base, "."), "must be a file")
    failed(run(*base, "t", "--kernels-from", "nothing"), "`nothing` cannot be read")
    failed(run(*base, "t", "--kernels-from", "s", "--pairs", "adjacent"), "leave out the options")
    failed(run("accumulate", "x1.npy", "nothing.npy", "-o", "t"), "`nothing.npy` cannot be read")
    failed(run("result", "s", "--alpha", "2"), "`--alpha`")
    failed(run("result", "s", "--method", "osst"), "Did you mean 'ost'")
    assert not (files / "t").exists()


def test_states_iv(run, files):
    (files / "text").write_text("hello")
    failed(run("result", "text"), "`text` is not an accumulator file")
    failed(run("merge", "text", "--out", "t"), "`text` is not an accumulator file")
    run("accumulate", "x1.npy", "y1.npy", "-o", "s1")
    run("accumulate", "x2.npy", "y2.npy", "-o", "s2")
    failed(run("merge", "s1", "s2", "--out", "t"), "`s2`", "the same map", "--kernels-from s1")
    failed(run("merge", "s1", "s1", "--out", "t"), "count twice")
    other = GoodnessOfFitAccumulator(models.MultivariateNormal([0.0]), Gaussian(1.0))
    other.update(np.random.default_rng(0).normal(size=1200))
    other.save("fit")
    failed(run("merge", "s1", "fit", "--out", "t"), "must hold a TwoSampleAccumulator")
    assert run("result", "fit")[1].startswith("fit\nNo evidence against the model")
    TwoSampleAccumulator([Linear()]).save("none")
    failed(run("result", "none"), "no pairs to test yet")
    model = models.MultivariateNormal([0.0])
    GoodnessOfFitAccumulator(model, Gaussian(1.0), pairs="adjacent").save("closed")
    failed(run("result", "closed", "--flips", "99"), "`--flips` is for sketches")
    TwoSampleAccumulator().save("unfixed")
    base = ("accumulate", "x1.npy", "y1.npy", "--out", "t", "--kernels-from")
    failed(run(*base, "unfixed"), "`unfixed` has seen too few rows")
    assert not (files / "t").exists()


def test_escape_codes_are_shown(run, files):
    name = "s\x1b[31m"
    answer = run("accumulate", "x1.npy", "y1.npy", "-o", name, *KERNELS)
    assert answer[1].startswith("s\\x1b[31m\n")
    for args in (("result", name), ("merge", name, "--out", "t\x1b[2J"), ("result", "no\x1b[2J")):
        assert "\x1b" not in "".join(map(str, run(*args)[1:]))


@pytest.mark.parametrize("command", ["accumulate", "merge", "result"])
def test_help(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert "--json" in out
    assert f"nosplit {command}" in out or f"{command} [OPTIONS]" in out
