"""Suite `locomo`: LoCoMo (Maharana et al., ACL 2024), one memory per turn, one scope per conversation."""

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


def load(paths: Sequence[Path]) -> Suite:
    """Return the suite of a LoCoMo file: questions without existing evidence are left out."""
    path = one_path(paths, "the LoCoMo file")
    samples = read_json(path)
    if not isinstance(samples, list):
        raise RecordError(f"{path}: expected a list of conversations.")
    memories: dict[str, Draft] = {}
    queries = []
    for number, sample in enumerate(samples):
        where = f"{path}: conversation {number}"
        scope = f"conversation-{number}"
        memories |= _turns(need(sample, "conversation", where), scope)
        for index, question in enumerate(need(sample, "qa", where)):
            cited = _EVIDENCE.findall(" ".join(map(str, question.get("evidence", ()))))
            keys = {f"{scope}/D{int(session)}:{int(turn)}" for session, turn in cited}
            relevant = frozenset(keys & set(memories))
            if relevant:
                queries.append(
                    SuiteQuery(
                        qid=f"{number}-{index}",
                        query=str(question["question"]),
                        relevant=relevant,
                        scopes=(scope,),
                        kind=KINDS.get(question.get("category"), ""),
                    )
                )
    return Suite(id="locomo", memories=memories, queries=tuple(queries), unit="turn", pool="the conversation")


def _turns(conversation: dict[str, Any], scope: str) -> dict[str, Draft]:
    turns = {}
    for name, session in conversation.items():
        if not re.fullmatch(r"session_\d+", name):
            continue
        when = str(conversation.get(f"{name}_date_time", ""))
        for turn in session:
            image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            match = _EVIDENCE.fullmatch(turn["dia_id"])
            key = f"D{int(match[1])}:{int(match[2])}" if match else turn["dia_id"]
            turns[f"{scope}/{key}"] = Draft(
                text=f"{turn['speaker']}: {turn['text']}{image}",
                category="document",
                scope=scope,
                origin="document",
                metadata={"source": f"{name}/{key}", "section": when},
            )
    return turns
