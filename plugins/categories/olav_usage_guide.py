"""Category `usage_guide`: a team's written conventions, and the importer of `*.guide.yaml`."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from attrs import Attribute, field, frozen

from olav_core import (
    CategorySpec,
    Draft,
    DraftFile,
    Fault,
    GateUse,
    ImporterSpec,
    MemoryDraft,
    MemoryRecord,
    RecordError,
    YamlKey,
    check_scope,
    hookimpl,
    read_yaml_document,
    scope_from_folder,
    to_yaml,
)

Authority = Literal["vendor", "platform", "team", "user"]
Load = Literal["recalled", "on_intent"]

#: About 2,000 tokens of English, 8,000 of Chinese: a guide is injected whole or not at all.
MAX_BODY_CHARS = 8_000


def intent_fault(intent: str) -> str:
    """Return what is wrong with an intent, empty when it is sound: it also names files."""
    if not intent.strip() or intent != intent.strip():
        return "is blank or has blanks at its edges"
    if intent.startswith(".") or any(char in "/\\" or not char.isprintable() for char in intent):
        return "must be a name such as 'export_report': no slash, backslash, leading dot or control character"
    return ""


def _check_intent(instance: object, attribute: Attribute[str], value: str) -> None:
    if message := intent_fault(value):
        raise ValueError(f"{attribute.name} {value!r} {message}")


@frozen(kw_only=True)
class UsageGuide:
    """`authority`: who stands behind it. `load`: `on_intent` keeps it out until the query means it.
    `summary_of`: which state of a document a chat model summarised.
    `source` and `directory`: the file that brought it and the directory it was imported from."""

    intent: str = field(validator=_check_intent)
    agent: str = ""
    keywords: list[str] = field(factory=list)
    authority: Authority = "team"
    load: Load = "recalled"
    related: list[str] = field(factory=list)
    summary_of: str = ""
    source: str = ""
    directory: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    data = record.metadata
    if record.origin == "document" and data.get("source"):
        # What was made from a document is known by its file: two documents may well have one title.
        place = posixpath.normpath(posixpath.join(str(data.get("directory", "")), str(data["source"])))
        return json.dumps(["document", place, ""])
    return json.dumps([record.metadata.get("agent", ""), record.metadata["intent"]])


def embed_text(record: MemoryRecord) -> str:
    """Intent words, keywords, body: what a query for this guide looks like, then what it says."""
    intent = str(record.metadata["intent"])
    words = intent.replace("_", " ").replace("-", " ")
    return "\n".join(filter(None, [words, ", ".join(keywords(record)), record.text]))


def keywords(record: MemoryRecord) -> Sequence[str]:
    return list(record.metadata.get("keywords", ()))


KEYS = {
    "intent": YamlKey(required=True, max_chars=128),
    "agent": YamlKey(required=True),
    "keywords": YamlKey(kind="strings", required=True, max_chars=128),
    "body": YamlKey(required=True, max_chars=MAX_BODY_CHARS),
    "scope": YamlKey(),
    "authority": YamlKey(choices=get_args(Authority)),
    "load": YamlKey(choices=get_args(Load)),
    "related": YamlKey(kind="strings", max_chars=128),
    "expires": YamlKey(kind="time"),
}


def parse_guide(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
    document = read_yaml_document(str(path), raw, KEYS)
    values, faults = document.values, list(document.faults)
    message = intent_fault(values["intent"]) if "intent" in values else ""
    for key in ("scope", "agent"):
        try:
            check_scope(values.get(key, "global"))
        except RecordError as error:
            faults.append(Fault(str(path), document.line(key), f"{key}: {error}"))
    if message:
        faults.append(Fault(str(path), document.line("intent"), f"intent {values['intent']!r} {message}."))
    if faults:
        return (), sorted(faults, key=lambda fault: fault.line)
    metadata: dict[str, Any] = {key: values[key] for key in ("intent", "agent", "keywords")}
    metadata |= {key: values[key] for key in ("authority", "load", "related") if key in values}
    draft = Draft(
        text=values["body"],
        category="usage_guide",
        scope=values.get("scope") or scope_from_folder(root, path, values["agent"]) or values["agent"],
        metadata=metadata,
        origin="directive",
        expires_at=values.get("expires"),
        line=document.line("intent"),
    )
    return (draft,), ()


def write_guide(draft: MemoryDraft) -> str:
    """Return the file of a guide that a conversation proposed."""
    return to_yaml(
        {
            "schema_version": 1,
            "intent": draft.intent,
            "agent": draft.agent,
            "scope": draft.scope,
            "authority": "user",
            "keywords": list(draft.keywords),
            "body": draft.body,
        }
    )


#: Supported canonical distance from which a query is about something else (docs/decisions.md).
OFF_TOPIC = 1.45


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="usage_guide",
            title="Usage guide",
            purpose="Conventions that a team wrote down: what to do when this is asked",
            origins=frozenset({"directive", "user", "document"}),
            quota=3,
            cap=3,
            # No distance gate, on purpose: the distances of true hits and of noise overlap, and a guide that
            # is wrongly dropped breaks behaviour. Keywords, on_intent and the cap hold it instead; OFF_TOPIC
            # lies far beyond any gate and only keeps guides out of queries about something else altogether.
            gates=(GateUse("evidence", {"max": OFF_TOPIC}), GateUse("on_intent")),
            boosts=("keyword_boost",),
            metadata=UsageGuide,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            keywords=keywords,
        )
    ]


@hookimpl
def olav_register_importers() -> list[ImporterSpec]:
    return [
        ImporterSpec(
            id="guide",
            purpose="Guides: one usage_guide a file",
            suffixes=(".guide.yaml",),
            parse=parse_guide,
            category="usage_guide",
            directive=True,
            draft_file=DraftFile(folder="guides", suffix=".guide.yaml", write=write_guide, whole=True),
        )
    ]
