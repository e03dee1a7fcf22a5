"""`python -m nosplit` is the command `nosplit`."""

from __future__ import annotations

from nosplit._old.cli import main

if __name__ == "__main__":
    main()
