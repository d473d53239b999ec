"""Directives: guides and formats that a distribution ships."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class DirectiveSpec:
    """Files that a distribution ships for every workspace: guides and formats below `folder`, read by their
    importers. `core/guides/` below it is `global`, `<name>/guides/` is that agent's, as in a workspace."""

    id: str
    purpose: str
    folder: Path
