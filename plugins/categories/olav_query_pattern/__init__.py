"""Category `query_pattern`: a question and the SQL that answered it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateSpec, GateUse, MemoryRecord, Verdict, Verdicts, hookimpl
from olav_query_pattern.wording import asks_what_to_do, subject_of, with_parts

if TYPE_CHECKING:
    from olav_core import Candidate, Candidates, Options, Query

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


#: A query that failed twice as often as it went well is not shown any more.
MIN_CONFIDENCE = 0.35


@frozen(kw_only=True)
class QueryPattern:
    """`dialect`: sqlglot's name of it, such as `duckdb`. `tables` and `columns`: what it reads. `template`:
    the statement with its literals as placeholders; queries of one template are one row. `wordings`: other
    questions that it answered. `uses` and `failures`: how often it went well and did not, counted by `seen`,
    the ids of the latest; `last_error`: of the latest failure."""

    question: str = field(validator=validators.min_len(1))
    sql: str = field(validator=validators.min_len(1))
    dialect: str = ""
    tables: list[str] = field(factory=list)
    columns: list[str] = field(factory=list)
    template: str = ""
    wordings: list[str] = field(factory=list)
    uses: int = field(default=0, validator=validators.ge(0))
    failures: int = field(default=0, validator=validators.ge(0))
    seen: list[str] = field(factory=list)
    last_error: str = ""


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
    data = record.metadata
    dialect = data.get("dialect", "").lower()
    if data.get("template"):
        return json.dumps(["template", dialect, data["template"]])
    return json.dumps([dialect, normalized_sql(data["sql"])])


def embed_text(record: MemoryRecord) -> str:
    """What its questions are about, then tables, columns and values, whole and in parts."""
    subjects = dict.fromkeys(map(subject_of, questions(record)))
    return "\n".join([*subjects, with_parts(names_in(record.metadata["sql"]))])


def questions(record: MemoryRecord) -> list[str]:
    return [str(record.metadata["question"]), *map(str, record.metadata.get("wordings", ()))]


class DataQuestionGate:
    """Keeps queries out of questions about what to do: there a guide must not lose its slot to one."""

    def __init__(self, options: Options) -> None:
        del options

    def decide(self, query: Query, candidate: Candidate) -> Verdict:
        del candidate
        return Verdict(*self._verdict(query))

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts:
        import numpy as np

        keep, reason = self._verdict(query)
        return Verdicts(np.full(len(candidates), keep), lambda _: reason)

    def _verdict(self, query: Query) -> tuple[bool, str]:
        if asks_what_to_do(query.text):
            return False, "the question asks what to do, not for data"
        return True, "the question may ask for data"


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
            gates=(
                GateUse("data_question"),
                GateUse("current", {"min_confidence": MIN_CONFIDENCE}),
                GateUse("evidence"),
            ),
            metadata=QueryPattern,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            questions=questions,
            render=render,
        )
    ]


@hookimpl
def olav_register_gates() -> list[GateSpec]:
    return [
        GateSpec(
            id="data_question",
            purpose="Keep queries out of questions about what to do",
            factory=DataQuestionGate,
            needs_record=False,
        )
    ]
