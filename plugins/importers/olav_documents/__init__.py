"""Importers of documents (passages and one guide a document) and of diagrams (one memory a node)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from olav_core import Draft, DraftFile, Fault, ImporterSpec, hookimpl

if TYPE_CHECKING:
    from olav_core import Memory

DOCUMENTS = (".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx")
DIAGRAMS = (".mmd", ".mermaid", ".dot", ".gv", ".svg")

_LOOKS_LIKE = (
    (re.compile(r"\A\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<svg\b", re.DOTALL | re.IGNORECASE), ".svg"),
    (re.compile(r"\A\s*(?:strict\s+)?(?:di)?graph\b[^\n{]*\{", re.IGNORECASE), ".dot"),
)


def diagram_suffix(body: str) -> str:
    """Return the suffix of a diagram that a conversation proposed, Mermaid's unless it looks like another."""
    return next((suffix for pattern, suffix in _LOOKS_LIKE if pattern.match(body)), ".mmd")


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
            draft_file=DraftFile(folder="documents", suffix=".md"),
        ),
        ImporterSpec(
            id="topology",
            purpose="Diagrams: the source, and each node with its links",
            suffixes=DIAGRAMS,
            parse=parse_diagram,
            category="topology",
            opens_path=True,
            draft_file=DraftFile(folder="topology", suffix=diagram_suffix),
        ),
    ]
