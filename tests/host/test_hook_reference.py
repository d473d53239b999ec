"""The hook reference: current, complete, and every hook under test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from olav_core.host.hook_reference import PAGE, HookDoc, hooks, main, page
from olav_core.host.validation import SPEC_TYPES

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / PAGE).read_text("utf-8") == page(), "run `python -m olav_core.host.hook_reference`"


def test_every_kind_of_spec_has_its_hook() -> None:
    registering = {doc.name.removeprefix("olav_register_") for doc in hooks() if doc.spec is not None}
    assert registering == set(SPEC_TYPES)


@pytest.mark.parametrize("doc", hooks(), ids=lambda doc: doc.name)
def test_every_hook_says_purpose_moment_result_and_gives_an_example(doc: HookDoc) -> None:
    assert doc.purpose.endswith(".")
    assert doc.when, "a sentence that begins with `Called`"
    assert doc.returns, "a sentence that begins with `Return`"
    assert doc.spec is None or doc.spec.__name__ in doc.example
    compile(doc.example.replace("return ", "value = ", 1), doc.name, "exec")


@pytest.mark.parametrize("doc", hooks(), ids=lambda doc: doc.name)
def test_every_hook_is_named_by_a_test_and_by_the_page(doc: HookDoc) -> None:
    tests = (path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert any(re.search(rf"\b{doc.name}\b", text) for text in tests)
    assert f"\n## {doc.name}\n\n```text\n{doc.signature}\n" in page()


def test_check_tells_a_stale_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.md"
    assert main(["--check", str(file)]) == 1
    assert "is stale" in capsys.readouterr().err
    assert main([str(file)]) == 0
    assert main(["--check", str(file)]) == 0
