"""Help is cheap, and complete."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from olav_core.cli.reference import reference, walk

HEAVY = {
    "lancedb",
    "pyarrow",
    "numpy",
    "rich",
    "yaml",
    "onnxruntime",
    "tantivy",
    "tokenizers",
    "cattrs",
    "httpx",
}
_PROBE = """
import sys
from olav_core.cli.main import main
try:
    main({args!r}, prog_name="olav")
except SystemExit as exit:
    assert not exit.code, exit.code
print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""


@pytest.mark.parametrize("args", [["--help"], ["kb", "--help"], ["recall", "--help"], ["--version"]])
def test_help_loads_none_of_the_engine(args: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE.format(args=args)], capture_output=True, text=True, check=True
    )
    assert done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())


#: Where a word means another thing, so that its letter would mislead: the number of a benchmark's queries.
OTHER_MEANING = {"limit": {"bench", "replay"}, "category": {"bench"}, "tier": {"bench"}, "model": {"bench"}}


def test_a_letter_means_one_option_and_an_option_has_one_letter() -> None:
    letters: dict[str, set[str]] = {}
    options: dict[str, set[str]] = {}
    for path, command in walk():
        for option in (each for each in command.params if isinstance(each, click.Option)):
            long = next((name.removeprefix("--") for name in option.opts if name.startswith("--")), "")
            if set(path.split()) & OTHER_MEANING.get(long, set()):
                continue
            short = next((name for name in option.opts if not name.startswith("--")), "")
            options.setdefault(long, set()).add(short)
            if short:
                letters.setdefault(short, set()).add(long)
    assert {"-w", "-a", "-k"} <= set(letters)
    assert not {letter: names for letter, names in letters.items() if len(names) > 1}
    assert not {name: found for name, found in options.items() if len(found) > 1}


def test_help_lists_plugin_commands_and_exit_codes(olav: Callable[..., Result]) -> None:
    shown = olav("--help").stdout
    for word in ("demo", "recall", "kb", "Exit codes", "75", "130"):
        assert word in shown


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("list", "olav kb list"),
        ("status", "olav kb status"),
        ("import", "olav kb import"),
        ("search", "olav recall"),
        ("recal", "'recall'"),
    ],
)
def test_a_word_that_is_no_command_names_what_was_meant(
    word: str, meant: str, olav: Callable[..., Result]
) -> None:
    result = olav(word)
    assert result.exit_code == 2
    assert f"There is no command {word!r}. Did you mean" in result.stderr
    assert meant in result.stderr


def test_no_help_of_a_command_is_cut(olav: Callable[..., Result]) -> None:
    groups = [path for path, command in walk() if isinstance(command, click.Group)]
    for path in groups:
        listed = olav(*path.split()[1:], "--help").stdout.partition("Commands:")[2]
        assert listed
        assert "..." not in listed, path


def test_help_survives_a_broken_plugin(olav: Callable[..., Result], tmp_path: Path) -> None:
    folder = tmp_path / ".olav" / "plugins"
    folder.mkdir(parents=True)
    (folder / "olav_broken.py").write_text("import no_such_module\n# olav_register_commands\n")
    result = olav("--help")
    assert result.exit_code == 0
    assert "recall" in result.stdout
    assert "demo" in result.stdout
    assert "olav_broken" in result.stderr
    assert "no_such_module" in result.stderr


_COMMAND = """
import click
from olav_core import CommandSpec, hookimpl

@hookimpl
def olav_register_commands():
    return [CommandSpec(id="{id}", help="Count tickets.", load=lambda: {load})]
"""


def plugin(folder: Path, id: str, load: str) -> None:
    place = folder / ".olav" / "plugins"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"olav_{id}.py").write_text(_COMMAND.format(id=id, load=load))


def test_a_workspace_file_brings_a_command(olav: Callable[..., Result], tmp_path: Path) -> None:
    plugin(tmp_path, "tickets", 'click.Command("tickets", callback=lambda: click.echo("7 tickets"))')
    assert "Count tickets." in olav("--help").stdout
    assert olav("tickets").stdout == "7 tickets\n"


def test_the_command_of_a_named_workspace_is_found(
    olav: Callable[..., Result],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin(tmp_path, "tickets", 'click.Command("tickets", callback=lambda: click.echo("7 tickets"))')
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert olav("tickets").exit_code == 2
    assert olav("--workspace", tmp_path, "tickets").stdout == "7 tickets\n"
    monkeypatch.setenv("OLAV_WORKSPACE", str(tmp_path))
    assert olav("tickets").stdout == "7 tickets\n"


def test_a_plugin_command_that_does_not_load_is_named(olav: Callable[..., Result], tmp_path: Path) -> None:
    plugin(tmp_path, "tickets", "1 / 0")
    assert "Count tickets." in olav("--help").stdout
    result = olav("tickets")
    assert result.exit_code == 1
    assert "'tickets' cannot be loaded: ZeroDivisionError" in result.stderr


def test_a_plugin_cannot_replace_a_command_of_olav(olav: Callable[..., Result], tmp_path: Path) -> None:
    plugin(tmp_path, "recall", "1 / 0")
    result = olav("--help")
    assert "Show what a query brings back" in result.stdout
    assert "'recall' is hidden by olav's own" in result.stderr


def test_a_misspelt_command_is_answered_with_the_near_one(olav: Callable[..., Result]) -> None:
    result = olav("recal")
    assert result.exit_code == 2
    assert "Did you mean 'recall'?" in result.stderr
    assert "Did you mean 'status'?" in olav("kb", "statsu").stderr


def test_every_command_is_in_the_documentation() -> None:
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    text = page.read_text(encoding="utf-8")
    assert text == reference(), "run `python -m olav_core.cli.reference > docs/cli.md`"
    for path, command in walk():
        assert f"## {path}\n" in text
        for param in command.params:
            assert all(
                f"`{name}" in text or f" {name}" in text for name in param.opts if name.startswith("--")
            )


def test_every_command_that_answers_takes_json() -> None:
    for path, command in walk():
        if not isinstance(command, click.Group) and path != "olav mcp":  # a server: it answers its clients
            assert any("--json" in param.opts for param in command.params), path
            assert "With --json" in (command.help or ""), path
