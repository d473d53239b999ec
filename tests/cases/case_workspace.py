"""Filling and looking at the workspaces of the case tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from olav_core import Draft, Memory, Recall

#: The fixture `make`: makes a workspace and opens it.
Make = Callable[..., Memory]


def configure(
    root: Path, settings: str, *, embedder: str = "hashing", options: dict[str, Any] | None = None
) -> None:
    """Write the workspace's settings anew: the embedder, then `settings` as YAML."""
    lines = ["embedder:", f"  id: {embedder}", f"  options: {json.dumps(options or {})}", settings]
    (root / ".olav" / "config.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def fill(memory: Memory, texts: list[str], *, category: str = "fact", scope: str | None = None) -> list[str]:
    """Remember many texts at once; return their ids."""
    outcomes = memory.remember_many([Draft(text=text, category=category, scope=scope) for text in texts])
    assert not [outcome.error for outcome in outcomes if outcome.error]
    return [outcome.id for outcome in outcomes]


def digests(folder: Path) -> dict[str, str]:
    """sha256 of every file below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def texts_of(recall: Recall) -> list[str]:
    """The texts that a recall injects, in slot order."""
    return [item.text for item in recall.items]
