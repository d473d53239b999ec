"""A stranger's category becomes files from a conversation by the road that the built-in ones take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import olav_core
from olav_core import Confirmation, Drafts, Memory, PluginError, RecordError, StoreError
from olav_core.drafts import target

PLUGIN = """
import json

from olav_core import CategorySpec, Draft, DraftFile, Fault, ImporterSpec, hookimpl


def parse(root, path, raw):
    try:
        found = json.loads(raw)
    except ValueError as error:
        return (), (Fault(str(path), 1, f"is no JSON: {error}"),)
    meta = {"number": found["number"]}
    return (Draft(text=found["text"], category="incident", metadata=meta, tags=tuple(found["tags"])),), ()


def write(draft):
    if draft.body == "fail":
        raise KeyError("number")
    text = draft.body.upper() if draft.body == "shout" else draft.body
    return json.dumps({"number": draft.intent, "text": text, "tags": draft.keywords}, ensure_ascii=False)


def suffix(body):
    return ".md" if body == "stray" else ".incident.json"


@hookimpl
def olav_register_categories():
    return [CategorySpec(id="incident", title="Incident", purpose="What broke", cap=2)]


@hookimpl
def olav_register_importers():
    return [
        ImporterSpec(
            id="incident_files", purpose="Incidents", suffixes=(".incident.json",), parse=parse,
            category="incident",
            draft_file=DraftFile(folder="incidents", suffix=suffix, write=write, whole=True),
        )
    ]
"""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    plugins = tmp_path / "ws" / ".olav" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "incidents.py").write_text(PLUGIN, "utf-8")
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


def propose(memory: Memory, body: str, intent: str = "INC-7", **options: Any) -> olav_core.Proposal:
    given = {"agent": "netops", "category": "incident", "turn": "1", **options}
    return Drafts(memory).propose(intent=intent, body=body, **given)


@pytest.mark.parametrize("body", ["R7 lost its uplink → optics", "R7 上联中断，更换光模块"])
def test_a_strangers_draft_becomes_a_file_and_its_row(memory: Memory, body: str) -> None:
    proposal = propose(memory, body, keywords=["R7"])
    root = memory.workspace.root
    assert not (root / "netops").exists()
    assert json.loads(proposal.preview)["text"] == body
    done = Drafts(memory).commit(confirmation=Confirmation(text="可以", turn="2"))
    assert done.path == "netops/incidents/INC-7.incident.json"
    assert (root / done.path).read_text("utf-8") == proposal.preview
    (row,) = memory.list(category="incident")
    assert (row.text, row.scope, row.tags, row.metadata["number"]) == (body, "netops", ("R7",), "INC-7")
    assert body in memory.recall("R7 uplink 上联", agent="netops").block
    again = olav_core.import_directory(memory, root / "netops", workspace=root)
    assert (again.added, again.embedded) == (0, 0)


def test_what_may_be_proposed_is_what_becomes_files(memory: Memory) -> None:
    assert set(Drafts(memory).categories) == {"usage_guide", "document", "topology", "incident"}
    with pytest.raises(RecordError, match=r"may not write 'fact'.*incident"):
        propose(memory, "R7 is in rack 3", category="fact")
    learning = evolve(memory.settings.learning, draft_categories=("fact",))
    memory.settings = evolve(memory.settings, learning=learning)
    assert Drafts(memory).categories == ("fact",)
    with pytest.raises(RecordError, match="may not write 'incident'"):
        propose(memory, "R7 lost its uplink")


def test_a_failed_commit_takes_the_strangers_file_and_rows_away(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(memory, "R7 lost its uplink")
    imported = target.import_directory

    def import_and_fail(*arguments: Any, **options: Any) -> Any:
        imported(*arguments, **options)
        raise StoreError("no space")

    monkeypatch.setattr(target, "import_directory", import_and_fail)
    with pytest.raises(StoreError, match="no space"):
        Drafts(memory).commit(confirmation=Confirmation(text="yes", turn="2"))
    assert memory.list(category="incident") == []
    assert not (memory.workspace.root / "netops").exists()
    assert [draft.intent for draft in Drafts(memory).list()] == ["INC-7"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("fail", "'incident_files'.*failed to write the draft: KeyError"),
        ("stray", "'incident_files'.*suffix '.md'"),
    ],
)
def test_an_importer_that_cannot_say_the_file_is_named(memory: Memory, body: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        propose(memory, body)
    assert Drafts(memory).list() == []


def test_another_text_than_the_one_shown_is_refused(memory: Memory) -> None:
    with pytest.raises(RecordError, match="not be stored as it is shown"):
        propose(memory, "shout")


def test_a_file_takes_no_metadata(memory: Memory) -> None:
    with pytest.raises(RecordError, match="takes no metadata"):
        propose(memory, "R7 lost its uplink", metadata={"number": "1"})
