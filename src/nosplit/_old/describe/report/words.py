"""The verdict and how it was reached, for people who have never heard of a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nosplit.inference import questions
from nosplit.inference.calibrations import SERIES
from nosplit.inference.print import said_p
from nosplit.inference.result import TestResult

__all__ = ["Story", "calibration_words", "chance", "method_words", "pairs_words", "story_of"]


@dataclass(frozen=True)
class Story:
    """One family of tests in plain words.

    Attributes
    ----------
    call : str
        The function that runs it, with its data.
    if_null : str
        "If …": what is supposed.
    finding : str
        What would then turn up by chance.
    rejected, kept : str
        What follows, and what does not.
    """

    call: str
    if_null: str
    finding: str
    rejected: str
    kept: str


TWO_SAMPLE = Story(
    "two_sample_test(x, y",
    "If both samples came from the same source",
    "a difference at least this clear",
    "Chance alone is a poor explanation: the samples come from different distributions.",
    "Chance alone can explain it. This does not show that the samples are alike: a difference may "
    "be too small to be seen with this many rows.",
)
K_SAMPLE = Story(
    "k_sample_test(samples",
    "If all samples came from the same source",
    "differences at least this clear",
    "Chance alone is a poor explanation: not all samples come from the same distribution.",
    "Chance alone can explain it. This does not show that the samples are alike: a difference may "
    "be too small to be seen with this many rows.",
)
GOODNESS = Story(
    "goodness_of_fit_test(x, score",
    "If the sample came from the model",
    "a misfit at least this clear",
    "Chance alone is a poor explanation: the model does not describe the sample.",
    "Chance alone can explain it. This does not show that the model is right: a misfit may be too "
    "small to be seen with this many rows.",
)
INDEPENDENCE = Story(
    "independence_test(x, y",
    "If the two variables had nothing to do with each other",
    "a connection at least this clear",
    "Chance alone is a poor explanation: knowing one variable tells something about the other. "
    "It does not say which of them, if any, is the cause.",
    "Chance alone can explain it. This does not show that the variables are independent: a "
    "connection may be too weak to be seen with this many rows.",
)
MEANS = Story(
    "mean_test(h",
    "If every mean were zero",
    "a result at least this clear",
    "Chance alone is a poor explanation: some mean is not zero.",
    "Chance alone can explain it. This does not show that every mean is zero: one may be too small "
    "to be seen with this much data.",
)
VECTOR = Story(
    "joint_normal_test(tau, cov", MEANS.if_null, MEANS.finding, MEANS.rejected, MEANS.kept
)

STORIES = {
    questions.TWO_SAMPLE: TWO_SAMPLE,
    questions.K_SAMPLE: K_SAMPLE,
    questions.GOODNESS: GOODNESS,
    questions.INDEPENDENCE: INDEPENDENCE,
    questions.MEAN: MEANS,
    questions.NORMAL: VECTOR,
}


def story_of(res: TestResult) -> Story:
    """The words for the question that a result answers."""
    return STORIES[res.question]


def chance(probability: float) -> str:
    """A probability as a natural frequency.

    Examples
    --------
    >>> chance(0.001), chance(0.05), chance(0.41)
    ('about 1 time in 1,000', 'about 1 time in 20', 'about 41 times in 100')
    >>> chance(1e-9), chance(1.0)
    ('less than once in a million times', 'practically always')
    """
    if probability < 1e-6:
        return "less than once in a million times"
    if probability > 0.995:
        return "practically always"
    if probability > 0.1:
        return f"about {round(100 * probability)} times in 100"
    # Two digits: more would claim a precision that a p-value does not have.
    count = 1.0 / probability
    digits = 1 - math.floor(math.log10(count))
    return f"about 1 time in {round(count, digits):,.0f}"


def verdict_words(res: TestResult, alpha: float) -> list[str]:
    """The verdict in sentences, the answer itself left out."""
    story, rejects = story_of(res), res.reject(alpha)
    limit = chance(alpha).removeprefix("about ")
    compared = "rarer than" if rejects else "not rarer than"
    if rejects and math.isclose(res.pvalue, alpha):
        compared = "no more often than"
    return [
        (
            f"{story.if_null}, {story.finding} would turn up {chance(res.pvalue)} by chance "
            f"({said_p(res.log_pvalue)}). That is {compared} the {limit} that was agreed to "
            f"count as evidence (level {alpha:g})."
        ),
        story.rejected if rejects else story.kept,
        *([] if res.how.design is None else [f"By chance, {res.how.design}."]),
    ]


_METHODS = {
    "ost": "The combination of kernels that shows the effect best was learned from the data and "
    "tested on the same data. The p-value accounts for that (OST, the paper's test).",
    "adaptive": "Several ways of combining the kernels were tried on the same data: the learned "
    "combination, the best single kernel and their plain mean. The p-value accounts for all of "
    "it.",
    "nonnegative": "The best combination of kernels without negative weights was learned from the "
    "data and tested on the same data. The p-value accounts for that.",
    "wald": "The best combination of kernels, with weights of any sign, was learned from the data "
    "and tested on the same data. The p-value accounts for that.",
    "best": "The best single kernel was picked and tested on the same data. The p-value accounts "
    "for that.",
    "chibar": "The best combination of kernels was learned from the data and tested on the same "
    "data, against a law that averages over what might have been learned.",
}


def method_words(method: str) -> str:
    """Describe a method."""
    if "split" in method:
        return (
            "The combination of kernels was learned on one part of the data and tested on the rest."
        )
    if method.startswith("naive"):
        return (
            "The combination of kernels was learned and tested on the same data without accounting "
            "for it. This is not a valid test: no conclusion should rest on it."
        )
    return _METHODS.get(method, "")


def pairs_words(res: TestResult) -> str:
    """Describe the pairs that were looked at."""
    if res.how.pairs == "given":
        return "The statistics and their covariance matrix were given."
    if res.how.pairs == "rows":
        return f"Every one of {res.how.n_pairs:,} rows of values was used as it is."
    total = res.how.n_units * (res.how.n_units - 1) // 2
    share = "all of them" if res.how.n_pairs == total else f"of {total:,} that exist"
    return f"{res.how.n_pairs:,} pairs of {res.how.n_units:,} units were compared, {share}."


_CALIBRATIONS = {
    "exact": (
        (
            "The data was shuffled at random {flips} times, in ways that chance alone could have; "
            "the p-value is the share of shuffles that look at least as extreme."
        ),
        "Right at every sample size, for rows that do not depend on one another.",
    ),
    SERIES: (
        (
            "Blocks of consecutive rows were permuted at random {flips} times; the p-value is the "
            "share of permutations that look at least as extreme."
        ),
        "Valid if rows depend on one another over less than a block.",
    ),
    "simulate": (
        (
            "{flips} samples were drawn from the model itself; the p-value is the share of them "
            "that look at least as extreme."
        ),
        "Right at every sample size.",
    ),
    "wild": (
        (
            "The data was given random signs {flips} times (wild bootstrap); the p-value is the "
            "share of draws that look at least as extreme."
        ),
        "Right for large samples.",
    ),
    "bootstrap": (
        (
            "Rows were drawn again from the centred data {flips} times (bootstrap-t); the p-value "
            "is the share of draws that look at least as extreme."
        ),
        "Right for large samples.",
    ),
    "cautious": (
        (
            "Rows were drawn again from the centred data {flips} times (bootstrap-t), and from "
            "the data with rows beyond its lower end, as if a long tail had been missed; the "
            "p-value is the largest share of draws that look at least as extreme."
        ),
        "Right for large samples, and meant for small ones.",
    ),
    "asymptotic": ("The p-value comes from a formula.", "Right for large samples."),
}


def calibration_words(res: TestResult) -> str:
    """Describe the origin of the p-value."""
    how, right = _CALIBRATIONS.get(res.how.calibration, ("", ""))
    if res.how.n_resamples is None:
        return f"{how} {right}"
    least = res.pvalue * (res.how.n_resamples + 1) < 1.5
    more = " None did: with more of them the p-value could be smaller." if least else ""
    return f"{how.format(flips=f'{res.how.n_resamples:,}')}{more} {right}"
