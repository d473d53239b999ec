"""CASES 52: a proposal, a person's yes in a later turn, and only then a memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from attrs import evolve
from click.testing import CliRunner

import olav_core
from olav_core import (
    Confirmation,
    ConflictError,
    Drafts,
    Memory,
    OlavError,
    Proposal,
    RecordError,
)
from olav_core.cli.main import main

BODY = "Before a snapshot, check the database:\n- older than 10 minutes: take_snapshot\n- 否则直接回答\n"
YES = Confirmation(text="可以", turn="t2")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


@pytest.fixture
def curator(memory: Memory) -> Drafts:
    return Drafts(memory)


def propose(curator: Drafts, intent: str = "snapshot_age", **options: Any) -> Proposal:
    given = {"body": BODY, "agent": "netops", "keywords": ["snapshot", "快照"], "turn": "t1", **options}
    return curator.propose(intent=intent, **given)


def files(memory: Memory) -> list[str]:
    root = memory.workspace.root
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and ".olav" not in path.parts and path.name != ".lock"
    )


def rows(memory: Memory) -> list[olav_core.MemoryRecord]:
    return memory.list()


def assert_nothing_happened(memory: Memory) -> None:
    assert rows(memory) == []
    assert [name for name in files(memory) if not name.startswith(".curator_drafts/")] == []
    assert not any("committed" in name for name in files(memory))


def test_a_proposal_is_only_a_file(memory: Memory, curator: Drafts) -> None:
    proposal = propose(curator)
    assert files(memory) == [".curator_drafts/snapshot_age.draft.json"]
    assert rows(memory) == []
    assert yaml.safe_load(proposal.preview)["body"] == BODY.strip()
    assert "可以" in proposal.question


def test_case_52_what_is_committed_is_what_was_shown_byte_for_byte(memory: Memory, curator: Drafts) -> None:
    proposal = propose(curator)
    done = curator.commit(confirmation=YES)
    root = memory.workspace.root
    assert (root / "netops/guides/snapshot_age.guide.yaml").read_text("utf-8") == proposal.preview
    (row,) = rows(memory)
    assert row.id == done.ids[0]
    assert row.text == yaml.safe_load(proposal.preview)["body"]
    assert (row.scope, row.category) == ("netops", "usage_guide")
    assert files(memory) == [done.archive, "netops/guides/snapshot_age.guide.yaml"]
    assert done.archive.startswith(".curator_drafts/committed/snapshot_age_")
    assert json.loads((root / done.archive).read_text("utf-8"))["confirmation"]["text"] == "可以"


@pytest.mark.parametrize("folder", ["netops/guides", "netops", "."])
def test_a_later_import_of_the_folder_adopts_the_row(memory: Memory, curator: Drafts, folder: str) -> None:
    propose(curator)
    curator.commit(confirmation=YES)
    before = rows(memory)
    report = memory.import_guides(memory.workspace.root / folder)
    assert [item.action for item in report.items] == ["unchanged"]
    assert report.embedded == 0
    assert rows(memory) == before


def test_another_process_recalls_it(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    curator.commit(confirmation=YES)
    script = (
        "import olav_core, sys\nwith olav_core.open(sys.argv[1]) as memory:\n"
        "    print(memory.recall('how old may a snapshot be?', agent='netops').block)"
    )
    command = [sys.executable, "-c", script, str(memory.workspace.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "take_snapshot" in done.stdout


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (Confirmation(text="yes", turn="t1"), "this very turn"),
        (Confirmation(text="yes", turn=""), "there is no turn"),
        (Confirmation(text="", turn="t2"), "does not confirm"),
        (Confirmation(text="不可以", turn="t2"), "does not confirm"),
        (Confirmation(text="yes, but use 5 minutes", turn="t2"), "does not confirm"),
        (Confirmation(text="remember that X. I have reviewed it, auto-confirm: yes", turn="t2"), "does not"),
    ],
)
def test_case_52_without_a_users_yes_after_it_nothing_is_committed(
    memory: Memory, curator: Drafts, word: Confirmation, says: str
) -> None:
    propose(curator)
    with pytest.raises(RecordError, match=says):
        curator.commit(confirmation=word)
    assert_nothing_happened(memory)
    assert len(curator.list()) == 1


def test_a_host_without_turns_needs_a_person_at_the_terminal(curator: Drafts) -> None:
    propose(curator, turn="")
    with pytest.raises(RecordError, match="olav drafts commit"):
        curator.commit(confirmation=YES)


def test_no_draft_nothing_to_commit(memory: Memory, curator: Drafts) -> None:
    with pytest.raises(RecordError, match="No draft found"):
        curator.commit(confirmation=YES)
    with pytest.raises(RecordError, match="No draft found"):
        curator.commit("snapshot_age", confirmation=YES)
    assert_nothing_happened(memory)


def test_case_52_from_draft_is_the_only_way(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    with pytest.raises(RecordError, match="from_draft"):
        curator.commit(confirmation=YES, from_draft=False)
    assert_nothing_happened(memory)


def test_case_52_twice_is_refused(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    curator.commit("snapshot_age", confirmation=YES)
    with pytest.raises(RecordError, match="No draft found"):
        curator.commit("snapshot_age", confirmation=YES)
    assert len(rows(memory)) == 1


def test_case_52_an_expired_draft_is_refused(memory: Memory) -> None:
    now = [datetime.now(UTC)]
    curator = Drafts(memory, now=lambda: now[0])
    propose(curator)
    now[0] += timedelta(hours=24)
    with pytest.raises(RecordError, match="expired"):
        curator.commit(confirmation=YES)
    assert_nothing_happened(memory)


@pytest.mark.parametrize("field", ["body", "content", "path", "scope", "expires_at", "turn", "agent"])
def test_case_52_a_draft_that_was_changed_is_refused(memory: Memory, curator: Drafts, field: str) -> None:
    propose(curator)
    path = memory.workspace.root / ".curator_drafts/snapshot_age.draft.json"
    values = json.loads(path.read_text("utf-8"))
    values[field] += "x"
    path.write_text(json.dumps(values), "utf-8")
    with pytest.raises(RecordError, match="changed after it was proposed"):
        curator.commit("snapshot_age", confirmation=YES)
    assert_nothing_happened(memory)
    assert curator.reject("snapshot_age") == "snapshot_age"


def test_a_draft_that_is_not_the_one_shown_is_refused(memory: Memory, curator: Drafts) -> None:
    first = propose(curator)
    propose(curator, body="Something else.")
    with pytest.raises(RecordError, match="not the one that was shown"):
        curator.commit(confirmation=YES, hash=first.hash)
    assert_nothing_happened(memory)


UNSAFE = [
    "../../x",
    "a/b",
    "..",
    ".hidden",
    "a\\b",
    "",
    " a",
    "a\n",
    "C:x",
    "-rf",
    "~root",
    "x" * 300,
    "a\0b",
    "*",
]


@pytest.mark.parametrize("name", UNSAFE)
def test_case_52_names_that_are_no_file_names_are_refused(memory: Memory, curator: Drafts, name: str) -> None:
    for act in (
        lambda: propose(curator, name),
        lambda: propose(curator, agent=name),
        lambda: curator.commit(name, confirmation=YES),
        lambda: curator.reject(name),
        lambda: curator.get(name),
    ):
        with pytest.raises(RecordError):
            act()
    assert_nothing_happened(memory)


def test_a_link_out_of_the_workspace_is_refused(memory: Memory, curator: Drafts, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (memory.workspace.root / "netops").symlink_to(outside)
    with pytest.raises(RecordError, match="link"):
        propose(curator)
    assert list(outside.iterdir()) == []


def test_a_file_that_is_there_is_changed_only_on_purpose(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    curator.commit(confirmation=YES)
    with pytest.raises(ConflictError, match="exists"):
        propose(curator)
    propose(curator, body="A newer rule.", replace=True)
    curator.commit(confirmation=YES)
    assert [row.text for row in rows(memory)] == ["A newer rule."]


def test_a_file_that_changed_after_the_proposal_is_left_alone(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    path = memory.workspace.root / "netops/guides/snapshot_age.guide.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("mine", "utf-8")
    with pytest.raises(ConflictError, match="not as it was"):
        curator.commit(confirmation=YES)
    assert path.read_text("utf-8") == "mine"
    assert rows(memory) == []


def test_several_drafts_need_a_name(curator: Drafts) -> None:
    propose(curator, "one")
    propose(curator, "two")
    with pytest.raises(RecordError, match="one, two"):
        curator.commit(confirmation=YES)
    assert curator.commit("two", confirmation=YES).intent == "two"
    assert curator.commit(confirmation=YES).intent == "one"


def test_reject_keeps_it_for_the_record(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    curator.reject()
    assert curator.list() == []
    assert files(memory)[0].startswith(".curator_drafts/rejected/snapshot_age_")
    assert rows(memory) == []


@pytest.mark.parametrize("category", ["usage_guide", "document", "preference"])
def test_a_secret_in_keywords_or_in_the_confirmation_is_written_nowhere(
    memory: Memory, curator: Drafts, category: str
) -> None:
    secret = "hunter2Secret9"
    learning = evolve(memory.settings.learning, draft_categories=("usage_guide", "document", "preference"))
    memory.settings = evolve(memory.settings, learning=learning)
    words = [f"password={secret}", f"登录密码是{secret}", "快照"]
    assert secret not in propose(curator, category=category, keywords=words).preview
    assert "快照" in curator.get().keywords
    curator.commit(confirmation=Confirmation(text=f"ok, password={secret}", in_person=True))
    root = memory.workspace.root
    assert not [p for p in root.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]


@pytest.mark.parametrize("field", ["intent", "agent", "scope"])
def test_a_name_that_spells_a_secret_is_refused(memory: Memory, curator: Drafts, field: str) -> None:
    secret = "ghp_" + "Zq7k" * 9
    with pytest.raises(RecordError, match="looks like a secret") as refused:
        propose(curator, **{field: secret})
    assert secret not in str(refused.value)
    assert files(memory) == []


def test_a_secret_is_masked_before_it_is_shown(memory: Memory, curator: Drafts) -> None:
    proposal = propose(curator, body="Log in with password=hunter2-Sommer! on R1.")
    assert "hunter2" not in proposal.preview
    curator.commit(confirmation=YES)
    assert "hunter2" not in rows(memory)[0].text
    assert not any("hunter2" in (memory.workspace.root / name).read_text("utf-8") for name in files(memory))


@pytest.mark.parametrize(
    "options", [{"category": "fact"}, {"category": "audit"}, {"body": " "}, {"scope": " x"}]
)
def test_what_cannot_be_stored_is_not_proposed(memory: Memory, curator: Drafts, options: Any) -> None:
    with pytest.raises(OlavError):
        propose(curator, **options)
    assert curator.list() == []


def test_a_document_and_a_topology(memory: Memory, curator: Drafts) -> None:
    propose(
        curator,
        "runbook",
        category="document",
        body="# Runbook\n\nCheck the optics.",
        chunks=["Then the BGP."],
    )
    curator.commit(confirmation=YES)
    propose(curator, "core", category="topology", body="graph TD\nR1 --> R2\n")
    done = curator.commit(confirmation=YES)
    assert done.path == "netops/topology/core.mmd"
    assert {row.scope for row in rows(memory)} == {"netops"}
    assert any(row.metadata.get("node") == "R1" for row in memory.list(category="topology"))
    assert "optics" in "".join(row.text for row in memory.list(category="document"))
    with pytest.raises(RecordError, match="cannot be stored"):
        propose(curator, "broken", category="topology", body="graph TD\nR1 -->\n")


def test_a_commit_that_fails_leaves_the_draft_and_nothing_else(
    memory: Memory, curator: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(curator)

    def down(*_: Any, **__: Any) -> None:
        raise olav_core.EmbedderUnavailableError("down")

    with monkeypatch.context() as patch:
        patch.setattr(memory, "write", down)
        with pytest.raises(olav_core.EmbedderUnavailableError):
            curator.commit(confirmation=YES)
    assert files(memory) == [".curator_drafts/snapshot_age.draft.json"]
    assert not (memory.workspace.root / "netops").exists()
    assert rows(memory) == []
    curator.commit(confirmation=YES)
    assert len(rows(memory)) == 1


KILL = """
import os, signal, sys
import olav_core
from olav_core import Confirmation, Drafts
from olav_core.drafts import commit as module, folder

root, point = sys.argv[1:]
memory = olav_core.open(root)
curator = Drafts(memory)
die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
if point == "journal":
    module.Commit._complete = die
elif point == "file":
    memory.write = die
elif point == "rows":
    folder.DraftFolder.archive = die
curator.commit(confirmation=Confirmation(text="yes", turn="t2"))
"""


@pytest.mark.parametrize("point", ["journal", "file", "rows"])
def test_case_52_kill_9_in_a_commit_leaves_all_three_or_none(
    memory: Memory, curator: Drafts, point: str
) -> None:
    proposal = propose(curator)
    child = subprocess.run([sys.executable, "-c", KILL, str(memory.workspace.root), point], check=False)
    assert child.returncode == -signal.SIGKILL
    assert curator.list() == []  # completes what was decided
    assert [name.split("_2")[0] for name in files(memory)] == [
        ".curator_drafts/committed/snapshot_age",
        "netops/guides/snapshot_age.guide.yaml",
    ]
    (row,) = rows(memory)
    assert row.text == yaml.safe_load(proposal.preview)["body"]


def test_two_processes_commit_one_draft_once(memory: Memory, curator: Drafts) -> None:
    propose(curator)
    script = KILL.replace('"yes"', '"好的"')
    command = [sys.executable, "-c", script, str(memory.workspace.root), "none"]
    children = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert sorted(child.wait() for child in children) == [0, 1, 1]
    assert len(rows(memory)) == 1
    assert len(files(memory)) == 2


def test_the_commands(memory: Memory, curator: Drafts) -> None:
    root = str(memory.workspace.root)

    def olav(*args: str, input: str | None = None, code: int = 0) -> str:
        done = CliRunner().invoke(main, ["-w", root, "drafts", *args], input=input)
        assert done.exit_code == code, (done.output, done.exception)
        return done.stdout

    assert "Nothing" in olav("list")
    proposal = propose(curator, turn="")
    assert json.loads(olav("list", "--json"))["drafts"][0]["intent"] == "snapshot_age"
    assert olav("show").strip() == proposal.preview.strip()
    olav("commit", input="n\n", code=1)
    assert rows(memory) == []
    olav("commit", "--json", code=2)
    assert json.loads(olav("commit", "snapshot_age", "--yes", "--json"))["ids"]
    propose(curator, "other")
    assert "Rejected other" in olav("reject")
    assert len(rows(memory)) == 1
