"""The example of learning runs, and prints what it claims to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "self_improvement.py"


def run(*args: str) -> dict[str, list[str]]:
    """Return the lines that each step printed, by its heading."""
    command = [sys.executable, str(EXAMPLE), *args]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=500)
    assert done.returncode == 0, done.stderr
    steps: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if line.startswith("== "):
            steps[line.strip("= ")] = []
        elif line and steps:
            steps[list(steps)[-1]].append(line)
    return steps


@pytest.fixture(scope="module")
def steps() -> dict[str, list[str]]:
    return run()


def test_registrations_become_conventions_that_are_recalled_first(steps: dict[str, list[str]]) -> None:
    lines = steps["1. Six registrations become conventions"]
    assert lines[0] == "chat calls: 1 · written, the second time unchanged"
    assert [line for line in lines if line.startswith("- ")] == [
        "- Name services svc-<name>-<site>.",
        "- Take the address from 10.20.0.0/16.",
        "- Ports are 8001 to 8006, one per service.",
        "- Set auth to oauth2.",
    ]
    assert [line.endswith("the pattern: True") for line in lines if "-> first" in line] == [True, True]


def test_a_failure_is_recalled_for_the_same_mistake_and_nothing_else(steps: dict[str, list[str]]) -> None:
    lines = steps["2. A failed run becomes a lesson"]
    assert "use mode=config instead of mode=exec, because" in lines[0]
    told = [int(line.split()[-2]) for line in lines[1:]]
    assert told == [1, 0, 0, 0, 0]


def test_what_a_person_confirmed_is_recalled_by_another_process(steps: dict[str, list[str]]) -> None:
    lines = steps["3. A person says remember, and confirms"]
    assert "rows before the answer: 0" in lines
    assert lines[-1] == "another process recalls: VLAN 名称一律大写，例如 USERS_MUC"


def test_documents_are_found_and_imported_again_for_nothing(steps: dict[str, list[str]]) -> None:
    size, first, again, handbook, network = steps["4. A handbook and a network plan"]
    assert size == "60 pages, 200 devices"
    added = int(first.removeprefix("imported: ").split()[0])
    assert added > 200
    assert again == f"imported again, unchanged: 0 memories added, {added} unchanged, 0 embedded"
    assert "document, page 37" in handbook
    assert "sw-4-7" in network
    assert "core-4" in network


def test_it_runs_without_the_model_and_says_why_no_lesson_is_recalled() -> None:
    steps = run("--embedder", "hashing")
    assert len(steps) == 4
    assert "hashing has no measured scale" in steps["2. A failed run becomes a lesson"][-1]


def test_without_the_extra_it_says_in_one_line_what_to_install() -> None:
    program = (
        "import runpy, sys; sys.modules['pypdf'] = None; path = sys.argv[1]; "
        "sys.argv = [path]; sys.path.insert(0, path.rpartition('/')[0]); "
        "runpy.run_path(path, run_name='__main__')"
    )
    command = [sys.executable, "-c", program, EXAMPLE.as_posix()]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "pip install 'olav-core[documents]'" in done.stderr
