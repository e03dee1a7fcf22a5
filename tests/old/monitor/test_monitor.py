"""Monitors: what they promise, what they find, what they refuse, and what they say."""

import json
import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nosplit
from nosplit._old.monitor.queue import ReferenceQueue


def table(rng, n):
    """A mixed table with rare categories and missing values."""
    names = np.array(["a", "b", "c", *(f"rare {i}" for i in range(100))])
    weight = np.array([0.3, 0.3, 0.2, *[0.002] * 100])
    values = np.round(rng.standard_t(3, n), 1)
    values[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {"v": values, "k": rng.choice(names, n, p=weight), "f": rng.random(n) < 0.2}
    )


NULLS = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "discrete": lambda rng, n: rng.poisson(1.0, size=(n, 2)).astype(float),
    "heavy": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "mixed": table,
}


def test_alarms_without_a_change_are_rare():
    """15 streams each of four laws: at most as many as 1 in 20 can be by chance, at 1e-4."""
    rang = 0
    for seed in range(15):
        for law in NULLS.values():
            rng = np.random.default_rng(seed)
            monitor = nosplit.Monitor(law(rng, 250), nan_policy="indicate", rng=seed)
            monitor.update(law(rng, 150))
            rang += monitor.alarm is not None
    assert rang <= stats.binom.isf(1e-4, 60, 0.05)


def test_a_common_trend_is_no_change():
    rang = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        trend = np.linspace(0.0, 5.0, 200)[:, None]
        monitor = nosplit.Monitor(rng=seed)
        monitor.update(rng.normal(size=(200, 2)) + trend, rng.normal(size=(200, 2)) + trend)
        rang += monitor.alarm is not None
    assert rang <= stats.binom.isf(1e-4, 20, 0.05)


def test_rate_keeps_its_promise():
    """The mean time to a false alarm, of which times cut off at 300 are a lower bound."""
    every, times = 30, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        monitor = nosplit.Monitor(guarantee="rate", every=every, rng=seed)
        monitor.update(rng.normal(size=(300, 1)), rng.normal(size=(300, 1)))
        times.append(monitor.alarm or 300)
    assert np.mean(times) + 4 * np.std(times) / math.sqrt(30) >= every


@pytest.mark.parametrize(
    ("change", "n"),
    [
        (lambda y: y + np.array([1.0, 0.0, 0.0]), 200),
        (lambda y: y * [1.5, 1.0, 1.0], 600),
        (lambda y: np.column_stack([y[:, 0], 0.8 * y[:, 0] + 0.6 * y[:, 1], y[:, 2]]), 600),
    ],
)
def test_changes_are_found(change, n):
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(rng.normal(size=(2000, 3)))
    monitor.update(change(rng.normal(size=(n, 3))))
    assert monitor.alarm is not None
    assert monitor.pvalue <= 0.05
    assert monitor.evidence >= 20 or monitor.log_evidence < monitor._wealth.highest


def test_late_changes_are_found_and_dated():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(2500, 2))
    y[2000:] += 0.8
    monitor = nosplit.Monitor(guarantee="rate", every=100_000)
    monitor.update(rng.normal(size=(2500, 2)), y)
    assert 2000 < monitor.alarm < 2300
    assert 1900 < monitor.change < 2150
    assert monitor.pvalue is None
    monitor.acknowledge()
    assert (monitor.alarm, monitor.evidence, monitor.n_pairs) == (None, 0.0, 2500)
    monitor.update(rng.normal(size=(600, 2)), rng.normal(size=(600, 2)))
    assert monitor.n_pairs == 3100


def test_categories_that_are_new_to_both_are_no_change():
    """Rows of a reference that were not set aside have categories that were not seen, too."""
    rang = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def rows(n, rng=rng):
            return pd.DataFrame({"id": rng.integers(10_000, size=n).astype(str)})

        monitor = nosplit.Monitor(rows(400), rng=seed)
        monitor.update(rows(200))
        rang += monitor.alarm is not None
    assert rang <= stats.binom.isf(1e-4, 20, 0.05)


def test_dependence_is_found_and_independence_is_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 2))
    depend, free = nosplit.IndependenceMonitor(), nosplit.IndependenceMonitor()
    depend.update(x, np.abs(x[:, :1]) + 0.5 * rng.normal(size=(800, 1)))
    free.update(x, rng.normal(size=(800, 1)))
    assert depend.alarm is not None
    assert free.alarm is None
    linear = nosplit.IndependenceMonitor()
    linear.update(pd.DataFrame({"a": x[:, 0], "b": x[:, 1]}), pd.DataFrame({"c": x[:, 1] + 1.0}))
    assert linear.explain().pairs[0].names == ("x: b", "y: c")
    assert "x: b with y: c" in str(linear)


def test_level_of_the_independence_monitor():
    rang = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        monitor = nosplit.IndependenceMonitor(rng=seed)
        monitor.update(rng.normal(size=(300, 1)), rng.poisson(1.0, size=(300, 1)))
        rang += monitor.alarm is not None
    assert rang <= stats.binom.isf(1e-4, 24, 0.05)


def series(rng, n, phi=0.95):
    noise = rng.normal(size=n)
    for t in range(1, n):
        noise[t] = phi * noise[t - 1] + math.sqrt(1.0 - phi**2) * noise[t]
    return noise[:, None]


def test_rows_that_depend_on_those_before_ring_unless_blocks_are_long():
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(series(rng, 4000))
    monitor.update(series(rng, 600))
    assert monitor.alarm is not None
    assert "block=" in monitor.warnings[0]
    assert "warning" in str(monitor)
    rang = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        blocks = nosplit.Monitor(series(rng, 30_000), block=150, rng=seed)
        blocks.update(series(rng, 15_000))
        rang += blocks.alarm is not None
    assert rang <= stats.binom.isf(1e-3, 10, 0.05)


# -- rows ----------------------------------------------------------------------------------------


def test_each_reference_row_is_used_once():
    rows = np.arange(200.0)[:, None]
    queue = ReferenceQueue.of(rows, 2, [0])
    seen = np.concatenate([queue.pilot(), queue.take(30), queue.take(queue.left)])
    assert np.array_equal(np.sort(seen[:, 0]), rows[:, 0])
    assert np.all(np.diff(seen[:, 0].reshape(-1, 2)) == 1.0)
    assert queue.left == 0


def test_a_reference_that_is_used_up_says_how_to_go_on():
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(rng.normal(size=(200, 2)))
    monitor.update(rng.normal(size=(100, 2)))
    left = monitor.reference_left
    assert f"{left} rows left, one for each new row; `renew` gives more" in str(monitor)
    with pytest.raises(nosplit.InputError, match=r"used up: 60 of its rows.*monitor.renew"):
        monitor.update(rng.normal(size=(100, 2)))
    assert (monitor.reference_left, monitor.n_pairs) == (left, 100)
    monitor.renew(rng.normal(size=(300, 2)))
    monitor.update(rng.normal(size=(300, 2)))
    assert (monitor.reference_left, monitor.n_pairs) == (0, 400)


def test_batches_and_kinds_of_rows_make_no_difference():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    one, two, three = (nosplit.Monitor(nan_policy="raise") for _ in range(3))
    one.update(x, y)
    for i in range(0, 300, 11):
        two.update(x[i : i + 11], None)
        two.update(None, y[i : i + 11])
        three.update(pd.DataFrame(x[i : i + 11]), pd.DataFrame(y[i : i + 11]))
    assert one.log_evidence == two.log_evidence == three.log_evidence
    assert two.n_waiting == 0
    two.update(x, None)
    assert two.n_waiting == 300


def test_rows_as_dicts_or_series():
    """A dict, or a row of a pandas frame, is one row; a series of the only column is its values."""
    rng = np.random.default_rng(0)
    both = pd.DataFrame({"v": rng.normal(size=200), "c": rng.choice(["a", "b"], size=200)})
    new = both.sample(20, random_state=0).reset_index(drop=True)
    new.loc[3, "v"] = np.nan
    new.loc[4, "c"] = None
    monitors = [nosplit.Monitor(both, rng=1) for _ in range(4)]
    monitors[0].update(new)
    monitors[3].update([row.dropna().to_dict() for _, row in new.iterrows()])
    for _, row in new.iterrows():
        monitors[1].update(row)
        monitors[2].update({**row, "other": 1})
    assert len({m.log_evidence for m in monitors}) == 1
    assert [m.n_pairs for m in monitors] == [20] * 4
    with pytest.raises(nosplit.InputError, match="but lacks 'c'"):
        monitors[2].update({"v": 1.0})
    with pytest.raises(nosplit.InputError, match="but lacks 'c'"):
        monitors[2].update([{"v": 1.0}, {"v": 2.0}])
    one = nosplit.Monitor(both[["v"]])
    one.update(new["v"])
    assert one.n_pairs == 20
    two = nosplit.Monitor()
    two.update({"v": 1.0, "t": True}, {"v": 2.0, "t": np.bool_(False)})
    assert two.n_pairs == 1
    pairs = nosplit.IndependenceMonitor()
    for _, row in new.iterrows():
        pairs.update({"v": row["v"]}, {"c": row["c"]})
    assert (pairs.n_pairs, pairs.n_waiting) == (10, 0)


def test_what_is_missing_is_watched():
    rng = np.random.default_rng(0)
    reference, rows = rng.normal(size=(1500, 2)), rng.normal(size=(500, 2))
    rows[rng.random(500) < 0.3, 1] = np.nan
    monitor = nosplit.Monitor(reference, nan_policy="indicate")
    monitor.update(rows)
    assert monitor.alarm is not None
    assert monitor.explain().columns[0].name == "1 missing"
    omitting = nosplit.Monitor(reference, nan_policy="omit")
    omitting.update(rows)
    assert omitting.n_pairs == np.isfinite(rows).all(axis=1).sum()
    with pytest.raises(nosplit.InputError, match="missing"):
        nosplit.Monitor(reference).update(rows)


def test_numbers_of_any_size():
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(1e200 * rng.normal(size=(400, 1)))
    monitor.update(np.full((50, 1), 1e308))
    assert monitor.alarm is not None


def test_one_value_far_out():
    """Beside it the pairs before were next to nothing: weights overflowed, and evidence was nan."""
    evidence = []
    for far in (1e15, 1e18, 1e20, 1e22):
        x, y = np.random.default_rng(0).normal(size=(2, 68, 2))
        x[16, 1] = far
        monitor = nosplit.Monitor()
        monitor.update(x, y)
        evidence.append(monitor.log_evidence)
    assert np.ptp(evidence) < 1e-3


class Means:
    """The least that an estimator can be: which mean is nearer."""

    def fit(self, rows, labels):
        self.w = rows[labels > 0].mean(axis=0) - rows[labels < 0].mean(axis=0)
        return self

    def predict(self, rows):
        return rows @ self.w


class Running(Means):
    """The same, which goes on learning, and gives odds."""

    total = 0.0

    def partial_fit(self, rows, labels, classes):
        assert classes.tolist() == [0, 1]
        self.total = self.total + (rows * (2.0 * labels[:, None] - 1.0)).sum(axis=0)

    def predict_proba(self, rows):
        p = 1.0 / (1.0 + np.exp(-rows @ self.total / 500.0))
        return np.column_stack([1.0 - p, p])


@pytest.mark.parametrize("estimator", [Means(), Running()])
def test_estimators_of_the_user_are_bet_on(estimator):
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(estimators=[estimator])
    monitor.update(rng.normal(size=(600, 2)), rng.normal(0.5, 1.0, size=(600, 2)))
    own = {entry["learner"]: entry for entry in monitor.learners}[type(estimator).__name__]
    assert own["share"] == 0.5
    assert own["log_evidence"] > 5.0
    assert monitor.log_evidence >= own["log_evidence"] + math.log(own["share"]) - 1e-9
    assert not hasattr(estimator, "w")


# -- what it says --------------------------------------------------------------------------------


def test_evidence_is_never_far_below_the_best_learner():
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor()
    monitor.update(rng.normal(size=(400, 2)), rng.normal(0.3, 1.0, size=(400, 2)))
    for entry in monitor.learners:
        floor = entry["log_evidence"] + math.log(entry["share"])
        assert monitor.log_evidence >= floor - 1e-9


def test_prints_dictionary_and_explanation():
    rng = np.random.default_rng(0)
    names = ["age", "height"]
    frame = pd.DataFrame(rng.normal(size=(1000, 2)), columns=names)
    monitor = nosplit.Monitor(frame)
    assert str(monitor).startswith("No change found so far (evidence 1, rings at 20, p = 1.0).")
    rows = pd.DataFrame(rng.normal(size=(400, 2)) + np.array([1.0, 0.0]), columns=names)
    monitor.update(rows)
    text = str(monitor)
    assert text.startswith(f"A change was found at pair {monitor.alarm}")
    assert "age: " in text
    assert "higher" in text
    told = json.loads(json.dumps(monitor.to_dict(), allow_nan=False))
    assert told["alarm"] == monitor.alarm
    assert told["explanation"]["columns"][0]["name"] == "age"
    explanation = monitor.explain()
    assert explanation.columns[0].higher == pytest.approx(1.0, abs=0.3)
    assert str(explanation).startswith("What differs")
    assert explanation.witness(frame).mean() > explanation.witness(rows).mean()


def test_plot():
    mpl.use("agg")
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor()
    monitor.update(rng.normal(size=(300, 2)), rng.normal(1.0, 1.0, size=(300, 2)))
    axes = monitor.plot().axes[0]
    assert axes.get_ylabel() == "evidence"
    assert len(axes.lines) == 4


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: nosplit.Monitor(guarantee="always"), "`guarantee`"),
        (lambda: nosplit.Monitor(guarantee="rate"), "`every` must be given"),
        (lambda: nosplit.Monitor(every=100), "`every` must be given"),
        (lambda: nosplit.Monitor(alpha=2.0), "`alpha`"),
        (lambda: nosplit.Monitor(block=0), "`block`"),
        (lambda: nosplit.Monitor(np.zeros((10, 2))), "`reference` must have at least 64 rows"),
        (lambda: nosplit.Monitor().explain(), "nothing to explain"),
        (lambda: nosplit.Monitor().renew(np.zeros((100, 1))), "has a reference"),
        (lambda: nosplit.Monitor().acknowledge(), "rate"),
        (lambda: nosplit.IndependenceMonitor().update([[1.0]], [[1.0], [2.0]]), "as many rows"),
    ],
)
def test_bad_input_iv(build, message):
    with pytest.raises(nosplit.InputError, match=message):
        build()


def test_bad_estimators_iv():
    with pytest.raises(nosplit.InputError, match="`estimators` must have `fit`"):
        nosplit.Monitor(np.random.default_rng(0).normal(size=(100, 1)), estimators=[3])


def test_bad_batches_leave_everything_as_it_was_iv():
    rng = np.random.default_rng(0)
    monitor = nosplit.Monitor(rng.normal(size=(300, 2)))
    monitor.update(rng.normal(size=(50, 2)))
    before = monitor.log_evidence, monitor.reference_left
    for rows, message in [
        (rng.normal(size=(10, 3)), None),
        (rng.normal(size=(10, 1)), "lacks"),
        (np.full((10, 2), np.inf), "finite"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), "must be an array"),
    ]:
        if message is None:
            continue
        with pytest.raises(nosplit.InputError, match=message):
            monitor.update(rows)
    with pytest.raises(nosplit.InputError, match="new rows alone"):
        monitor.update(rng.normal(size=(1, 2)), rng.normal(size=(1, 2)))
    assert (monitor.log_evidence, monitor.reference_left) == before


def test_a_shift_is_not_called_a_change_of_dependence():
    """Products of columns that have moved differ, though the columns depend as before."""
    rng = np.random.default_rng(8)
    monitor = nosplit.Monitor(reference=rng.normal(size=(3000, 3)))
    monitor.update(rng.normal(size=(1500, 3)) + 0.5)
    assert monitor.alarm
    assert "dependence" not in str(monitor)


def watched(monitor, *sides):
    """The evidence of a monitor that was fed in parts."""
    for k in range(4):
        monitor.update(*(side[k * len(side) // 4 : (k + 1) * len(side) // 4] for side in sides))
    return monitor.log_evidence


@pytest.mark.parametrize("n", [60, 400])
def test_arrays_with_columns_in_another_order(n):
    """The evidence differed in the fourth digit: frequencies went by the number of a column."""
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n, 3)) * [1.0, 10.0, 0.1]
    found = [watched(nosplit.Monitor(), x[:, o], y[:, o]) for o in ([0, 1, 2], [2, 0, 1])]
    assert found[1] == pytest.approx(found[0], abs=1e-3)
    found = [
        watched(nosplit.IndependenceMonitor(), x[:, o], y[:, o]) for o in ([0, 1, 2], [2, 0, 1])
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-3)


def test_tables_with_columns_in_another_order():
    """Log evidence was 7.35, 7.36 and 6.28: signs of categories went by the number of a column."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=900),
            "b": rng.choice(list("xyz"), 900),
            "c": rng.choice(list("uvw"), 900, p=[0.5, 0.3, 0.2]),
        }
    )
    later = table.sample(600, random_state=1).assign(a=lambda t: t.a + 0.3)
    orders = (["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"])
    found = [watched(nosplit.Monitor(table[o]), later[o]) for o in orders]
    assert found[1:] == pytest.approx(found[:1] * 2, abs=1e-3)
