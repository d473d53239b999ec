"""Case 34: a store that was filled before its redactors knew a secret is found and mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import olav_core
from olav_core import Draft
from olav_core.cli.main import main
from olav_core.store import swap

SECRET = "ghp_" + "Zq7k" * 9
WEAK = "hunt" + "er27"


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A workspace that was written while no redactor was on; name of a row -> its id."""
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        ids = {
            "plain": memory.remember("R1 的 loopback 是 10.255.0.1", scope="netops").id,
            "text": memory.remember(f"core1 的登录密码是{WEAK}", scope="netops", tags=["core1"]).id,
            "metadata": memory.remember("the jump host", metadata={"subject": f"token={SECRET}"}).id,
            "tags": memory.remember("the vault", tags=[f"token={SECRET}", "vault"]).id,
            "one": memory.remember(f"the api token of the lab is {SECRET}").id,
            "other": memory.remember(f"the api token of the lab is {SECRET[::-1][:-4]}{SECRET[:4]}").id,
        }
        ids["lesson"] = memory.remember(
            "rotate the token before the demo",
            category="expert_knowledge",
            origin="agent",
            metadata={"sources": [ids["one"], ids["plain"]]},
        ).id
        memory.capture(tool="push_config", args={"host": "r1", "password": WEAK}, result="ok", agent="netops")
        assert memory.captures.drain().stored == 1
        ids["event"] = memory.list(category="operational_event")[0].id
        memory.recall("the api token of the lab", tier="large")  # so the word index holds them, too
        memory.store.log_recall([ids["one"]], agent="netops", query_hash="q", tier="small")
    monkeypatch.delenv("OLAV_DISABLE")
    return ids


def holds(root: Path, *secrets: str) -> list[Path]:
    return [
        path
        for path in root.rglob("*")
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets)
    ]


def rescan(root: Path, *options: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(main, ["kb", "rescan", *options, "--workspace", str(root), "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, json.loads(result.stdout)


def test_case_34_old_rows_are_found_and_mended(tmp_path: Path, filled: dict[str, str]) -> None:
    assert holds(tmp_path, SECRET, WEAK)
    code, report = rescan(tmp_path)
    assert (code, report["applied"], report["faults"]) == (0, True, [])
    changed = {item["was"]: item for item in report["items"]}
    assert set(changed) == {filled[name] for name in ("text", "metadata", "tags", "one", "other", "event")}
    assert changed[filled["tags"]]["action"] == "masked"
    assert changed[filled["text"]]["action"] == "moved"
    assert not holds(tmp_path, SECRET, WEAK, SECRET.lower())
    with olav_core.open(tmp_path) as memory:
        rows = {record.id: record for record in memory.list()}
        assert len(rows) == len(filled)
        assert SECRET not in repr(rows)
        assert rows[filled["plain"]].text == "R1 的 loopback 是 10.255.0.1"
        moved = rows[changed[filled["text"]]["id"]]
        assert moved.text.startswith("core1 的登录密码是<redacted:password:")
        assert moved.scope == "netops"
        assert "vault" in rows[filled["tags"]].tags
        assert moved.id in [item.id for item in memory.recall("core1 的登录密码", agent="netops").items]
        assert memory.index_coverage().rows == len(filled)
    assert rescan(tmp_path)[1]["changed"] == 0


def test_case_34_links_and_counts_follow_a_moved_row(tmp_path: Path, filled: dict[str, str]) -> None:
    with olav_core.open(tmp_path) as memory:
        memory.store.fold_access_counts()
        before = memory.get(filled["one"])
        assert before.access_count
    report = rescan(tmp_path)[1]
    new = next(item["id"] for item in report["items"] if item["was"] == filled["one"])
    assert report["links"]
    with olav_core.open(tmp_path) as memory:
        named = repr([record.metadata for record in memory.list()])
        assert not [
            item["was"] for item in report["items"] if item["was"] != item["id"] and item["was"] in named
        ]
        assert memory.get(filled["lesson"]).metadata["sources"] == [new, filled["plain"]]
        row = memory.get(new)
        assert (row.access_count, row.created_at, row.timestamp) == (
            before.access_count,
            before.created_at,
            before.timestamp,
        )
        memory.store.fold_access_counts()
        assert memory.get(new).access_count == before.access_count
        log = memory.store.recall_log_table().to_arrow()["memory_id"].to_pylist()
        assert new in log
        assert filled["one"] not in log


def test_case_34_the_same_memory_today_is_the_moved_row(tmp_path: Path, filled: dict[str, str]) -> None:
    rescan(tmp_path)
    with olav_core.open(tmp_path) as memory:
        rows = memory.store.count()
        again = memory.remember(f"core1 的登录密码是{WEAK}", scope="netops", tags=["core1"])
        assert not again.created
        assert not again.changed
        memory.capture(tool="push_config", args={"host": "r1", "password": WEAK}, result="ok", agent="netops")
        assert memory.captures.drain().repeated == 1
        assert memory.store.count() == rows


def test_case_34_a_row_that_is_there_already_takes_the_old_one_in(
    tmp_path: Path, filled: dict[str, str]
) -> None:
    with olav_core.open(tmp_path) as memory:
        kept = memory.remember(f"core1 的登录密码是{WEAK}", scope="netops").id
        rows = memory.store.count()
    item = next(item for item in rescan(tmp_path)[1]["items"] if item["was"] == filled["text"])
    assert (item["action"], item["id"]) == ("merged", kept)
    with olav_core.open(tmp_path) as memory:
        assert memory.store.count() == rows - 1


def test_case_34_a_dry_run_writes_nothing_and_foretells(tmp_path: Path, filled: dict[str, str]) -> None:
    with olav_core.open(tmp_path) as memory:
        version = memory.store.version
    told = rescan(tmp_path, "--dry-run")[1]
    with olav_core.open(tmp_path) as memory:
        assert memory.store.version == version
    assert holds(tmp_path, SECRET)
    done = rescan(tmp_path)[1]
    assert told["applied"] is False
    assert {(i["was"], i["id"], i["action"]) for i in told["items"]} == {
        (i["was"], i["id"], i["action"]) for i in done["items"]
    }
    assert told["kinds"] == done["kinds"]


@pytest.mark.parametrize("step", ["replace", "insert", "rename_in_log", "delete"])
def test_case_34_killed_at_any_step_it_is_run_again(
    tmp_path: Path, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any, **__: Any) -> Any:
        raise Killed

    with olav_core.open(tmp_path) as memory:
        monkeypatch.setattr(swap, step, die)
        with pytest.raises(Killed):
            memory.rescan()
        monkeypatch.undo()
        assert memory.rescan().faults == []
        assert memory.store.count() == len(filled)
        moved = memory.get(filled["lesson"]).metadata["sources"]
        assert memory.get(moved[0]).text.startswith("the api token of the lab is <redacted:")
    assert not holds(tmp_path, SECRET, WEAK)


def test_case_34_the_spool_is_masked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        memory.capture(
            tool="push_config", args={"password": WEAK, "host": "r1"}, result="done", agent="netops"
        )
        memory.captures.spool.seal()
        (segment,) = memory.captures.spool.directory.glob("[0-9]*.jsonl")
        line = segment.read_bytes()
        segment.unlink()  # what is told again below never reached the store
        memory.captures.spool.failed.add({"tool": "x", "error": "down", "event": line.decode().strip()})
    monkeypatch.delenv("OLAV_DISABLE")
    assert holds(tmp_path, WEAK)
    dry = rescan(tmp_path, "--dry-run")[1]
    assert (dry["lines"], dry["masked_lines"]) == (1, 1)
    assert holds(tmp_path, WEAK)
    assert rescan(tmp_path)[1]["masked_lines"] == 1
    assert not holds(tmp_path, WEAK)
    with olav_core.open(tmp_path) as memory:
        assert memory.captures.drain(retry_failed=True).stored == 1
        (event,) = memory.list(category="operational_event")
        assert event.metadata["args"]["host"] == "r1"
        assert event.metadata["args"]["password"].startswith("<redacted:")


def test_case_34_a_row_that_changes_meanwhile_is_not_put_back(
    tmp_path: Path, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, done = swap.replace, []

    def raced(store: Any, old: Any, new: Any, vectors: Any) -> set[str]:
        if not done:
            done.append(1)
            with olav_core.open(tmp_path) as other:
                other.store.update_columns([filled["tags"]], {"confidence": [0.25]})
        return real(store, old, new, vectors)

    monkeypatch.setattr(swap, "replace", raced)
    with olav_core.open(tmp_path) as memory:
        assert memory.rescan().faults == []
        row = memory.get(filled["tags"])
    assert row.confidence == 0.25
    assert SECRET not in repr(row)


def test_case_34_rows_of_a_missing_category_keep_their_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    with olav_core.init(tmp_path, embedder="hashing") as memory:
        (made,) = memory.remember_many([Draft(text=f"token={SECRET}", category="preference")])
    monkeypatch.setenv("OLAV_DISABLE", "preference")
    assert [item["id"] for item in rescan(tmp_path)[1]["items"]] == [made.id]
    assert not holds(tmp_path, SECRET)


def test_case_34_progress_counts_the_rows(tmp_path: Path, filled: dict[str, str]) -> None:
    told: list[tuple[int, int]] = []
    with olav_core.open(tmp_path) as memory:
        report = memory.rescan(dry_run=True, on_progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(filled), len(filled)) == (report.rows, report.rows)


def test_case_34_a_failing_redactor_writes_nothing(
    tmp_path: Path, filled: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise ValueError(SECRET)

    from attrs import evolve

    with olav_core.open(tmp_path) as memory:
        registry = memory.registry
        broken = {"secrets": evolve(registry.redactors["secrets"], redact=fail)}
        memory.registry = evolve(registry, redactors=broken)
        version = memory.store.version
        with pytest.raises(olav_core.PluginError) as raised:
            memory.rescan()
        assert SECRET not in str(raised.value)
        assert memory.store.version == version


def test_case_34_an_old_export_comes_back_as_the_moved_row(tmp_path: Path, filled: dict[str, str]) -> None:
    from olav_core.importing.export import export_memories
    from olav_core.importing.restore import import_jsonl

    with olav_core.open(tmp_path) as memory:
        export_memories(memory, tmp_path.parent / "old.jsonl")
        memory.rescan()
        rows = {record.id for record in memory.list()}
        import_jsonl(memory, tmp_path.parent / "old.jsonl")
        assert {record.id for record in memory.list()} == rows
    assert not holds(tmp_path, SECRET, WEAK)


def test_case_34_kept_queries_thumbs_and_drafts_are_masked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLAV_DISABLE", "secrets")
    olav_core.init(tmp_path, embedder="hashing").close()
    config = tmp_path / ".olav" / "config.yaml"
    config.write_text(
        config.read_text("utf-8").replace("recall:\n", "recall:\n  log_queries: true\n", 1), "utf-8"
    )
    with olav_core.open(tmp_path) as memory:
        id = memory.remember("实验室的网关很旧").id
        memory.recall(f"is the token {SECRET} still good")
        memory.recall("实验室的网关")
        memory.history.thumb(id, "up", query=f"令牌 {SECRET} 还能用吗")
        drafts = olav_core.Drafts(memory)
        by_person = olav_core.Confirmation(text=f"yes, token={SECRET}", in_person=True)
        for name in ("done", "refused", "waits"):
            drafts.put(
                name,
                [Draft(text=f"note of {name}: token {SECRET}", category="fact")],
                proposer="t",
                reason=f"token {SECRET}",
            )
        drafts.commit("done", confirmation=by_person)
        drafts.reject("refused")
        drafts.propose(
            intent="guide", body=f"Use token {SECRET}.", agent="core", keywords=[f"token={SECRET}"]
        )
        shown = drafts.get("guide").hash
    monkeypatch.delenv("OLAV_DISABLE")
    left = holds(tmp_path, SECRET)
    code, foretold = rescan(tmp_path, "--dry-run")
    assert holds(tmp_path, SECRET) == left
    code, report = rescan(tmp_path)
    assert (code, report["faults"]) == (0, [])
    for found in (foretold, report):
        assert (found["queries"], found["masked_queries"]) == (3, 2)
        assert (found["drafts"], found["masked_drafts"]) == (4, 4)
    assert holds(tmp_path, SECRET) == []
    with olav_core.open(tmp_path) as memory:
        asked = [query.query for query in memory.history.queries()]
        assert "实验室的网关" in asked
        assert any(query.startswith("is the token <redacted:") for query in asked)
        assert memory.history.thumbs()[0].query.startswith("令牌 <redacted:")
        drafts = olav_core.Drafts(memory)
        assert {draft.intent for draft in drafts.list()} == {"guide", "waits"}
        with pytest.raises(olav_core.RecordError, match="not the one that was shown"):
            drafts.commit("guide", confirmation=by_person, hash=shown)
        assert drafts.commit("guide", confirmation=by_person).ids
    assert rescan(tmp_path)[1]["masked_drafts"] == 0
