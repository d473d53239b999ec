"""Suite `longmemeval`: LongMemEval (Wu et al., ICLR 2025), a memory per user turn, a scope per question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olav_bench.reading import need, one_path, read_json
from olav_core import Draft, RecordError, Suite, SuiteQuery


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite of a file of questions with `haystack_sessions`; gold is the turns marked
    `has_answer`, else all user turns of the answer sessions. Abstention questions have no gold. Raises
    RecordError for a file that is not as LongMemEval has it."""
    path = one_path(paths, "the LongMemEval file")
    entries = read_json(path)
    if not isinstance(entries, list):
        raise RecordError(f"{path}: expected a list of questions.")
    try:
        return _suite(path, entries)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RecordError(f"{path} is not as LongMemEval has it: {type(error).__name__}: {error}.") from error


def _suite(path: Path, entries: list[Any]) -> Suite:
    memories: dict[str, Draft] = {}
    queries = []
    for entry in entries:
        question = str(need(entry, "question_id", str(path)))
        answers = set(entry.get("answer_session_ids", ()))
        marked, in_session = set(), set()
        for session_id, session in zip(
            need(entry, "haystack_session_ids", question),
            need(entry, "haystack_sessions", question),
            strict=True,
        ):
            for index, turn in enumerate(session):
                if turn.get("role") != "user" or not str(turn.get("content", "")).strip():
                    continue
                key = f"{question}/{session_id}/{index}"
                memories[key] = Draft(
                    text=turn["content"],
                    category="document",
                    scope=question,
                    origin="document",
                    metadata={"source": key},
                )
                if session_id in answers:
                    in_session.add(key)
                    if turn.get("has_answer"):
                        marked.add(key)
        abstains = question.endswith("_abs")
        queries.append(
            SuiteQuery(
                qid=question,
                query=str(need(entry, "question", question)),
                relevant=frozenset() if abstains else frozenset(marked or in_session),
                scopes=(question,),
                kind=str(entry.get("question_type", "")),
            )
        )
    return Suite(
        id="longmemeval",
        memories=memories,
        queries=tuple(queries),
        unit="user turn",
        pool="the question's history",
    )
