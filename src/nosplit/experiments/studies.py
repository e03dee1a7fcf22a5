"""All studies by name. Numbers enter the seeds: a study that changes its draws gets a new one."""

from __future__ import annotations

from collections.abc import Mapping

from nosplit.experiments.beyond import Beyond
from nosplit.experiments.grids import COMBINED, Grid, Polynomials
from nosplit.experiments.normals import Geometry, Theorem
from nosplit.experiments.work import Study

__all__ = ["STUDIES"]

STUDIES: Mapping[str, Study] = {
    "power": Grid(1, null=False),
    "level": Grid(2, null=True, methods=COMBINED),
    "polynomial": Polynomials(3),
    "theorem": Theorem(4),
    "geometry": Geometry(5),
    "beyond": Beyond(6),
}
