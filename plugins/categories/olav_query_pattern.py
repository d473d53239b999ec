"""Category `query_pattern`: a question and the SQL that answered it."""

from __future__ import annotations

import json
import re

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

#: Quoted strings and names, comments, numbers and words, single signs. Possessive, so linear on any input.
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*+'?|"(?:[^"]|"")*+"?|`[^`]*+`?)"""
    r"""|(?P<comment>--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)"""
    r"""|(?P<word>[\w$.]++)|(?P<sign>[^\s\w])"""
)
_WORDS = frozenset(
    """
    all and any as asc between by case cast cross date desc distinct else end except exists extract
    false filter first from full group having ilike in inner intersect interval into is join last left
    like limit natural not null nulls of offset on or order outer over partition right select similar
    some table then true union unnest using values when where window with
    """.split()  # noqa: SIM905 (a list of sixty lines reads worse)
)
#: The names of one query; a generated one with hundreds would drown its question.
MAX_NAMES = 48


@frozen(kw_only=True)
class QueryPattern:
    """`dialect`: sqlglot's name of it, such as `duckdb`. `tables`: the tables it reads."""

    question: str = field(validator=validators.min_len(1))
    sql: str = field(validator=validators.min_len(1))
    dialect: str = ""
    tables: list[str] = field(factory=list)


def normalized_sql(sql: str) -> str:
    """Return `sql` as one line: comments and the last semicolon gone, lower case outside of quotes."""
    parts = []
    for match in _TOKEN.finditer(sql):
        if match.lastgroup != "comment":
            parts.append(match.group() if match.lastgroup == "quoted" else match.group().lower())
    while parts and parts[-1] == ";":
        parts.pop()
    return " ".join(parts)


def names_in(sql: str) -> list[str]:
    """Return the tables, columns and string values of `sql`, each once, in order, at most MAX_NAMES."""
    names: dict[str, None] = {}
    for match in _TOKEN.finditer(sql):
        text = match.group().strip("'\"`")
        if match.lastgroup == "quoted" or (match.lastgroup == "word" and not text[:1].isdigit()):
            if text and text.lower() not in _WORDS:
                names[text] = None
            if len(names) == MAX_NAMES:
                break
    return list(names)


def dedupe_key(record: MemoryRecord) -> str:
    # One query answers a question however it was put: a second wording must not take a second slot.
    return json.dumps([record.metadata.get("dialect", "").lower(), normalized_sql(record.metadata["sql"])])


def embed_text(record: MemoryRecord) -> str:
    return f"{record.metadata['question']}\n{' '.join(names_in(record.metadata['sql']))}"


def questions(record: MemoryRecord) -> list[str]:
    return [str(record.metadata["question"])]


def render(record: MemoryRecord) -> str:
    dialect = record.metadata.get("dialect")
    label = f"SQL ({dialect})" if dialect else "SQL"
    return f"Q: {record.metadata['question']}\n{label}: {record.metadata['sql']}"


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="query_pattern",
            title="Query pattern",
            purpose="A question and the SQL that answered it",
            origins=frozenset({"agent", "user", "directive"}),
            quota=2,
            cap=2,
            gates=(GateUse("evidence"),),
            metadata=QueryPattern,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            questions=questions,
            render=render,
        )
    ]
