"""P-values as people read them."""

from __future__ import annotations

import math

__all__ = ["format_p", "said_p"]

# The smallest p-value that is printed.
SMALLEST_P = 1e-16


def format_p(log_pvalue: float) -> str:
    """A p-value as a person can read it, whatever its size; below 1e-16 nobody should.

    Rows are never as independent as that, and rounding decides what the digits are. They are in
    `log_pvalue`.

    Examples
    --------
    >>> format_p(math.log(0.0123)), format_p(math.log(1.23e-7)), format_p(-1e300)
    ('0.0123', '1.2e-07', '< 1e-16')
    """
    if log_pvalue > math.log(1e-4):
        return f"{math.exp(log_pvalue):.4f}"
    if math.isnan(log_pvalue) or log_pvalue < math.log(SMALLEST_P):
        return f"< {SMALLEST_P:g}" if log_pvalue < 0.0 else "nan"
    exponent = math.floor(log_pvalue / math.log(10.0))
    mantissa = math.exp(log_pvalue - exponent * math.log(10.0))
    if f"{mantissa:.1f}" == "10.0":
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.1f}e{exponent:+03d}"


def said_p(log_pvalue: float, name: str = "p", gap: str = " ") -> str:
    """A p-value in a sentence: "p = 0.0123", or "p < 1e-16"."""
    value = format_p(log_pvalue)
    small = value.startswith("<")
    return f"{name}{gap}{'<' if small else '='}{gap}{value.removeprefix('< ')}"
