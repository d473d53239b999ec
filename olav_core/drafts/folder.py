"""The folder `.curator_drafts`: proposals, a commit under way, and what became of them."""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from olav_core.drafts.draft import MemoryDraft, check_name
from olav_core.errors import RecordError, StoreError

FOLDER: Final = ".curator_drafts"
_DRAFT: Final = ".draft.json"
_JOURNAL: Final = ".commit.json"


class DraftFolder:
    """Files of one workspace, each replaced in one step. `locked()` keeps other processes out meanwhile."""

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDER

    @contextmanager
    def locked(self) -> Iterator[None]:
        try:
            self.path.mkdir(exist_ok=True)
            file = (self.path / ".lock").open("a")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error}. Check its permissions.") from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            except OSError as error:  # of this folder or of another one that the work needs: it tells itself
                raise StoreError(f"The draft was not dealt with: {error}. Mend that, try again.") from error

    def draft_path(self, intent: str) -> Path:
        return self.path / f"{check_name(intent, 'intent')}{_DRAFT}"

    def journal_path(self, intent: str) -> Path:
        return self.path / f"{check_name(intent, 'intent')}{_JOURNAL}"

    def intents(self) -> list[str]:
        """Return the intents that have a draft, the oldest first."""
        found = []
        for file in self.path.glob(f"*{_DRAFT}"):
            with suppress(OSError):  # decided by another process meanwhile, or a link to nothing
                found.append((file.stat().st_mtime_ns, file.name))
        return [name.removesuffix(_DRAFT) for _, name in sorted(found)]

    def journals(self) -> list[Path]:
        return sorted(self.path.glob(f"*{_JOURNAL}"))

    def read(self, intent: str) -> MemoryDraft:
        """Return a draft; raises RecordError when there is none or it was changed."""
        path = self.draft_path(intent)
        try:
            raw = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise RecordError(f"No draft found for {intent!r}. {self.known()}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"{path} cannot be read: {error}. `olav drafts reject` removes it.") from error
        draft = MemoryDraft.from_json(raw, name=path.name)
        if draft.intent != intent:
            raise RecordError(f"{path.name} holds the draft {draft.intent!r}. Propose it again.")
        return draft

    def known(self) -> str:
        intents = self.intents()
        return f"Pending: {', '.join(intents)}." if intents else "Propose one first; nothing is pending."

    def rejected(self, intent: str) -> set[str]:
        """Return the essences of the drafts of an intent that a person rejected."""
        found = set()
        for path in (self.path / "rejected").glob(f"{glob.escape(intent)}_*.json"):
            with suppress(OSError, UnicodeDecodeError, RecordError):
                draft = MemoryDraft.from_json(path.read_text(encoding="utf-8"), name=path.name)
                if draft.intent == intent:
                    found.add(draft.essence)
        return found

    def archive(self, source: Path, folder: str, intent: str, now: datetime) -> Path:
        """Move a file to `<folder>/<intent>_<time>.json`, never over another one."""
        target = self.path / folder
        target.mkdir(exist_ok=True)
        stamp = now.strftime("%Y%m%dT%H%M%S%fZ")
        for n in range(100):
            path = target / f"{intent}_{stamp}{f'_{n}' if n else ''}.json"
            if not path.exists():
                os.rename(source, path)
                return path
        raise StoreError(f"{target} holds a hundred files of {intent} at {stamp}. Try again.")
