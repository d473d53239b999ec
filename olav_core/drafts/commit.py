"""One commit: what the draft holds, and its archive; all of it or nothing, also when it is killed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.atomic_write import write_atomically
from olav_core.drafts.draft import MemoryDraft
from olav_core.drafts.folder import DraftFolder
from olav_core.drafts.target import Target, target_of
from olav_core.errors import ConflictError, OlavError, RecordError

if TYPE_CHECKING:
    from olav_core.memory import Memory


@frozen(kw_only=True)
class Committed:
    """What a commit wrote: the rows' ids, the file (empty when there is none), the archived draft; paths from
    the workspace on."""

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
        target = target_of(self._memory, draft)
        if target.state() != draft.replaces:
            raise ConflictError(
                f"{draft.path or draft.category} is not as it was when {draft.intent!r} was proposed. "
                "Propose it again."
            )
        journal = self._folder.journal_path(draft.intent)
        before = target.before()
        entry = {"draft": json.loads(draft.to_json()), "confirmation": word, "before": before}
        write_atomically(journal, json.dumps(entry, ensure_ascii=False, indent=2).encode("utf-8"))
        self._folder.draft_path(draft.intent).unlink(missing_ok=True)
        return self._complete(draft, target, journal, before)

    def recover(self) -> list[Committed]:
        """Complete the commits that a killed process left."""
        done = []
        for journal in self._folder.journals():
            try:
                entry: dict[str, Any] = json.loads(journal.read_text(encoding="utf-8"))
                draft = MemoryDraft.from_json(json.dumps(entry["draft"]), name=journal.name)
                before = entry["before"]
            except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
                raise RecordError(
                    f"{journal} is no commit ({error!r}). Look at it, and remove the file."
                ) from None
            self._folder.draft_path(draft.intent).unlink(missing_ok=True)
            done.append(self._complete(draft, target_of(self._memory, draft), journal, before))
        return done

    def _complete(self, draft: MemoryDraft, target: Target, journal: Path, before: Any) -> Committed:
        try:
            ids = target.write()
        except (OlavError, OSError):
            target.undo(before)
            write_atomically(self._folder.draft_path(draft.intent), draft.to_json().encode("utf-8"))
            journal.unlink(missing_ok=True)
            raise
        archive = self._folder.archive(journal, "committed", draft.intent, self._now())
        root = self._memory.workspace.root
        return Committed(
            intent=draft.intent, ids=ids, path=draft.path, archive=archive.relative_to(root).as_posix()
        )
