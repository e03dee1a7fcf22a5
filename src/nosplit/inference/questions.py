"""Questions of tests, and their answers."""

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
    "Question",
    "Verdict",
]

Verdict = Literal["differ", "no evidence", "too little data"]
DIFFER: Verdict = "differ"
NO_EVIDENCE: Verdict = "no evidence"
TOO_LITTLE_DATA: Verdict = "too little data"
# How results say it that no permutation could have reached the level.
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
    "Do all samples come from the same distribution?",
    "The samples differ",
    "No evidence of a difference",
)


GOODNESS = Question(
    "Does a sample come from the model?",
    "The sample does not fit the model",
    "No evidence against the model",
)


INDEPENDENCE = Question(
    "Are two variables independent?",
    "The variables depend on each other",
    "No evidence of dependence",
)


MEAN = Question(
    "Is the mean of every base function zero?",
    "Some mean is not zero",
    "No evidence of a mean other than zero",
)


NORMAL = Question(
    "Is the mean of a normal vector zero?",
    "Some mean is not zero",
    "No evidence of a mean other than zero",
)
