"""`olav kb import` and `olav kb export`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Objects = Callable[..., Any]


def test_documents_diagrams_and_guides_in_one_import(workspace: Path, olav: Run, object_of: Objects) -> None:
    folder = workspace / "docs"
    folder.mkdir()
    (folder / "bgp.md").write_text("# BGP runbook\n\nCheck the hold timer of R3 first.\n", "utf-8")
    (folder / "net.mmd").write_text("graph TD\nR1 -->|eBGP| R3\n", "utf-8")
    (folder / "notes.xyz").write_text("no importer reads this", "utf-8")
    found = object_of("kb", "import", folder, "--agent", "netops")
    assert (found["added"], found["embedded"], found["applied"]) == (5, 5, True)
    assert {item["scope"] for item in found["imports"][0]["items"]} == {"netops"}
    again = object_of("kb", "import", folder / "bgp.md", folder / "net.mmd")
    assert (again["unchanged"], again["embedded"], len(again["imports"])) == (5, 0, 2)
    shown = olav("kb", "import", folder)
    assert shown.stdout == "2 files · 5 unchanged · 0 embedded\n"
    (folder / "net.mmd").write_text("graph TD\nR1 -->|eBGP|\n", "utf-8")
    broken = olav("kb", "import", folder)
    assert broken.exit_code == 1
    assert f"{folder}/net.mmd:2: Mermaid: expected the name of a node" in broken.stderr
    assert "no importer reads files of this kind" in olav("kb", "import", folder / "notes.xyz").stderr
    assert olav("kb", "import", folder, "--agent", "a", "--scope", "b").exit_code == 2


def test_dry_run_and_strict_write_nothing(workspace: Path, olav: Run, object_of: Objects) -> None:
    (workspace / "a.md").write_text("# A\n\ntext of it\n", "utf-8")
    assert "2 added" in olav("kb", "import", workspace / "a.md", "--dry-run").stdout
    (workspace / "b.mmd").write_text("graph TD\nA -->\n", "utf-8")
    assert object_of("kb", "import", workspace, "--strict", code=1)["applied"] is False
    assert object_of("kb", "list")["items"] == []


def test_export_and_import_into_another_workspace(workspace: Path, olav: Run, object_of: Objects) -> None:
    for n in range(3):
        olav("remember", f"R{n} is a router", "--scope", f"s{n}")
    file = workspace / "all.jsonl"
    assert object_of("kb", "export", file, "--vectors") == {"file": str(file), "rows": 3, "vectors": True}
    assert "Exported 1 memory to" in olav("kb", "export", workspace / "s1.jsonl", "--scope", "s1").stdout
    rows = object_of("kb", "list")["items"]
    object_of("init", workspace / "other", "--embedder", "hashing", "--no-directives")
    found = object_of("kb", "import", file, "--workspace", workspace / "other")
    assert (found["added"], found["embedded"]) == (3, 0)
    assert object_of("kb", "list", "--workspace", workspace / "other")["items"] == rows
    assert olav("kb", "export", workspace / "none" / "x.jsonl").exit_code == 1
