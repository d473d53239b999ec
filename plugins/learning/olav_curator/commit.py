"""One commit: the file, its rows and the archived draft; all three or none, also when it is killed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen

from olav_core import ConflictError, Memory, OlavError, RecordError, import_directory
from olav_curator.draft import PLACES, MemoryDraft
from olav_curator.draft_folder import DraftFolder, write_atomically


@frozen(kw_only=True)
class Committed:
    """What a commit wrote: the rows' ids, the file, the archived draft (paths from the workspace)."""

    intent: str
    ids: tuple[str, ...]
    path: str
    archive: str


class Commit:
    """Carries out commits under the folder's lock.

    The journal is the draft with the person's word. Once it stands, the commit is decided: a process that
    finds one left by a killed one completes it. What fails in this process is undone instead.
    """

    def __init__(self, memory: Memory, folder: DraftFolder, now: Callable[[], datetime]) -> None:
        self._memory = memory
        self._folder = folder
        self._now = now

    def run(self, draft: MemoryDraft, word: dict[str, str]) -> Committed:
        """Commit a draft. On any error the draft is back, and neither file nor rows are there."""
        target = target_of(self._memory.workspace.root, draft)
        before = read_file(target)
        if file_hash(before) != draft.replaces:
            raise ConflictError(
                f"{draft.path} is not as it was when {draft.intent!r} was proposed. Propose it again."
            )
        journal = self._folder.journal_path(draft.intent)
        entry = {"draft": json.loads(draft.to_json()), "confirmation": word, "before": _text(before)}
        write_atomically(journal, json.dumps(entry, ensure_ascii=False, indent=2).encode("utf-8"))
        self._folder.draft_path(draft.intent).unlink(missing_ok=True)
        return self._complete(draft, journal, before)

    def recover(self) -> list[Committed]:
        """Complete the commits that a killed process left."""
        done = []
        for journal in self._folder.journals():
            try:
                entry: dict[str, Any] = json.loads(journal.read_text(encoding="utf-8"))
                draft = MemoryDraft.from_json(json.dumps(entry["draft"]), name=journal.name)
                before = None if entry["before"] is None else str(entry["before"]).encode("utf-8")
            except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
                raise RecordError(
                    f"{journal} is no commit ({error!r}). Look at it, and remove the file."
                ) from None
            self._folder.draft_path(draft.intent).unlink(missing_ok=True)
            done.append(self._complete(draft, journal, before))
        return done

    def _complete(self, draft: MemoryDraft, journal: Path, before: bytes | None) -> Committed:
        root = self._memory.workspace.root
        target = target_of(root, draft)
        made = [folder for folder in (target.parent, target.parent.parent) if not folder.exists()]
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, draft.content.encode("utf-8"))
            ids = self._rows(draft, target)
        except (OlavError, OSError):
            self._undo(draft, journal, before, target, made)
            raise
        archive = self._folder.archive(journal, "committed", draft.intent, self._now())
        return Committed(
            intent=draft.intent, ids=ids, path=draft.path, archive=archive.relative_to(root).as_posix()
        )

    def _rows(self, draft: MemoryDraft, target: Path) -> tuple[str, ...]:
        report = import_directory(
            self._memory, target, workspace=self._memory.workspace.root, scope=draft.scope, strict=True
        )
        if report.faults or not report.applied:
            raise RecordError(f"{draft.path} was not stored: {'; '.join(map(str, report.faults))}")
        return tuple(item.id for item in report.items if item.action not in ("retired", "erased"))

    def _rows_of(self, draft: MemoryDraft) -> list[str]:
        path = PurePosixPath(draft.path)
        place = (path.parent.as_posix(), path.name)
        return [
            row.id
            for category in PLACES
            if category in self._memory.registry.categories
            for row in self._memory.list(category=category)
            if (row.metadata.get("directory"), row.metadata.get("source")) == place
        ]

    def _undo(
        self, draft: MemoryDraft, journal: Path, before: bytes | None, target: Path, made: list[Path]
    ) -> None:
        with suppress(OSError):
            if before is not None:
                write_atomically(target, before)
            else:
                target.unlink(missing_ok=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        if before is None:
            self._memory.store.delete(self._rows_of(draft))
        write_atomically(self._folder.draft_path(draft.intent), draft.to_json().encode("utf-8"))
        journal.unlink(missing_ok=True)


def target_of(root: Path, draft: MemoryDraft) -> Path:
    """Return the absolute path of a draft's file; raises RecordError when a link leads elsewhere."""
    target = root / draft.path
    if not target.parent.resolve().is_relative_to(root.resolve()) or target.is_symlink():
        raise RecordError(
            f"{draft.path} leads out of the workspace by a link. Choose another agent or intent."
        )
    return target


def read_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def file_hash(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
