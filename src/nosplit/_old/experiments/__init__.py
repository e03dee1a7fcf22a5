"""The paper's experiments: every figure, from one command.

Built on the public names of the library alone, as anybody's experiments would be. A *study* draws
data and counts rejections; an *experiment* is a figure made of a study's counts, with the claims
the paper makes of it.
"""

from __future__ import annotations

__all__: list[str] = []
