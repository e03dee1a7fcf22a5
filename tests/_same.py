"""What is the same of results of two engines."""

from __future__ import annotations

import numpy as np


def facts(res):
    """What a result says, but for what changed, which is described only for rows in memory."""
    found = res.to_dict()
    columns = [{k: c[k] for k in ("column", "pvalue", "adjusted")} for c in found["columns"]]
    pairs = [{k: c[k] for k in ("columns", "pvalue", "adjusted")} for c in found["pairs"]]
    distance = found["distance"] and found["distance"]["pvalue"]
    return found | {"columns": columns, "pairs": pairs, "distance": distance}


def assert_same(res, ref):
    """The same integers in the cells, so the same result, to the last bit."""
    assert facts(res) == facts(ref)
    np.testing.assert_array_equal(res.selection.tau, ref.selection.tau)
    np.testing.assert_array_equal(res.null.values, ref.null.values)


def assert_near(res, ref):
    """Kernels under different draws, B of each: t = τ / σ within five Monte Carlo errors.

    The error of a mean over draws is σ / √B, that of σ less than 2 σ / √B.
    """
    t, u = (r.selection.tau / np.sqrt(np.diagonal(r.selection.cov)) for r in (res, ref))
    assert np.all(np.abs(t - u) <= 5 * np.sqrt(2 / ref.how.n_resamples) * (1 + 2 * np.abs(u)))
    assert [type(k) for k in res.selection.kernels] == [type(k) for k in ref.selection.kernels]
    assert str(res.how.design) == str(ref.how.design)
    for name in ("n_used", "n_left_out", "n_units", "n_pairs", "pairs", "calibration"):
        assert getattr(res.how, name) == getattr(ref.how, name)


def doubled_steps(sketch):
    """Steps by which a wave that follows from a slower one may be off, of cosines and sines."""
    lone = sketch.n_waves - 3 * sketch.followed
    return np.tile(np.repeat([0.0, 4.0, 48.0, 0.0], [sketch.followed] * 3 + [lone]), 2)
