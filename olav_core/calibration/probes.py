"""Probes: questions whose answer is known, and questions that nothing answers."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from olav_core.errors import RecordError, WorkspaceError
from olav_core.importing.jsonl import decode_line
from olav_core.records import GLOBAL_SCOPE

if TYPE_CHECKING:
    from olav_core.memory import Memory
    from olav_core.records import MemoryRecord
    from olav_core.specs import CategorySpec

#: Questions per category that are asked at most: 200 put a share of .75 within .06, and cost seconds.
MOST = 200
SEED = 20261201
#: Keywords of one memory that are asked together: about as many as a question has.
KEYWORDS = 4
_LIKE = '{"query": …, "relevant": ["<id of a memory>"]}'


@frozen(kw_only=True)
class Probe:
    """A question asked in `scopes`. `relevant`: ids of the memories that answer it; none: nothing does."""

    query: str
    relevant: frozenset[str] = frozenset()
    scopes: tuple[str, ...] = (GLOBAL_SCOPE,)


def questions_of(memory: Memory, golden: Path | None) -> dict[str, list[Probe]]:
    """The questions of a file, else the memories' own; raises RecordError when there is none."""
    found = own_questions(memory) if golden is None else golden_questions(memory, golden)
    if not found:
        raise RecordError(
            "there is nothing to calibrate on: no memory here says what it answers. Import guides, or "
            "give a file of questions."
        )
    return found


def own_questions(memory: Memory) -> dict[str, list[Probe]]:
    """By category, what its memories say they answer (`questions`, else their keywords), MOST a category.

    Such questions share words with their memories, so they are easier than people's.
    """
    found: dict[str, list[Probe]] = {}
    for spec in memory.categories.values():
        if not spec.recallable or (spec.questions is None and spec.keywords is None):
            continue
        probes = [
            Probe(query=question, relevant=frozenset((record.id,)), scopes=_scopes(record))
            for record in memory.list(category=spec.id)
            for question in _questions(spec, record)
            if question.strip()
        ]
        if probes:
            found[spec.id] = random.Random(SEED).sample(probes, min(MOST, len(probes)))
    return found


def golden_questions(memory: Memory, path: Path) -> dict[str, list[Probe]]:
    """By category of their answer, the questions of a JSONL file of {query, relevant: [id]}.

    A question that stands there several times counts once. Raises RecordError with line and field for what is
    no such question or names no memory of the store, and for a file without a question that a memory answers.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    given: dict[str, tuple[int, str, list[str]]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            query, ids = _asked(line, f"{path}:{number}")
            first, text, before = given.get(" ".join(query.split()), (number, query, []))
            given[" ".join(query.split())] = first, text, list(dict.fromkeys([*before, *ids]))
    asked = list(given.values())
    if not any(ids for _, _, ids in asked):
        raise RecordError(f"{path} holds no question that a memory answers. A line is {_LIKE}.")
    known = memory.store.existing(id for _, _, ids in asked for id in ids)
    found: dict[str, list[Probe]] = {}
    for number, query, ids in asked:
        missing = [id for id in ids if id not in known]
        if missing:
            raise RecordError(
                f"{path}:{number}: field relevant: there is no memory {missing[0]!r} here. "
                "`olav kb list --json` shows the ids."
            )
        for id in ids:
            record = known[id]
            probe = Probe(query=query, relevant=frozenset(ids), scopes=_scopes(record))
            found.setdefault(record.category, []).append(probe)
    return found


def off_topic() -> list[str]:
    """Questions and remarks in Chinese and English that no store of working knowledge answers."""
    text = files("olav_core.calibration").joinpath("off_topic.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line.strip()]


def _questions(spec: CategorySpec, record: MemoryRecord) -> Sequence[str]:
    if spec.questions is not None:
        return spec.questions(record)
    return [" ".join(spec.keywords(record)[:KEYWORDS])] if spec.keywords is not None else []


def _scopes(record: MemoryRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys((record.scope, GLOBAL_SCOPE)))


def _asked(line: bytes, where: str) -> tuple[str, list[str]]:
    try:
        value: Mapping[str, Any] = decode_line(line, like=_LIKE)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    query, ids = value.get("query"), value.get("relevant")
    if not isinstance(query, str) or not query.strip():
        raise RecordError(f"{where}: field query must be the text of a question: {_LIKE}.")
    if not isinstance(ids, Sequence) or isinstance(ids, str) or not all(isinstance(id, str) for id in ids):
        raise RecordError(f"{where}: field relevant must be a list of ids: {_LIKE}, not {json.dumps(ids)}.")
    return query, list(ids)
