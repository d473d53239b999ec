"""`olav kb lint`: what it finds, what it leaves alone, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from clashes import AGREE, CLASH
from click.testing import CliRunner

import olav_core
from olav_core import Memory
from olav_core.cli.main import main
from olav_core.lint.clause import clauses
from olav_core.lint.contradiction import contradicts
from olav_core.lint.finding import LintFinding
from olav_core.lint.lint import lint_guides

Write = Callable[..., None]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as memory:
        yield memory


@pytest.fixture
def write(memory: Memory) -> Write:
    """Import a guide: `write(intent, body, *keywords, agent=, load=)`."""

    def run(intent: str, body: str, *keywords: str, agent: str = "netops", load: str = "recalled") -> None:
        path = memory.workspace.root / agent / "guides" / f"{intent}.guide.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "schema_version": 1,
            "intent": intent,
            "agent": agent,
            "keywords": list(keywords),
            "body": body,
        }
        path.write_text(json.dumps({**values, "load": load}, ensure_ascii=False), encoding="utf-8")
        memory.import_guides(memory.workspace.root).raise_for_faults()

    return run


def found(memory: Memory, rule: str, **options: Any) -> list[LintFinding]:
    return [finding for finding in lint_guides(memory, **options).findings if finding.rule == rule]


def test_sentences_that_contradict_are_found_and_others_are_not() -> None:
    def clash(pair: tuple[str, str]) -> bool:
        (one,), (other,) = clauses(pair[0]), clauses(pair[1])
        return bool(contradicts(one, other)) and bool(contradicts(other, one))

    missed = [pair for pair in CLASH if not clash(pair)]
    wrong = [pair for pair in AGREE if clash(pair)]
    assert (len(missed) <= 1, wrong) == (True, []), missed


@pytest.mark.parametrize(("one", "other"), [CLASH[2], CLASH[5], CLASH[9]])
def test_a_contradiction_needs_a_shared_trigger_and_a_shared_sight(
    memory: Memory, write: Write, one: str, other: str
) -> None:
    write("first", one, "spanning tree", "alpha")
    write("second", other, "beta")
    assert found(memory, "contradiction") == []
    write("second", other, "Spanning-Tree", "spanning trees", agent="services")
    assert found(memory, "contradiction") == []
    write("second", f"Be kind.\n- {other}", "beta", "Spanning trees")
    (finding,) = found(memory, "contradiction")
    assert {guide.name for guide in finding.guides} == {"first", "second"}
    assert {guide.path for guide in finding.guides} == {
        "./netops/guides/first.guide.yaml",
        "./netops/guides/second.guide.yaml",
    } or all(guide.path.endswith(f"netops/guides/{guide.name}.guide.yaml") for guide in finding.guides)
    assert finding.heuristic
    assert finding.severity == "error"
    assert one.rstrip(".。") in finding.message


def test_a_global_guide_meets_every_agents(memory: Memory, write: Write) -> None:
    write("all", CLASH[2][0], "stp", agent="core")
    write("mine", CLASH[2][1], "stp")
    assert len(found(memory, "contradiction")) == 1


def test_teams_meet_in_the_agents_that_are_in_both(memory: Memory) -> None:
    for number, (team, text) in enumerate(zip(("team:a", "team:b"), CLASH[2], strict=True)):
        memory.remember(
            text, category="usage_guide", scope=team, metadata={"intent": f"i{number}", "keywords": ["stp"]}
        )
    assert found(memory, "contradiction") == []
    memory.workspace.config_path.write_text(
        "embedder: {id: hashing}\nagents: {noc: {teams: [a, b]}}\n", encoding="utf-8"
    )
    with olav_core.open(memory.workspace.root) as again:
        assert len(found(again, "contradiction")) == 1


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (("syslog server", "log forwarding", "rsyslog"), "Forward the syslog server log with rsyslog."),
        (("日志服务器", "日志转发", "日志采集"), "日志服务器用于日志转发与日志采集。"),
    ],
)
def test_a_guide_that_another_always_outranks(
    memory: Memory, write: Write, words: tuple[str, ...], body: str
) -> None:
    write("strong", body, *words)
    write("weak", "Something else altogether: 完全无关的内容。", *words)
    (finding,) = found(memory, "shadowed")
    assert [guide.name for guide in finding.guides] == ["weak", "strong"]
    write("weak", "Something else altogether: 完全无关的内容。", *words, "zebra9")
    assert found(memory, "shadowed") == []


def test_guides_without_keywords(memory: Memory, write: Write) -> None:
    write("silent", "Do it.")
    write("waiting", "Do that.", load="on_intent")
    write("loud", "Do this.", "word")
    severities = {finding.guides[0].name: finding.severity for finding in found(memory, "no_keywords")}
    assert severities == {"silent": "note", "waiting": "warning"}


@pytest.mark.parametrize("word", ["device", "设备"])
def test_a_keyword_that_many_share(memory: Memory, write: Write, word: str) -> None:
    for number in range(4):
        write(f"guide{number}", f"Rule {number}.", word, f"own{number}")
    write("elsewhere", "Rule.", word, agent="services")
    assert found(memory, "shared_keyword") == []
    write("everybody", "Rule.", word, agent="core")
    (finding,) = found(memory, "shared_keyword")
    assert len(finding.guides) == 5
    assert word in finding.message
    assert found(memory, "shared_keyword", many=6) == []


def test_guides_that_never_fired_are_told_from_the_log(memory: Memory, write: Write) -> None:
    write("used", "The border router is r1.", "border")
    write("never", "Quasars are far.", "quasar")
    write("other", "Quasars are near.", "quasar", agent="services")
    for number in range(9):
        assert memory.recall(f"border router {number}", agent="netops", tier="small").items
    assert found(memory, "never_fired", min_recalls=10) == []
    memory.recall("border router", agent="netops", tier="small")
    (finding,) = found(memory, "never_fired", min_recalls=10)
    assert [guide.name for guide in finding.guides] == ["never"]
    assert "10 recalls" in finding.message
    write("new", "Pulsars blink.", "pulsar")
    assert len(found(memory, "never_fired", min_recalls=10)) == 1
    memory.recall("quasar", agent="netops", tier="small")
    assert found(memory, "never_fired", min_recalls=10) == []


def test_lint_changes_nothing_and_logs_nothing(memory: Memory, write: Write) -> None:
    for number in range(3):
        write(f"guide{number}", f"Rule {number}.", "alpha", "beta")
    before = memory.store.refresh()
    report = lint_guides(memory)
    assert report.recalls == 0
    assert memory.store.refresh() == before
    assert lint_guides(memory) == report


def test_expired_guides_are_left_out(memory: Memory) -> None:
    data = {"intent": "old", "keywords": []}
    memory.remember("x", category="usage_guide", metadata=data, expires_at="2020-01-01")
    assert lint_guides(memory).guides == 0


def test_the_shipped_guides_are_clean(tmp_path: Path) -> None:
    from olav_core.packages.shipped import prime_directives

    with olav_core.init(tmp_path / "clean", embedder="hashing") as memory:
        prime_directives(memory)
        assert lint_guides(memory).findings == ()


def test_the_command_line_and_its_exit_codes(memory: Memory, write: Write) -> None:
    def lint(*args: str) -> tuple[int, Any]:
        line = ["kb", "lint", "-w", str(memory.workspace.root), *args]
        result = CliRunner().invoke(main, line, prog_name="olav")
        assert result.exception is None or result.exit_code == 1, result.exception
        return result.exit_code, result.stdout

    assert lint()[0] == 0
    write("silent", "Do it.")
    assert lint()[0] == 0
    assert lint("--fail-on", "note")[0] == 1
    write("one", CLASH[2][0], "stp")
    write("two", CLASH[2][1], "stp")
    code, out = lint("--json")
    report = json.loads(out)
    assert (code, report["counts"]["error"], report["guides"]) == (1, 1, 3)
    assert {"rule", "severity", "heuristic", "message", "mend", "guides"} <= report["findings"][0].keys()
    assert all(finding["mend"] for finding in report["findings"])
    assert lint("--fail-on", "never")[0] == 0
    assert "contradiction, by its words" in lint()[1]
