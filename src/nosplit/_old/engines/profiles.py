"""Profiles of references, and samples as cells of the same map.

Everything about the map comes from pilot rows, which are in no cell: to the cells of the reference
and to those of a new sample it is the same. Both are cells of independent rows, dealt at random,
so under the null hypothesis their labels may be permuted, and the test is exact.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nosplit._checks import check_finite, new_key
from nosplit._old.data.files.opening import is_path
from nosplit._old.data.references import Later, NumberedRows
from nosplit._old.engines.devices import later_on_device, lies_on_device, reference_on_device
from nosplit._old.engines.files.reference import open_later, open_reference
from nosplit._old.sketch.cells import Means, Sketched, View
from nosplit._old.sketch.dealing import Deal, pilot_size
from nosplit._old.sketch.maps import SketchMap, fit_map
from nosplit._old.sketch.saved.profiles import Profile, best_level, check_alike
from nosplit._old.sketch.saved.tiers import FEWEST_CELLS, LARGEST_CELL, MOST_CELLS, Tiers, fill
from nosplit._old.sketch.sums import CellSums
from nosplit._old.sketch.swaps import CellDraws
from nosplit._types import Array
from nosplit.data.encoding import Encoding
from nosplit.data.frames import is_table
from nosplit.data.options import Options
from nosplit.data.series import check_rows, checked_rows
from nosplit.errors import Caveat, InputError
from nosplit.kernels.recipes import Kernels, as_recipe

__all__ = [
    "CAREFUL",
    "ProfileComparison",
    "compare_profiles",
    "compare_with_profile",
    "make_part",
    "make_profile",
]

# New cells that a profile is made for: `rows` are dealt to about so many.
CELLS = 250
# Rows of a cell, unless less is asked for: what a sum may reveal.
CAREFUL = 10


def make_profile(
    value: Any,
    options: Options,
    kernels: Kernels,
    *,
    rows: int,
    least: int,
    frequencies: int,
    rng: np.random.Generator,
    workers: int | None,
) -> Profile:
    """A profile of a reference, with a map of its own."""
    reference = _reference(value, options)
    n, c = reference.n, max(rows // CELLS, least)
    n_pilot = _pilot_size(n)
    _check_reference(n, c)
    fingerprint, key = _keys(reference.fingerprint(), rng)
    # The last places are those of the pilot; a few before them may be in no cell either.
    deal = Deal(n, 1, n - n_pilot, key)
    pilot = deal.pilot_rows()
    encoding = reference.encoding(pilot)
    encoded = reference.rows(encoding)
    tiers = Tiers.of(n - n_pilot, c)
    some_rows = encoded.some(pilot)
    check_finite(some_rows, "reference")
    recipe = as_recipe(kernels) if encoding is None else encoding.recipe(kernels)
    sketch = fit_map(
        some_rows,
        recipe,
        categorical=() if encoding is None else encoding.categorical,
        frequencies=frequencies,
        cells=tiers.n_cells + MOST_CELLS,
        key=new_key(rng),
    )
    if sketch.others:
        odd = sketch.kernels[sketch.others[0]]
        raise InputError(
            f"`kernels` of a profile must be mixtures of waves or linear, got {odd!r}: others are "
            "compared with rows of the reference, and a profile holds none."
        )
    return Profile(
        map=sketch,
        encoding=encoding,
        tiers=tiers,
        cells=_summed_cells(sketch, encoded, deal, tiers, workers),
        n_rows=n,
        n_pilot=n_pilot,
        n_left_out=reference.left_out,
        made=_now(),
        parts=(fingerprint,),
        ignored=reference.ignored,
        dtype=reference.dtype,
    )


def make_part(value: Any, like: Profile, rng: np.random.Generator, workers: int | None) -> Profile:
    """A profile of more rows with the map of another."""
    later = _later(like, value, "reference")
    n = later.rows.n
    tiers = Tiers.of(n, like.cell_rows)
    if tiers.counts[0] < 1:
        raise InputError(
            f"`reference` must have at least {like.cell_rows:,} rows, those of a cell, got {n:,}."
        )
    fingerprint, key = _keys(later.fingerprint(), rng)
    deal = Deal(n, 1, n, key)
    return replace(
        like,
        tiers=tiers,
        cells=_summed_cells(like.map, later.rows, deal, tiers, workers),
        n_rows=n,
        n_pilot=0,
        n_left_out=later.left_out,
        made=_now(),
        parts=(fingerprint,),
    )


@dataclass(frozen=True, eq=False)
class ProfileComparison:
    """Two sketches with the map of a profile, and what a result says of them."""

    sketched: Sketched
    profile: Profile
    n_rows: int
    encoding: Encoding | None


def compare_with_profile(
    profile: Profile,
    value: Any,
    label: str,
    *,
    exclude: tuple[str, ...],
    nan_policy: str,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
    device: Any = None,
) -> ProfileComparison:
    """Cells of a new sample, and those of a profile that are as large."""
    later = _later(profile, value, label, exclude, nan_policy, device)
    n = later.rows.n
    if n < profile.fewest_rows:
        raise _too_few(n, profile, label)
    number, count = best_level(profile.levels, n)
    c = profile.levels[number][0]
    deal = Deal(n, c, count, new_key(rng) if shuffle else None)
    new = _summed_cells(profile.map, later.rows, deal, Tiers(c, (count,)), workers)
    # The new sample comes first whichever argument it was: the draws are then the same.
    see = later.rows.see if isinstance(later.rows, PlacedRows) else None
    sketched = Sketched(profile.map, new, profile.level(number), c, _checked(later.rows), see)
    rows = profile.n_rows + profile.n_left_out + n + later.left_out
    return ProfileComparison(sketched, profile, rows, _encoding_for(profile, nan_policy))


def compare_profiles(ours: Profile, theirs: Profile) -> ProfileComparison:
    """Cells of two profiles of the same recipe, of the size with which most is seen."""
    check_alike(ours, theirs, "compared")
    both = list(zip(ours.levels, theirs.levels, strict=False))
    useful = [k for k, (a, b) in enumerate(both) if k == 0 or min(a[1], b[1]) >= CELLS]
    number = useful[-1]
    if min(both[0][0][1], both[0][1][1]) < FEWEST_CELLS:
        raise InputError(f"Profiles must have at least {FEWEST_CELLS} cells to be compared.")
    cells = ours.level(number), theirs.level(number)
    sketched = Sketched(ours.map, *cells, ours.levels[number][0])
    rows = sum(p.n_rows + p.n_left_out for p in (ours, theirs))
    return ProfileComparison(sketched, ours, rows, ours.encoding)


# -- steps -----------------------------------------------------------------------------------------


@runtime_checkable
class PlacedRows(Protocol):
    """Rows that lie on a device, where their cells are summed and looked at."""

    def cell_sums(self, sketch: SketchMap, deal: Deal, tiers: Tiers) -> CellSums:
        """Sums of all cells."""
        ...

    def see(self, draws: CellDraws, views: Sequence[View], means: Sequence[Means]) -> list[Array]:
        """Look at views on cells under all draws."""
        ...


def _reference(value: Any, options: Options) -> Any:
    """A reference from an array, a table, a file or a tensor."""
    if lies_on_device(value) and options.idle:
        return reference_on_device(value, "reference")
    return open_reference(value, options, "reference")


def _later(
    profile: Profile,
    value: Any,
    label: str,
    exclude: tuple[str, ...] = (),
    nan_policy: str = "raise",
    device: Any = None,
) -> Later:
    """A sample with the columns of a profile, encoded as those were."""
    encoding, omit = _encoding_for(profile, nan_policy), nan_policy == "omit"
    plain = encoding is None and not is_path(value) and not is_table(value)
    if plain and (device is not None or lies_on_device(value)):
        later = later_on_device(value, label, profile.dtype, omit, device)
    else:
        later = open_later(
            value,
            encoding,
            label,
            dtype=profile.dtype,
            ignored=(*profile.ignored, *exclude),
            omit=omit,
        )
    if later.width != profile.map.p:
        raise InputError(
            f"`{label}` must have {profile.map.p} columns, as the profile has, got {later.width}."
        )
    return later


def _encoding_for(profile: Profile, nan_policy: str) -> Encoding | None:
    """The encoding of a profile, under which rows with gaps may be left out of a new sample."""
    encoding: Encoding | None = profile.encoding
    if encoding is None or (nan_policy, encoding.nan_policy) != ("omit", "raise"):
        return encoding
    return replace(encoding, nan_policy=nan_policy)


def _summed_cells(
    sketch: SketchMap, rows: NumberedRows, deal: Deal, tiers: Tiers, workers: int | None
) -> CellSums:
    """Sums of all cells, in one pass."""
    if isinstance(rows, PlacedRows):
        return rows.cell_sums(sketch, deal, tiers)
    cells = CellSums.empty(sketch, tiers.n_cells)
    for start, part in rows.batches():
        fill(cells, sketch, part, tiers.cell_of(deal.places(start, len(part))), workers)
    return cells


def _checked(rows: NumberedRows) -> list[Caveat]:
    """Warn if neighbouring rows are alike."""
    return check_rows(rows.some(np.asarray(checked_rows(rows.n))))


def _keys(digest: bytes, rng: np.random.Generator) -> tuple[str, int]:
    """The fingerprint of a sample as text, and a key for dealing it.

    Two samples that are sorted alike must not be dealt alike: their cells would not be independent.
    So the key is other for other data, even if `rng` is the same.
    """
    salt = new_key(rng).to_bytes(8, "little")
    key = hashlib.blake2b(digest, key=salt, digest_size=8).digest()
    return digest.hex(), int.from_bytes(key, "little") >> 1


def _pilot_size(n: int) -> int:
    """Rows that the map is made of: as many as a test takes from both of its samples."""
    return min(2 * pilot_size(n), n // 2)


def _check_reference(n: int, c: int) -> None:
    """Check that a reference of n rows is large enough for cells of c."""
    if c <= LARGEST_CELL and n - _pilot_size(n) >= FEWEST_CELLS * c:
        return
    sizes = range(FEWEST_CELLS * c, 2 * FEWEST_CELLS * c + 1)
    fewest = sizes[bisect_left(sizes, FEWEST_CELLS * c, key=lambda size: size - _pilot_size(size))]
    possible = (n - _pilot_size(n)) // FEWEST_CELLS
    hint = "That is too few for cells: compare the rows themselves, two_sample_test(x, y)."
    if possible:
        less = f", least={possible}" * (possible < CAREFUL)
        hint = f"Make cells smaller: rows={CELLS * possible}{less}."
    raise InputError(
        f"`reference` must have at least {fewest:,} rows for cells of {c:,}, got {n:,}. {hint}"
    )


def _too_few(n: int, profile: Profile, label: str) -> InputError:
    """A new sample of n rows is too small for the cells of a profile."""
    possible = n // FEWEST_CELLS
    hint = "That is too few for cells: compare it with the rows of the reference."
    if possible:
        less = f", least={possible}" * (possible < CAREFUL)
        hint = f"Smaller cells serve it: nosplit.profile(reference, rows={n}{less})."
    return InputError(
        f"`{label}` must have at least {profile.fewest_rows:,} rows, {FEWEST_CELLS} times the "
        f"{profile.cell_rows:,} of a cell of the profile, got {n:,}. {hint}"
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
