from __future__ import annotations

from typing import Any

import pytest

from olav_core import RecordError
from olav_core.recall.messages import last_user_text, with_block

BLOCK = '<relevant-memories>\n  <memory id="a">x</memory>\n</relevant-memories>'


def test_the_block_stands_directly_before_the_query_and_nothing_is_changed_in_place() -> None:
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "second", "name": "lin"},
        {"role": "tool", "content": "result"},
    ]
    before = [dict(message) for message in messages]
    out = with_block(messages, BLOCK)
    assert messages == before
    assert out[3] == {"role": "user", "content": f"{BLOCK}\n\nsecond", "name": "lin"}
    assert [m for i, m in enumerate(out) if i != 3] == [m for i, m in enumerate(before) if i != 3]


def test_there_is_exactly_one_block_however_often() -> None:
    messages = [{"role": "user", "content": "q"}]
    for _ in range(5):
        messages = with_block(messages, BLOCK)
    assert messages == [{"role": "user", "content": f"{BLOCK}\n\nq"}]
    assert last_user_text(messages) == "q"
    assert with_block(messages, "") == [{"role": "user", "content": "q"}]


def test_content_blocks_survive() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "what is this?"}, image]}]
    out = with_block(messages, BLOCK)
    assert out[0]["content"] == [{"type": "text", "text": BLOCK}, *messages[0]["content"]]
    assert last_user_text(out) == "what is this?"
    assert with_block(out, BLOCK) == out


def test_nobody_asked_anything() -> None:
    for messages in ([], [{"role": "system", "content": "s"}], [{"role": "user", "content": None}]):
        assert last_user_text(messages) == ""
        assert with_block(messages, "") == messages


@pytest.mark.parametrize("wrong", [None, "what is this?", [1], {"role": "user", "content": "x"}])
def test_what_is_no_list_of_messages_is_refused(wrong: Any) -> None:
    with pytest.raises(RecordError, match="messages must be a list"):
        last_user_text(wrong)
