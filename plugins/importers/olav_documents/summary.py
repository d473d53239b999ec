"""The guide of a document: what it is about, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from olav_core import Draft, language_of
from olav_documents.sections import Section

MAX_CHARS = 1_200
MAX_KEYWORDS = 24
_MAX_SECTIONS = 24
_LEAD_CHARS = 300
_NUMBER = re.compile(
    r"^(?:第[一二三四五六七八九十百\d]+[章节篇部]|[\d.]+[.、)]?|[一二三四五六七八九十]+、)\s*"
)
#: Headings that say nothing of their document: as keywords they would fire on any query.
_COMMON_HEADINGS = (
    "introduction,overview,summary,contents,table of contents,background,purpose,scope,references,notes,see "
    "also,appendix,conclusion,abstract,index,example,examples,usage,faq,changelog,license,prerequisites,概述,"
    "简介,目录,背景,目的,范围,参考,参考文献,附录,总结,说明,示例,前言,注意,注意事项,其他"
)
_COMMON = frozenset(_COMMON_HEADINGS.split(","))
_SENTENCE = re.compile(r".+?(?:[。！？!?]|\.(?=\s|\Z)|\Z)", re.DOTALL)
_MARKUP = re.compile(r"[*_`#>|]+|\[([^\]]*)\]\([^)]*\)")


def summary_guide(title: str, name: str, root: Section) -> Draft | None:
    """Return the draft of a document's usage_guide, None for a document without text.

    Extractive: title, headings, first sentences. It loads on intent, so that a hundred documents do not
    crowd out the guides that people wrote.
    """
    sections = list(_headings(root, 2))
    lead = _lead(root)
    if not lead and not sections:
        return None
    zh = language_of(f"{title} {lead}") == "zh"
    lines = [f"《{title}》（{name}）" if zh else f"The document '{title}' ({name})."]
    if sections:
        names = ("；" if zh else "; ").join(section.title for section in sections[:_MAX_SECTIONS])
        lines.append(f"{'章节' if zh else 'Sections'}{'：' if zh else ': '}{names}")
    if lead:
        lines.append(lead)
    return Draft(
        text="\n".join(lines)[:MAX_CHARS],
        category="usage_guide",
        metadata={
            "intent": _intent(title),
            "keywords": _keywords(title, name, sections),
            "authority": "team",
            "load": "on_intent",
        },
        origin="document",
    )


def _intent(title: str) -> str:
    words = re.sub(r"[\W_]+", "_", title).strip("_")[:96]
    return f"about_{words or 'document'}"


def _keywords(title: str, name: str, sections: list[Section]) -> list[str]:
    stem = name.rpartition("/")[2].rpartition(".")[0]
    found: dict[str, str] = {}
    for text in [title, stem, *(section.title for section in sections)]:
        word = " ".join(_NUMBER.sub("", text).split())[:128]
        if _tells(word):
            found.setdefault(word.casefold(), word)
    return list(found.values())[:MAX_KEYWORDS]


def _tells(word: str) -> bool:
    """Say whether a heading may stand as a keyword: several words, or a name, and no common one."""
    if word.casefold() in _COMMON:
        return False
    if not word.isascii():
        return len(word) >= 3
    return (
        len(word.split()) > 1 or any(char.isdigit() or char in "_-." for char in word) or word[1:].isupper()
    )


def _headings(section: Section, depth: int) -> Iterator[Section]:
    for child in section.sections:
        if child.title:
            yield child
        if depth > 1:
            yield from _headings(child, depth - 1)


def _lead(section: Section) -> str:
    """Return the document's first sentences of running text."""
    for block in section.lead:
        if block.kind == "text":
            text = " ".join(_MARKUP.sub(lambda found: found[1] or "", block.text).split())
            sentences = _SENTENCE.findall(text)
            taken = ""
            for sentence in sentences:
                if taken and len(taken) + len(sentence) > _LEAD_CHARS:
                    break
                taken += sentence
            if taken.strip():
                return taken.strip()[: _LEAD_CHARS * 2]
    return next(filter(None, (_lead(child) for child in section.sections)), "")
