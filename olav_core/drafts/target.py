"""What a commit writes: a file with the rows that its importer makes, or rows alone. Each can be undone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from olav_core.atomic_write import write_atomically
from olav_core.drafts.draft import MemoryDraft
from olav_core.errors import OlavError, RecordError
from olav_core.importing.directory import import_directory
from olav_core.specs import Draft

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.records import MemoryRecord


class Target(Protocol):
    """`state()`: sha256 of what stands there, empty for nothing. `before()`: what `undo` needs, as JSON."""

    def state(self) -> str: ...
    def before(self) -> Any: ...
    def write(self) -> tuple[str, ...]: ...
    def undo(self, before: Any) -> None: ...


def target_of(memory: Memory, draft: MemoryDraft) -> Target:
    """Return where a draft goes; raises RecordError when a link leads out of the workspace."""
    return RowTarget(memory, draft) if draft.rows else FileTarget(memory, draft)


class FileTarget:
    """The file of a draft, and its rows."""

    def __init__(self, memory: Memory, draft: MemoryDraft) -> None:
        self._memory = memory
        self._draft = draft
        root = memory.workspace.root
        self._path = root / draft.path
        self._made: list[Path] = []
        if not self._path.parent.resolve().is_relative_to(root.resolve()) or self._path.is_symlink():
            raise RecordError(
                f"{draft.path} leads out of the workspace by a link. Choose another agent or intent."
            )

    def _content(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def state(self) -> str:
        content = self._content()
        return "" if content is None else hashlib.sha256(content).hexdigest()

    def before(self) -> Any:
        content = self._content()
        return None if content is None else base64.b64encode(content).decode("ascii")

    def write(self) -> tuple[str, ...]:
        folders = (self._path.parent, self._path.parent.parent)
        self._made = [folder for folder in folders if not folder.exists()]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, self._draft.content.encode("utf-8"))
        report = self._import(strict=True)
        if report.faults or not report.applied:
            raise RecordError(f"{self._draft.path} was not stored: {'; '.join(map(str, report.faults))}")
        return tuple(item.id for item in report.items if item.action not in ("retired", "erased"))

    def _import(self, *, strict: bool) -> Any:
        root = self._memory.workspace.root
        return import_directory(
            self._memory, self._path, workspace=root, scope=self._draft.scope, strict=strict
        )

    def undo(self, before: Any) -> None:
        if before is not None:
            with suppress(OSError):
                write_atomically(self._path, base64.b64decode(before))
            with suppress(OlavError, OSError):  # the rows of the file that is back
                self._import(strict=False)
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        for folder in self._made:
            with suppress(OSError):
                folder.rmdir()
        self._memory.store.delete(self._ids())

    def _ids(self) -> list[str]:
        path = PurePosixPath(self._draft.path)
        place = (path.parent.as_posix(), path.name)
        importer = self._memory.registry.importer_for(path.name)
        brought = () if importer is None else (importer.category, *importer.also)
        return [
            row.id
            for category in brought
            if category in self._memory.registry.categories
            for row in self._memory.list(category=category)
            if (row.metadata.get("directory"), row.metadata.get("source")) == place
        ]


class RowTarget:
    """The rows of a draft that has no file. They are written together, in one commit of the table."""

    def __init__(self, memory: Memory, draft: MemoryDraft) -> None:
        self._memory = memory
        self._records = [memory.prepare(draft_of(row)) for row in draft.rows]

    def _existing(self) -> dict[str, MemoryRecord]:
        self._memory.store.refresh()
        return self._memory.store.existing([record.id for record in self._records])

    def state(self) -> str:
        texts = sorted((id, row.text, row.metadata.get("status")) for id, row in self._existing().items())
        return hashlib.sha256(json.dumps(texts).encode("utf-8")).hexdigest() if texts else ""

    def before(self) -> Any:
        return [row_of(record) for record in self._existing().values()]

    def write(self) -> tuple[str, ...]:
        for outcome in self._memory.write(self._records, whole=True):
            if outcome.error is not None:
                raise outcome.error
        return tuple(dict.fromkeys(record.id for record in self._records))

    def undo(self, before: Any) -> None:
        stood = [self._memory.prepare(draft_of(row)) for row in before]
        kept = {record.id for record in stood}
        gone = [record for id, record in self._existing().items() if id not in kept]
        self._memory.store.delete([record.id for record in gone])
        self._memory.release(gone)
        if stood:
            with suppress(OlavError):
                self._memory.write(stood)


def row_of(record: MemoryRecord) -> dict[str, Any]:
    """Return a record as the JSON of a draft; times as ISO strings."""
    return {
        "text": record.text,
        "category": record.category,
        "scope": record.scope,
        "metadata": json.loads(json.dumps(dict(record.metadata), ensure_ascii=False, default=str)),
        "origin": record.origin,
        "confidence": record.confidence,
        "tags": list(record.tags),
        "timestamp": record.timestamp.isoformat(),
        "expires_at": record.expires_at.isoformat() if record.expires_at is not None else None,
    }


def rows_of(memory: Memory, drafts: Sequence[Draft]) -> tuple[dict[str, Any], ...]:
    """Return checked and redacted drafts as JSON. A life that the category gives begins with the commit."""
    rows = []
    for draft in drafts:
        row = row_of(memory.prepare(draft))
        if draft.expires_at is None:
            row["expires_at"] = None
        if draft.timestamp is None:
            row["timestamp"] = None
        rows.append(row)
    return tuple(rows)


def draft_of(row: Mapping[str, Any]) -> Draft:
    """Return the Draft of a row's JSON; raises RecordError when it is none."""
    try:
        return Draft(**{**row, "tags": tuple(row.get("tags") or ())})
    except TypeError as error:
        raise RecordError(f"A row of the draft is none ({error}). Propose it again.") from None
