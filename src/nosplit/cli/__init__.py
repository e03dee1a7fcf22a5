"""The command line: parse, call the library, print."""

from nosplit.cli.commands import app, main

__all__ = ["app", "main"]
