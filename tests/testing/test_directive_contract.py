"""The contract of shipped directives tells what is wrong with a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from olav_core.testing import DirectiveContract

PLUGIN = """
from pathlib import Path
from olav_core import DirectiveSpec, hookimpl

@hookimpl
def olav_register_directives():
    folder = Path(__file__).parent / "rules"
    return [DirectiveSpec(id="rules", purpose="Rules of tickets", folder=folder)]
"""
GUIDE = "schema_version: 1\nintent: {intent}\nagent: core\nkeywords: [{keyword}]\nbody: {body}\n"


def plugin(folder: Path, guides: dict[str, str]) -> Path:
    path = folder / "olav_rules.py"
    path.write_text(PLUGIN, encoding="utf-8")
    (folder / "rules" / "core" / "guides").mkdir(parents=True)
    for name, text in guides.items():
        (folder / "rules" / "core" / "guides" / f"{name}.guide.yaml").write_text(text, encoding="utf-8")
    return path


def test_a_sound_folder_keeps_it(tmp_path: Path) -> None:
    guide = GUIDE.format(intent="ask", keyword="工单", body="Ask for the ticket.")
    DirectiveContract.of(plugin(tmp_path, {"ask": guide})).run()


@pytest.mark.parametrize(
    ("guides", "words"),
    [
        ({}, "brings 0 memories"),
        ({"bad": "schema_version: 1\n"}, "key 'body' is missing"),
        (
            {
                "one": GUIDE.format(
                    intent="one", keyword="stp", body="Enable spanning tree on access ports."
                ),
                "two": GUIDE.format(
                    intent="two", keyword="stp", body="Disable spanning tree on access ports."
                ),
            },
            "contradict",
        ),
    ],
)
def test_a_faulty_folder_breaks_it(tmp_path: Path, guides: dict[str, str], words: str) -> None:
    with pytest.raises(ExceptionGroup) as breaches:
        DirectiveContract.of(plugin(tmp_path, guides)).run()
    assert any(words in str(breach) for breach in breaches.value.exceptions)
