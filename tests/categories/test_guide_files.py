"""`*.guide.yaml` and `*.format.yaml`: what they become, their scope, and every fault with its line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from olav_core import Draft, Fault
from olav_core.host.registry import Registry

GUIDE = """\
schema_version: 1
intent: export_report
agent: core
keywords: [导出报告, export report]
body: |
  必须调用 `format_and_export`。
  - 再一行
"""
FORMAT = "schema_version: 1\ntag: audit_report\nkeywords: [audit]\nbody: Use H2.\n"
Parse = Callable[..., tuple[list[Draft], list[Fault]]]


@pytest.fixture
def parse(registry: Registry, tmp_path: Path) -> Parse:
    def run(
        text: str | bytes, path: str = "a.guide.yaml", root: str = "."
    ) -> tuple[list[Draft], list[Fault]]:
        importer = registry.importer_for(path)
        assert importer is not None
        raw = text if isinstance(text, bytes) else text.encode()
        drafts, faults = importer.parse(tmp_path / root, tmp_path / path, raw)
        return list(drafts), list(faults)

    return run


def scope(parse: Parse, text: str, path: str, root: str = ".") -> str | None:
    (draft,), faults = parse(text, path, root)
    assert not faults
    return draft.scope


def test_a_guide_becomes_a_directive(parse: Parse) -> None:
    extra = "authority: platform\nload: on_intent\nrelated: [other]\nscope: team:noc\n"
    extra += "expires: 2027-01-31T08:00:00Z\n"
    (draft,), faults = parse(GUIDE + extra)
    assert not faults
    assert draft.text == "必须调用 `format_and_export`。\n- 再一行"
    assert (draft.category, draft.origin, draft.scope, draft.line) == (
        "usage_guide",
        "directive",
        "team:noc",
        2,
    )
    assert draft.expires_at == datetime(2027, 1, 31, 8, tzinfo=UTC)
    assert draft.metadata == {
        "intent": "export_report",
        "agent": "core",
        "keywords": ["导出报告", "export report"],
        "authority": "platform",
        "load": "on_intent",
        "related": ["other"],
    }


def test_a_format_becomes_a_directive(parse: Parse) -> None:
    (draft,), faults = parse(FORMAT, "a.format.yaml")
    assert not faults
    assert (draft.text, draft.category, draft.scope) == ("Use H2.", "format_guide", None)
    assert draft.metadata == {"tag": "audit_report", "keywords": ["audit"]}


@pytest.mark.parametrize(
    ("agent", "path", "root", "expected"),
    [
        ("netops", "core/guides/a.guide.yaml", ".", "global"),
        ("core", "core/guides/a.guide.yaml", "core/guides", "global"),
        ("core", "core/guides/a.guide.yaml", "core", "global"),
        ("netops", "netops/guides/a.guide.yaml", ".", "netops"),
        ("netops", "netops/guides/a.guide.yaml", "netops/guides", "netops"),
        ("netops", "netops/guides/a.guide.yaml", "netops", "netops"),
        ("services", "netops/guides/a.guide.yaml", ".", "netops"),
        ("services", "netops/guides/deep/a.guide.yaml", ".", "netops"),
        ("netops", "bundle/guides/a.guide.yaml", "bundle/guides", "netops"),
        ("netops", "a.guide.yaml", ".", "netops"),
        ("netops", "core/other/a.guide.yaml", ".", "netops"),
    ],
)
def test_the_folder_gives_the_scope_and_else_the_agent(
    agent: str, path: str, root: str, expected: str, parse: Parse
) -> None:
    text = GUIDE.replace("agent: core", f"agent: {agent}")
    assert scope(parse, text, path, root) == expected
    assert scope(parse, text + "scope: team:noc\n", path, root) == "team:noc"


def test_in_a_workspace_the_scope_is_the_same_from_every_root(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / ".olav").mkdir()
    for root in (".", "netops", "netops/guides"):
        assert scope(parse, GUIDE, "netops/guides/a.guide.yaml", root) == "netops"
    assert scope(parse, GUIDE, "guides/a.guide.yaml", "guides") == "core"


@pytest.mark.parametrize(
    ("path", "extra", "expected"),
    [
        ("core/formats/a.format.yaml", "", "global"),
        ("netops/formats/a.format.yaml", "", "netops"),
        ("netops/guides/a.format.yaml", "", "netops"),
        ("a.format.yaml", "agent: services\n", "services"),
        ("netops/formats/a.format.yaml", "scope: global\n", "global"),
    ],
)
def test_the_scope_of_a_format(path: str, extra: str, expected: str, parse: Parse) -> None:
    assert scope(parse, FORMAT + extra, path) == expected


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (GUIDE + "keyword: [a]\n", 8, "Did you mean 'keywords'?"),
        (GUIDE.replace("export_report", "../../x"), 2, "no slash"),
        (GUIDE.replace("export_report", ".hidden"), 2, "leading dot"),
        (GUIDE.replace("export_report", "x" * 200), 2, "the limit is 128"),
        (GUIDE.replace("intent: export_report\n", ""), 1, "key 'intent' is missing"),
        (GUIDE.replace("agent: core\n", ""), 1, "key 'agent' is missing"),
        (GUIDE.replace("agent: core", "agent: [core]"), 3, "agent must be a string, not a list"),
        (GUIDE.replace("[导出报告, export report]", "导出报告"), 4, "keywords must be a list of strings"),
        ("schema_version: 1\nintent: a\nagent: b\nkeywords: []\nbody: |\n  \n", 5, "body is empty"),
        (
            "schema_version: 1\nintent: a\nagent: b\nkeywords: []\nbody: |\n  " + "长" * 8001,
            5,
            "the limit is 8,000",
        ),
        (GUIDE + "authority: boss\n", 8, "Known: platform, team, user, vendor"),
        (GUIDE + "load: on_intend\n", 8, "Did you mean 'on_intent'?"),
        (GUIDE + "expires: someday\n", 8, "not an ISO date"),
        (GUIDE + "scope: 'team:'\n", 8, "names no team"),
        (GUIDE.replace("version: 1", "version: 2"), 1, "schema_version 2 is not supported"),
        (GUIDE.encode("gb18030"), 4, "not UTF-8 (it looks like GB18030)"),
    ],
)
def test_a_fault_of_a_guide_names_its_line(text: str | bytes, line: int, message: str, parse: Parse) -> None:
    drafts, faults = parse(text)
    assert not drafts
    assert any(fault.line == line and message in fault.message for fault in faults), faults
    assert all(fault.path.endswith("a.guide.yaml") for fault in faults)


def test_all_faults_of_a_format_are_told(parse: Parse) -> None:
    drafts, faults = parse("tag: [x]\nkeywords: y\nscope: ' '\nload: x\n", "a.format.yaml")
    assert not drafts
    assert [fault.line for fault in faults] == [1, 1, 1, 2, 3, 4]
