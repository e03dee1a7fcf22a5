"""The commands gof and independence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nosplit import InputError, goodness_of_fit_test, independence_test, models
from nosplit._old.cli.shared.parsing import parse_model


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    """Run the command line in a folder with x, a heavy-tailed y and categories c that go with x."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    np.savetxt("x.csv", x)
    np.savetxt("y.csv", x + 0.3 * rng.standard_t(2.0, size=80))
    np.savetxt("c.csv", (np.abs(x) > 0.7).astype(float))
    np.save("scores.npy", -x[:, None])
    np.save("wide.npy", rng.normal(size=(40, 2)))
    return run


def test_gof_says_what_the_library_says(run):
    code, out, err = run("gof", "x.csv", "--json")
    assert (code, err) == (0, "")
    printed = json.loads(out)
    result = goodness_of_fit_test(np.loadtxt("x.csv"), models.MultivariateNormal(0.0))
    assert printed["pvalue"] == result.pvalue
    assert printed["how"]["calibration"] == "simulate"
    assert printed["reject"] is False


def test_gof_with_scores_and_a_series(run):
    code, out, _ = run("gof", "x.csv", "--scores", "scores.npy", "--calibration", "wild")
    assert code == 0
    assert out.startswith("x.csv and scores.npy\nNo evidence against the model")
    code, out, _ = run("gof", "x.csv", "--series", "--json")
    assert json.loads(out)["how"]["design"]["kind"] == "series"


def test_gof_rejects_with_an_exit_code(run):
    assert run("gof", "x.csv", "--model", "normal:3,1", "--exit-code")[0] == 1
    assert run("gof", "x.csv", "--model", "logistic:0,0.55", "--exit-code")[0] == 0


def test_independence_says_what_the_library_says(run):
    code, out, err = run("independence", "x.csv", "y.csv", "--json", "--exit-code")
    assert (code, err) == (1, "")
    assert (
        json.loads(out)["pvalue"] == independence_test(*map(np.loadtxt, ("x.csv", "y.csv"))).pvalue
    )
    code, out, _ = run("independence", "x.csv", "c.csv", "--categories", "y")
    assert code == 0
    assert "The variables depend on each other" in out
    code, out, _ = run("independence", "x.csv", "c.csv", "--categories", "y", "--json")
    assert "Delta()" in json.loads(out)["selection"]["kernels"][0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("gof", "x.csv", "--model", "norml"), "`--model` must be normal"),
        (("gof", "x.csv", "--model", "t:five"), "`--model` must have numbers after the colon"),
        (("gof", "x.csv", "--model", "gamma"), "must have its parameters"),
        (("gof", "x.csv", "--model", "gamma:-1"), "parameters out of range"),
        (("gof", "x.csv", "--model", "gamma:3"), "density is zero"),
        (("gof", "wide.npy", "--model", "gamma:3"), "is a law of one column"),
        (("gof", "x.csv", "--scores", "wide.npy"), "`score` must give one row of 1"),
        (("independence", "x.csv", "wide.npy"), "must have as many rows"),
        (("independence", "x.csv", "y.csv", "--categories", "z"), "none, x, y or both"),
    ],
)
def test_errors_exit_with_2(run, args, message):
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err


@pytest.mark.parametrize("text", ["normal", "normal:1,2", "t:5", "laplace", "laplace:0,2"])
def test_models_of_several_columns(text):
    model = parse_model(text, 3)
    x = model.sample(10, np.random.default_rng(0))
    assert np.shape(model.score(x)) == (10, 3)


@pytest.mark.parametrize("text", ["normal:0,1e200", "normal:0,-1", "normal:0,0", "normal:inf,1"])
def test_normal_models_out_of_range(text):
    with pytest.raises(InputError, match=f"positive sd whose square is a number, got '{text}'"):
        parse_model(text, 1)
