"""`olav demo`: the newcomer's first command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result


def test_makes_fills_and_queries_a_workspace(object_of: Callable[..., Any], tmp_path: Path) -> None:
    found = object_of("demo", "--embedder", "hashing")
    assert Path(found["directory"]) == tmp_path / "olav-demo"
    assert found["guides"] >= 12
    assert found["memories"] > 50
    assert len(found["queries"]) >= 8
    assert len({query["agent"] for query in found["queries"]}) >= 2
    assert {query["tier"] for query in found["queries"]} == {"small", "medium", "large"}
    assert all(query["trace"] for query in found["queries"])
    assert all(query["degraded"] == [] for query in found["queries"])
    assert (tmp_path / "olav-demo" / "services" / "guides").is_dir()


def test_shows_blocks_traces_and_what_to_type_next(olav: Callable[..., Result]) -> None:
    result = olav("demo", "--embedder", "hashing", "--dir", "here")
    assert result.exit_code == 0
    assert result.stdout.count("<relevant-memories>") >= 8
    for word in ("Columns: ", "canon", "injected", "cd here", "olav recall", "--explain"):
        assert word in result.stdout


def test_run_again_it_refreshes_but_never_overwrites_an_edit(
    olav: Callable[..., Result], object_of: Callable[..., Any], tmp_path: Path
) -> None:
    first = object_of("demo", "--embedder", "hashing")
    demo = tmp_path / "olav-demo"
    edited, removed = sorted(demo.glob("services/guides/*.guide.yaml"))[:2]
    edited.write_text(edited.read_text(encoding="utf-8") + "  One more rule.\n", encoding="utf-8")
    removed.unlink()
    (demo / "notes.txt").write_text("mine", encoding="utf-8")
    rows = len(object_of("kb", "list", "--workspace", demo, "--limit", "1000")["items"])
    again = olav("demo")
    assert again.exit_code == 0
    assert f"Kept your edited services/guides/{edited.name}" in again.stderr
    assert "One more rule." in edited.read_text(encoding="utf-8")
    assert removed.is_file()
    assert (demo / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert len(object_of("kb", "list", "--workspace", demo, "--limit", "1000")["items"]) == rows
    removed.unlink()
    kept = object_of("demo", "--keep")
    assert kept["guides"] == first["guides"] - 1
    assert not removed.exists()


def test_a_folder_that_is_not_a_demo_is_left_alone(olav: Callable[..., Result], tmp_path: Path) -> None:
    mine = tmp_path / "olav-demo"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work", encoding="utf-8")
    result = olav("demo", "--embedder", "hashing")
    assert result.exit_code == 1
    assert "is not a demo" in result.stderr
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


def test_another_embedder_needs_another_folder(
    olav: Callable[..., Result], object_of: Callable[..., Any]
) -> None:
    object_of("demo", "--embedder", "hashing")
    result = olav("demo", "--embedder", "minilm")
    assert result.exit_code == 1
    assert "reembed --to minilm" in result.stderr
