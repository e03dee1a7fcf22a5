"""Several samples: whether all come from one distribution, and which of them differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nosplit._checks import Seed, check_flags, check_rng, new_key, resolve, seed_of
from nosplit._old.data.files.whole import read_if_path
from nosplit._old.data.several import SeveralSamples, several_samples, split_rows
from nosplit._old.designs.asked import check_exchange, leaving_out
from nosplit._old.designs.several.result import KSampleResult
from nosplit._old.designs.several.testing import SampleTests, compare_samples
from nosplit._old.inference.planning.limits import as_method
from nosplit.core.pairings import Pairing
from nosplit.data.labels import is_name, label_policy, labels_of_sample, named_in
from nosplit.data.options import Options, by_policy
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact
from nosplit.kernels.recipes import Kernels, asked_for
from nosplit.methods import Method

__all__ = ["k_sample_test"]

# Pairs of samples that are compared at the most without a control.
MOST_PAIRS = 200


def k_sample_test(
    samples: Any,
    labels: Any = None,
    *,
    control: Any = None,
    follow_up: bool = True,
    kernels: Kernels = None,
    method: Method | str = "auto",
    pairs: Pairing | str | int = "auto",
    calibration: Exact | str = "auto",
    budget: float = 1.0,
    rng: Seed = 0,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    workers: int | None = None,
) -> KSampleResult:
    """Test whether several samples all come from one distribution, and which of them differ.

    The overall test permutes the labels of all rows, and is exact over those draws if rows are
    independent.

    Every pair of samples is then compared, or every sample with a control, each by draws that
    exchange these two samples only. p-values are adjusted so that the probability of naming any two
    samples that are alike is at most the level: by closed testing for up to five samples, by Holm's
    rule with as many draws as that needs for more.

    Parameters
    ----------
    samples : list of samples, mapping of them by name, or rows with `labels`
        Samples are arrays, tables or files, as for `two_sample_test`.
    labels : str or sequence, optional
        The sample of each row of `samples`: labels, or the name of a column of the table.
    control : optional
        Name (or, in a list, position) of the sample that all others are compared with.
    follow_up : bool
        Whether samples are compared two by two, besides the overall test.
    kernels, method, pairs, calibration, budget, rng
        As in `two_sample_test`, of each of the tests; pairs are "complete", "sketch" or "auto", and
        calibration is exact.
    nan_policy, scale, columns, exclude, workers
        As in `two_sample_test`.

    Returns
    -------
    KSampleResult
        With the `pvalue` of the overall test, `comparisons`, and `differing(alpha)`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 60, 2))
    >>> res = k_sample_test({"a": a, "b": b, "c": c + 1.0})
    >>> res.reject(0.05), sorted(res.differing(0.05))
    (True, [('a', 'c'), ('b', 'c')])

    The same as rows with labels, against a control:

    >>> rows, labels = np.concatenate([a, b, c + 1.0]), np.repeat(["a", "b", "c"], 60)
    >>> k_sample_test(rows, labels, control="a").differing(0.05)
    (('a', 'c'),)
    """
    check_flags(follow_up=follow_up)
    generator, chosen = check_rng(rng), as_method(method)
    check_exchange("k_sample_test", chosen, pairs, calibration)

    def read(policy: str) -> SeveralSamples:
        options = Options.of(scale, columns, exclude, policy)
        if labels is None:
            return several_samples(samples, options)
        return _split(samples, labels, options, label_policy(nan_policy))

    data = by_policy(nan_policy, read)
    first = None if control is None else _control(control, data.names)
    _check_number(len(data.names), first, follow_up)
    named, seed = asked_for(kernels), new_key(generator)
    tests = SampleTests(data, named, chosen, pairs, calibration, budget, workers, seed)
    result = compare_samples(tests, first, follow_up)
    overall = result.overall.done(seed=seed_of(rng, generator))
    return replace(result, overall=overall)


def _split(rows: Any, labels: Any, options: Options, policy: str) -> SeveralSamples:
    """Rows by their labels, in the order in which these first come."""
    rows = read_if_path(rows)
    if is_name(labels):
        named_in(labels, (("rows", rows),), "labels")
        options = leaving_out(options, (labels,))
    numbers, encoding, kept = split_rows(rows, options)
    found = labels_of_sample(labels, rows, kept, policy)
    names = tuple(map(str, found.names))
    if len(names) < 2:
        raise InputError(f"`labels` must name at least 2 samples, got only {names[0]!r}.")
    parts = [numbers[found.codes == k] for k in range(len(names))]
    missing = int(np.count_nonzero(found.codes < 0))
    return SeveralSamples(names, parts, encoding, len(kept) - len(numbers) + missing)


def _control(control: Any, names: tuple[str, ...]) -> int:
    return resolve(str(control), {name: k for k, name in enumerate(names)}, "control")


def _check_number(count: int, control: int | None, follow_up: bool) -> None:
    pairs = count * (count - 1) // 2
    if follow_up and control is None and pairs > MOST_PAIRS:
        raise InputError(
            f"`samples` are {count}, which makes {pairs:,} pairs to compare. Name the one that all "
            "others are compared with by control=, or leave the comparisons out with "
            "follow_up=False."
        )
