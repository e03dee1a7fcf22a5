"""Tests in which a sample is a profile: what may be asked of them, and what they compare."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from nosplit._old.api.profile import load_profile
from nosplit._old.data.files.opening import is_path
from nosplit._old.engines.profiles import ProfileComparison, compare_profiles, compare_with_profile
from nosplit._old.inference.planning.costs import SKETCH_FLIPS
from nosplit._old.inference.planning.limits import Limits
from nosplit._old.sketch.saved.bundles import is_bundle
from nosplit._old.sketch.saved.profiles import Profile
from nosplit.core.pairings import Sketch
from nosplit.data.options import AUTO, Options
from nosplit.errors import InputError
from nosplit.inference.calibrations import Exact, resolve_calibration
from nosplit.kernels.recipes import asked_for
from nosplit.methods import Method

__all__ = ["against_profile", "draws_of", "is_profile", "loaded", "policy_of"]

LIMITS = Limits("with a profile", (Sketch(),))
SUFFIX = ".profile"


def is_profile(value: Any) -> bool:
    """Whether a value is a profile, or names a file of one."""
    if not is_path(value):
        return isinstance(value, Profile)
    return Path(value).suffix.lower() == SUFFIX or is_bundle(value)


def against_profile(
    x: Any,
    y: Any,
    options: Options,
    *,
    kernels: Any,
    pairs: Any,
    rng: np.random.Generator,
    shuffle: bool,
    workers: int | None,
    device: Any = None,
) -> ProfileComparison:
    """Both samples as cells, where one of them is a profile, or both are."""
    _check_asked(kernels, pairs, options)
    profiles = [loaded(value) for value in (x, y)]
    if all(isinstance(value, Profile) for value in profiles):
        return compare_profiles(*profiles)
    profile, new, label = (
        (profiles[0], y, "y") if isinstance(profiles[0], Profile) else (profiles[1], x, "x")
    )
    return compare_with_profile(
        profile,
        new,
        label,
        exclude=_excluded(profile, options),
        nan_policy=_policy(profile, options),
        rng=rng,
        shuffle=shuffle,
        workers=workers,
        device=device,
    )


def draws_of(method: Method | None, calibration: Any) -> int:
    """Random draws of a test with a profile."""
    LIMITS.check(method, "sketch", calibration)
    kind = resolve_calibration(calibration)
    return kind.n_resamples if isinstance(kind, Exact) else SKETCH_FLIPS


def policy_of(nan_policy: str, x: Any, y: Any) -> str:
    """Policy for missing values; a profile has its own."""
    profiled = is_profile(x) or is_profile(y)
    return "raise" if profiled and nan_policy == AUTO else nan_policy


def loaded(value: Any) -> Any:
    """A profile if a value names a file of one; any other value as it is."""
    return load_profile(os.fspath(value)) if is_path(value) and is_profile(value) else value


def _check_asked(kernels: Any, pairs: Any, options: Options) -> None:
    """Check that nothing is asked for that a profile has settled."""
    if asked_for(kernels) is not None:
        raise _settled("kernels", kernels)
    if not (isinstance(pairs, str) and pairs in ("auto", "sketch")) and pairs != Sketch():
        raise _settled("pairs", pairs)
    if options.scale is not None:
        raise _settled("scale", options.scale)
    if options.columns is not None:
        raise _settled("columns", list(options.columns))


def _settled(name: str, value: Any) -> InputError:
    return InputError(
        f"`{name}` must be left out where a sample is a profile, got {value!r}: it was settled "
        f"when the profile was made, nosplit.profile(reference, {name}=...)."
    )


def _excluded(profile: Profile, options: Options) -> tuple[str, ...]:
    """Columns of the new sample to leave out: none that the profile has."""
    names = options.exclude or ()
    if any(name in profile.columns for name in names):
        raise _settled("exclude", list(names))
    return names


def _policy(profile: Profile, options: Options) -> str:
    """Policy for missing values: that of the profile; rows may be left out besides."""
    own = "raise" if profile.encoding is None else profile.encoding.nan_policy
    asked = options.nan_policy
    if asked in ("raise", own) or (asked, own) == ("omit", "raise"):
        return "omit" if "omit" in (asked, own) else own
    raise _settled("nan_policy", asked)
