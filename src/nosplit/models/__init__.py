"""Models for goodness of fit: densities that know their score ∇ log q, and can draw from it.

Anything with a method `score(x)` is a model; one with `sample(n, rng)` besides allows
`calibration="simulate"`. `from_scipy` makes a model of a distribution of `scipy.stats`.

A Stein test needs a density that is positive and differentiable; `Laplace` has a kink at its
centre, which does no harm. Where a support ends, the functions that are tested vanish (`Ends`).
"""

from nosplit.models.bounded import Beta, Exponential, Gamma, Uniform
from nosplit.models.ends import Ends
from nosplit.models.laws import (
    GaussianMixture,
    Laplace,
    Model,
    MultivariateNormal,
    Normal,
    SamplingModel,
    StudentT,
)
from nosplit.models.scipy import ScipyModel, from_scipy

__all__ = [
    "Beta",
    "Ends",
    "Exponential",
    "Gamma",
    "GaussianMixture",
    "Laplace",
    "Model",
    "MultivariateNormal",
    "Normal",
    "SamplingModel",
    "ScipyModel",
    "StudentT",
    "Uniform",
    "from_scipy",
]
