"""A workspace that counts what it embeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olav_core import ImportReport, Memory, MemoryRecord, import_directory


class Desk:
    """The memory of a workspace `root`, and the imports into it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.root: Path = memory.workspace.root
        self.embedded = 0
        embed = memory.embedder.passages_each

        def passages_each(texts: Sequence[str], **options: Any) -> Any:
            self.embedded += len(texts)
            return embed(texts, **options)

        memory.embedder.passages_each = passages_each  # type: ignore[method-assign]

    def bring(self, path: Path, **options: Any) -> ImportReport:
        """Import a path and check what the report says of embeddings."""
        self.embedded = 0
        report = import_directory(self.memory, path, workspace=self.root, **options)
        assert report.embedded == self.embedded or not report.applied
        return report

    def rows(self, category: str = "document") -> list[MemoryRecord]:
        return self.memory.list(category=category)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def counts(report: ImportReport) -> dict[str, int]:
    names = ("added", "changed", "moved", "unchanged", "retired", "erased", "embedded")
    return {name: getattr(report, name) for name in names if getattr(report, name)}
