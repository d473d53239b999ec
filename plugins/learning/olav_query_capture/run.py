"""The statements of one run, and which of them its answer rests on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from olav_core import query_terms
from olav_query_capture.statement import Statement, UnfitError, read_statement

#: Of a result and of an answer; enough to see which values the answer took over.
MAX_READ_CHARS: Final = 20_000
#: A statement supports the answer when it gave more than this share of what the best one gave.
SHARE: Final = 0.5


@frozen(kw_only=True)
class RanSql:
    """A statement that was run. `result`: what came back, of any shape; `error`: "" when it went well. `id`:
    its own, by which it is counted once."""

    sql: str
    result: Any = None
    error: str = ""
    id: str = ""


def answering(
    statements: Sequence[RanSql], question: str, answer: str, dialect: str = ""
) -> tuple[RanSql, Statement] | None:
    """Return the last statement that went well and that the answer rests on, None when there is none.

    It rests on those whose results hold values of the answer which the question does not hold, at least half
    as many as any other's. When no result does (an empty one, an answer in other words), on the last.
    """
    fit = []
    for ran in statements:
        if ran.error:
            continue
        try:
            fit.append((ran, read_statement(ran.sql, dialect)))
        except UnfitError:
            continue
    if not fit:
        return None
    said = _terms(answer) - _terms(question)
    shared = [len(said & (_terms(ran.result) - _names(statement))) for ran, statement in fit]
    least = SHARE * max(shared)
    resting = [item for item, count in zip(fit, shared, strict=True) if count > least]
    return (resting or fit)[-1]


def _terms(value: Any) -> set[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return set(query_terms(text[:MAX_READ_CHARS]))


def _names(statement: Statement) -> set[str]:
    """The statement's own names: a result that repeats its columns' names supports nothing."""
    return set(query_terms(" ".join((*statement.tables, *statement.columns))))
