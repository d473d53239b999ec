"""Memories in and out: init, remember, recall, why, forget, kb."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import olav_core
from olav_core.cli.main import main

GUIDE = """\
schema_version: 1
intent: register_service
agent: services
keywords: [register_service, InfluxDB]
body: |
  Call `register_service`; the token stays in an environment variable.
"""
RECALL_KEYS = {
    *("query", "agent", "scopes", "tier", "limit", "items", "block", "tokens", "degraded", "warnings"),
    "timings_ms",
}
ITEM_KEYS = {"id", "category", "scope", "text", "score", "distance", "canonical_distance"}
TRACE_KEYS = {
    *("id", "category", "scope", "leg_ranks", "leg_scores", "fused", "boost", "score", "distance"),
    *("canonical_distance", "decision", "reason"),
}


def remember(object_of: Callable[..., Any], *texts: str, scope: str = "netops") -> list[str]:
    return [object_of("remember", text, "--scope", scope)["id"] for text in texts]


def contents(workspace: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (workspace / ".olav").rglob("*") if path.is_file()}


class TestInit:
    def test_makes_a_workspace_that_works(self, object_of: Callable[..., Any], tmp_path: Path) -> None:
        made = object_of("init", tmp_path / "ws", "--embedder", "hashing", "--option", "dimension=64")
        assert made["created"] is True
        assert made["dimension"] == 64
        assert Path(made["config"]).is_file()
        assert object_of("remember", "R1", "--workspace", tmp_path / "ws")["created"] is True

    def test_leaves_an_existing_workspace_as_it_is(
        self, object_of: Callable[..., Any], olav: Callable[..., Result], workspace: Path
    ) -> None:
        remember(object_of, "R1 is the border router")
        before = contents(workspace)
        assert object_of("init", "--embedder", "hashing")["created"] is False
        assert "already" in olav("init").stdout
        assert before == contents(workspace)

    def test_warns_of_chinese_under_an_english_only_embedder(
        self, olav: Callable[..., Result], tmp_path: Path
    ) -> None:
        # CASES 9
        from olav_core.cli.init import embedder_warnings
        from olav_core.host.registry import build_registry

        registry = build_registry()
        assert "Chinese" in " ".join(embedder_warnings(registry.embedder("minilm")))
        assert "Chinese" not in " ".join(embedder_warnings(registry.embedder("e5")))

    def test_warns_of_an_embedder_without_a_scale(self, olav: Callable[..., Result], tmp_path: Path) -> None:
        result = olav("init", tmp_path / "ws", "--embedder", "hashing")
        assert result.exit_code == 0
        assert "no measured distance scale" in result.stderr

    def test_brings_the_guides_that_are_there(self, object_of: Callable[..., Any], tmp_path: Path) -> None:
        place = tmp_path / "services" / "guides" / "register.guide.yaml"
        place.parent.mkdir(parents=True)
        place.write_text(GUIDE, encoding="utf-8")
        place.with_name("bad.guide.yaml").write_text("schema_version: 1\n", encoding="utf-8")
        made = object_of("init", "--embedder", "hashing")
        assert made["guides"] == 1
        assert {Path(fault["path"]).name for fault in made["faults"]} == {"bad.guide.yaml"}
        assert object_of("kb", "list")["items"][0]["scope"] == "services"

    def test_an_unknown_embedder_leaves_nothing_behind(
        self, olav: Callable[..., Result], tmp_path: Path
    ) -> None:
        result = olav("init", "--embedder", "minlm")
        assert result.exit_code == 1
        assert "Did you mean 'minilm'?" in result.stderr
        assert not (tmp_path / ".olav").exists()


class TestRemember:
    def test_the_same_twice_is_one_row(self, object_of: Callable[..., Any], workspace: Path) -> None:
        first = object_of("remember", "R1 是边界路由器", "--tag", "R1", "--scope", "netops")
        again = object_of("remember", "R1 是边界路由器", "--tag", "R1", "--scope", "netops")
        assert (first["created"], again["created"]) == (True, False)
        assert set(first) == {"id", "created", "conflicts"}
        assert len(object_of("kb", "list")["items"]) == 1

    def test_reads_stdin(self, object_of: Callable[..., Any], workspace: Path) -> None:
        made = object_of("remember", "-", input="first line\nsecond line\n")
        assert object_of("kb", "show", made["id"])["text"].startswith("first line\nsecond line")

    def test_metadata_is_checked_by_the_category(self, olav: Callable[..., Result], workspace: Path) -> None:
        result = olav("remember", "x", "--metadata", '{"soruce": "a"}', "--json")
        assert result.exit_code == 1
        assert json.loads(result.stdout)["error"]["type"] == "RecordError"
        assert "soruce" in result.stdout


class TestRecall:
    def test_json_has_the_documented_keys(self, object_of: Callable[..., Any], workspace: Path) -> None:
        (id, _) = remember(object_of, "R1 is the border router", "The NOC opens at eight")
        found = object_of("recall", "border", "router", "--agent", "netops")
        assert set(found) == RECALL_KEYS
        assert found["query"] == "border router"
        assert found["items"][0]["id"] == id
        assert set(found["items"][0]) == ITEM_KEYS
        assert id in found["block"]
        assert found["degraded"] == []

    def test_explain_adds_the_trace(self, object_of: Callable[..., Any], workspace: Path) -> None:
        ids = remember(object_of, "R1 is the border router", "The NOC opens at eight", "SW1 is in Shanghai")
        found = object_of("recall", "border router", "--agent", "netops", "--tier", "small", "--explain")
        assert set(found) == RECALL_KEYS | {"trace"}
        assert {entry["id"] for entry in found["trace"]} == set(ids)
        assert all(set(entry) == TRACE_KEYS for entry in found["trace"])
        assert [entry["decision"] for entry in found["trace"]].count("injected") == 1

    def test_a_person_sees_block_items_and_trace(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        remember(object_of, "R1 是上海的边界路由器 [red]not markup[/red]")
        shown = olav("recall", "边界路由器", "--agent", "netops").stdout
        assert "<relevant-memories>" in shown
        assert "[red]not markup[/red]" in shown
        assert "fact:" in shown
        assert "\x1b[" not in shown
        explained = olav("recall", "边界路由器", "--agent", "netops", "--explain").stdout
        for word in ("injected", "vector", "bm25", "canon", "total"):
            assert word in explained

    def test_frames_close_at_one_column_with_chinese_text(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        from rich.cells import cell_len

        remember(object_of, "R1 是上海的边界路由器，本地 AS 65010。" * 12, "R2 is a core router. " * 12)
        shown = olav("recall", "路由器 router", "--agent", "netops", "--limit", "2").stdout
        framed = [line for line in shown.splitlines() if line.startswith(("╭", "│", "╰"))]
        assert len(framed) > 4
        assert len({cell_len(line) for line in framed}) == 1

    def test_scope_and_category_narrow(self, object_of: Callable[..., Any], workspace: Path) -> None:
        remember(object_of, "R1 is the border router")
        (other,) = remember(object_of, "R9 is the border router", scope="lab")
        seen = object_of("recall", "border router", "--agent", "netops", "--scope", "lab")
        assert [item["id"] for item in seen["items"]] == [other]
        assert object_of("recall", "router", "--agent", "lab", "--category", "decision")["items"] == []

    @pytest.mark.parametrize("query", ["", "   ", '""', "😀", "-- ;", "\ud800"])
    def test_an_odd_query_is_an_answer_not_an_error(
        self, olav: Callable[..., Result], workspace: Path, query: str
    ) -> None:
        # CASES 5
        assert json.loads(olav("recall", "--json", "--agent", "netops", "--", query).stdout)["degraded"] == []

    def test_an_unknown_category_is_told(self, olav: Callable[..., Result], workspace: Path) -> None:
        result = olav("recall", "x", "--category", "fcat")
        assert result.exit_code == 1
        assert "Did you mean 'fact'?" in result.stderr


class TestWhy:
    def test_tells_why_and_why_not(self, object_of: Callable[..., Any], workspace: Path) -> None:
        best, other = remember(object_of, "R1 is the border router", "The NOC opens at eight")
        args = ("border router", "--agent", "netops", "--tier", "small")
        assert object_of("why", best, *args)["decision"] == "injected"
        told = object_of("why", other[:12], *args)
        assert told["decision"] != "injected"
        assert told["id"] == other
        assert told["injected"] == [best]
        assert set(told["trace"]) == TRACE_KEYS

    def test_names_a_scope_that_keeps_a_memory_out(
        self, object_of: Callable[..., Any], olav: Callable[..., Result], workspace: Path
    ) -> None:
        (id,) = remember(object_of, "R9 is the border router", scope="lab")
        told = object_of("why", id, "border router", "--agent", "netops")
        assert (told["decision"], told["trace"]) == ("no candidate", None)
        assert "'lab' is not among netops, global" in told["reason"]
        assert "Not injected" in olav("why", id, "border router", "--agent", "netops").stdout


class TestForget:
    def test_asks_unless_told(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        (id,) = remember(object_of, "R1 is the border router")
        refused = olav("forget", id, input="n\n")
        assert refused.exit_code == 1
        assert len(object_of("kb", "list")["items"]) == 1
        assert olav("forget", id[:14], input="y\n").exit_code == 0
        assert object_of("kb", "list")["items"] == []

    @pytest.mark.parametrize("purge", [False, True])
    def test_a_forgotten_text_does_not_come_back(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path, purge: bool
    ) -> None:
        (id,) = remember(object_of, "the old community string is zebra")
        gone = object_of("forget", id, "--yes", *(["--purge"] if purge else []))
        assert gone == {"id": id, "purged": purge}
        assert olav("kb", "show", id).exit_code == 1
        again = olav("remember", "the old community string is zebra", "--scope", "netops", "--json")
        assert again.exit_code == 1
        error = json.loads(again.stdout)["error"]
        assert error["type"] == "ErasedTextError"
        assert "`olav remember --revive`" in error["message"]
        assert object_of("remember", "the old community string is zebra", "--revive")["created"]
        assert len(object_of("kb", "list")["items"]) == 1


class TestKnowledgeBase:
    def test_list_pages_and_filters(self, object_of: Callable[..., Any], workspace: Path) -> None:
        ids = remember(object_of, "one", "two", "three")
        remember(object_of, "four", scope="lab")
        first = object_of("kb", "list", "--scope", "netops", "--limit", "2")
        rest = object_of("kb", "list", "--scope", "netops", "--limit", "2", "--offset", "2")
        assert (first["more"], rest["more"]) == (True, False)
        assert {item["id"] for item in first["items"] + rest["items"]} == set(ids)
        assert object_of("kb", "list", "--origin", "audit")["items"] == []

    def test_show_gives_every_field(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        id = object_of("remember", "R1", "--tag", "border", "--metadata", '{"source": "a.csv"}')["id"]
        record = object_of("kb", "show", id[:13])
        assert (record["id"], record["tags"], record["metadata"]["source"]) == (id, ["border"], "a.csv")
        assert record["timestamp"].endswith("+00:00")
        shown = olav("kb", "show", id).stdout
        assert id in shown
        assert "a.csv" in shown
        assert olav("kb", "show", "fact:nothere").exit_code == 1

    def test_status_counts_rows(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        remember(object_of, "one", "two")
        assert "hashing" in json.dumps(object_of("kb", "status"))
        shown = olav("kb", "status").stdout
        assert "netops" in shown
        assert "fact" in shown

    def test_optimize_reports(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path
    ) -> None:
        remember(object_of, "one", "two")
        report = object_of("kb", "optimize")
        assert report["failures"] == []
        assert report["fragments"] >= 1
        assert olav("kb", "optimize").exit_code == 0

    def test_reembed_moves_the_store(self, object_of: Callable[..., Any], workspace: Path) -> None:
        remember(object_of, "R1 is the border router", "The NOC opens at eight")
        moved = object_of("kb", "reembed", "--to", "hashing", "--option", "dimension=64")
        assert (moved["rows"], moved["embedded"], moved["embedder"]) == (2, 2, "hashing")
        assert moved["kept"]
        assert object_of("kb", "reembed", "--purge")["purged"] == [moved["kept"]]
        assert "64" in json.dumps(object_of("kb", "status"))
        found = object_of("recall", "border router", "--agent", "netops", "--tier", "small")
        assert found["items"][0]["text"] == "R1 is the border router"


class TestImport:
    @pytest.fixture
    def guides(self, tmp_path: Path) -> Path:
        folder = tmp_path / "services" / "guides"
        folder.mkdir(parents=True)
        (folder / "register.guide.yaml").write_text(GUIDE, encoding="utf-8")
        return folder

    def test_twice_embeds_nothing(self, object_of: Callable[..., Any], workspace: Path, guides: Path) -> None:
        first = object_of("kb", "import-guides", guides)
        again = object_of("kb", "import-guides", guides)
        assert (first["added"], first["embedded"]) == (1, 1)
        assert (again["added"], again["unchanged"], again["embedded"]) == (0, 1, 0)

    def test_faults_are_code_1_and_the_sound_files_come_in(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path, guides: Path
    ) -> None:
        (guides / "bad.guide.yaml").write_text(GUIDE.replace("agent:", "agnet:"), encoding="utf-8")
        strict = object_of("kb", "import-guides", guides, "--strict", code=1)
        assert strict["applied"] is False
        assert object_of("kb", "list")["items"] == []
        result = olav("kb", "import-guides", guides)
        assert result.exit_code == 1
        assert "bad.guide.yaml:3" in result.stderr
        assert "1 added" in result.stdout
        assert len(object_of("kb", "list")["items"]) == 1

    def test_a_marked_file_is_told(self, olav: Callable[..., Result], workspace: Path, guides: Path) -> None:
        assert olav("kb", "import-guides", guides).stdout.startswith("1 file · 1 added")
        (guides / "register.guide.yaml.removed").touch()
        for _ in range(2):
            assert "0 files · 1 marked as removed" in olav("kb", "import-guides", guides).stdout

    def test_a_dry_run_writes_nothing(
        self, olav: Callable[..., Result], object_of: Callable[..., Any], workspace: Path, guides: Path
    ) -> None:
        assert object_of("kb", "import-guides", guides, "--dry-run")["added"] == 1
        assert "Dry run" in olav("kb", "import-guides", guides, "-n").stdout
        assert object_of("kb", "list")["items"] == []

    def test_formats(self, object_of: Callable[..., Any], workspace: Path, tmp_path: Path) -> None:
        folder = tmp_path / "core" / "formats"
        folder.mkdir(parents=True)
        text = "schema_version: 1\ntag: csv\nkeywords: [CSV]\nbody: |\n  One header row.\n"
        (folder / "csv.format.yaml").write_text(text, encoding="utf-8")
        assert object_of("kb", "import-formats", folder)["added"] == 1
        assert object_of("kb", "list", "--category", "format_guide")["items"][0]["scope"] == "global"


def test_a_new_scope_is_told_and_a_known_one_is_not(tmp_path: Path) -> None:
    olav_core.init(tmp_path, embedder="hashing").close()

    def said(text: str, scope: str) -> str:
        line = ["remember", text, "--scope", scope, "--workspace", str(tmp_path), "--json"]
        result = CliRunner().invoke(main, line)
        assert json.loads(result.stdout)["created"]
        return str(result.stderr)

    assert "'netops' is a new scope" in said("R1 is the border router", "netops")
    assert said("R2 is in Lyon", "netops") == ""
    assert "Did you mean 'netops'?" in said("R3 is in Paris", "netop")
    assert said("R4 is spare", "global") == ""
