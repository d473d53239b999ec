"""Rows that a learner puts up for review: they wait, are committed together, and stay away once rejected."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import olav_core
from olav_core import Confirmation, ConflictError, Draft, Drafts, Memory, OlavError, Proposal, RecordError
from olav_core.cli.main import main

IN_PERSON = Confirmation(text="yes", in_person=True)
PATTERN = Draft(
    text="Names of register_service are kebab-case.\n- 端口从 8000 起",
    category="expert_knowledge",
    scope="netops",
    origin="agent",
    confidence=0.75,
    metadata={"topic": "register_service", "sources": [f"operational_event:{n}" for n in range(20)]},
    tags=("register_service",),
)
LESSON = Draft(
    text="when push fails with 'locked', wait, because another session holds the device",
    category="reflection",
    origin="agent",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


@pytest.fixture
def drafts(memory: Memory) -> Drafts:
    return Drafts(memory)


def put(drafts: Drafts, *rows: Draft, name: str = "register_service @ netops", **options: Any) -> Proposal:
    proposal = drafts.put(
        name, rows or (PATTERN,), proposer="patterns", reason="6 calls, all alike", **options
    )
    assert proposal is not None
    return proposal


def test_rows_wait_and_nothing_is_stored(memory: Memory, drafts: Drafts) -> None:
    proposal = put(drafts)
    assert memory.list() == []
    shown = yaml.safe_load(proposal.preview)
    assert shown["proposed_by"] == "patterns"
    assert shown["reason"] == "6 calls, all alike"
    (row,) = shown["memories"]
    assert row["text"] == PATTERN.text
    assert len(row["metadata"]["sources"]) == 9  # eight, and how many more
    (waiting,) = drafts.list()
    assert waiting.proposer == "patterns"


def test_a_person_commits_them_as_they_were_put(memory: Memory, drafts: Drafts) -> None:
    put(drafts)
    done = drafts.commit(confirmation=IN_PERSON)
    (row,) = memory.list()
    assert (row.id,) == done.ids
    assert (row.text, row.scope, row.origin, row.confidence) == (PATTERN.text, "netops", "agent", 0.75)
    assert len(row.metadata["sources"]) == 20
    assert row.tags == ("register_service",)
    assert done.path == ""
    assert (memory.workspace.root / done.archive).exists()
    assert drafts.list() == []


def test_the_life_of_a_row_begins_with_the_commit(memory: Memory) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    drafts = Drafts(memory, now=lambda: now[0])
    put(drafts, LESSON, hours=100_000)
    drafts.commit(confirmation=IN_PERSON)
    (row,) = memory.list()
    assert row.expires_at is not None
    assert row.expires_at > datetime.now(UTC) + timedelta(days=29)


def test_rows_of_one_draft_come_together_or_not_at_all(memory: Memory, drafts: Drafts) -> None:
    gone = memory.remember(LESSON.text, category="reflection", origin="agent")
    memory.forget(gone.id)
    put(drafts, PATTERN, LESSON)
    with pytest.raises(OlavError, match="erased"):
        drafts.commit(confirmation=IN_PERSON)
    assert memory.list() == []
    assert len(drafts.list()) == 1


def test_a_failed_commit_puts_the_older_row_back(memory: Memory, drafts: Drafts) -> None:
    old = memory.remember("an older text", category="fact", scope="netops", tags=["a"])
    gone = memory.remember("gone for good", category="fact")
    memory.forget(gone.id)
    again = Draft(text="an older text", category="fact", scope="netops", tags=("b",))
    put(drafts, again, Draft(text="gone for good", category="fact"))
    with pytest.raises(OlavError, match="erased"):
        drafts.commit(confirmation=IN_PERSON)
    assert [(row.id, row.tags) for row in memory.list()] == [(old.id, ("a",))]


def test_what_was_rejected_does_not_come_back(drafts: Drafts) -> None:
    put(drafts)
    drafts.reject()
    assert drafts.put("register_service @ netops", [PATTERN], proposer="patterns") is None
    assert drafts.list() == []
    other = Draft(text="Something else.", category="expert_knowledge", scope="netops", origin="agent",
                  metadata={"topic": "register_service"})  # fmt: skip
    assert put(drafts, other)


def test_the_same_name_again_takes_the_older_drafts_place(drafts: Drafts) -> None:
    first = put(drafts)
    second = put(drafts, LESSON)
    assert first.intent == second.intent
    assert len(drafts.list()) == 1


def test_the_same_again_leaves_what_a_person_was_shown(memory: Memory) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    drafts = Drafts(memory, now=lambda: now[0])
    put(drafts, name="y")
    shown = drafts.present("y", turn="5")
    now[0] += timedelta(days=1)
    again = put(drafts, name="y")
    assert (again.hash, again.expires_at) == (shown.hash, shown.expires_at)
    assert drafts.commit("y", confirmation=Confirmation(text="yes", turn="6"), hash=shown.hash).ids


def test_the_same_again_renews_a_draft_that_expired_or_cannot_be_committed(memory: Memory) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    drafts = Drafts(memory, now=lambda: now[0])
    first = put(drafts, name="y")
    now[0] += timedelta(days=31)
    second = put(drafts, name="y")
    assert second.expires_at > first.expires_at
    path = memory.workspace.root / ".curator_drafts" / "y.draft.json"
    path.write_text(path.read_text("utf-8").replace("kebab", "snake"), "utf-8")
    put(drafts, name="y")
    assert "kebab" in drafts.get("y").body


@pytest.mark.parametrize("name", ["../../x", "a/b:c", "", "工具：注册", "x" * 400, ".hidden", "a\nb"])
def test_any_name_is_safe(memory: Memory, drafts: Drafts, name: str) -> None:
    proposal = put(drafts, name=name)
    folder = memory.workspace.root / ".curator_drafts"
    assert [path.parent for path in memory.workspace.root.rglob("*.draft.json")] == [folder]
    assert drafts.get(proposal.intent)


def test_a_row_that_changed_meanwhile_is_left_alone(memory: Memory, drafts: Drafts) -> None:
    put(drafts, Draft(text="R1 is down", category="fact", scope="netops"))
    memory.remember("R1 is down", category="fact", scope="netops")
    with pytest.raises(ConflictError, match="not as it was"):
        drafts.commit(confirmation=IN_PERSON)


def test_a_conversation_may_confirm_what_it_has_shown(memory: Memory, drafts: Drafts) -> None:
    first = put(drafts)
    with pytest.raises(RecordError, match="Show it in the conversation"):
        drafts.commit(confirmation=Confirmation(text="可以", turn="t1"))
    shown = drafts.present(first.intent, turn="t2")
    assert shown.preview == first.preview
    with pytest.raises(RecordError, match="this very turn"):
        drafts.commit(confirmation=Confirmation(text="可以", turn="t2"))
    with pytest.raises(RecordError, match="not the one that was shown"):
        drafts.commit(confirmation=Confirmation(text="可以", turn="t3"), hash=first.hash)
    drafts.commit(confirmation=Confirmation(text="可以", turn="t3"), hash=shown.hash)
    assert len(memory.list()) == 1


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((), "no memory"),
        ((Draft(text=" ", category="fact"),), "blank"),
        ((Draft(text="x", category="nothing"),), "nothing"),
    ],
)
def test_what_could_not_be_stored_is_refused_at_once(drafts: Drafts, rows: Any, says: str) -> None:
    with pytest.raises(OlavError, match=says):
        drafts.put("n", rows, proposer="patterns")
    assert drafts.list() == []


def test_a_secret_in_the_name_is_not_in_the_files_name(memory: Memory, drafts: Drafts) -> None:
    secret = "ghp_" + "Zq7k" * 9
    put(drafts, name=f"rotate 令牌 {secret}")
    (draft,) = drafts.list()
    assert secret not in draft.intent
    assert not [p for p in memory.workspace.root.rglob("*") if secret in p.name]


def test_secrets_are_masked_before_anything_waits(memory: Memory, drafts: Drafts) -> None:
    put(drafts, Draft(text="password=hunter2-Sommer! on R1", category="fact"))
    written = [path.read_text("utf-8") for path in memory.workspace.root.glob(".curator_drafts/*.json")]
    assert written
    assert not any("hunter2" in text for text in written)


KILL = """
import os, signal, sys
import olav_core
from olav_core import Confirmation, Drafts
from olav_core.drafts import commit, folder, target

root, point = sys.argv[1:]
die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
if point == "journal":
    target.RowTarget.write = die
elif point == "rows":
    folder.DraftFolder.archive = die
Drafts(olav_core.open(root)).commit(confirmation=Confirmation(text="yes", in_person=True))
"""


@pytest.mark.parametrize("point", ["journal", "rows"])
def test_kill_9_leaves_all_rows_or_none(memory: Memory, drafts: Drafts, point: str) -> None:
    put(drafts, PATTERN, LESSON)
    child = subprocess.run([sys.executable, "-c", KILL, os.fspath(memory.workspace.root), point], check=False)
    assert child.returncode == -signal.SIGKILL
    assert drafts.list() == []
    assert len(memory.list()) == 2
    assert len(list(memory.workspace.root.glob(".curator_drafts/committed/*.json"))) == 1


def test_the_command_shows_who_proposes(memory: Memory, drafts: Drafts) -> None:
    put(drafts)
    root = str(memory.workspace.root)
    listed = CliRunner().invoke(main, ["-w", root, "drafts", "list", "--json"])
    (row,) = json.loads(listed.stdout)["drafts"]
    assert row["proposer"] == "patterns"
    done = CliRunner().invoke(main, ["-w", root, "drafts", "commit", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["ids"]) == 1
