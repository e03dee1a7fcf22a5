"""The null hypotheses of tests: questions, verdicts, and the permutations that change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "DIFFER",
    "GOODNESS",
    "INDEPENDENCE",
    "K_SAMPLE",
    "MEAN",
    "NORMAL",
    "NO_EVIDENCE",
    "TOO_LITTLE",
    "TOO_LITTLE_DATA",
    "TWO_SAMPLE",
    "Exchanged",
    "Question",
    "Verdict",
]

Verdict = Literal["differ", "no evidence", "too little data"]
DIFFER: Verdict = "differ"
NO_EVIDENCE: Verdict = "no evidence"
TOO_LITTLE_DATA: Verdict = "too little data"
TOO_LITTLE = "Too little data to tell"


@dataclass(frozen=True)
class Question:
    """The question of a test, and its two answers in words."""

    text: str
    rejected: str
    kept: str

    def __str__(self) -> str:
        return self.text


TWO_SAMPLE = Question(
    "Do two samples come from the same distribution?",
    "The samples differ",
    "No evidence of a difference",
)
K_SAMPLE = Question(
    "Do all samples come from the same distribution?", TWO_SAMPLE.rejected, TWO_SAMPLE.kept
)
GOODNESS = Question(
    "Does the sample come from the model?",
    "The sample does not fit the model",
    "No evidence against the model",
)
INDEPENDENCE = Question(
    "Are the variables independent?",
    "The variables depend on each other",
    "No evidence of dependence",
)
MEAN = Question(
    "Is the mean of every base function zero?",
    "Some mean is not zero",
    "No evidence of a mean other than zero",
)
NORMAL = Question("Is the mean of a normal vector zero?", MEAN.rejected, MEAN.kept)


@dataclass(frozen=True)
class Exchanged:
    """A description of the design: the permutations under the null hypothesis.

    Attributes
    ----------
    kind : {"pairs", "strata", "groups", "series", "samples"}
        Rows of pairs, rows or groups inside strata, whole groups, blocks of consecutive rows, or
        rows of several samples.
    words : str
        A description in words.
    unit : {"rows", "pairs", "groups", "blocks"}
        What must be independent of one another for p-values to be exact.
    count : int
        Number of pairs, strata or groups; rows of a block. 0 if it is not known.
    name : str
        The column of the labels, if it has a name.
    shared : int
        Number of groups that have rows of both samples, which are swapped inside them.
    """

    kind: str
    words: str
    unit: str = "rows"
    count: int = 0
    name: str = ""
    shared: int = 0

    def __str__(self) -> str:
        return self.words
