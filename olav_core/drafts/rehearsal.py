"""A commit tried without writing: a file that its importer would refuse is not proposed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core.drafts.draft import MemoryDraft
from olav_core.drafts.place import file_importer
from olav_core.errors import RecordError
from olav_core.importing.directory import import_directory

if TYPE_CHECKING:
    from olav_core.memory import Memory


def rehearse(memory: Memory, draft: MemoryDraft) -> None:
    """Raise RecordError unless the file, as its importer reads it, makes the memory that is previewed."""
    name = Path(draft.path).name
    importer = memory.registry.importer_for(name)
    if importer is None:
        raise RecordError(f"No installed plug-in imports {draft.path}: {draft.category} is not possible.")
    with tempfile.TemporaryDirectory(prefix="olav-draft-") as folder:
        path = Path(folder, name)
        path.write_bytes(draft.content.encode("utf-8", "surrogatepass"))
        report = import_directory(memory, path, dry_run=True)
        raw = b"" if importer.opens_path else path.read_bytes()
        drafts, _ = importer.parse(Path(folder), path, raw)
    if report.faults or not report.items:
        said = "; ".join(fault.message for fault in report.faults) or "it holds nothing"
        raise RecordError(f"This {draft.category} cannot be stored: {said}")
    if _is_whole(memory, draft) and [memory.prepare(made).text for made in drafts] != [draft.body]:
        raise RecordError("The body would not be stored as it is shown. Leave out control characters.")


def _is_whole(memory: Memory, draft: MemoryDraft) -> bool:
    importer = file_importer(memory.registry, draft.category)
    return importer is not None and importer.draft_file is not None and importer.draft_file.whole
