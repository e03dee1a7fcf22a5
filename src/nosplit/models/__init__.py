"""Models for goodness of fit: densities that know their score ∇ log q, and can draw from it.

Anything with a method `score(x)` is a model; one with `sample(n, rng)` besides allows
`calibration="simulate"`. `from_scipy` makes a model of a distribution of `scipy.stats`.

A Stein test needs a density that is positive and differentiable on all of ℝᵖ, or that falls to 0
at the ends of its support; `Laplace` has a kink at its centre, which does no harm.
"""

from nosplit.models.laws import (
    GaussianMixture,
    Laplace,
    Model,
    MultivariateNormal,
    SamplingModel,
    StudentT,
)
from nosplit.models.scipy import ScipyModel, from_scipy

__all__ = [
    "GaussianMixture",
    "Laplace",
    "Model",
    "MultivariateNormal",
    "SamplingModel",
    "ScipyModel",
    "StudentT",
    "from_scipy",
]
