"""Decisions, facts and preferences by command, by tool and from tables; errors name the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from olav_records import keep_decision, keep_fact, record_tools
from olav_records.csv_file import read_records

import olav_core
from olav_core import Memory, RecordError, import_directory
from olav_core.cli.main import main

Run = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


def line(memory: Memory, *args: object) -> Result:
    words = ["--workspace", str(memory.workspace.root), *map(str, args)]
    return CliRunner().invoke(main, words, prog_name="olav")


def words_of(result: Result) -> str:
    """What a person reads, wherever its lines are broken."""
    return " ".join(result.stdout.split())


@pytest.fixture
def cli(memory: Memory) -> Run:
    def run(*args: object) -> Any:
        result = line(memory, *args, "--json")
        assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run


# --- decisions ----------------------------------------------------------------------------------------


def test_a_decision_by_command_is_listed_found_and_rendered(memory: Memory, cli: Run) -> None:
    done = cli(
        "decision", "add", "Add eBGP between R1 and R4", "--approver", "amira", "--ticket", "CHG-77",
        "--why", "a second exit", "--date", "2026-04-15", "--device", "R1", "--device", "R4",
    )  # fmt: skip
    assert done["created"] is True
    cli("decision", "add", "批准升级核心交换机固件", "--approver", "李四", "--device", "SW1")
    (item,) = cli("decision", "list", "--device", "R4")["items"]
    assert (item["approver"], item["ticket"], item["decided_on"], item["devices"], item["origin"]) == (
        "amira",
        "CHG-77",
        "2026-04-15",
        ["R1", "R4"],
        "user",
    )
    assert [x["text"] for x in cli("decision", "list", "--approver", "李四")["items"]] == [
        "批准升级核心交换机固件"
    ]
    assert cli("decision", "list", "--ticket", "CHG-1")["items"] == []
    block = memory.recall("who approved CHG-77?", tier="small").block
    assert "[2026-04-15, CHG-77, approved by amira] Add eBGP between R1 and R4" in block
    assert "Why: a second exit" in block


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--approver", " "], "approver"),
        (["--approver", "a", "--date", "15.4.2026"], "decided_on"),
        (["--approver", "a", "--date", "2026-02-30"], "decided_on"),
        (["--approver", "a", "--device", " R1"], "devices"),
        (["--approver", "a\nb"], "approver"),
    ],
)
def test_a_faulty_decision_is_refused_and_the_field_named(
    memory: Memory, options: list[str], field: str
) -> None:
    result = line(memory, "decision", "add", "Add eBGP", *options, "--json")
    assert result.exit_code == 1
    assert field in json.loads(result.stdout)["error"]["message"]
    assert memory.list() == []


def test_a_decision_without_what_or_date(memory: Memory) -> None:
    with pytest.raises(RecordError, match="'text'"):
        keep_decision(memory, "  ", approver="amira")
    done = keep_decision(memory, "Add eBGP", approver="amira")
    assert memory.get(done.id).metadata["decided_on"] == olav_core.clock.now().date().isoformat()


# --- facts and preferences ----------------------------------------------------------------------------


def test_a_superseded_fact_is_told_and_listed_with_all(memory: Memory, cli: Run) -> None:
    old = cli("fact", "add", "R1's loopback is 10.0.0.1", "--subject", "R1")
    assert old["conflicts"] == []
    new = cli("fact", "add", "R1 的 loopback 是 10.0.0.2", "--subject", "R1")
    assert [(c["id"], c["outcome"]) for c in new["conflicts"]] == [(old["id"], "superseded")]
    assert [x["id"] for x in cli("fact", "list")["items"]] == [new["id"]]
    both = cli("fact", "list", "--all", "--subject", "R1")["items"]
    assert {x["id"]: x["superseded_by"] for x in both} == {new["id"]: "", old["id"]: new["id"]}
    assert f"superseded by {new['id']}" in words_of(line(memory, "fact", "list", "--all"))
    said = words_of(line(memory, "fact", "add", "R1's loopback is 10.0.0.3"))
    assert f"Supersedes {new['id']}: R1 的 loopback 是 10.0.0.2" in said


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Core switch core-sw-2 runs NX-OS 9.3(8)", "core-sw-2 runs NX-OS 10.2(3)"),
        ("核心交换机 core-sw-2 已升级到 NX-OS 9.3(8)", "core-sw-2 现在运行 NX-OS 10.2(3)"),
        ("Core switch core-sw-2 runs NX-OS 9.3(8)", "core-sw-2 现在运行 NX-OS 10.2(3)"),
    ],
)
@pytest.mark.parametrize("kind", ["fact", "preference"])
def test_a_subjects_attribute_has_one_value_whatever_the_sentences_say(
    first: str, second: str, kind: str, memory: Memory, cli: Run
) -> None:
    key = ("--subject", "core-sw-2", "--attribute", "version")
    old, new = cli(kind, "add", first, *key), cli(kind, "add", second, *key)
    assert [(c["id"], c["outcome"]) for c in new["conflicts"]] == [(old["id"], "superseded")]
    assert [item["text"] for item in cli(kind, "list")["items"]] == [second]
    assert not cli(kind, "add", second, *key)["conflicts"]


def test_an_attribute_needs_its_subject(memory: Memory) -> None:
    with pytest.raises(RecordError, match="'subject'"):
        keep_fact(memory, "it is 10.0.0.1", attribute="loopback")


def test_preferences_are_each_persons_own(memory: Memory, cli: Run) -> None:
    wish = ("--subject", "answers", "--attribute", "language", "--value")
    cli("preference", "add", "answer in English", "--user", "lin", *wish, "en")
    cli("preference", "add", "用中文回答", "--user", "ada", *wish, "zh")
    changed = cli("preference", "add", "请用中文回答", "--user", "lin", *wish, "zh")
    assert [c["text"] for c in changed["conflicts"]] == ["answer in English"]
    assert [x["text"] for x in cli("preference", "list", "--user", "lin")["items"]] == ["请用中文回答"]
    assert len(cli("preference", "list", "--all")["items"]) == 3


# --- an agent's tools ---------------------------------------------------------------------------------


def test_an_agent_records_and_is_told_what_is_wrong(memory: Memory) -> None:
    from scripted_model import ScriptedModel, call

    script = [
        call("olav_record_decision", what="Add eBGP", approver="", devices=["R1"]),
        call(
            "olav_record_decision", what="Add eBGP", approver="amira", decided_on="2026-04-15", devices=["R1"]
        ),
        call("olav_record_fact", text="R1 is in rack 12", subject="R1", attribute="rack", value="12"),
        call("olav_record_fact", text="R1 is in rack 13", subject="R1", attribute="rack", value="13"),
        call("olav_record_preference", text="Lin wants short answers", user="lin"),
    ]
    agent = create_agent(ScriptedModel(script=script), tools=record_tools(memory, agent="netops"))
    state = agent.invoke({"messages": [("user", "write it down")]})
    told = [json.loads(message.content) for message in state["messages"] if message.type == "tool"]
    assert "approver" in told[0]["error"]
    assert told[1]["status"] == "remembered"
    assert told[3]["conflicts"] == [
        {"id": told[2]["id"], "text": "R1 is in rack 12", "outcome": "superseded"}
    ]
    decision = memory.get(told[1]["id"])
    assert (decision.origin, decision.scope, decision.metadata["recorded_by"]) == (
        "audit",
        "netops",
        "netops",
    )
    assert {row.origin for row in memory.list(category="fact")} == {"agent"}


def test_an_agent_does_not_put_a_persons_word_out_of_force(memory: Memory) -> None:
    kept = keep_fact(memory, "R1 is in rack 12", scope="netops")
    _, fact, _ = record_tools(memory, agent="netops")
    told = json.loads(fact.invoke({"text": "R1 is in rack 13"}))
    assert "not in force" in told["status"]
    assert told["conflicts"][0]["id"] == kept.id
    assert "rack 12" in memory.recall("where is R1?", agent="netops").block


# --- tables -------------------------------------------------------------------------------------------


def table(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8-sig")  # as a spreadsheet saves it
    return path


def test_tables_are_imported_once_and_their_changes_supersede(
    memory: Memory, cli: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "net"
    heading = "text,subject,attribute,value,tags,scope\n"
    r1 = '"R1 is in rack 12, row 3",R1,rack,12,rack;inventory,netops\n'
    table(folder, "inventory.facts.csv", f"{heading}{r1}R4 在 7 号机架,R4,rack,7,,netops\n")
    table(folder, "people.preferences.csv", "user,text\nlin,answer shortly\n")
    table(folder, "cab.decisions.csv", "text,approver,ticket,decided_on,devices\n"
          "Add eBGP,amira,CHG-77,2026-04-15,R1;R4\n")  # fmt: skip
    first = cli("kb", "import", folder)
    assert (first["added"], first["faults"]) == (4, [])
    again = cli("kb", "import", folder)
    assert (again["added"], again["changed"], again["unchanged"], again["embedded"]) == (0, 0, 4, 0)
    rows = {row.text: row for row in memory.list(category="fact")}
    assert rows["R1 is in rack 12, row 3"].tags == ("rack", "inventory")
    assert rows["R1 is in rack 12, row 3"].metadata["source"].endswith("inventory.facts.csv")
    assert rows["R4 在 7 号机架"].origin == "document"

    table(folder, "inventory.facts.csv", "text,subject,attribute,value,scope\n"
          '"R1 is in rack 13, row 3",R1,rack,13,netops\n"R4 在 7 号机架",R4,rack,7,netops\n')  # fmt: skip
    seen = cli("kb", "import", folder, "--dry-run")["imports"][0]["conflicts"]
    assert [(c["text"], c["outcome"]) for c in seen] == [("R1 is in rack 12, row 3", "superseded")]
    assert len(memory.list(category="fact")) == 2  # nothing was written
    done = cli("kb", "import", folder)["imports"][0]["conflicts"]
    assert done == seen
    assert rows.keys() < {row.text for row in memory.list(category="fact")}
    assert cli("kb", "import", folder)["unchanged"] == 4
    assert "rack 13" in memory.recall("which rack is R1 in?", agent="netops").block


def test_what_a_person_said_stands_against_a_table_import_after_import(
    memory: Memory, cli: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "net"
    table(folder, "a.facts.csv", "text\nR1 is in rack 12\n")
    cli("kb", "import", folder)
    kept = cli("fact", "add", "R1 is in rack 13")
    assert cli("kb", "import", folder)["unchanged"] == 1
    assert [x["id"] for x in cli("fact", "list")["items"]] == [kept["id"]]


@pytest.mark.parametrize(
    ("name", "text", "at", "said"),
    [
        ("a.facts.csv", "text,colour\nx,red\n", 1, "unknown column 'colour'"),
        ("a.facts.csv", "subject\nR1\n", 1, "column 'text' is missing"),
        ("a.facts.csv", "text,text\nx,y\n", 1, "twice"),
        ("a.facts.csv", "text,subject\nx\n", 2, "1 cells"),
        ("a.facts.csv", "text,attribute\nx,rack\n", 2, "'subject'"),
        ("a.facts.csv", 'text\n"x\n', 2, "no CSV"),
        ("a.facts.csv", "text,time\nx,yesterday\n", 2, "not an ISO 8601 time"),
        ("a.decisions.csv", "text,approver\nAdd eBGP,\n", 2, "'approver'"),
        ("a.decisions.csv", "text,approver,decided_on\nok,amira,soon\n", 2, "decided_on"),
    ],
)
def test_a_faulty_table_is_told_by_line_and_field_and_brings_nothing(
    memory: Memory, tmp_path: Path, name: str, text: str, at: int, said: str
) -> None:
    path = table(tmp_path / "net", name, text)
    report = import_directory(memory, path.parent)
    (fault,) = report.faults
    assert (fault.line, said in fault.message) == (at, True), fault
    assert memory.list() == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=200))
def test_any_bytes_give_drafts_or_faults(raw: bytes) -> None:
    for category in ("fact", "decision", "preference"):
        drafts, faults = read_records(category, Path("/x"), Path("/x/a.csv"), raw)
        assert not (drafts and faults)
