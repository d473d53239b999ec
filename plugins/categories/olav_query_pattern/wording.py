"""The words of a question: what it is about, and whether it asks for data or for what to do."""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN: Final = re.compile(r"[A-Za-z0-9][\w.:/-]*|[\u3400-\u9fff]+")
_FILLERS: Final = _words(
    """a an the of in on at for to from by with and or is are was were be been being do does did have has had
    which what who whom whose where when why how many much show list find give me us we i you our my their its
    it that this these those there all any each every please tell return get count number total can could
    should would may might must shall will about as than then into not no name names id ids"""
)
_FILLERS_ZH: Final = re.compile(
    "请|帮我|帮忙|麻烦|列出|列一下|查一下|查询|查看|看看|显示|给我|告诉我|统计|哪些|哪个|哪几个|什么|多少|几个|几台|有没有|是否|是不是|怎么|如何"
    "|吗|呢|的|了|是|有|在|所有|全部|一共|总共|我们|我|个|台|还|没有|没|已经|都"
)
#: A question about what to do, may be done or is laid down: a guide's matter, not a query's.
_PROCEDURE: Final = re.compile(
    r"\bhow\s+(?:do|does|did|can|could|should|would|shall|must|may|is|are|to|am)\b|\bhow\s+\w+ing\b|\bwhy\b"
    r"|\b(?:should|may|must|shall|can|could|do|am|are)\s+(?:i|we|you|one|they)\b(?!\s+have\b)"
    r"|\b(?:allowed|permitted|forbidden|mandatory|required|supposed)\b"
    r"|\b(?:convention|policy|procedure|process|rule|best\s+practice|standard)s?\b"
    r"|\bwhat\s+(?:do|should|must|can|first|now|next|to|order|happens)\b|\bwho\s+(?:grants|approves|decides)\b"
    r"|\b(?:first|before\s+i|what\s+now|what\s+next|how)\s*\?\s*$"
    r"|怎么|怎样|如何|为什么|为何|应该|应当|要不要|需不需要|需要.{0,12}[吗么]|可以.{0,16}[吗么]|可不可以|能不能|能否|是否可以|该不该"
    r"|允许|规范|流程|步骤|约定|标准|规定|要求|先做什么|注意什么|(?:通知|联系|找|问)谁|什么顺序",
    re.IGNORECASE,
)
#: … but these ask how to get at data.
_DATA: Final = re.compile(
    r"(?:怎么|如何|怎样)(?:去|才能)?(?:查|统计|算|计算|列出|找出|筛|导出|得到|看到)"
    r"|\bhow\s+(?:do|can|could|would|should)\s+(?:i|we|you)\s+(?:query|count|list|select|compute|calculate|sum|sort|filter)\b",
    re.IGNORECASE,
)


def subject_of(question: str) -> str:
    """Return the words that a question is about, in its order; all of it where nothing else is left.

    A whole sentence as index text lies nearer to the next question of the same form than a guide does.
    """
    plain = _FILLERS_ZH.sub(" ", question)
    words = [word for word in _TOKEN.findall(plain) if word.casefold() not in _FILLERS]
    return " ".join(words) or question


def with_parts(names: list[str]) -> str:
    """Return names, each followed by its parts: `netops.v_devices netops v devices`."""
    parts = []
    for name in names:
        parts.append(name)
        apart = re.sub(r"[_.\-\s]+", " ", name).strip()
        if apart != name:
            parts.append(apart)
    return " ".join(parts)


def asks_what_to_do(question: str) -> bool:
    """Tell whether a question asks for a procedure, a reason or a permission rather than for data."""
    return bool(_PROCEDURE.search(question)) and not _DATA.search(question)
