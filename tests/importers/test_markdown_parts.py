"""A long Markdown text is parsed part by part, and gives the blocks that it gives as a whole."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from olav_documents import markdown
from olav_documents.markdown import read_markdown

PIECES = [
    "# BGP",
    "## 邻居抖动 `hold`",
    "Check the hold timer.",
    "- one\n- two\n\n  # inside an item",
    "```text\n\n# no heading\n```",
    "~~~\n\n# none\n\n```\n~~~",
    "````\n\n```\n\n# none\n````",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "> quoted\n\n    # code",
]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14))
def test_parts_give_the_same_blocks_and_lines(pieces: list[str]) -> None:
    text = "\n\n".join(pieces)
    whole = read_markdown(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "PART", 1)
        assert read_markdown(text) == whole


def test_the_parser_takes_no_more_for_a_longer_text() -> None:
    section = (
        "## Section\n\n" + "\n\n".join(f"Line {n} of `R{n}` says *something*." for n in range(200)) + "\n\n"
    )

    def beyond_the_blocks(times: int) -> int:
        text = section * times
        tracemalloc.start()
        kept = read_markdown(text)
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(kept.blocks) == 201 * times
        return peak - now - len(text)

    assert beyond_the_blocks(160) < 1.3 * beyond_the_blocks(80)
