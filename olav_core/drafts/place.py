"""Where the file of a draft goes, and what it holds. Categories without a file of their own are rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from olav_core.drafts.preview import to_yaml

#: Category -> (folder below the agent's, suffix). The importer of that suffix makes the rows.
PLACES: Final = {
    "usage_guide": ("guides", ".guide.yaml"),
    "document": ("documents", ".md"),
    "topology": ("topology", ".mmd"),
}
_DIAGRAM_SUFFIX: Final = (
    (re.compile(r"\A\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<svg\b", re.DOTALL | re.IGNORECASE), ".svg"),
    (re.compile(r"\A\s*(?:strict\s+)?(?:di)?graph\b[^\n{]*\{", re.IGNORECASE), ".dot"),
)


def place_of(category: str, agent: str, intent: str, body: str) -> PurePosixPath | None:
    """Return the file of a draft relative to the workspace, None for a category without files."""
    if category not in PLACES:
        return None
    folder, suffix = PLACES[category]
    if category == "topology":
        suffix = next((name for pattern, name in _DIAGRAM_SUFFIX if pattern.match(body)), suffix)
    return PurePosixPath(agent, folder, f"{intent}{suffix}")


def content_of(
    category: str, *, intent: str, agent: str, scope: str, keywords: Sequence[str], body: str
) -> str:
    """Return the text of the file: YAML for a guide, the body itself for a document or a diagram."""
    if category != "usage_guide":
        return body
    return to_yaml(
        {
            "schema_version": 1,
            "intent": intent,
            "agent": agent,
            "scope": scope,
            "authority": "user",
            "keywords": list(keywords),
            "body": body,
        }
    )
