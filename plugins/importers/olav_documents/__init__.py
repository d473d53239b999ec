"""Importers of documents (passages and one guide a document) and of diagrams (one memory a node)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core import Draft, Fault, ImporterSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Memory

DOCUMENTS = (".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx")
DIAGRAMS = (".mmd", ".mermaid", ".dot", ".gv", ".svg")


def parse_document(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
    from olav_documents.document import import_document

    del root, raw
    return import_document(path)


def parse_diagram(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
    from olav_documents.topology import import_diagram

    del root, raw
    return import_diagram(path)


def refine(memory: Memory, ask: bool) -> Callable[[Sequence[Draft]], Sequence[Draft]]:
    from olav_documents.told_summary import ToldSummaries

    return ToldSummaries(memory, ask)


@hookimpl
def olav_register_importers() -> list[ImporterSpec]:
    return [
        ImporterSpec(
            id="document",
            purpose="Documents: passages cut at their structure, one usage_guide a document, their diagrams",
            suffixes=DOCUMENTS,
            parse=parse_document,
            category="document",
            also=("usage_guide", "topology"),
            opens_path=True,
            refiner=refine,
        ),
        ImporterSpec(
            id="topology",
            purpose="Diagrams: the source, and each node with its links",
            suffixes=DIAGRAMS,
            parse=parse_diagram,
            category="topology",
            opens_path=True,
        ),
    ]
