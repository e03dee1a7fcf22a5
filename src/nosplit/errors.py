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
    "UnsafeAsymptoticsWarning",
]


class InputError(ValueError):
    """The input breaks a rule.

    The message names the argument in backticks, the rule, and what was received, with a hint
    where there is one. It is a `ValueError`, so callers need not know the library to catch it.
    """


class FileError(OSError, InputError):
    """A file cannot be read or written, or is not what it should be; an `OSError` as well."""


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


class UnsafeAsymptoticsWarning(NosplitWarning):
    """The normal approximation may be poor here.

    There are too few pairs for the number of kernels, units take part in so many pairs that
    skewness shows, or the data itself shows that few pairs or rows carry a statistic, or that it is
    skewed. The true level can differ from the nominal one; that of exact calibration cannot.
    """


class DependentRowsWarning(NosplitWarning):
    """Neighbouring rows are alike, as in a time series, or samples are more alike than chance.

    Neighbouring rows are correlated, as in a time series or the output of a Markov chain. A test
    that takes rows to be independent then rejects too often. The p-value does not change: if rows
    are in time order, declare it with `series=True`. Shuffling dependent rows hides the dependence
    and does not remove it.
    """


# What to know before relying on a result: a warning and its text.
Caveat = tuple[type[NosplitWarning], str]
