"""The user's own words: a message without what recall or a channel put around them."""

from __future__ import annotations

import re

from olav_core.recall.render import strip_block

#: `[Telegram Ada id:42 2026-04-29 14:32 UTC] text`: one bracket at the start with a name and a clock time.
_ENVELOPE = re.compile(r"\A\s*\[(?=[^\]\n]{0,200}[^\W\d_]{2})[^\]\n]{1,200}?\d:\d\d[^\]\n]{0,60}\]:?\s+")
#: A line that announces metadata and the fenced block below it.
_FENCED = re.compile(
    r"^[^\n`]{0,120}\bmetadata\b[^\n`]{0,40}:?[ \t]*\n```[a-z]*\n.*?^```[ \t]*$\n?", re.I | re.M | re.S
)
#: `<channel-metadata>…</channel-metadata>` and its like.
_TAGGED = re.compile(
    r"<([a-z_-]{0,40}(?:metadata|envelope|reminder|environment_context))>.*?</\1>\s*", re.I | re.S
)
#: `[message_id: 123]` on a line of its own.
_LABEL = re.compile(
    r"^\[(?:message|chat|thread|sender|user|channel)[_ ]id:[^\]\n]{1,80}\][ \t]*$\n?", re.I | re.M
)
#: Metadata stands at the edges; a longer text is searched there only, which bounds the time.
_EDGE = 4_000


def user_words(text: str) -> str:
    """Return `text` without recalled blocks and channel metadata; metadata alone is returned as it is."""
    words = strip_block(text).strip()
    head, tail = words[:_EDGE], words[_EDGE:]
    for pattern in (_TAGGED, _FENCED, _LABEL, _ENVELOPE):
        head = pattern.sub("", head)
    return (head + tail).strip() or words
