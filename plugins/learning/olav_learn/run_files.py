"""The run records that the setting `learning.runs` names, each read again only when it changed."""

from __future__ import annotations

import os
from pathlib import Path

from olav_core import ConfigError, Fault, Memory, WorkspaceError
from olav_learn.journal import ReflectionHistory
from olav_learn.run_call import RunCall
from olav_learn.run_record import read_calls


def fresh_files(memory: Memory, history: ReflectionHistory) -> dict[str, Path]:
    """Return the files that are new or changed since they were read, by their path from the workspace."""
    found = {}
    for name, path in _named(memory).items():
        try:
            known = _stamp(path) == history.files.get(name)
        except OSError:  # gone meanwhile, or closed: read_files tells which
            known = False
        if not known:
            found[name] = path
    return found


def read_files(
    memory: Memory, files: dict[str, Path]
) -> tuple[list[RunCall], list[Fault], dict[str, list[int]]]:
    """Return the calls of files, what was wrong with them, and what to remember of each once it is learnt.

    A file that cannot be read is a fault, and is tried again by the next round.
    """
    calls: list[RunCall] = []
    faults: list[Fault] = []
    stamps = {}
    for name, path in files.items():
        try:
            stamp = _stamp(path)  # before it is read: what is written to it meanwhile is read again
            read, wrong = read_calls(memory, path)
        except (OSError, WorkspaceError) as error:
            faults.append(Fault(str(path), 0, f"{error}"))
            continue
        stamps[name] = stamp
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
            if os.path.isfile(path):  # in 3.11, Path.is_file raises for a folder that is closed to us
                found[path.relative_to(root).as_posix()] = path
    return found


def _stamp(path: Path) -> list[int]:
    told = path.stat()
    return [told.st_size, told.st_mtime_ns]
