"""Drift against a reference, as an object in the style of scikit-learn."""

from __future__ import annotations

from inspect import signature
from typing import Any, Self, cast

from nosplit._checks import Seed
from nosplit._old.api.profile import profile
from nosplit._old.engines.profiles import CAREFUL
from nosplit._old.sketch.saved.profiles import Profile
from nosplit._text import listed
from nosplit.api.two_sample import two_sample_test
from nosplit.errors import InputError
from nosplit.inference.result import TestResult

__all__ = ["DriftDetector"]


class DriftDetector:
    """Compare new samples with a reference that was fitted once, and keep no row of it.

    It goes where estimators of scikit-learn go, the last step of a `Pipeline` among others, and
    does not need scikit-learn. What `fit` keeps is a profile of the reference; each new sample is
    compared with it exactly, if rows are independent.

    Parameters
    ----------
    rows : int
        About how many rows new samples will have, as in `profile`: they must have at least 400, or
        40 times `least`.
    least : int
        Fewest rows of a cell of the profile, which reveals sums over so many rows.
    nan_policy, scale, columns, exclude
        As in `two_sample_test`.
    rng : int
        Source of the frequencies, the dealing and the draws.

    Attributes
    ----------
    profile_ : Profile
        The profile of the reference, once fitted.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> detector = DriftDetector(rows=500).fit(rng.normal(size=(3000, 2)))
    >>> detector.score(rng.normal(size=(500, 2))) > 0.05
    True
    >>> detector.score(rng.normal(0.3, size=(500, 2)))
    0.0001
    """

    def __init__(
        self,
        *,
        rows: int = 2_000,
        least: int = CAREFUL,
        nan_policy: str = "auto",
        scale: str | bool | None = None,
        columns: Any = None,
        exclude: Any = None,
        rng: Seed = 0,
    ) -> None:
        self.rows = rows
        self.least = least
        self.nan_policy = nan_policy
        self.scale = scale
        self.columns = columns
        self.exclude = exclude
        self.rng = rng

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make a profile of the reference; `y` is for pipelines, and ignored."""
        self.profile_ = profile(X, **self.get_params())
        return self

    def test(self, X: Any) -> TestResult:
        """The test of a new sample against the reference."""
        fitted = getattr(self, "profile_", None)
        if not isinstance(fitted, Profile):
            raise InputError("`DriftDetector` must be fitted before it is used: call `fit`.")
        return two_sample_test(cast(Any, fitted), X, rng=self.rng)

    def score(self, X: Any, y: Any = None) -> float:
        """The p-value of a new sample: small where it does not come from the reference's law.

        As scores of scikit-learn, it is larger for what fits better. `y` is ignored.
        """
        return self.test(X).pvalue

    # -- what scikit-learn asks of estimators ------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; none of them has parameters of its own."""
        return {name: getattr(self, name) for name in _parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; what was fitted stays as it is."""
        unknown = [name for name in params if name not in _parameter_names()]
        if unknown:
            known = ", ".join(_parameter_names())
            raise InputError(f"`DriftDetector` has the parameters {known}, got {listed(unknown)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "profile_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks for these, so it is there.
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in self.get_params().items())
        return f"DriftDetector({', '.join(given)})"


def _parameter_names() -> tuple[str, ...]:
    return tuple(signature(DriftDetector).parameters)
