"""The packaged workspace, copied into a folder without touching what a user wrote there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from olav_core import WorkspaceError, write_atomically

SOURCE = Path(__file__).with_name("workspace")
#: Names the files that the demo wrote, with their sha256: what differs from it is a user's edit.
MANIFEST = ".olav-demo.json"


def copy_workspace(target: Path) -> list[str]:
    """Copy or refresh the demo's files in `target`; return those left alone because somebody edited them.

    Raises WorkspaceError when `target` holds something that no demo wrote.
    """
    written = _manifest(target)
    kept = []
    for source in sorted(path for path in SOURCE.rglob("*") if path.is_file()):
        name = source.relative_to(SOURCE).as_posix()
        place, content = target / name, source.read_bytes()
        if place.exists():
            found = _digest(place.read_bytes())
            if found not in (written.get(name), _digest(content)):
                kept.append(name)
                continue
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, content)
        written[name] = _digest(content)
    write_atomically(target / MANIFEST, json.dumps(written, indent=1))
    return kept


def is_demo(target: Path) -> bool:
    """Tell whether a demo made this folder."""
    return (target / MANIFEST).is_file()


def _manifest(target: Path) -> dict[str, str]:
    if is_demo(target):
        try:
            found = json.loads((target / MANIFEST).read_text(encoding="utf-8"))
        except ValueError:
            found = {}  # then every file that differs counts as edited
        return found if isinstance(found, dict) else {}
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WorkspaceError(
            f"{target} exists and is not a demo; nothing was touched. "
            "Choose another folder: `olav demo --dir DIR`."
        )
    return {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
