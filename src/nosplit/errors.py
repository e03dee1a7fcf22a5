"""Exceptions and warnings: every one the library raises on its own account."""

__all__ = [
    "Caveat",
    "DependentRowsWarning",
    "DeviceError",
    "DroppedKernelWarning",
    "FileError",
    "InputError",
    "MissingValuesError",
    "NearCopyWarning",
    "NonFiniteError",
    "NosplitWarning",
    "NotATestWarning",
    "PowerlessWarning",
    "UnsafeAsymptoticsWarning",
]


class InputError(ValueError):
    """The input breaks a rule.

    The message names the argument in backticks, the rule, and what was received, with a hint
    where there is one. It is a `ValueError`, so callers need not know the library to catch it.
    """


class FileError(InputError):
    """A file cannot be read or written, or is not what it should be."""


class MissingValuesError(InputError):
    """Values of a table are missing, and nothing was said about what to do then."""


class DeviceError(InputError):
    """A GPU has no room left for what it is asked to do."""


class NonFiniteError(InputError):
    """The values of pairs are not finite.

    Either the data is not, or it is too large for the kernels.
    """


class NosplitWarning(UserWarning):
    """Base class of all warnings, for filtering them together.

    A warning never accompanies a wrong number: the result stands, and the warning says what the
    reader should know before relying on it. The same texts are kept in the result's `warnings`.
    """


class DroppedKernelWarning(NosplitWarning):
    """A kernel was dropped because its statistic does not vary.

    Its pair values are all zero, so it says nothing about the samples: a bandwidth far too small
    or far too large for the data does this. The test is that of the remaining kernels.
    """


class NearCopyWarning(NosplitWarning):
    """Two kernels are nearly copies of one another.

    Their correlation is so close to one that the covariance is badly conditioned. The test stays
    valid, but its p-value reacts to rounding, and the weights of the two cannot be told apart.
    """


class NotATestWarning(NosplitWarning):
    """The method does not control the level.

    `naive` learns and tests on the same data without correcting for it, which is there to show
    what goes wrong. Its p-values are too small, and no conclusion should rest on them.
    """


class PowerlessWarning(NosplitWarning):
    """There is so little data that the test cannot reject at .05, whatever the data is.

    There are fewer than twenty ways to relabel it, and p is at least one in so many: four pairs
    that are swapped have eight. A p-value that is not small says nothing then.
    """


class UnsafeAsymptoticsWarning(NosplitWarning):
    """The normal approximation may be poor here.

    There are too few pairs for the number of kernels, units take part in so many pairs that
    skewness shows, or the data itself shows that few pairs or rows carry a statistic, or that it is
    skewed. The true level can differ from the nominal one; that of exact calibration cannot.
    """


class DependentRowsWarning(NosplitWarning):
    """Neighbouring rows look as if they depended on one another.

    Values of neighbouring pairs are correlated, as they are in the output of a Markov chain, or
    near rows are more alike than far ones. A test that takes rows to be independent then rejects
    too often. Tests of two samples and of means take blocks of rows instead, others one row in so
    many, and say that the result is approximate. Where rows are few and only look alike, as those
    of one in a hundred independent samples do, p-values allow for a series. For the output of a
    chain say `dependent=True` in a test of fit. Rows in random order are independent again only if
    they were before: shuffling them hides a series.
    """


# What to know before relying on a result: a warning and its text.
Caveat = tuple[type[NosplitWarning], str]
