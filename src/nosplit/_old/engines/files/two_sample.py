"""Two-sample tests of files that are too large to be read whole.

Rows are read in order, at the reader's speed, and dealt to cells by their numbers, so that their
order does not matter. Kernels and encoding come from pilot rows, which are found in a pass before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nosplit._old.data.files import whole
from nosplit._old.data.files.opening import is_path, open_source
from nosplit._old.data.files.source import Source
from nosplit._old.data.files.whole import by_position, two_in_memory
from nosplit._old.data.samples import some_columns
from nosplit._old.designs.asked import Asked
from nosplit._old.engines.files.adjacent import adjacent_test
from nosplit._old.engines.files.side import FileSide
from nosplit._old.engines.memory import side_in_memory
from nosplit._old.engines.reading import settled_columns
from nosplit._old.engines.sides import Sides
from nosplit._old.engines.sketching.steps import sketch_test
from nosplit._old.inference.planning.costs import Sizes, sizes_of
from nosplit._old.inference.planning.limits import Limits
from nosplit.core.pairings import Adjacent, LinearPairs, Pairing, Sketch, as_pairing
from nosplit.data.frames import CATEGORIES, as_frame
from nosplit.data.options import Options
from nosplit.errors import InputError
from nosplit.inference.calibrations import ASYMPTOTIC, Exact, resolve_calibration
from nosplit.inference.result import TestResult
from nosplit.kernels.recipes import Kernels
from nosplit.methods import Method, Naive

__all__ = ["Opened", "open_both"]

LIMITS = Limits(
    "for files that are not read whole", (Sketch(), Adjacent(), LinearPairs()), closed=True
)


@dataclass(frozen=True, eq=False)
class Opened:
    """Two samples, in files or in memory.

    Attributes
    ----------
    x, y : Source, or a sample in memory
        The samples.
    in_files : pair of bool
        Which of them are in files.
    """

    x: Any
    y: Any
    in_files: tuple[bool, bool]

    @property
    def _both(self) -> tuple[tuple[Any, bool], tuple[Any, bool]]:
        return (self.x, self.in_files[0]), (self.y, self.in_files[1])

    @property
    def large(self) -> bool:
        """Whether files hold more values than are read whole: by their sizes alone."""
        return sum(int(v.n_values) for v, in_file in self._both if in_file) > whole.SMALL

    def whole(self) -> tuple[Any, Any]:
        """All rows of both."""
        if all(self.in_files):
            return two_in_memory(self.x, self.y)
        x, y = (value.whole() if in_file else value for value, in_file in self._both)
        return x, y

    def test(
        self,
        asked: Asked,
        rng: np.random.Generator,
        workers: int | None,
        progress: bool,
        moved: Callable[[Sides], Sides] | None = None,
    ) -> TestResult | None:
        """Test large files in passes over them; None if they have few rows, to be read whole.

        Parameters
        ----------
        asked : Asked
            What is asked for.
        rng, workers, progress
            As in `two_sample_test`. Pairs are a sketch, adjacent ones with a closed form, or those
            that "auto" would choose: files with few rows, though many values, are read whole.
        moved : callable, optional
            Makes of two samples such whose sketches are made elsewhere, on a device.
        """
        wanted = _wanted(asked.method, asked.pairs, asked.calibration)
        heads = self._heads()
        if not isinstance(wanted, Sketch | Adjacent):
            plan = replace(asked, pairs="auto").plan(self._sizes(heads, asked.kernels))
            asked_alike = wanted is None or (wanted == plan.pairing and plan.n_resamples > 0)
            if asked_alike and not isinstance(plan.pairing, Sketch):
                return None
            LIMITS.check_pairs(asked.pairs)
            wanted = Sketch()
        sides, options = self.sides(asked.options, workers, progress)
        if asked.paired:
            _check_paired(wanted, options.nan_policy)
        if isinstance(wanted, Adjacent):
            return adjacent_test(
                sides,
                options,
                kernels=asked.kernels,
                method=asked.method or "auto",
                rng=rng,
            )
        if moved is not None:
            sides = moved(sides)
        asked = replace(asked, options=options, pairs=wanted)
        return sketch_test(sides, asked, rng=rng, workers=workers)

    def sides(self, options: Options, workers: int | None, progress: bool) -> tuple[Sides, Options]:
        """Both samples, to be read in passes, and the options with their columns named."""
        heads = self._heads()
        options = settled_columns(*heads, options)
        positional = all(isinstance(head, np.ndarray) for head in heads)
        x, y = (
            FileSide(value, options, positional)
            if in_file
            else side_in_memory(value, name, options)
            for (value, in_file), name in zip(self._both, "xy", strict=True)
        )
        return Sides(x, y, workers, progress), options

    def _heads(self) -> tuple[Any, Any]:
        """Some rows of each, which tell their columns; arrays, if one of two files is one."""
        x, y = (_head(value) if in_file else value for value, in_file in self._both)
        if all(self.in_files) and isinstance(x, np.ndarray) != isinstance(y, np.ndarray):
            return by_position(x, self.x.path), by_position(y, self.y.path)
        return x, y

    def _sizes(self, heads: tuple[Any, Any], kernels: Kernels) -> Sizes:
        """Sizes on which the plan depends."""
        sources = [as_frame(head, name) for head, name in zip(heads, "xy", strict=True)]
        n, m = (
            value.n_rows if in_file else source.n_rows
            for (value, in_file), source in zip(self._both, sources, strict=True)
        )
        p = len(sources[0].names)
        kinds = [sources[0].read(i).kind for i in range(p)]
        categorical = sum(kind in CATEGORIES for kind in kinds)
        recipe = some_columns(p, categorical).recipe(None if categorical else kernels)
        return sizes_of(n, m, p, recipe)


def open_both(x: Any, y: Any) -> Opened:
    """See what two samples are, without reading the rows of files."""
    both = [open_source(value) if is_path(value) else value for value in (x, y)]
    return Opened(both[0], both[1], (is_path(x), is_path(y)))


def _check_paired(pairing: Pairing, nan_policy: str) -> None:
    """Check that rows of pairs stay together while two files are read one after the other."""
    if isinstance(pairing, Adjacent):
        raise InputError(
            '`pairs` with paired=True must be "sketch" for files that are not read whole.'
        )
    if nan_policy == "omit":
        raise InputError(
            "`nan_policy` with paired=True must not be 'omit' for files that are not read whole: a "
            "row would be left out without its partner. Use nan_policy='indicate', or leave out "
            "both rows of such pairs first."
        )


def _head(source: Source) -> Any:
    return next(iter(source.batches(1024)))


def _wanted(
    method: Method | None, pairs: Pairing | str | int, calibration: Exact | str
) -> Pairing | None:
    """The pairs asked for, of closed forms adjacent ones; None to choose by the sizes."""
    LIMITS.check_method(method)
    kind, found = resolve_calibration(calibration), as_pairing(pairs)
    closed = kind == ASYMPTOTIC or isinstance(method, Naive)
    if isinstance(found, LinearPairs | Adjacent) or (found is None and closed):
        if isinstance(kind, Exact):
            raise InputError(
                "`calibration` of adjacent pairs of files that are not read whole must be "
                '"asymptotic". Use pairs="sketch", which is exact.'
            )
        return Adjacent()  # the law of linear pairs, and no row has to wait for one far away
    return found
