"""What counts as a person's yes, in English and Chinese: a whole message that says so and nothing else."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: A longer message says something of its own; it is no bare yes.
MAX_CHARS: Final = 80

_YES: Final = (
    "ok|okay|yes|yep|yeah|y|sure|confirm|confirmed|i confirm|agreed|approve|approved|go ahead|do it|go for it"
    "|commit|commit it|commit this|save it|save this|store it|remember it|remember this|please do|correct"
    "|looks good|lgtm|that is right|that's right|thats right|sounds good"
)
_FILLER: Final = "please|thanks|thank you|now|it|that|great|fine|good|perfect"
_YES_ZH: Final = (
    "可以|可以的|好|好的|好吧|行|行的|是|是的|对|对的|没错|没问题|同意|确认|我确认|确认入库|入库|入库吧|提交|提交吧|保存"
    "|保存吧|存吧|记住吧|记下来吧|就这样|就这么办|嗯|通过|批准|没有问题"
)
_FILLER_ZH: Final = "请|谢谢|吧|了|啊|呀|哦|的|麻烦|现在"

_ENGLISH = re.compile(rf"(?:(?:{_FILLER})\s+)*(?:{_YES})(?:\s+(?:{_YES}|{_FILLER}))*")
_CHINESE = re.compile(rf"(?:{_FILLER_ZH})*(?:{_YES_ZH})(?:{_YES_ZH}|{_FILLER_ZH})*")
_QUESTION = re.compile(r"[?？]|[吗嘛么呢]\s*[。.!！]*\s*\Z")
_SIGNS = re.compile(r"[^\w\s']+")


def confirms(message: str) -> bool:
    """Tell whether a user's message is a yes: "可以", "OK, please", "yes, 入库". A question, a condition, a
    negation or a yes with further wishes is none."""
    text = unicodedata.normalize("NFKC", message).casefold().replace("’", "'").strip()
    if not text or len(text) > MAX_CHARS or _QUESTION.search(text):
        return False
    text = " ".join(_SIGNS.sub(" ", text).replace("_", " ").split())
    # Chinese runs are not spaced: each run of one script must be a yes or its filler.
    runs = [run.strip() for run in re.split(r"([\u3400-\u9fff]+)", text) if run.strip()]
    fillers = re.compile(rf"(?:(?:{_FILLER})(?:\s+|\Z))+|(?:{_FILLER_ZH})+")
    said = [bool(_ENGLISH.fullmatch(run) or _CHINESE.fullmatch(run)) for run in runs]
    return any(said) and all(yes or fillers.fullmatch(run) for yes, run in zip(said, runs, strict=True))
