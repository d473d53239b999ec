"""Skill folders of the package tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

SKILL = """---
name: {name}
description: Finds faults in routed networks
version: {version}
license: Apache-2.0
static_context:
  - REQUIRED.md
  - file: DEEP.md
    mode: on_intent
    keywords: [route reflector, 路由反射器]
static_context_mode: on_intent
---
You find faults.
"""
GUIDE = """schema_version: 1
intent: {intent}
agent: {agent}
keywords: [{keyword}]
body: |
  {body}
"""
FORMAT = """schema_version: 1
tag: {tag}
keywords: [{tag}]
body: Use one table per layer.
"""


def guide(intent: str, body: str, *, agent: str = "analyzer", keyword: str = "x9", extra: str = "") -> str:
    return GUIDE.format(intent=intent, agent=agent, keyword=keyword, body=body) + extra


def skill_folder(
    place: Path,
    *,
    name: str = "analyzer",
    version: str = "1.0",
    guides: dict[str, str] | None = None,
    formats: tuple[str, ...] = ("fault_report",),
) -> Path:
    """Write a skill folder to `place` and return it; `guides`: intent -> body."""
    bodies = (
        {"bgp_idle": "Look at L1 first.", "ospf_down": "先查 MTU，再查认证。"} if guides is None else guides
    )
    files = {
        "SKILL.md": SKILL.format(name=name, version=version),
        "REQUIRED.md": "Confirm the device list before any snapshot.\n",
        "DEEP.md": "# Route reflectors\n\nClusters, originator ids and loops.\n",
        "references/mermaid.md": "# Mermaid syntax\n\ngraph TD draws a topology diagram.\n",
        **{f"guides/{intent}.guide.yaml": guide(intent, body, agent=name) for intent, body in bodies.items()},
        **{f"formats/{tag}.format.yaml": FORMAT.format(tag=tag) for tag in formats},
    }
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")
    return place


def zipped(folder: Path, target: Path, *, inside: str = "") -> Path:
    """Zip a folder, its files below the folder `inside` of the zip."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, (inside + "/" if inside else "") + path.relative_to(folder).as_posix())
    return target
