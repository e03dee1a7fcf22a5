"""What sketches of fit and of independence say, on its way to a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nosplit.inference.outcome import Outcome, to_result
from nosplit.inference.planning.plan import Plan
from nosplit.inference.questions import Question
from nosplit.inference.result import TestResult
from nosplit.pairs.pairing import Sketch

__all__ = ["SketchOutcome", "sketch_of"]


@dataclass(frozen=True, eq=False)
class SketchOutcome:
    """What a sketch says.

    Attributes
    ----------
    outcome : Outcome
        The evidence, ranked.
    kernels : tuple
        The base kernels.
    n_units, n_used : int
        Cells, and rows in them.
    encoding : Encoding, or pair of them, or None
        How tables became numbers.
    """

    outcome: Outcome
    kernels: tuple[Any, ...]
    n_units: int
    n_used: int
    encoding: Any = None

    def result(
        self, question: Question, n_rows: int, columns: tuple[str, ...] | None = None
    ) -> TestResult:
        """Issue the warnings, at the line that called the test, and put the result together."""
        return to_result(
            self.outcome,
            question=question,
            kernels=self.kernels,
            n_units=self.n_units,
            n_used=self.n_used,
            n_left_out=n_rows - self.n_used,
            columns=columns,
            encoding=self.encoding,
        )


def sketch_of(how: Plan) -> Sketch:
    """The sketch that a plan is of."""
    if not isinstance(how.pairing, Sketch):
        raise TypeError(f"{how.pairing!r} is no sketch.")
    return how.pairing
