"""What is the same of results of two engines."""

from __future__ import annotations

import numpy as np


def facts(res):
    """What a result says, but for what changed, which is described only for rows in memory."""
    found = res.to_dict()
    columns = [{k: c[k] for k in ("column", "pvalue", "adjusted")} for c in found["by_column"]]
    pairs = [{k: c[k] for k in ("columns", "pvalue", "adjusted")} for c in found["by_pair"]]
    distance = found["distance"] and found["distance"]["pvalue"]
    return found | {"by_column": columns, "by_pair": pairs, "distance": distance}


def assert_same(res, ref):
    """The same integers in the cells, so the same result, to the last bit."""
    assert facts(res) == facts(ref)
    np.testing.assert_array_equal(res.tau, ref.tau)
    np.testing.assert_array_equal(res.null.values, ref.null.values)


def doubled_steps(sketch):
    """Steps by which a wave that follows from a slower one may be off, of cosines and sines."""
    lone = sketch.n_waves - 3 * sketch.followed
    return np.tile(np.repeat([0.0, 4.0, 48.0, 0.0], [sketch.followed] * 3 + [lone]), 2)
