"""All studies by name. Numbers enter the seeds: a study that changes its draws gets a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nosplit._old.experiments.beyond import BUDGET, WAYS, Beyond
from nosplit._old.experiments.grids import COMBINED, Grid, Polynomials
from nosplit._old.experiments.normals import Geometry, Theorem, theorem_methods
from nosplit._old.experiments.running.work import Study
from nosplit._old.experiments.showing import paper_claims
from nosplit._old.experiments.showing.claims import Verdict
from nosplit._old.experiments.showing.figures import dimension_figure, error_grid
from nosplit._old.experiments.showing.paper_claims import BEST_SPLIT
from nosplit._old.experiments.showing.pictures import (
    densities_figure,
    geometry_figure,
    samples_figure,
    theorem_figure,
)
from nosplit._old.experiments.showing.table import TableRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENTS", "STUDIES", "Experiment"]

STUDIES: Mapping[str, Study] = {
    "power": Grid(1, null=False),
    "level": Grid(2, null=True, methods=COMBINED),
    "polynomial": Polynomials(3),
    "theorem": Theorem(4),
    "geometry": Geometry(5),
    "beyond": Beyond(6),
}


@dataclass(frozen=True)
class Experiment:
    """A figure of the paper.

    Attributes
    ----------
    figure : str
        Which figure it is.
    title, note : str
        What it shows, and what the paper leaves open.
    study : str or None
        Where its counts come from; None for a picture without any.
    draw : callable
        The figure, from its rows and the study's values.
    claims : callable
        What the paper says of it, from its rows.
    methods : sequence of str
        Which of the study's methods belong to it, in the order of the legend.
    dims : sequence of int, optional
        Which numbers of kernels belong to it; all by default.
    """

    figure: str
    title: str
    study: str | None
    draw: Callable[[Sequence[TableRow], Sequence[float]], Figure]
    claims: Callable[[Sequence[TableRow]], list[Verdict]]
    methods: Sequence[str] = ()
    dims: Sequence[int] | None = None
    note: str = ""

    def keeps(self, d: int, method: str) -> bool:
        """Whether a count of the study belongs to the figure."""
        return method in self.methods and (self.dims is None or d in self.dims)


_TRUNCATION = (
    "OST, split and naive cut off eigenvalues of Σ below 1e-6 of the largest, as the authors do; "
    "Wald does so on the correlation scale, where more directions are left. The line “our "
    "defaults” is OST on the correlation scale at 1e-10."
)

EXPERIMENTS: Mapping[str, Experiment] = {
    "geometry": Experiment(
        "Figure 1",
        "Theorem 1 for two statistics and Σ = I",
        "geometry",
        lambda *_: geometry_figure(),
        paper_claims.geometry,
        methods=("nonnegative",),
        note="Regions, β* and 𝒱⁻ are what the code finds, not a drawing.",
    ),
    "type2": Experiment(
        "Figure 2",
        "Type-II error against sample size",
        "power",
        lambda rows, _: error_grid(rows),
        paper_claims.type2,
        methods=COMBINED,
        note=_TRUNCATION,
    ),
    "polynomial": Experiment(
        "Figure 3",
        "Type-II error with the first d polynomial kernels",
        "polynomial",
        lambda rows, _: dimension_figure(
            rows,
            "uniform against Laplace, unit variance, n = 16,000\n"
            "(chosen here: the paper names neither its densities nor n)",
        ),
        paper_claims.polynomial,
        methods=COMBINED,
        note="The paper names neither the densities nor n: uniform and Laplace laws with unit "
        "variance and n = 16,000, where d = 4 is informative. " + _TRUNCATION,
    ),
    "theorem": Experiment(
        "Figure 4",
        "The statistic given 𝒰 = {1, 2}, for a random 4 × 4 covariance matrix",
        "theorem",
        lambda _, values: theorem_figure(values),
        paper_claims.theorem,
        methods=tuple(theorem_methods()),
        note="About 4 % of draws have that active set, as in the paper.",
    ),
    "samples": Experiment(
        "Figures 5 and 6",
        "Samples of Blobs and of MNIST",
        None,
        lambda *_: samples_figure(),
        lambda _: [],
        note="The paper's .1 and .3 for Blobs are standard deviations here, as in the authors' "
        "experiments.",
    ),
    "densities": Experiment(
        "Figure 7",
        "The two symmetric densities",
        None,
        lambda *_: densities_figure(),
        paper_claims.densities,
        note="Chosen here: the paper shows its densities without a formula.",
    ),
    "type1": Experiment(
        "Figure 8",
        "Type-I error against sample size",
        "level",
        lambda rows, _: error_grid(rows, null=True),
        paper_claims.type1,
        methods=COMBINED,
        note=_TRUNCATION,
    ),
    "constraints": Experiment(
        "Figure 9",
        "Constraints: Σβ ≥ 0 (OST), β ≥ 0, none (Wald)",
        "power",
        lambda rows, _: error_grid(rows, by_row=False),
        paper_claims.constraints,
        methods=("ost", "ost_default", "nonnegative", "wald"),
        dims=(6,),
        note=_TRUNCATION,
    ),
    "discrete": Experiment(
        "Figure 10",
        "Selection of one base statistic",
        "power",
        lambda rows, _: error_grid(rows),
        paper_claims.discrete,
        methods=("best", *BEST_SPLIT, "best_naive"),
    ),
    "beyond": Experiment(
        "Ours",
        "More pairs, and smaller samples",
        "beyond",
        lambda rows, _: error_grid(rows, by_row=False, log=True),
        paper_claims.beyond,
        methods=tuple(WAYS),
        note="Linear pairs and windows: OST with our defaults and exact calibration, so that they "
        f"hold their level. auto chooses pairs and calibration for {BUDGET:g} nominal seconds of "
        "one core, a tenth of its default.",
    ),
}
