"""The README's Python examples run, and print what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_readme_examples():
    text = README.read_text(encoding="utf-8")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    names: dict[str, object] = {}  # shared: a later example may use what an earlier one made
    for number, fence in enumerate(FENCE.findall(text), start=1):
        example = parser.get_doctest(fence, names, f"README example {number}", str(README), 0)
        runner.run(example, clear_globs=False)
        names.update(example.globs)
        if not example.examples:  # no prompts: it should still run
            exec(compile(fence, f"README example {number}", "exec"), names)
    assert runner.summarize(verbose=False).failed == 0
