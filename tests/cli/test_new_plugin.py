"""`olav new-plugin`: what it writes installs and passes its tests and the contract suite, unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clean_environment import CleanEnvironment
from click.testing import Result

from olav_core.cli.new_plugin import KINDS

#: One plug-in of each kind; names with a `-` and a `_` among them.
NAMES = {
    "category": "incident",
    "embedder": "house-letters",
    "ranker": "newest",
    "gate": "sure_enough",
    "redactor": "badge",
    "verbs": "cluster",
    "middleware": "call_count",
    "confirmation": "ja",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one new plug-in of each kind, in folders of the default names."""
    folder = tmp_path_factory.mktemp("plug-ins")
    for kind, name in NAMES.items():
        command = "from olav_core.cli.main import main; main()"
        words = [sys.executable, "-c", command, "new-plugin", name, "--kind", kind]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


def test_each_kind_installs_and_passes_its_own_tests_and_the_contract_suite(
    written: Path, tmp_path: Path
) -> None:
    assert set(NAMES) == set(KINDS)
    projects = sorted(written.iterdir())
    environment = CleanEnvironment(tmp_path / "venv")
    environment.install(*projects)
    for project in projects:
        assert not list(project.glob("src/*.egg-info"))

    plugins = json.loads(environment.olav("plugins", "--json"))
    assert not plugins["faults"]
    found = {p["name"]: p for p in plugins["plugins"] if p["distribution"] != "olav-core"}
    assert set(found) == set(NAMES.values())
    assert {plugin["state"] for plugin in found.values()} == {"loaded"}

    tests = [project / "tests" for project in projects]
    told = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", *tests)
    rules = int(told.split(" passed")[0].split()[-1])
    assert rules > 70, told


def test_plain_pytest_works_before_installation(written: Path) -> None:
    pytest_command = Path(sys.executable).with_name("pytest")  # `python -m` adds a folder to the path
    for project in written.iterdir():
        words = [pytest_command, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_written_is_clean(written: Path) -> None:
    # RUF012 wants a ClassVar annotation on `calls = {…}`; that is for the author's own settings to decide.
    rules = ["--select", "E,F,W,I,B,UP,SIM,RUF,C4,RET", "--ignore", "RUF012"]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--line-length",
        "110",
        *rules,
    ]
    for project in written.iterdir():
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    for path in written.rglob("*"):
        if path.suffix in (".py", ".md", ".toml"):
            text = path.read_text("utf-8")
            assert "${" not in text.replace("${{", ""), path
            assert "TODO" not in text


def test_it_says_what_it_wrote_and_what_comes_next(
    olav: Callable[..., Result], object_of: Callable[..., Any], tmp_path: Path
) -> None:
    facts = object_of("new-plugin", "olav-ticket_desk", "--kind", "gate", "--dir", tmp_path / "here")
    assert facts == {
        "directory": str(tmp_path / "here"),
        "distribution": "olav-ticket-desk",
        "module": "olav_ticket_desk",
        "id": "ticket_desk",
        "kind": "gate",
        "files": [
            ".gitignore",
            "README.md",
            "pyproject.toml",
            "src/olav_ticket_desk.py",
            "tests/test_olav_ticket_desk.py",
        ],
    }
    shown = olav("new-plugin", "another", "--kind", "redactor").stdout
    assert "pip install -e" in shown
    assert (tmp_path / "olav-another" / "pyproject.toml").is_file()


def test_nothing_is_written_over(olav: Callable[..., Result], tmp_path: Path) -> None:
    mine = tmp_path / "olav-desk" / "README.md"
    mine.parent.mkdir()
    mine.write_text("mine")
    result = olav("new-plugin", "desk", "--kind", "gate")
    assert result.exit_code == 1
    assert "holds README.md already" in result.stderr
    assert [path.name for path in mine.parent.iterdir()] == ["README.md"]
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("Ticket", "gate", "lower-case ASCII"),
        ("工单", "gate", "lower-case ASCII"),
        ("../x", "gate", "lower-case ASCII"),
        ("", "gate", "lower-case ASCII"),
        ("distance", "gate", "olav-core"),
        ("fact", "category", "olav-core"),
        ("hashing", "redactor", "olav-core"),
        ("ticket", "gat", "'gat' is not one of"),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    name: str, kind: str, words: str, olav: Callable[..., Result], tmp_path: Path
) -> None:
    result = olav("new-plugin", name, "--kind", kind)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not list(tmp_path.iterdir())
