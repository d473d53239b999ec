"""A query is the user's own words: blocks and channel metadata are taken off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core.recall.user_words import user_words

ASK = "What is the loopback of R1?"
META = 'Conversation info (untrusted metadata):\n```json\n{"chat_id": "42", "sender": "ada"}\n```\n\n'


@pytest.mark.parametrize(
    "message",
    [
        ASK,
        f"  {ASK}\n",
        f"<relevant-memories>\n  <memory id='x'>y</memory>\n</relevant-memories>\n\n{ASK}",
        f"[Telegram Ada id:42 2026-04-29 14:32 UTC] {ASK}",
        f"[Slack #netops 2026-04-29T14:32Z]: {ASK}",
        f"[微信 王工 2026-04-29 14:32] {ASK}",
        f"{META}{ASK}",
        f"<channel-metadata>\nfrom: ada\n</channel-metadata>\n{ASK}",
        f"<system-reminder>be brief</system-reminder>\n{ASK}\n[message_id: 1711]",
        f"{META}[Telegram Ada 14:32] {ASK}",
    ],
)
def test_what_surrounds_the_words_goes(message: str) -> None:
    assert user_words(message) == ASK


@pytest.mark.parametrize(
    "message",
    [
        "[R1] is down since 14:32",
        "[14:32] what happened?",
        "what does `metadata:` mean in the guide?",
        "show metadata of table devices",
        "[ge-0/0/0, ge-0/0/1] which one flaps?",
        "<b>bold</b> question",
        "是谁在 [2026-04-29 14:32] 改了配置?",
        META.strip(),
    ],
)
def test_a_users_own_brackets_and_words_stay(message: str) -> None:
    assert user_words(message) == message


@given(st.text())
def test_words_never_become_nothing(text: str) -> None:
    assert bool(user_words(text)) == bool(text.strip())
