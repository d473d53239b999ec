"""Text that gives orders to the reader, as planted in documents and tool results, zh and en.

An error may well say what a call needs ("use mode=config"). An order is told from it by whom it speaks to (an
assistant), what it is after (memory, rules, confirmations, secrets), or how long it is to hold.
"""

from __future__ import annotations

import re
from typing import Final

#: Longer texts are looked at up to here: an order that a rule could repeat stands in what is quoted of it.
MAX_CHARS: Final = 20_000

_SECRETS: Final = r"(?:password|credential|secret|token|private\ key|api\ key|config(?:uration)?)s?"
_ENGLISH: Final = rf"""
    # other instructions
      \b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){{0,3}}?
        (?:previous|prior|earlier|above|system|these|your|all)\s+(?:\w+\s+){{0,2}}?
        (?:instruction|prompt|rule|guideline|direction|polic)\w*
    | \b(?:new|updated|real|hidden)\s+(?:system\s+)?(?:instruction|prompt|rule)s?\s*:
    # who reads
    | \byou\s+are\s+now\b | \b(?:system|assistant)\s*:\s*you\b
    | \b(?:assistant|language\s+model|ai(?:\s+(?:model|agent|assistant))?|llm|chatbot)s?\b\s*
        (?:,\s*(?:please|you)\b | :\s*(?!\w*error) | (?:you\s+)?(?:must|should|needs?\s+to|ha(?:s|ve)\s+to)\b)
    | \bas\s+an\s+ai\b | \b(?:hey|dear|note\s+to)\s+(?:assistant|ai|model|agent)\b
    | <\s{{0,3}}/?\s{{0,3}}(?:system|assistant|instructions?|relevant-memories)\b
    | \[/?INST\] | <\|im_(?:start|end)\|>
    # memory and rules
    | \b(?:remember|memori[sz]e|store|save|learn|add)\s+(?:\w+\s+){{0,4}}?
        (?:rule|instruction|lesson)s?\s*[:：]
    | \b(?:remember|memori[sz]e|learn\s+this)\s*[:：]
    | \b(?:add|save|write|store|commit|put)\b[^.\n]{{0,40}}\b(?:to|in|into)\s+(?:your|the\s+agent's)\s+memory
    | \bupdate\s+your\s+memory\b
    # for good
    | \bfrom\s+(?:now|today)\s+on\s*,?\s+(?:you|always|never)\b
    | \b(?:for|in|on)\s+(?:all|every|each|any)\s+(?:future|subsequent|further)\s+
        (?:request|task|conversation|call|question|message)s?
    # nobody is to notice or to agree
    | \b(?:do\s+not|don['’]t|never|stop)\s+(?:tell|inform|mention|show|ask|asking)\s+(?:\w+\s+){{0,2}}?
        (?:user|operator|human|anyone|confirmation|permission|approval)\b
    | \b(?:skip|bypass)\s+(?:the\s+|any\s+|all\s+)?(?:approval|confirmation|review)\b
    # secrets go out, guards come down
    | \b(?:always|from\s+now\s+on)\b[^.\n]{{0,60}}
        \b(?:send|forward|e?-?mail|upload|post|exfiltrate|reveal|disclose|curl|disable)\b
    | \b(?:send|forward|e-?mail|upload|post|exfiltrate|reveal|disclose|print)\s+(?:\w+\s+){{0,3}}?{_SECRETS}\b
        [^.\n]{{0,20}}\b(?:to|at)\b
    | \bexfiltrate\b | \b(?:curl|wget)\b[^|\n]{{0,200}}\|\s*(?:ba|z)?sh\b | \brm\s+-rf\s+/
    | \balways\s+(?:use|set|choose)\s+(?:the\s+)?(?:root|admin|password)\b
"""
_CHINESE: Final = r"""
      (?:忽略|无视|不要理会|忘记|绕过)[^。\n]{0,12}?(?:指令|指示|提示词?|规则|要求|约束)
    | (?:请|务必|必须)?(?:记住|记录|保存|存储)[^。\n]{0,10}?(?:规则|指令|教训)\s*[:：]
    | (?:记住|学习)\s*[:：] | (?:加入|写入|存入|放进|更新)[^。\n]{0,6}?记忆
    | 从现在(?:开始|起)[^。\n]{0,8}?(?:你|必须|始终|总是|不要)
    | (?:今后|以后|从此|往后)[^。\n]{0,8}?(?:所有|每次|每个|一律|不要再|不用再|不再|无需)
    | 你现在是 | 系统(?:提示|指令|消息)\s*[:：][^。\n]{0,4}?你
    | (?:助手|智能体|大模型|AI|机器人)\s{0,3}[，,：:]?\s{0,3}(?:请|必须|应当?|务必|注意|需要|要)
    | (?:不要|别)(?:告诉|通知|让)[^。\n]{0,4}?(?:用户|操作员|任何人)
    | (?:不要|不用|无需|不必|别)再?[^。\n]{0,4}?(?:询问|请求|等待)[^。\n]{0,6}?(?:确认|批准|许可|审批)
    | 跳过[^。\n]{0,6}?(?:确认|审批|复核)
    | (?:必须|务必|始终|总是|请)[^。\n]{0,30}?(?:发送到|转发给|上传到|外发|泄露|禁用|关闭防火墙)
    | 把[^。\n]{0,20}?(?:配置|密码|凭据|密钥|令牌)[^。\n]{0,6}?发(?:给|送|到|往)
"""
_ORDER: Final = re.compile(f"{_ENGLISH}|{_CHINESE}", re.VERBOSE | re.IGNORECASE)
_NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|don['’]t|cannot|can['’]t)\s+|不要|不得|不能|不允许|别|切勿)\Z", re.IGNORECASE
)


def gives_orders(text: str) -> bool:
    """Tell whether a text speaks to the reader as an instruction; "do not disregard any alarm" does not."""
    text = text[:MAX_CHARS]
    return any(not _NEGATED.search(text[max(0, m.start() - 12) : m.start()]) for m in _ORDER.finditer(text))
