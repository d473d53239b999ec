"""QueryCapture: stores what answered a question, and counts how its reuse goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from attrs import frozen

from olav_core import Draft, ErasedTextError, Memory, MemoryRecord, OlavError, RecordError, strip_block
from olav_query_capture.run import RanSql, answering
from olav_query_capture.statement import Statement, UnfitError, check_dialect, read_statement

CATEGORY: Final = "query_pattern"
MAX_QUESTION_CHARS: Final = 500
MAX_WORDINGS: Final = 4
MAX_TAGS: Final = 40
#: Ids of uses that a row remembers, so that one that is told twice counts once.
REMEMBERED: Final = 64
MAX_ERROR_CHARS: Final = 300

Outcome = Literal["stored", "confirmed", "failed", "known", "skipped"]


@frozen(kw_only=True)
class Captured:
    """What became of one statement: `stored` (new), `confirmed` (its template worked again), `failed` (a
    known one did not), `known` (this use was counted before), `skipped` and why."""

    outcome: Outcome
    id: str = ""
    sql: str = ""
    reason: str = ""
    confidence: float = 0.0


class QueryCapture:
    """Captures for one agent. `scope` defaults to the agent's own; `dialect`: sqlglot's name, "" to guess.

    Needs the extra `sql`. Raises RecordError for an unknown dialect, OlavError when the category is off.
    """

    def __init__(
        self, memory: Memory, *, agent: str = "core", scope: str | None = None, dialect: str = ""
    ) -> None:
        if CATEGORY not in memory.categories:
            raise OlavError(f"the category {CATEGORY!r} is switched off. See `olav plugins`.")
        self._memory = memory
        # Between reading a row and writing it with one use more nobody else may count, in any process.
        self._counting = memory.store.lock.beside(memory.store.uri, "queries")
        self._scope = agent if scope is None else scope
        self._dialect = check_dialect(dialect)

    def run(
        self, question: str, statements: Sequence[RanSql], answer: str = "", *, run: str = ""
    ) -> list[Captured]:
        """Store the statement that the answer rests on, and count failures of known ones.

        Statements that failed and that are no pattern yet leave nothing; introspection never does.
        """
        done = [
            self.failed(ran.sql, ran.error, use=_use(run, ran, n))
            for n, ran in enumerate(statements)
            if ran.error
        ]
        found = answering(statements, question, answer, self._dialect)
        if found is not None:
            ran, _ = found
            done.append(self.store(question, ran.sql, use=_use(run, ran, statements.index(ran))))
        return done

    def store(self, question: str, sql: str, *, use: str = "") -> Captured:
        """Store a question with its SQL. The template that is known becomes more certain, and the pair that
        is shown is the latest. `use`: an id of this use, counted once."""
        question = self._line(strip_block(str(question)))
        if not question:
            return Captured(outcome="skipped", sql=sql, reason="no question")
        if len(question) > MAX_QUESTION_CHARS:
            question = question[:MAX_QUESTION_CHARS].rsplit(" ", 1)[0] + " …"
        try:
            statement = read_statement(sql, self._dialect)
        except UnfitError as error:
            return Captured(outcome="skipped", sql=sql, reason=str(error))
        with self._counting.exclusive():
            return self._store(question, statement, use)

    def _store(self, question: str, statement: Statement, use: str) -> Captured:
        old = self._row(statement)
        data = dict(old.metadata) if old is not None else {}
        if use and use in data.get("seen", ()):
            return self._known(old, statement.sql)
        asked = [str(data["question"]), *data.get("wordings", ())] if data else []
        others = [other for other in asked if other.casefold() != question.casefold()]
        changes = {
            "question": question,
            "sql": statement.sql,
            "wordings": others[:MAX_WORDINGS],
            "uses": data.get("uses", 0) + 1,
        }
        return self._write(statement, {**data, **changes}, use, "stored" if old is None else "confirmed")

    def confirm(self, id: str, *, use: str = "") -> Captured:
        """Count that the stored query `id` answered once more; raises UnknownIdError, RecordError."""
        with self._counting.exclusive():
            return self._count(self._pattern(id), {}, use, "confirmed")

    def fail(self, id: str, error: str = "", *, use: str = "") -> Captured:
        """Count that the stored query `id` failed; raises UnknownIdError, RecordError."""
        with self._counting.exclusive():
            return self._count(self._pattern(id), {"last_error": error}, use, "failed")

    def failed(self, sql: str, error: str, *, use: str = "") -> Captured:
        """Count a failure of the template of `sql`, if it is known."""
        try:
            statement = read_statement(sql, self._dialect)
        except UnfitError as unfit:
            return Captured(outcome="skipped", sql=sql, reason=str(unfit))
        with self._counting.exclusive():
            old = self._row(statement)
            if old is None:
                return Captured(outcome="skipped", sql=sql, reason="it failed")
            return self._count(old, {"last_error": error}, use, "failed")

    def _line(self, text: str) -> str:
        """Return a text on one line, redacted before anybody cuts it: half a secret is no secret's shape."""
        return " ".join(str(self._memory.registry.redact(text)[0]).split())

    # --- rows -------------------------------------------------------------------------------------

    def _pattern(self, id: str) -> MemoryRecord:
        self._memory.store.refresh()
        row = self._memory.get(id)
        if row.category != CATEGORY:
            raise RecordError(f"{row.id} is no query. `olav queries list` shows them.")
        return row

    def _row(self, statement: Statement) -> MemoryRecord | None:
        """Return the stored row of the statement's template in this scope."""
        drafted = self._draft(statement, {"question": "?", "sql": statement.sql}, 1.0)
        self._memory.store.refresh()
        return self._memory.store.get(self._memory.prepare(drafted).id)

    def _count(self, old: MemoryRecord, changes: dict[str, Any], use: str, outcome: Outcome) -> Captured:
        data = {**old.metadata, **changes}
        if use and use in data.get("seen", ()):
            return self._known(old, data["sql"])
        counted = "uses" if outcome == "confirmed" else "failures"
        data[counted] = data.get(counted, 0) + 1
        if outcome == "failed":
            data["last_error"] = self._line(changes["last_error"])[:MAX_ERROR_CHARS]
        return self._save(
            Draft(
                text=old.text,
                category=CATEGORY,
                scope=old.scope,
                metadata=_seen(data, use),
                origin=old.origin,
                tags=old.tags,
                confidence=_confidence(data),
                expires_at=old.expires_at,
            ),
            outcome,
        )

    def _write(self, statement: Statement, data: dict[str, Any], use: str, outcome: Outcome) -> Captured:
        return self._save(self._draft(statement, _seen(data, use), _confidence(data)), outcome)

    def _draft(self, statement: Statement, data: dict[str, Any], confidence: float) -> Draft:
        read = {
            "dialect": statement.dialect,
            "template": statement.template,
            "tables": list(statement.tables),
            "columns": list(statement.columns),
        }
        return Draft(
            text=str(data["question"]),
            category=CATEGORY,
            scope=self._scope,
            metadata={**data, **read},
            origin="agent",
            tags=tuple(dict.fromkeys((*statement.tables, *statement.columns)))[:MAX_TAGS],
            confidence=confidence,
        )

    def _save(self, draft: Draft, outcome: Outcome) -> Captured:
        (done,) = self._memory.write([self._memory.prepare(draft)])
        sql = str(draft.metadata["sql"])
        if isinstance(done.error, ErasedTextError):
            return Captured(outcome="skipped", sql=sql, reason="a person forgot this question")
        if done.error is not None:
            raise done.error
        return Captured(outcome=outcome, id=done.id, sql=sql, confidence=draft.confidence)

    @staticmethod
    def _known(old: MemoryRecord | None, sql: str) -> Captured:
        assert old is not None
        return Captured(outcome="known", id=old.id, sql=sql, confidence=old.confidence)


def _use(run: str, ran: RanSql, number: int) -> str:
    name = ran.id or (str(number) if run else "")
    return f"{run}:{name}" if name else ""


def _seen(data: dict[str, Any], use: str) -> dict[str, Any]:
    kept = [*data.get("seen", ()), *([use] if use else [])]
    return {**data, "seen": kept[-REMEMBERED:]}


def _confidence(data: dict[str, Any]) -> float:
    """Laplace's rule: one good use 0.67, three 0.8; one good and three bad 0.33."""
    uses, failures = data.get("uses", 0), data.get("failures", 0)
    return round((uses + 1) / (uses + failures + 2), 3)
