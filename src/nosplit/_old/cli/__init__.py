"""The command line: parse, call the library, print."""

from nosplit._old.cli.commands import app, main

__all__ = ["app", "main"]
