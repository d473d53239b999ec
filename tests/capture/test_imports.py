"""`olav capture`: files of calls, what waits, what failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from olav_core import EmbedderUnavailableError, Memory
from olav_core.cli.main import main


@pytest.fixture
def olav(open_again: Callable[..., Memory], tmp_path: Path) -> Callable[..., Result]:
    open_again().close()

    def run(*args: object) -> Result:
        return CliRunner().invoke(main, [*map(str, args), "--workspace", str(tmp_path)], prog_name="olav")

    return run


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    lines = [
        {
            "tool": "create_user",
            "args": {"name": "li"},
            "result": {"ok": True},
            "time": "2026-04-01T08:00:00Z",
        },
        {
            "tool": "create_user",
            "args": {"name": "li"},
            "result": {"ok": True},
            "agent": None,
            "status": None,
        },
        {
            "tool": "部署实验室",
            "args": {"lab": "clos"},
            "result": "成功",
            "agent": "netops",
            "run": "r1",
            "call": "c1",
        },
        {"tool": "list_users", "result": []},
        {"tool": "delete_user", "args": {"name": "x"}, "result": {"error": "no such user"}},
        {"tool": "frobnicate", "args": {}, "result": "ok", "capture": True},
        {"tool": "save_note", "args": {}, "result": "ok", "capture": False},
    ]
    text = "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text(f"\ufeff{text}\n", encoding="utf-8")
    return path


def test_calls_of_a_file_become_events_once(olav: Callable[..., Result], calls: Path, tmp_path: Path) -> None:
    result = olav("capture", "import", calls, "--json")
    assert result.exit_code == 0, result.stderr
    out = json.loads(result.stdout)
    assert (out["lines"], out["captured"], out["skipped"], out["stored"]) == (7, 4, 3, 3)
    assert [call["captured"] for call in out["calls"]] == [True, True, True, False, False, True, False]
    assert "failure" in out["calls"][4]["reason"]
    again = json.loads(olav("capture", "import", calls, "--json").stdout)
    assert (again["stored"], again["repeated"], again["known"]) == (0, 0, 4)
    shown = olav("capture", "import", calls)
    assert "4 counted before" in shown.stdout


def test_the_file_s_times_agents_and_counts_are_kept(
    olav: Callable[..., Result], open_again: Callable[..., Memory], calls: Path
) -> None:
    olav("capture", "import", calls, "--agent", "billing")
    rows = {row.metadata["tool"]: row for row in open_again().list(category="operational_event")}
    assert rows["create_user"].scope == "billing"
    assert rows["create_user"].metadata["count"] == 2
    assert rows["部署实验室"].scope == "netops"
    assert rows["部署实验室"].tags == ("部署",)


def test_a_dry_run_writes_nothing(olav: Callable[..., Result], calls: Path, spool: Path) -> None:
    out = json.loads(olav("capture", "import", calls, "--dry-run", "--json").stdout)
    assert (out["captured"], out["stored"], out["applied"]) == (4, 0, False)
    assert not spool.exists()
    assert "nothing was written" in olav("capture", "import", calls, "-n").stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "not JSON"),
        ("[1]", "an object is needed"),
        ('{"args": {}}', "'tool' is missing"),
        ('{"tool": 3}', "'tool' holds a int"),
        ('{"tool": "create_x", "arg": {}}', "Did you mean 'args'?"),
        ('{"tool": "create_x", "time": "soon"}', "ISO 8601"),
        ("[" * 100_000, "nested too deeply"),
        ('{"tool": "create_x", "args": "\\ud800"}', ""),
    ],
)
def test_a_faulty_line_is_told_and_the_others_are_captured(
    olav: Callable[..., Result], tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(
        f'{line}\n{{"tool": "create_user", "args": {{"n": 1}}, "result": "ok"}}\n', encoding="utf-8"
    )
    result = olav("capture", "import", path, "--json")
    out = json.loads(result.stdout)
    if message:
        assert result.exit_code == 1
        (fault,) = out["faults"]
        assert fault["line"] == 1
        assert message in fault["message"]
        assert message in result.stderr
    assert out["stored"] >= 1


def test_status_and_drain_tell_what_waits_and_what_failed(
    olav: Callable[..., Result], open_again: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any, **__: Any) -> Any:
        raise EmbedderUnavailableError("it is down")

    memory = open_again()
    monkeypatch.setattr(type(memory.embedder), "passages_each", down)
    memory.capture(tool="create_user", args={"n": 1}, result="ok")
    memory.close()
    result = olav("capture", "drain")
    assert result.exit_code == 1
    assert "it is down" in result.stderr
    status = json.loads(olav("capture", "status", "--json").stdout)
    assert (status["waiting"], status["stored"], status["failed"]) == (1, 0, 0)
    assert "it is down" in status["last_error"]
    assert {"verbs", "verbs_zh", "outcomes", "call_arguments"} <= set(status["matchers"])
    assert "it is down" in olav("capture", "status").stdout
    monkeypatch.undo()
    assert json.loads(olav("capture", "drain", "--json").stdout)["stored"] == 1
    assert json.loads(olav("capture", "status", "--json").stdout)["waiting"] == 0
