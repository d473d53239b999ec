"""Suites `locomo` and `locomo_session`: LoCoMo (Maharana et al., ACL 2024), one scope per conversation; a
memory is a turn, or a whole session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from olav_bench.reading import need, one_path, read_json
from olav_core import Draft, RecordError, Suite, SuiteQuery

#: Question types by number; type 5 asks about the wrong person, its evidence still exists.
KINDS = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def load(paths: Sequence[Path], *, sessions: bool = False) -> Suite:
    """Return the suite of a LoCoMo file; questions without existing evidence are left out. Raises RecordError
    naming the conversation that is not as LoCoMo has it."""
    path = one_path(paths, "the LoCoMo file")
    samples = read_json(path)
    if not isinstance(samples, list):
        raise RecordError(f"{path}: expected a list of conversations.")
    memories: dict[str, Draft] = {}
    queries: list[SuiteQuery] = []
    for number, sample in enumerate(samples):
        where = f"{path}: conversation {number}"
        try:
            found = _turns(need(sample, "conversation", where), f"conversation-{number}")
            memories |= _joined(found) if sessions else found
            queries += _queries(need(sample, "qa", where), number, set(memories), sessions=sessions)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise RecordError(f"{where} is not as LoCoMo has it: {type(error).__name__}: {error}.") from error
    return Suite(
        id="locomo_session" if sessions else "locomo",
        memories=memories,
        queries=tuple(queries),
        unit="session" if sessions else "turn",
        pool="the conversation",
    )


def load_sessions(paths: Sequence[Path]) -> Suite:
    """Return the same with one memory per session."""
    return load(paths, sessions=True)


def _queries(asked: Sequence[Any], number: int, known: set[str], *, sessions: bool) -> list[SuiteQuery]:
    scope, found = f"conversation-{number}", []
    for index, question in enumerate(asked):
        cited = _EVIDENCE.findall(" ".join(map(str, question.get("evidence", ()))))
        keys = {
            f"{scope}/D{int(session)}" + ("" if sessions else f":{int(turn)}") for session, turn in cited
        } & known
        if keys:
            found.append(
                SuiteQuery(
                    qid=f"{number}-{index}",
                    query=str(question["question"]),
                    relevant=frozenset(keys),
                    scopes=(scope,),
                    kind=KINDS.get(question.get("category"), ""),
                )
            )
    return found


def _turns(conversation: dict[str, Any], scope: str) -> dict[str, Draft]:
    turns = {}
    for name, session in conversation.items():
        if not re.fullmatch(r"session_\d+", name):
            continue
        when = str(conversation.get(f"{name}_date_time", ""))
        for number, turn in enumerate(session):
            image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            match = _EVIDENCE.fullmatch(turn["dia_id"])
            key = f"D{int(match[1])}:{int(match[2])}" if match else turn["dia_id"]
            turns[f"{scope}/{key}"] = Draft(
                text=f"{turn['speaker']}: {turn['text']}{image}",
                category="document",
                scope=scope,
                origin="document",
                metadata={"source": name, "chunk": number, "section": when},
            )
    return turns


def _joined(turns: dict[str, Draft]) -> dict[str, Draft]:
    sessions: dict[str, list[Draft]] = {}
    for key, draft in turns.items():
        sessions.setdefault(key.rpartition(":")[0], []).append(draft)
    return {
        key: Draft(
            text="\n".join(draft.text for draft in drafts),
            category="document",
            scope=drafts[0].scope,
            origin="document",
            metadata={"source": key, "section": drafts[0].metadata["section"]},
        )
        for key, drafts in sessions.items()
    }
