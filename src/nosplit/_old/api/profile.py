"""Profiles: a reference that new samples are compared with, without its rows."""

from __future__ import annotations

import os
from typing import Any

from nosplit._checks import Seed, check_int, check_rng
from nosplit._old.engines.profiles import CAREFUL, make_part, make_profile
from nosplit._old.sketch.saved.profile_files import read_profile
from nosplit._old.sketch.saved.profiles import Profile
from nosplit.data.encoding import Encoding
from nosplit.data.options import AUTO, Options, by_policy
from nosplit.errors import InputError
from nosplit.kernels.recipes import Kernels

__all__ = ["load_profile", "profile"]

# What `like` brings with it, and what these are if nothing is said.
DEFAULTS = {
    "rows": 2_000,
    "kernels": None,
    "frequencies": 64,
    "nan_policy": AUTO,
    "scale": None,
    "columns": None,
    "exclude": None,
    "least": CAREFUL,
}


def profile(
    reference: Any,
    *,
    rows: int = 2_000,
    kernels: Kernels = None,
    frequencies: int = 64,
    nan_policy: str = "auto",
    scale: str | bool | None = None,
    columns: Any = None,
    exclude: Any = None,
    least: int = CAREFUL,
    like: Profile | None = None,
    rng: Seed = 0,
    workers: int | None = None,
) -> Profile:
    """Make a profile of a reference sample, to compare new samples with it later.

    It holds sums over cells of rows, and no row. `two_sample_test(profile, new)` compares a new
    sample with it, exactly: rows of both must be independent, in any order. Several samples may be
    compared with one profile; each test is exact over permutations of cells, and the tests are not
    independent of each other.

    Parameters
    ----------
    reference : array_like, table or name of a file
        The reference, one observation a row, as in `two_sample_test`. Large files are read in
        passes, in bounded memory; the profile is that of the same rows in memory. Tensors are
        summed on their device.
    rows : int
        About how many rows a new sample will have. It says how small the cells are: a new sample
        must have 40 times the rows of a cell, and a cell has `rows // 250` of them, but not fewer
        than `least`. There are larger cells for larger samples.
    kernels : None, Kernel, sequence of them, name or callable
        Base kernels, as in `two_sample_test`; they must be mixtures of waves (Gaussian, Laplace,
        Matérn, inverse multiquadric, and those of categories) or linear.
    frequencies : int
        Random frequencies of a kernel.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`; new samples are treated alike.
    least : int
        Fewest rows of a cell. A profile reveals sums over so many rows.
    like : Profile, optional
        Take the recipe of this one, so that both add up. It brings all that is above with it.
    rng : int, Generator or None
        Picks the frequencies, and which rows are dealt to which cell.
    workers : int, optional
        Threads; all cores by default. The profile does not depend on it.

    Returns
    -------
    Profile

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> reference = profile(rng.normal(size=(5000, 2)), frequencies=16)
    >>> reference.cell_rows, reference.fewest_rows
    (10, 400)
    >>> reference += profile(rng.normal(size=(3000, 2)), like=reference)
    >>> reference.n_rows
    8000
    """
    given = {
        "rows": rows,
        "kernels": kernels,
        "frequencies": frequencies,
        "nan_policy": nan_policy,
        "scale": scale,
        "columns": columns,
        "exclude": exclude,
        "least": least,
    }
    generator = check_rng(rng)
    if like is not None:
        _check_like(like, given)
        return make_part(reference, like, generator, workers)

    def made(policy: str) -> Profile:
        return make_profile(
            reference,
            Options.of(scale, columns, exclude, policy),
            kernels,
            rows=check_int(rows, "rows", least=1),
            least=check_int(least, "least", least=1),
            frequencies=check_int(frequencies, "frequencies", least=1),
            rng=generator,
            workers=workers,
        )

    return by_policy(nan_policy, made, generator)


def _check_like(like: Any, given: dict[str, Any]) -> None:
    if not isinstance(like, Profile):
        raise InputError(f"`like` must be a Profile, got {type(like).__name__}.")
    both = [(name, value, DEFAULTS[name]) for name, value in given.items()]
    said = [name for name, v, unsaid in both if type(v) is not type(unsaid) or v != unsaid]
    if said:
        raise InputError(
            f"`like` brings its recipe with it: leave out {', '.join(f'`{s}`' for s in said)}."
        )


def load_profile(path: str | os.PathLike[str]) -> Profile:
    """Read a profile from the file that `Profile.save` wrote.

    The file is read with suspicion, and nothing in it is run.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Profile
    """
    return read_profile(path, Encoding.from_dict)
