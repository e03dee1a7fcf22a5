"""The reference of the command line, made from the program itself.

The line `<!-- commands -->` of a page becomes one section a command when the site is built, so
that the page cannot go stale.
"""

from __future__ import annotations

from typing import Any

import typer.main

from nosplit._old.cli import app as program

__all__ = ["commands_page", "setup"]

PLACE = "<!-- commands -->"


def commands_page() -> str:
    """All commands with their arguments and options, as Markdown."""
    commands: dict[str, Any] = typer.main.get_command(program).commands  # type: ignore[attr-defined]
    return "\n".join(_section(name, command) for name, command in commands.items())


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    options = [p for p in command.params if p.opts[0].startswith("-")]
    usage = " ".join(["nosplit", name, *map(_argument, arguments), *["[OPTIONS]"][: len(options)]])
    lines = [f"## nosplit {name}", "", _escaped(command.help or ""), ""]
    lines += ["```text", usage, "```", ""]
    rows = [(f"`{_argument(p)}`", _default(p), p.help) for p in arguments]
    rows += [(_option(p), _default(p), p.help) for p in options]
    if rows:
        lines += ["| argument or option | default | what it is |", "|---|---|---|"]
        lines += [
            f"| {left} | {default} | {_escaped(text or '')} |" for left, default, text in rows
        ]
    return "\n".join([*lines, ""])


def _argument(param: Any) -> str:
    name = (param.metavar or param.name.upper()).removesuffix("...").strip("[]")
    several = "..." if param.nargs == -1 else ""
    return f"{name}{several}" if param.required else f"[{name}]{several}"


def _option(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*param.opts, *param.secondary_opts])
    return names if param.is_flag or not param.metavar else f"{names} `{param.metavar}`"


def _default(param: Any) -> str:
    if param.required:
        return "required"
    flag = getattr(param, "is_flag", False)  # arguments are none
    shown = param.show_default and not flag and not param.multiple
    return f"`{param.default}`" if shown and param.default not in (None, "") else ""


def _escaped(text: str) -> str:
    """Text as it is, in a cell of a Markdown table too."""
    for sign in ("|", "*", "<", "["):
        text = text.replace(sign, "\\" + sign)
    return text


def _fill(app: Any, docname: str, source: list[str]) -> None:
    if PLACE in source[0]:
        source[0] = source[0].replace(PLACE, commands_page())


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
