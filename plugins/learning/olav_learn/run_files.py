"""The run records that the setting `learning.runs` names, each read again only when it changed."""

from __future__ import annotations

from pathlib import Path

from olav_core import ConfigError, Fault, Memory
from olav_learn.journal import ReflectionHistory
from olav_learn.run_call import RunCall
from olav_learn.run_record import read_calls


def fresh_files(memory: Memory, history: ReflectionHistory) -> dict[str, Path]:
    """Return the files that are new or changed since they were read, by their path from the workspace."""
    return {name: path for name, path in _named(memory).items() if _stamp(path) != history.files.get(name)}


def read_files(
    memory: Memory, files: dict[str, Path]
) -> tuple[list[RunCall], list[Fault], dict[str, list[int]]]:
    """Return the calls of files, what was wrong with them, and what to remember of each once it is learnt."""
    calls: list[RunCall] = []
    faults: list[Fault] = []
    stamps = {}
    for name, path in files.items():
        stamps[name] = _stamp(path)
        read, wrong = read_calls(memory, path)
        calls += read
        faults += wrong
    return calls, faults, stamps


def _named(memory: Memory) -> dict[str, Path]:
    root = memory.workspace.root
    found = {}
    for pattern in memory.settings.learning.runs:
        start = Path(pattern)
        if start.is_absolute() or ".." in start.parts:
            raise ConfigError(f"learning.runs {pattern!r} leads out of the workspace. Name files within it.")
        for path in sorted(root.glob(pattern)):
            if path.is_file():
                found[path.relative_to(root).as_posix()] = path
    return found


def _stamp(path: Path) -> list[int]:
    told = path.stat()
    return [told.st_size, told.st_mtime_ns]
