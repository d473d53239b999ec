"""How a document is cut: nothing lost, nothing cut that fits, and an insertion moves little."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from olav_documents.markdown import read_markdown
from olav_documents.passages import Passage, passages
from olav_documents.reading import Block
from olav_documents.windows import LEAST, MOST, windows

from olav_core import estimate_tokens

words = st.lists(
    st.sampled_from(["alpha", "router", "设备", "接口", "10.0.0.1", "x."]), min_size=1, max_size=160
)
paragraphs = st.builds(lambda found: Block(kind="text", text=" ".join(found)), words)
headings = st.builds(
    lambda text, level: Block(kind="heading", text=f"H {text}", level=level),
    st.integers(0, 99),
    st.integers(1, 4),
)


def cut(text: str) -> list[Passage]:
    return passages(read_markdown(text).blocks)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(paragraphs, headings), max_size=40))
def test_no_word_is_lost_and_no_passage_too_long(blocks: Sequence[Block]) -> None:
    found = passages(blocks)
    texts = [block.text for block in blocks if block.kind == "text"]
    assert sorted("".join("".join(texts).split())) == sorted(
        "".join(
            "".join(line for p in found for line in p.text.split("\n") if not line.startswith("#")).split()
        )
    )
    assert all(estimate_tokens(passage.text) <= MOST * 1.1 for passage in found)
    assert len({passage.anchor for passage in found}) == len(found)
    assert all(len(passage.path) <= 4 for passage in found)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 200), unique=True, min_size=20, max_size=200),
    st.integers(0, 200),
)
def test_an_insertion_moves_only_the_cuts_around_it(names: list[int], place: int) -> None:
    def groups(items: list[int]) -> set[tuple[int, ...]]:
        return {tuple(group) for group in windows(items, lambda n: 40 + n % 50, str)}

    before, after = groups(names), groups([*names[:place], 999, *names[place:]])
    sizes = [sum(40 + n % 50 for n in group) for group in before]
    assert all(LEAST - 45 <= size <= MOST for size in sizes)  # half an item less, where none fits better
    # Only a new smallest hash in a long row can move more: it is one item of many.
    assert len(before - after) <= max(6, len(before) // 3)


def test_a_code_block_and_a_row_are_cut_only_when_they_do_not_fit() -> None:
    code = "\n".join(f"set interface Gi0/{n} description uplink-{n}" for n in range(40))
    text = "Some words. " * 150 + f"\n\n```ios\n{code}\n```\n\n" + "More words. " * 150
    assert sum(code in passage.text for passage in cut(text)) == 1
    long = "\n".join(f"set interface Gi0/{n} description uplink-{n}" for n in range(400))
    parts = [passage.text for passage in cut(f"# T\n\n```ios\n{long}\n```\n")]
    assert len(parts) > 5
    assert all(part.startswith("```ios\n") and part.endswith("\n```") for part in parts)
    lines = [line for part in parts for line in part.split("\n") if line and not line.startswith("```")]
    assert lines == long.split("\n")


def test_a_long_table_repeats_its_header() -> None:
    rows = "\n".join(f"| R{n} | 10.0.{n // 250}.{n % 250} |" for n in range(300))
    parts = [passage.text for passage in cut(f"# T\n\n| device | address |\n|---|---|\n{rows}\n")]
    assert len(parts) > 3
    assert all(part.startswith("| device | address |\n|---|---|\n| R") for part in parts)
    assert sum(part.count("| R") for part in parts) == 300


def test_short_sections_share_a_passage_and_long_ones_stand_alone() -> None:
    long = "## Long\n\n" + "A sentence of the long section. " * 40
    text = (
        "# T\n\n" + "\n\n".join(f"## Short {n}\n\nA line {n}." for n in range(6)) + f"\n\n{long}\n\n{long}2\n"
    )
    found = cut(text)
    assert found[0].path == ("T",)
    assert "## Short 0\n\nA line 0." in found[0].text
    assert "A line 5." in found[0].text
    assert [passage.path for passage in found[1:]] == [("T", "Long"), ("T", "Long2")] or [
        passage.path for passage in found[1:]
    ] == [("T", "Long"), ("T", "Long")]
