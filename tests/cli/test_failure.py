"""How the command line fails: where the message goes, and which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result


def test_without_a_workspace_the_next_command_is_named(olav: Callable[..., Result], tmp_path: Path) -> None:
    result = olav("recall", "anything")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "olav init" in result.stderr
    named = olav("kb", "list", "--workspace", tmp_path)
    assert named.exit_code == 1
    assert f"olav init {tmp_path}" in named.stderr


def test_a_named_workspace_is_not_looked_for_upwards(olav: Callable[..., Result], workspace: Path) -> None:
    inner = workspace / "inner"
    inner.mkdir()
    assert olav("kb", "list", "--workspace", inner).exit_code == 1
    assert olav("--workspace", workspace / ".olav", "kb", "list").exit_code == 0


def test_an_error_under_json_is_one_object_on_stdout(olav: Callable[..., Result]) -> None:
    result = olav("recall", "anything", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["type"] == "WorkspaceError"
    assert "olav init" in error["message"]
    assert result.stderr == ""


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("recall",),
        ("recall", "x", "--tier", "huge"),
        ("recall", "x", "--limit", "0"),
        ("remember", "x", "--metadata", "[1]"),
        ("remember", "x", "--metadata", "{"),
        ("remember", "x", "--origin", "nobody"),
        ("forget", "fact:1", "--json"),
        ("init", "--option", "novalue"),
        ("kb", "reembed"),
    ],
)
def test_wrong_usage_is_code_2(olav: Callable[..., Result], args: tuple[str, ...]) -> None:
    assert olav(*args).exit_code == 2
    result = olav(*args, "--json")
    assert result.exit_code == 2
    assert set(json.loads(result.stdout)["error"]) == {"type", "message"}


def test_an_unreadable_file_is_a_message_only(olav: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / ".olav").mkdir()
    (tmp_path / ".olav" / "config.yaml").mkdir()
    result = olav("kb", "list")
    assert result.exit_code == 1
    assert "config.yaml" in result.stderr


def run(code: str, **options: Any) -> subprocess.Popen[str]:
    head = "import sys\nfrom olav_core.cli import main as module\nimport click\nmain = module.main\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OLAV_DISABLE": "demo"},
        **options,
    )


def test_a_closed_pipe_is_quiet() -> None:
    child = run(
        "@main.command()\ndef flood():\n"
        "    for n in range(100_000):\n        click.echo('a line that is longer than nothing')\n"
        "main.get_command = lambda ctx, name: flood\n"
        "main(['flood'], prog_name='olav')\n"
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait(timeout=60) == 141


def test_an_interrupt_is_quiet() -> None:
    child = run(
        # A runner in the background of a shell ignores interrupts, and its children would too.
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import time\n@main.command()\ndef wait():\n    click.echo('ready')\n    time.sleep(60)\n"
        "main.get_command = lambda ctx, name: wait\n"
        "main(['wait'], prog_name='olav')\n"
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert err.strip() == ""
    assert child.returncode == 130


def test_output_that_the_stream_cannot_encode_is_escaped() -> None:
    code = "from olav_core import Terminal\nTerminal(as_json=True).result({'text': '路由\\ud800'})\n"
    for encoding in ("ascii", "utf-8"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )
        assert json.loads(done.stdout) == {"text": "路由\ud800"}


def test_what_a_plugin_prints_never_reaches_the_json(olav: Callable[..., Result], workspace: Path) -> None:
    plugin = workspace / ".olav" / "plugins" / "olav_loud.py"
    plugin.write_text(
        "from olav_core import hookimpl\n\n\n@hookimpl\ndef olav_memory_written(record):\n    print('LOUD')\n"
    )
    result = olav("remember", "R1 is the border router", "--json")
    assert json.loads(result.stdout)["created"] is True
    assert "LOUD" in result.stderr


def test_a_table_into_a_closed_pipe_is_quiet() -> None:
    child = run(
        "from olav_core import Terminal\n@main.command()\ndef flood():\n"
        "    terminal = Terminal()\n    for n in range(20_000):\n        terminal.print('a line')\n"
        "main.get_command = lambda ctx, name: flood\n"
        "main(['flood'], prog_name='olav')\n"
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait(timeout=60) == 141


LOUD = "print('LOUD at import')\nfrom olav_core import hookimpl\n\n\n@hookimpl\ndef olav_register_gates():\n"


@pytest.mark.parametrize(
    "command", [("plugins",), ("doctor",), ("kb", "status"), ("hooks",), ("drafts", "list")]
)
def test_a_plugin_that_prints_at_import_is_kept_out_of_every_answer(
    olav: Callable[..., Result], workspace: Path, command: tuple[str, ...]
) -> None:
    plugin = workspace / ".olav" / "plugins" / "olav_loud.py"
    plugin.write_text(LOUD + "    print('LOUD in a hook')\n    return []\n")
    assert isinstance(json.loads(olav(*command, "--json").stdout), dict)


def test_an_error_that_nobody_expected_is_one_object_too(
    olav: Callable[..., Result], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("olav_core.memory.Memory.remember", broken)
    result = olav("remember", "anything", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"] == {"type": "ZeroDivisionError", "message": "a bug"}
    assert "Traceback" in result.stderr


def test_an_interrupt_under_json_is_one_object(
    olav: Callable[..., Result], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("olav_core.memory.Memory.remember", interrupted)
    result = olav("remember", "anything", "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)["error"]["type"] == "KeyboardInterrupt"


def test_what_fails_after_the_answer_adds_no_second_object(
    olav: Callable[..., Result], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from olav_core.cli.terminal import Terminal

    result = Terminal.result

    def and_fail(self: Terminal, *values: Any) -> None:
        result(self, *values)
        raise OSError("the lights went out")

    monkeypatch.setattr(Terminal, "result", and_fail)
    done = olav("remember", "anything", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["created"] is True
    assert "the lights went out" in done.stderr


def test_help_stays_on_stdout_and_a_wrong_option_beside_it_is_still_an_object(
    olav: Callable[..., Result],
) -> None:
    assert "Usage" in olav("recall", "--json", "--help").stdout
    error = json.loads(olav("kb", "--help", "--json").stdout)["error"]
    assert error["type"] == "NoSuchOption"
