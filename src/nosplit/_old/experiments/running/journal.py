"""The journal of a study: every finished chunk, a line each, written as soon as it is done.

A process that is killed loses at most the chunks that were under way. A line that was cut short
has no end of line and is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from types import TracebackType

from nosplit import InputError, __version__
from nosplit._old.experiments.running.work import Chunk, Count, Task
from nosplit._old.experiments.showing.table import write_whole

__all__ = ["Journal"]


class Journal:
    """Finished chunks of one study, on disk.

    Parameters
    ----------
    path : Path
        The file.
    seed : int
        Seed of the run; chunks of another seed are not continued.
    resume : bool
        Keep what the file holds, or start anew.
    """

    def __init__(self, path: Path, *, seed: int, resume: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._done: dict[str, Chunk] = {}
        head = json.dumps({"version": __version__, "seed": seed})
        lines = _whole_lines(path) if resume else []
        if lines and lines[0] != head:
            raise InputError(
                f"`--resume` can only continue a run of the same version and seed ({head}), "
                f"got {lines[0]} in {path}. Start anew without it, or choose another `--out`."
            )
        for line in lines[1:]:
            entry = json.loads(line)
            self._done[entry["chunk"]] = _chunk(entry)
        write_whole(path, "".join(f"{line}\n" for line in (lines or [head])))
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def done(self) -> Mapping[str, Chunk]:
        """Finished chunks by key."""
        return self._done

    def add(self, task: Task, chunk: Chunk) -> None:
        """Write down a finished chunk."""
        if task.key in self._done:
            return
        entry = {
            "chunk": task.key,
            "counts": [astuple(count) for count in chunk.counts],
            "values": chunk.values,
        }
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        self._done[task.key] = chunk


def _whole_lines(path: Path) -> list[str]:
    """Lines that end with an end of line."""
    if not path.exists():
        return []
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _chunk(entry: Mapping[str, list[list[object]]]) -> Chunk:
    counts = tuple(Count(*count) for count in entry["counts"])  # type: ignore[arg-type]
    return Chunk(counts, tuple(entry["values"]))  # type: ignore[arg-type]
