"""What a statement claims: a topic and the value that it gives it; zh and en, by fixed rules, no model.

"R1's loopback is 10.0.0.1" and "R1 的 loopback 改为 10.0.0.2" have one topic and two values: they contradict.
Two statements whose topics differ say nothing about each other. The rules miss many contradictions and should
find few that are none: what can hold several times (neighbours, links, "a router") has no value of its own.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from attrs import define, field, frozen

#: Longer texts are not one statement.
MAX_CHARS: Final = 400

_TOKEN: Final = re.compile(r"[A-Za-z0-9][\w.:/@+%-]*(?:'[a-z]+)?|[\u3400-\u9fff]+|[=:]", re.ASCII)


#: 9,000 is 9000.
_GROUPED: Final = re.compile(r"(?<![0-9,.])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CJK: Final = re.compile(r"[\u3400-\u9fff]")
#: The verb that gives something its value, with what negates it.
_COPULA: Final = re.compile(
    r"(?<![\w'])(?:(?:is|are|was|were|equals?|remains?)(?P<en>n't| not| no longer)?(?: now| currently)?"
    r"|(?:has )?changed to)(?![\w'])"
    r"|(?P<zh>不再|并不|并非|不)?(?:更新为|改为|变为|调整为|位于|等于|名为|叫做|(?<![但于只还总若])是(?!否)"
    r"|(?<![作因行以成认])为(?![了何]|什么)|(?<![存现])在(?![线建]))"
    r"|(?P<sign>\s*(?:=|:(?=\s)|:(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff]):)\s*)",
    re.IGNORECASE,
)
_NEGATIONS: Final = frozenset(("not", "no", "never", "cannot", "without"))
_NEGATED: Final = re.compile(
    r"没有(?=.)|并不|不再|不能|不得|不可|禁止|请勿|切勿|不要|[不没未勿非](?=[\u3400-\u9fff])"
)
_AFTER_NEGATION: Final = {"没有": "有", "不能": "能", "不得": "", "不可": "可", "禁止": "允许"}
_OPPOSITES: Final = {
    "disabled": "enabled", "down": "up", "closed": "open", "forbidden": "allowed", "denied": "allowed",
    "off": "on", "false": "true", "inactive": "active", "offline": "online",
    "禁用": "启用", "停用": "启用", "关闭": "开启", "离线": "在线",
}  # fmt: skip
_SMALL: Final = _words("""the of a an do does did now currently already also please 's 的 了 已 现 目 前""")
_SPACE_ZH: Final = re.compile(r"现在|目前|当前|已经|的|了")
#: Nouns that have one value at a time: all that follows the verb is that value.
_ATTRIBUTES: Final = _words(
    """address owner role status state vendor model version location site region rack name hostname asn
    loopback gateway mtu speed capacity contact approver manager oncall on-call password port default
    timezone"""
)
_ATTRIBUTES_ZH: Final = re.compile(
    r"(?:地址|负责人|角色|状态|厂商|型号|版本|位置|机房|机架|名称|主机名|网关|容量|联系人|审批人|值班人|端口|区域"
    r"|时区|默认值)$"
)
#: What may hold several times: its values are no contradiction.
_SEVERAL_ZH: Final = re.compile(r"连接|相连|邻居|邻接|允许|支持|包[括含]|成员|之一|其中|一[个台种条]|某")
_ONCE_ED: Final = _words(
    """located assigned named called scheduled numbered reserved configured owned managed hosted installed
    deployed placed based fixed limited"""
)
_SEVERAL: Final = _words("""a an one some part member reachable neighbour neighbor adjacent""")
_JOINERS: Final = _words("""and or 和 及 与""")
_NAME_ZH: Final = re.compile(
    r"^[老小阿]?[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢"
    r"姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤]"
    r"[\u3400-\u9fff]{1,2}$"
)


@frozen
class Claim:
    """`topic`: the same for all statements about one thing. `value`: what this one says of it."""

    topic: str
    value: str


@lru_cache(maxsize=65_536)
def claim_of(text: str) -> Claim | None:
    """Return what `text` claims, None for what is empty, of several lines or longer than MAX_CHARS."""
    plain = unicodedata.normalize("NFKC", text).strip().rstrip(".。!！;；")
    if not plain or "\n" in plain or len(plain) > MAX_CHARS:
        return None
    plain = _SPACE_ZH.sub(" ", plain.replace("’", "'"))
    plain = _GROUPED.sub(lambda number: number[0].replace(",", ""), plain)
    found = _COPULA.search(plain)
    if found is None or not plain[: found.start()].strip():
        said = _Side()
        said.read(plain, mask="")
        return Claim("= ".join(("", " ".join(said.words))), said.sign)
    head, rest = _Side(), _Side()
    head.read(plain[: found.start()], mask="")
    rest.negated = bool(found["en"] or found["zh"]) ^ head.negated
    after = plain[found.end() :]
    rest.read(after, mask=_mask(head.words, after))
    subject = " ".join(sorted(set(head.words)))
    return Claim(f"{subject} = {' '.join(rest.words)}", " ".join([*rest.values, rest.sign]))


@define
class _Side:
    """The words of one side of a statement, without what does not tell statements apart."""

    negated: bool = False
    words: list[str] = field(factory=list)
    values: list[str] = field(factory=list)

    @property
    def sign(self) -> str:
        return "-" if self.negated else "+"

    def read(self, text: str, *, mask: str) -> None:
        """Take in `text`. `mask`: "all" makes everything the value, "parts" numbers and names."""
        for token in _TOKEN.findall(text):
            for part in self._parts(token.rstrip(".:-")):
                kind = "" if not mask else "*" if mask == "all" else _kind(part)
                word = "" if part.casefold() in _SMALL else _stem(part)
                if kind:
                    self.values.append(part.casefold())
                    if not self.words or self.words[-1] != kind:
                        self.words.append(kind)
                elif word:
                    joins = word in _JOINERS and mask and self.words[-1:] in (["#"], ["@"])
                    if not joins:
                        self.words.append(word)

    def _parts(self, token: str) -> list[str]:
        folded = token.casefold()
        if folded in _NEGATIONS or folded.endswith("n't"):
            self.negated = not self.negated
            return [folded.removesuffix("n't")] if folded.endswith("n't") else ["can"] * (folded == "cannot")
        if folded.endswith("'s"):
            token, folded = token[:-2], folded[:-2]
        if folded in _OPPOSITES:
            self.negated = not self.negated
            return [_OPPOSITES[folded]]
        if not _CJK.match(token):
            return [token] if token else []
        for word, other in _OPPOSITES.items():
            if word in token and _CJK.match(word):
                self.negated = not self.negated
                token = token.replace(word, other)
        if found := _NEGATED.search(token):
            self.negated = not self.negated
            token = token[: found.start()] + _AFTER_NEGATION.get(found[0], "") + token[found.end() :]
        return [token] if token else []


def _mask(head: list[str], after: str) -> str:
    if any(word in _ATTRIBUTES or _ATTRIBUTES_ZH.search(word) for word in head):
        return "all"
    words = [*head, *(word.casefold() for word in _TOKEN.findall(after))]
    several = any(
        word.endswith("ing")
        or (word.endswith("ed") and word not in _ONCE_ED)
        or _stem(word) in _SEVERAL
        or _SEVERAL_ZH.search(word)
        for word in words
    )
    return "" if several else "parts"


def _kind(word: str) -> str:
    """Return "#" for a number, an address or a time, "@" for a name, "" for any other word."""
    if word[0].isdigit():
        return "#"
    if _CJK.match(word):
        return "@" if _NAME_ZH.match(word) else ""
    named = word[0].isupper() or any(char.isdigit() or char in "-_@" for char in word)
    return "@" if named else ""


def _stem(word: str) -> str:
    """Return the word in lower case without the s of a plural or of a third person; MPLS keeps its own."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return (word[:-1] if plural and word.isascii() and word.isalpha() else word).casefold()
