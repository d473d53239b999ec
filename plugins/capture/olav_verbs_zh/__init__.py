"""Chinese capture verbs: 创建用户 and 配置_推送 change something; 获取更新状态 and 已创建用户列表 do not.

Names are not cut into words: the first verb of the name decides, the longest one where several begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial

from olav_core import VerbMatcherSpec, hookimpl
from olav_verbs_zh.words import (
    ADJECTIVES,
    BACKUP_NOUNS,
    EDITED_NOUNS,
    EDITS,
    FINAL_NOUNS,
    FINAL_READS,
    NOUNS,
    PERSONS,
    READS,
    RECORD_NOUNS,
    SCAFFOLDING,
    STEMS,
    SYNONYMS,
    THING_ENDS,
    THING_NOUNS,
    THINGS,
    TRANSFER_NOUNS,
    TRANSFERS,
    UPDATE_NOUNS,
)

#: Between two actions, the first one's object before it.
_JOINT = re.compile(
    r"(?P<object>[^并然后再和与及或、，]{0,6})(?P<joint>并且?|然后再?|之?后再?|再|和|与|以?及|或者?|、|，)"
)
_NOUN_JOINTS = frozenset(("和", "与", "及", "以及", "、"))
_HAN = re.compile(r"[\u3400-\u9fff]")
_ENGLISH_READ = re.compile(
    r"(?:^|[^a-z])(?:get|list|show|find|search|query|read|fetch|is|has|view|check|count|"
    r"describe)(?:[^a-z]|$)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:批量|自动|一键|强制|手动|立即|定时|快速|安全|尝试|请|重新|再次|远程|全部|在线|异步)+"
)
_NAMESPACE = re.compile(r"__+|::|[./:#]+")


def match(tool_name: str) -> str | None:
    """Return the verb of a Chinese tool name that changes something, else None."""
    return _match(_verbs(()), tool_name)


def extend(verbs: Sequence[str]) -> Callable[[str], str | None]:
    """Return a `match` that also knows a team's own Chinese verbs."""
    return partial(_match, _verbs(tuple(verb for verb in verbs if _HAN.search(verb))))


@cache
def _verbs(own: tuple[str, ...]) -> tuple[re.Pattern[str], frozenset[str]]:
    writes = frozenset([*STEMS, *SYNONYMS, *own])
    known = sorted({*writes, *READS}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))), writes


def _match(verbs: tuple[re.Pattern[str], frozenset[str]], tool_name: str) -> str | None:
    pattern, writes = verbs
    segments = [part for part in _NAMESPACE.split(tool_name[:256]) if part.strip("_- ")]
    if not segments or not _HAN.search(segments[-1]):
        return None
    name = re.sub(r"[\s_\-]+", "", segments[-1])
    latin = re.match(r"[^\u3400-\u9fff]*", segments[-1])
    if latin and _ENGLISH_READ.search(latin.group()):
        return None
    name = _ASIDE.sub("", name)
    for found in pattern.finditer(name):
        verb, before, after = found.group(), name[: found.start()], name[found.end() :]
        if verb not in writes:
            if (further := _further(verbs, after)) is not None:
                return _match(verbs, further)
            if verb in ("计划", "计算", "测", "列", "取", "算", "读", "看", "问", "查") and before:
                continue  # part of a noun: 备份计划, 队列, 读数
            return None
        if before.endswith(ADJECTIVES) or (before.endswith("新") and not before.endswith(("更新", "刷新"))):
            return None
        if after.startswith("的") or _is_noun(verb, after):
            return None
        if not after and before and verb in FINAL_NOUNS:
            continue
        if (len(verb) == 1 and before) or (verb == "同步" and pattern.match(after)):
            continue
        if after in SCAFFOLDING or before in SCAFFOLDING:
            return None
        return verb
    return None


def _further(verbs: tuple[re.Pattern[str], frozenset[str]], after: str) -> str | None:
    """Return the action that follows on one that looks: 推送配置 of 校验并推送配置; None where none does, as
    in 查看创建和更新时间."""
    pattern, _ = verbs
    joint = _JOINT.match(after)
    if joint is None or pattern.search(joint["object"]) or not pattern.match(after, joint.end()):
        return None
    if joint["object"] and joint["joint"] in _NOUN_JOINTS:
        return None  # 查询用户和删除记录 may be two nouns
    return after[joint.end() :]


def _is_noun(verb: str, after: str) -> bool:
    if not after or verb in ("设置", "设定", "修改", "调整"):
        return after in ("历史", "次数", "记录列表")
    nouns = NOUNS if verb in EDITS else NOUNS + EDITED_NOUNS
    if after in PERSONS or (after.startswith(nouns) and (len(after) <= 4 or after.endswith("列表"))):
        return True
    if after.endswith(FINAL_READS) and len(after) > 2:  # 部署状态查询
        return True
    if verb in THINGS and (after in THING_NOUNS or after.endswith(THING_ENDS)):
        return True
    nouns = {"记录": RECORD_NOUNS, "更新": UPDATE_NOUNS, "备份": BACKUP_NOUNS + TRANSFER_NOUNS}.get(
        verb, TRANSFER_NOUNS if verb in TRANSFERS else ()
    )
    return after in nouns


@hookimpl
def olav_register_verb_matchers() -> list[VerbMatcherSpec]:
    return [
        VerbMatcherSpec(
            id="verbs_zh",
            purpose="Chinese verbs in tool names, alone or with English namespaces",
            languages=("zh",),
            match=match,
            extend=extend,
        )
    ]
