"""Text that gives orders to the reader, as planted in documents and tool results, zh and en."""

from __future__ import annotations

import re
from typing import Final

#: Longer texts are looked at up to here: an order that a rule could repeat stands in what is quoted of it.
MAX_CHARS: Final = 20_000

_ORDER = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?
        (?:previous|prior|earlier|above|system|these|your|all)\s+(?:\w+\s+){0,2}?
        (?:instruction|prompt|rule|guideline|direction|polic)\w*
    | \b(?:new|updated|real|hidden)\s+(?:system\s+)?(?:instruction|prompt)s?\s*:
    | \b(?:remember|memori[sz]e|store|save|learn|add)\s+(?:\w+\s+){0,4}?(?:rule|instruction|lesson)s?\s*[:：]
    | \b(?:you\s+must|you\s+should|always|please|from\s+now\s+on)\b[^.\n]{0,60}
        \b(?:send|forward|e?-?mail|upload|post|exfiltrate|reveal|disclose|curl|disable)\b
    | \byou\s+are\s+now\b | \bfrom\s+now\s+on\s*,?\s+(?:you|always|never)\b
    | \bdo\s+not\s+(?:tell|inform|mention|show)\s+(?:\w+\s+){0,2}?(?:user|operator|human|anyone)\b
    | <\s*/?\s*(?:system|assistant|instructions?|relevant-memories)\b | \[/?INST\] | <\|im_(?:start|end)\|>
    | (?:忽略|无视|不要理会|忘记|绕过)[^。\n]{0,12}?(?:指令|指示|提示词?|规则|要求|约束)
    | (?:请|务必|必须)?(?:记住|记录|保存|存储)[^。\n]{0,10}?(?:规则|指令|教训)\s*[:：]
    | 从现在(?:开始|起)[^。\n]{0,8}?(?:你|必须|始终|总是|不要)
    | 你现在是 | (?:不要|别)(?:告诉|通知|让)[^。\n]{0,4}?(?:用户|操作员|任何人)
    | (?:必须|务必|始终|总是|请)[^。\n]{0,30}?(?:发送到|转发给|上传到|外发|泄露|禁用|关闭防火墙)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"(?:\b(?:not|never|don['’]t)\s+|不要|不得|不能|别|切勿)\Z", re.IGNORECASE)


def gives_orders(text: str) -> bool:
    """Tell whether a text speaks to the reader as an instruction; "do not disregard any alarm" does not."""
    text = text[:MAX_CHARS]
    return any(not _NEGATED.search(text[max(0, m.start() - 12) : m.start()]) for m in _ORDER.finditer(text))
