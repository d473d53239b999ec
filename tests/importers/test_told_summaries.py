"""A document's guide in the words of the configured chat model: one call a changed document, checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from desk import Desk, counts
from olav_documents.told_summary import PASSAGE_CHARS

import olav_core

sys.path.insert(0, str(Path(__file__).parents[1]))
from scripted_chat import Script, serving

LEAD = "Operators of site FRA look after R1 with AS 65010."
TEXT = f"# BGP runbook\n\n{LEAD}\n\n## 邻居抖动\n\n先看接口错误计数。\n"
TOLD = "Explains how operators of site FRA handle BGP neighbours on R1, AS 65010, and what to check first."


@contextmanager
def talking(tmp_path: Path, *answers: object, url: str = "") -> Iterator[tuple[Desk, Script]]:
    with serving(*answers) as script:
        olav_core.init(tmp_path / "ws", embedder="hashing").close()
        config = tmp_path / "ws" / ".olav" / "config.yaml"
        chat = f"chat: {{base_url: {url or script.url}/v1, model: m, retries: 0, timeout: 5}}\n"
        config.write_text(config.read_text("utf-8") + chat, "utf-8")
        with olav_core.open(tmp_path / "ws") as memory:
            yield Desk(memory), script


def guide(desk: Desk) -> str:
    (row,) = desk.rows("usage_guide")
    return row.text


def test_the_model_is_asked_once_and_its_words_are_the_guide(tmp_path: Path) -> None:
    with talking(tmp_path, f"<think>hm</think>\n{TOLD}") as (desk, script):
        path = desk.write("bgp.md", TEXT)
        assert not desk.bring(path).faults
        assert guide(desk).endswith(TOLD)
        assert "BGP runbook" in guide(desk).splitlines()[0]
        assert "邻居抖动" in script.prompts[0]
        assert set(counts(desk.bring(path))) == {"unchanged"}
        assert desk.embedded == 0
        assert len(script.asked) == 1
        path.write_text(TEXT + "\n再看 hold timer。\n", "utf-8")
        desk.bring(path)
        assert len(script.asked) == 2
        assert desk.rows("usage_guide")[0].origin == "document"  # shown as data, never as an instruction


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    with talking(tmp_path, TOLD) as (desk, script):
        desk.bring(desk.write("bgp.md", TEXT), dry_run=True)
        assert script.asked == []
        desk.bring(desk.root / "bgp.md")
        assert set(counts(desk.bring(desk.root / "bgp.md", dry_run=True))) == {"unchanged"}
        assert len(script.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, I cannot help with that request today.",
        "Explains BGP on R77 and R78 with AS 64999, which this document never names.",
        "BGP.",
        "word " * 400,
        "<think>only thoughts",
        "抱歉，我无法总结这份文档，请提供更多的内容给我。",
    ],
)
def test_an_answer_that_does_not_hold_is_sent_back_once(tmp_path: Path, answer: str) -> None:
    with talking(tmp_path, answer, TOLD) as (desk, script):
        desk.bring(desk.write("bgp.md", TEXT))
        assert guide(desk).endswith(TOLD)
        assert len(script.asked) == 2
    with talking(tmp_path / "again", answer) as (desk, script):
        assert not desk.bring(desk.write("bgp.md", TEXT)).faults
        assert "Operators of site FRA" in guide(desk)  # the document's own words
        assert len(script.asked) == 2


def test_a_model_that_is_not_there_costs_one_try_and_no_document(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with talking(tmp_path, (503, "busy", {})) as (desk, script):
        for name in ("a", "b", "c"):
            desk.write(f"docs/{name}.md", TEXT.replace("runbook", f"runbook {name}"))
        assert not desk.bring(desk.root / "docs").faults
        assert len(desk.rows("usage_guide")) == 3
        assert len(script.asked) == 1
        assert "extractive summary" in caplog.text


def test_secrets_are_masked_before_they_leave(tmp_path: Path) -> None:
    with talking(tmp_path, TOLD) as (desk, script):
        desk.bring(desk.write("bgp.md", TEXT + "\nsnmp-server community s3cr3tcomm RO\n"))
        assert "s3cr3tcomm" not in script.prompts[0]


def test_a_long_document_is_shown_in_parts(tmp_path: Path) -> None:
    parts = [f"## Part {n}\n\n" + f"Device SW-{n} serves rack {n}. " * 60 for n in range(80)]
    with talking(tmp_path, TOLD) as (desk, script):
        desk.bring(desk.write("long.md", "\n\n".join(["# Plant", LEAD, *parts])))
        shown = script.prompts[0]
        assert olav_core.estimate_tokens(shown) < 2_200
        assert any(f"SW-{n} " in shown for n in range(15))
        assert any(f"SW-{n} " in shown for n in range(60, 80))


def test_the_model_is_shown_no_half_of_a_secret(tmp_path: Path) -> None:
    part = "postgresql://admin:hunter2-Zx81-QQ"
    with talking(tmp_path, TOLD) as (desk, script):
        passage = "看链路 " * ((PASSAGE_CHARS - len(part) - 8) // 4) + f" {part}@db.example/x 为何连不上。"
        desk.bring(desk.write("links.md", f"# Plant\n\n{LEAD} {passage}\n\n## 邻居\n\n{passage}\n"))
        assert "看链路" in script.prompts[0]
        assert "hunter2" not in script.prompts[0]
