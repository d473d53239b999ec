"""What a person sees: colour and bars on a terminal only, lines that fit, also in Chinese."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from olav_core.cli.terminal import to_json

_SHOW = """
from rich.text import Text
from olav_core.cli.listing import Entry, Listing
from olav_core import Terminal
terminal = Terminal()
rows = [Entry((Text("fact:1234abcd", style="cyan"), Text("网络")), Text("R1 是上海的边界路由器" * 9))]
terminal.print(Listing(("memory", "scope"), rows))
with terminal.progress("Embedding") as step:
    step(1, 2)
    step(2, 2)
"""


def on_a_terminal(columns: int, **environment: str) -> str:
    """Run the script with stdout and stderr on a pseudo-terminal; return what it wrote."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    child = subprocess.Popen([sys.executable, "-c", _SHOW], stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the other side is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert child.wait(timeout=60) == 0
    return written.decode()


def plain(text: str) -> list[str]:
    return [
        re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line).rstrip() for line in text.replace("\r", "").split("\n")
    ]


def test_colour_and_progress_on_a_terminal() -> None:
    shown = on_a_terminal(100)
    assert "\x1b[36mfact:1234abcd" in shown
    assert "Embedding" in shown


def test_no_colour_when_asked_not_to() -> None:
    assert "\x1b[36m" not in on_a_terminal(100, NO_COLOR="1")


def test_neither_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", _SHOW], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert "fact:1234abcd" in done.stdout


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_lines_fit_the_terminal(columns: int) -> None:
    from rich.cells import cell_len

    lines = [line for line in plain(on_a_terminal(columns)) if line and "Embedding" not in line]
    assert max(cell_len(line) for line in lines) <= columns
    assert any("路由器" in line for line in lines)


@pytest.mark.parametrize("columns", ["0", "", "wide"])
def test_columns_that_are_no_width_do_not_empty_the_table(columns: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from olav_core import Terminal\nTerminal().print('a line')"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": columns},
        check=True,
    )
    assert done.stdout == "a line\n"


def test_json_has_no_nan_and_no_infinity() -> None:
    value = {"a": [float("nan"), (float("-inf"), 1.5)], "b": {"c": float("inf")}, "d": True, "e": None}
    read = json.loads(to_json(value), parse_constant=pytest.fail)
    assert read == {"a": ["nan", ["-inf", 1.5]], "b": {"c": "inf"}, "d": True, "e": None}
