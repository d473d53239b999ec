"""`olav learn run` and `status`: what is due, done once, counted, by one learner at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from olav_learn import (
    LearnerBusyError,
    calls_of,
    learn_patterns,
    learn_reflections,
    learning_status,
    run_learning,
)
from olav_learn.journal import NAME, Journal, journal, read_journal
from olav_learn.run_files import read_files
from olav_learn.single_flight import single_flight
from registrations import GOOD, SERVICES, chat_at, failing, register
from scripted_chat import serving

from olav_core import EmbeddingSpaceMismatchError, Memory
from olav_core.cli.main import main
from olav_core.testing import FakeClock

NOW = datetime.now(UTC) - timedelta(hours=5)


def group(memory: Memory) -> Any:
    (found,) = learning_status(memory).groups
    return found


def test_a_round_does_what_is_due_and_the_next_one_nothing(memory: Memory) -> None:
    register(memory, *SERVICES)
    (memory.workspace.root / "runs.jsonl").write_text("")
    with serving(GOOD) as script, chat_at(script.url) as chat:
        assert (group(memory).state, group(memory).new, group(memory).last_run) == ("due", 6, "")
        done = run_learning(memory, chat)
        assert (done.patterns.count("written"), done.failed, done.asleep) == (1, 0, 0)
        told = group(memory)
        assert (told.state, told.samples, told.new, told.last_outcome) == ("unchanged", 6, 0, "written")
        assert (told.runs, told.calls, told.prompt_tokens, told.failures) == (1, 1, 11, 0)
        again = run_learning(memory, chat)
        assert again.patterns.calls == again.patterns.count("written") == 0
    assert len(script.asked) == 1


def test_few_operations_are_not_due(memory: Memory) -> None:
    register(memory, *SERVICES[:4])
    assert (group(memory).state, group(memory).samples, learning_status(memory).due) == ("few", 4, 0)


def test_failures_are_counted_until_a_round_gives_up(memory: Memory) -> None:
    register(memory, *SERVICES)
    with serving("I'm sorry, I cannot help with that.") as script, chat_at(script.url) as chat:
        for n in range(1, 4):
            assert run_learning(memory, chat).failed == 1
            assert (group(memory).failures, group(memory).failed_in_a_row) == (n, n)
        assert (group(memory).state, group(memory).last_outcome) == ("given up", "failed")
        assert "no list of bullets" in group(memory).fault
        asked = len(script.asked)
        assert run_learning(memory, chat).failed == 0
        assert len(script.asked) == asked
        assert learn_patterns(memory, chat).count("failed") == 1  # by hand it is asked all the same
        register(memory, "portal", first=7)
        assert group(memory).state == "due"
    with serving(GOOD) as script, chat_at(script.url) as chat:
        run_learning(memory, chat)
    assert (group(memory).failures, group(memory).failed_in_a_row, group(memory).fault) == (4, 0, "")


def test_a_model_that_is_away_is_tried_again_the_next_time(memory: Memory) -> None:
    for scope in "abcd":
        register(memory, *SERVICES, scope=scope)
    with serving((503, "down", {})) as script, chat_at(script.url) as chat:
        for _ in range(4):
            done = run_learning(memory, chat)
            assert done.patterns.count("failed") == 4
        # Two groups a round find it away; the others are not tried.
        assert len(script.asked) == 8
        assert "not asked" in done.patterns.items[-1].faults[0]
    found = learning_status(memory)
    assert found.due == 4
    assert [each.failures for each in found.groups] == [4, 4, 0, 0]


def test_without_a_chat_model_the_rest_is_done(memory: Memory) -> None:
    register(memory, *SERVICES)
    done = run_learning(memory)
    assert (done.asleep, done.failed) == (1, 0)
    assert memory.list(category="expert_knowledge") == []


def test_run_records_are_read_once_and_again_when_they_change(
    memory: Memory, with_settings: Callable[..., Memory]
) -> None:
    folder = memory.workspace.root / "runs"
    folder.mkdir()
    wrong = {"device": "core-sw-2", "mode": "exec"}
    lines = [failing(n, "push_config", wrong, "% Invalid input", NOW, f"r{n}") for n in (0, 1)]
    path = folder / "monday.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    opened = with_settings(memory, learning={"runs": ("runs/*.jsonl",)})
    assert learning_status(opened).reflections["new_files"] == 1
    assert run_learning(opened).reflections.count("written") == 1
    assert learning_status(opened).reflections["new_files"] == 0
    assert run_learning(opened).reflections.items == ()
    lines.append(failing(9, "push_config", wrong, "% Invalid input", NOW, "r9"))
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert run_learning(opened).reflections.count("refreshed") == 1
    assert learning_status(opened).reflections["active"] == 1


def test_a_faulty_line_is_told_and_the_rest_is_learnt(
    memory: Memory, with_settings: Callable[..., Memory]
) -> None:
    lines = [failing(n, "push_config", {}, "% Invalid input", NOW, f"r{n}") for n in (0, 1)]
    text = "\n".join([json.dumps(lines[0]), "{broken", json.dumps(lines[1])])
    (memory.workspace.root / "runs.jsonl").write_text(text, "utf-8")
    done = run_learning(with_settings(memory, learning={"runs": ("runs.jsonl",)}))
    assert (done.failed, done.faults[0].line) == (1, 2)
    assert done.reflections.count("written") == 1


def test_a_file_that_cannot_be_read_is_told_again_and_the_rest_is_learnt(
    memory: Memory, with_settings: Callable[..., Memory]
) -> None:
    unreadable = Path("/proc/self/mem")  # for everybody, even for the superuser
    if not unreadable.exists():
        pytest.skip("no file here that nobody can read")
    folder = memory.workspace.root / "runs"
    folder.mkdir()
    (folder / "bad.jsonl").symlink_to(unreadable)
    lines = [failing(n, "push_config", {}, "% Invalid input", NOW, f"r{n}") for n in (0, 1)]
    (folder / "good.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    opened = with_settings(memory, learning={"runs": ("runs/*.jsonl",)})
    done = run_learning(opened)
    assert done.reflections.count("written") == 1
    assert [(Path(fault.path).name, fault.line) for fault in done.faults] == [("bad.jsonl", 0)]
    assert "cannot be read" in done.faults[0].message
    assert learning_status(opened).reflections["new_files"] == 1
    assert run_learning(opened).failed == 1


def test_a_file_that_vanished_before_it_was_read_is_a_fault(memory: Memory) -> None:
    root = memory.workspace.root
    line = json.dumps(failing(0, "push_config", {}, "% Invalid input", NOW, "r1"))
    (root / "here.jsonl").write_text(line, "utf-8")
    files = {name: root / name for name in ("gone.jsonl", "here.jsonl")}
    calls, faults, stamps = read_files(memory, files)
    assert ([call.tool for call in calls], list(stamps)) == (["push_config"], ["here.jsonl"])
    assert [Path(fault.path).name for fault in faults] == ["gone.jsonl"]


def test_a_round_deletes_what_expired(memory: Memory) -> None:
    memory.remember("Do not retry.", category="reflection")
    with FakeClock(datetime.now(UTC) + timedelta(days=31)):
        assert learning_status(memory).reflections["expired"] == 1
        assert run_learning(memory).expired == 1
        assert learning_status(memory).reflections["expired"] == 0


def test_only_one_learner_runs_and_the_command_says_so(memory: Memory) -> None:
    root = str(memory.workspace.root)
    with single_flight(memory):
        with pytest.raises(LearnerBusyError):
            run_learning(memory)
        for command in ("run", "patterns", "reflections"):
            done = CliRunner().invoke(main, ["-w", root, "learn", command, "--json"])
            assert done.exit_code == 75, done.output
            assert json.loads(done.stdout)["error"]["type"] == "LearnerBusyError"
        assert CliRunner().invoke(main, ["-w", root, "learn", "status"]).exit_code == 0
    assert CliRunner().invoke(main, ["-w", root, "learn", "run"]).exit_code == 0


def test_processes_at_once_ask_once(memory: Memory) -> None:
    register(memory, *SERVICES)
    with serving(GOOD) as script:
        config = memory.workspace.config_path
        config.write_text(
            config.read_text("utf-8") + f"\nchat: {{base_url: {script.url}/v1, model: scripted}}\n", "utf-8"
        )
        olav = str(Path(sys.executable).with_name("olav"))
        command = [olav, "-w", str(memory.workspace.root), "learn", "run"]
        pipe = subprocess.PIPE
        started = [subprocess.Popen(command, stdout=pipe, stderr=pipe) for _ in range(3)]
        codes = [process.wait(timeout=120) for process in started]
        for process in started:
            process.communicate()
        assert set(codes) <= {0, 75}
        assert 0 in codes
        assert len(script.asked) == 1
    memory.store.refresh()
    assert len(memory.list(category="expert_knowledge")) == 1


def test_a_journal_that_cannot_be_read_is_put_aside(memory: Memory) -> None:
    register(memory, *SERVICES)
    path = memory.workspace.directory / NAME
    path.write_text("{broken", "utf-8")
    assert group(memory).runs == 0
    with serving(GOOD) as script, chat_at(script.url) as chat:
        run_learning(memory, chat)
    assert group(memory).runs == 1
    assert path.with_name(f"{NAME}.broken").read_text("utf-8") == "{broken"


def test_two_who_read_a_broken_journal_at_once_leave_it_to_who_writes(memory: Memory) -> None:
    path = memory.workspace.directory / NAME
    for content in ("{broken", "[]", '{"groups": [1], "reflections": {}}'):
        path.write_text(content, "utf-8")
        with ThreadPoolExecutor(4) as threads:
            told = [each.result() for each in [threads.submit(read_journal, memory) for _ in range(16)]]
        assert told == [Journal()] * 16
        assert path.read_text("utf-8") == content  # a reader takes no file from under a writer
        with journal(memory) as kept:
            kept.last_run = "2026-01-01T00:00:00+00:00"
        assert path.with_name(f"{NAME}.broken").read_text("utf-8") == content
        assert read_journal(memory).last_run == "2026-01-01T00:00:00+00:00"


def test_the_commands(memory: Memory) -> None:
    register(memory, *SERVICES)
    root = str(memory.workspace.root)

    def olav(*args: str, code: int = 0, **env: str) -> Any:
        done = CliRunner().invoke(main, ["-w", root, "learn", *args, "--json"], env=env)
        assert done.exit_code == code, (done.output, done.exception)
        return json.loads(done.stdout)

    assert olav("run")["asleep"] == 1
    with serving("nothing to say", GOOD) as script:
        env = {"OLAV_CHAT_BASE_URL": f"{script.url}/v1", "OLAV_CHAT_MODEL": "scripted"}
        told = olav("run", **env)
        assert told["patterns"]["written"] == 1
        assert "prompt" not in told["patterns"]["groups"][0]
        state = olav("status", **env)
        assert (state["due"], state["chat"], state["groups"][0]["calls"]) == (0, "scripted", 2)
    view = CliRunner().invoke(main, ["-w", root, "learn", "status"], env={"COLUMNS": "160"}).stdout
    assert "register_service" in view
    assert "unchanged" in view
    register(memory, *SERVICES, scope="other")
    with serving((500, "no", {})) as script:
        env = {"OLAV_CHAT_BASE_URL": f"{script.url}/v1", "OLAV_CHAT_MODEL": "m", "OLAV_CHAT_RETRIES": "0"}
        assert olav("run", code=1, **env)["failed"] == 1


def test_a_langchain_chat_model_named_in_the_settings_learns(memory: Memory) -> None:
    register(memory, *SERVICES)
    root = str(memory.workspace.root)
    config = memory.workspace.config_path
    factory = "langchain_core.language_models:FakeListChatModel"
    chosen = {"chat": {"factory": factory, "options": {"responses": [GOOD]}}}
    config.write_text(config.read_text("utf-8") + "\n" + json.dumps(chosen)[1:-1] + "\n", "utf-8")
    done = CliRunner().invoke(main, ["-w", root, "learn", "run", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["patterns"]["written"] == 1


def test_no_answer_is_paid_for_that_could_not_be_stored(
    memory: Memory, with_settings: Callable[..., Memory]
) -> None:
    register(memory, *SERVICES)
    other = with_settings(memory, embedder={"id": "minilm"})
    with serving(GOOD) as script, chat_at(script.url) as chat:
        with pytest.raises(EmbeddingSpaceMismatchError):
            run_learning(other, chat)
        assert not script.asked


def test_case_17_learning_on_and_on_adds_no_row(memory: Memory) -> None:
    register(memory, *SERVICES)
    lines = [failing(n, "push_config", {"mode": "exec"}, "% Invalid input", NOW, f"r{n}") for n in (0, 1)]
    counts = set()
    with serving(GOOD) as script, chat_at(script.url) as chat:
        for _ in range(20):
            register(memory, *SERVICES)
            learn_reflections(memory, calls_of(memory, lines))
            run_learning(memory, chat)
            memory.recall("register a service", agent="services")
            counts.add(len(memory.list()))
    assert counts == {8}
    assert len(script.asked) == 1
