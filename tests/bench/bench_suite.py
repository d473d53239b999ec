"""The small bilingual suite of these tests, and the types of their fixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

MEMORIES = [
    {"id": "m1", "text": "R1 loopback is 10.255.0.1", "scope": "netops", "lang": "en"},
    {"id": "m2", "text": "R2 loopback is 10.255.0.2", "scope": "netops", "lang": "en"},
    {"id": "m3", "text": "发票在每月五号之前提交", "scope": "finance", "lang": "zh"},
    {"id": "m4", "text": "团队 emea 的发薪日是 25 号", "scope": "team:emea", "lang": "zh"},
]
QUERIES = [
    {"qid": "q1", "query": "loopback of R1", "agent": "netops", "relevant": ["m1"], "forbidden": ["m3"],
     "kind": "identifier", "lang": "en"},
    {"qid": "q2", "query": "发票什么时候提交", "agent": "finance", "relevant": ["m3"], "kind": "plain",
     "lang": "zh"},
    {"qid": "q3", "query": "发薪日", "agent": "netops", "teams": ["emea"], "relevant": ["m4"], "lang": "zh"},
    {"qid": "q4", "query": "how do I bake bread", "agent": "netops", "kind": "negative_easy"},
]  # fmt: skip
Run = Callable[..., dict[str, Any]]
Write = Callable[[Path, Iterable[Mapping[str, Any]]], Path]
