"""From what a page says to its bytes in a file."""

from __future__ import annotations

import os
import secrets
from importlib import resources
from pathlib import Path
from typing import Any

from nosplit._lazy import extra
from nosplit._text import printable
from nosplit.errors import InputError

__all__ = ["check_target", "render", "write"]

# A link in these may lead to an ordinary file, but it must not be replaced.
DEVICES = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def render(values: dict[str, Any]) -> str:
    """The page as HTML.

    Everything is escaped on its way in except the style sheet and the figures, which hold no text
    of the data.
    """
    jinja2 = extra("jinja2", "report")
    environment = jinja2.Environment(
        autoescape=True,
        finalize=_clean,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page = environment.from_string(_file("template.html"))
    return str(page.render(css=_file("style.css"), **values))


def _clean(value: Any) -> Any:
    """Control characters and half surrogates are shown as escapes; markup stays as it is."""
    return printable(value) if type(value) is str else value


def _file(name: str) -> str:
    return (
        resources.files("nosplit._old.describe.report").joinpath(name).read_text(encoding="utf-8")
    )


def check_target(path: str | os.PathLike[str], *, page: bool = True) -> Path:
    """A path that a file, or a page, can be written to, as far as one can tell beforehand."""
    try:
        target = Path(path)
    except TypeError as error:
        raise InputError(f"`path` must be a path, got {path!r}.") from error
    try:
        return _checked_target(target, page)
    except OSError as error:
        raise _unwritable(target, error) from error


def _checked_target(target: Path, page: bool) -> Path:
    if target.absolute().parent in DEVICES:
        raise InputError(f"`path` must be an ordinary file, got {str(target)!r}.")
    if target.is_dir() or not target.name:
        raise InputError(f"`path` must name a file, got the folder {str(target)!r}.")
    if page and target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` must end in .html, as a report is HTML, got {str(target)!r}.")
    if target.is_symlink():
        target = target.resolve()  # the file is replaced, and not the link
    if target.exists() and not target.is_file():
        raise InputError(f"`path` must be an ordinary file, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise InputError(f"`path` must be in a folder that exists, got {str(target)!r}.")
    return target


def _unwritable(target: Path, error: OSError) -> InputError:
    return InputError(f"`path` {str(target)!r} cannot be written: {error.strerror or error}.")


def write(text: str, path: str | os.PathLike[str]) -> Path:
    """Write a file whole or not at all: what was there stays until the new one is complete."""
    target = check_target(path)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        part.replace(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        part.unlink(missing_ok=True)
    return target
