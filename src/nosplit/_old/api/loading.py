"""Profiles, accumulators and monitors from files."""

from __future__ import annotations

import os
from typing import Any

from nosplit._old.api.profile import load_profile
from nosplit._old.data.files.opening import is_path
from nosplit._old.engines.streams.saved.loading import load_accumulator
from nosplit._old.sketch.saved.bundles import is_bundle
from nosplit.errors import InputError

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Any:
    """Load a profile or an accumulator from a file. Nothing in it is run.

    Parameters
    ----------
    path : path-like
        The file that `save` wrote. Monitors have a `load` of their own, which takes what a file
        does not hold, such as estimators.

    Returns
    -------
    Profile or accumulator
    """
    if not is_path(path):
        raise InputError(f"`path` must be a path, got {type(path).__name__}.")
    return load_profile(path) if is_bundle(path) else load_accumulator(path)
