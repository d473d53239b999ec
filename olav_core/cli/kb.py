"""`olav kb`: the knowledge base as a whole; its commands load when they are run."""

from __future__ import annotations

import click

from olav_core.cli.main import LazyGroup

COMMANDS = {
    "import-guides": "olav_core.cli.kb_import:import_guides",
    "import-formats": "olav_core.cli.kb_import:import_formats",
    "prime": "olav_core.cli.kb_prime:prime",
    "lint": "olav_core.cli.kb_lint:lint",
    "import": "olav_core.cli.kb_import:import_files",
    "export": "olav_core.cli.kb_export:export",
    "list": "olav_core.cli.kb_read:list_memories",
    "show": "olav_core.cli.kb_read:show",
    "status": "olav_core.cli.kb_read:status",
    "optimize": "olav_core.cli.kb_upkeep:optimize",
    "reembed": "olav_core.cli.kb_upkeep:reembed",
    "reinstate": "olav_core.cli.kb_reinstate:reinstate",
    "rescan": "olav_core.cli.kb_rescan:rescan",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def kb() -> None:
    """Import, look at and look after the knowledge base."""
