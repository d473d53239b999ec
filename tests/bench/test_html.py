"""The HTML report: one file, nothing asked from outside, Chinese as letters."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from bench_suite import Run, Write

LOADS = {"src", "href", "data", "action", "srcset", "poster"}


class Page(HTMLParser):
    """Notes tags, what attributes load, and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        # the glyph and clip references of a plot stay within the page
        self.loads += [str(value) for name, value in attrs if name.rpartition(":")[2] in LOADS and value]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_one_file_that_asks_for_nothing(native: Run, files: list[Path], write: Write, tmp_path: Path) -> None:
    write(
        files[1],
        [
            {"qid": "q1", "query": "loopback of R1", "agent": "netops", "relevant": ["m1"], "kind": "标识符"},
            {
                "qid": "q2",
                "query": "发票什么时候提交",
                "agent": "finance",
                "relevant": ["m3"],
                "kind": "<b>&",
            },
            {"qid": "q3", "query": "烤面包", "agent": "finance", "kind": "negative"},
        ],
    )
    target = tmp_path / "report.html"
    native("--ranker", "default,rrf", "--html", target)
    source = target.read_text("utf-8")
    page = Page()
    page.feed(source)
    assert all(value.startswith("#") for value in page.loads), page.loads
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert not re.search(r"url\((?!#)|@import", source)
    assert page.tags.count("svg") >= 6
    for words in (
        "标识符",
        "Ranking",
        "By pair of languages",
        "Injected when irrelevant",
        "Latency",
        "hashing+rrf",
    ):
        assert words in page.text, words
    assert "<b>&" not in source, "what the data says is escaped"


def test_the_same_run_gives_the_same_plots(native: Run, tmp_path: Path) -> None:
    plots = []
    for name in ("a.html", "b.html"):
        native("--html", tmp_path / name)
        text = (tmp_path / name).read_text("utf-8")
        plots.append(re.findall(r"<svg.*?</svg>", text, re.DOTALL)[0])
    assert plots[0] == plots[1]
