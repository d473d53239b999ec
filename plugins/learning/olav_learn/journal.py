"""What learning did so far: last runs, costs, failures. `olav learn status` tells it; it can be deleted."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from attrs import Factory, asdict, define, fields

from olav_core import Memory, StoreError, write_atomically

NAME: Final = "learn.json"
#: Failures that were shown to the chat model: enough for years, and a file of some kB.
MAX_ASKED: Final = 5_000
_log = logging.getLogger("olav.learn")


@define(kw_only=True)
class GroupHistory:
    """One tool and scope. `failures`: in all; `failed_in_a_row`: since the last answer that could be used, on
    the events `events` (a digest). `draft`: what waits for review. `last_run`: ISO 8601, empty when the model
    was never asked."""

    tool: str
    scope: str
    last_run: str = ""
    outcome: str = ""
    events: str = ""
    draft: str = ""
    runs: int = 0
    failures: int = 0
    failed_in_a_row: int = 0
    fault: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


@define(kw_only=True)
class ReflectionHistory:
    """`asked`: the failures that the chat model was shown. `files`: read run records, path -> size and time.
    `failures`: answers that could not be used, or did not come; `quarantined`: failures that gave orders."""

    last_run: str = ""
    asked: list[str] = Factory(list)
    files: dict[str, list[int]] = Factory(dict)
    failures: int = 0
    quarantined: int = 0
    fault: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


@define
class Journal:
    """The file's content; `group` gives the entry of one tool and scope."""

    groups: dict[tuple[str, str], GroupHistory] = Factory(dict)
    reflections: ReflectionHistory = Factory(ReflectionHistory)
    last_run: str = ""

    def group(self, tool: str, scope: str) -> GroupHistory:
        return self.groups.setdefault((tool, scope), GroupHistory(tool=tool, scope=scope))


def read_journal(memory: Memory) -> Journal:
    """Return the journal; an unreadable one counts as empty, and the log tells of it."""
    return _told(memory)[0]


def _told(memory: Memory) -> tuple[Journal, bool]:
    """Return the journal, and whether its file can be kept as it is."""
    path = _path(memory)
    try:
        values = json.loads(path.read_text("utf-8"))
        groups = [_read(GroupHistory, value) for value in values["groups"]]
        reflections = _read(ReflectionHistory, values["reflections"])
        kept = Journal({(g.tool, g.scope): g for g in groups}, reflections, str(values.get("last_run", "")))
    except FileNotFoundError:
        return Journal(), True
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("%s cannot be read (%r): learning counts anew", path, error)
        return Journal(), False
    return kept, True


@contextmanager
def journal(memory: Memory) -> Iterator[Journal]:
    """Read the journal, let it be changed, write it in one step; other processes wait meanwhile.

    An unreadable one is put aside as `learn.json.broken`: here, under the lock, so that nobody takes a sound
    one for it."""
    path = _path(memory)
    try:
        with path.with_name(f"{NAME}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            kept, sound = _told(memory)
            if not sound:
                os.replace(path, path.with_name(f"{NAME}.broken"))
            yield kept
            kept.reflections.asked = kept.reflections.asked[-MAX_ASKED:]
            values = {
                "version": 1,
                "last_run": kept.last_run,
                "groups": [asdict(group) for group in kept.groups.values()],
                "reflections": asdict(kept.reflections),
            }
            write_atomically(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}. Check its permissions.") from error


def _path(memory: Memory) -> Path:
    return memory.workspace.directory / NAME


def _read(kind: Any, value: dict[str, Any]) -> Any:
    """Return an entry; fields of other versions are left out."""
    names = {attribute.name for attribute in fields(kind)}
    return kind(**{name: item for name, item in value.items() if name in names})
