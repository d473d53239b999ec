"""Directives for every workspace: platform guides in English and Chinese, shown when a query means them."""

from __future__ import annotations

from pathlib import Path

from olav_core import DirectiveSpec, hookimpl


@hookimpl
def olav_register_directives() -> list[DirectiveSpec]:
    return [
        DirectiveSpec(
            id="platform",
            purpose="Platform guides: stale data, layered fault-finding, table columns, pending drafts",
            folder=Path(__file__).parent,
        )
    ]
