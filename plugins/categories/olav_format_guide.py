"""Category `format_guide`: output rules per kind of artifact, and the importer of `*.format.yaml`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen, validators

from olav_core import (
    CategorySpec,
    Draft,
    Fault,
    GateUse,
    ImporterSpec,
    MemoryRecord,
    RecordError,
    YamlKey,
    check_scope,
    hookimpl,
    read_yaml_document,
    scope_from_folder,
)

#: As for a guide: it is injected whole or not at all.
MAX_BODY_CHARS = 8_000


@frozen(kw_only=True)
class FormatGuide:
    """`tag`: the kind of artifact. `source` and `directory`: the file and the import that brought it."""

    tag: str = field(validator=validators.min_len(1))
    keywords: list[str] = field(factory=list)
    source: str = ""
    directory: str = ""


def dedupe_key(record: MemoryRecord) -> str:
    return json.dumps([record.metadata["tag"]])


def embed_text(record: MemoryRecord) -> str:
    words = str(record.metadata["tag"]).replace("_", " ").replace("-", " ")
    return "\n".join(filter(None, [words, ", ".join(keywords(record)), record.text]))


def render(record: MemoryRecord) -> str:
    return f"Format of {record.metadata['tag']}:\n{record.text}"


def keywords(record: MemoryRecord) -> Sequence[str]:
    return list(record.metadata.get("keywords", ()))


KEYS = {
    "tag": YamlKey(required=True, max_chars=128),
    "keywords": YamlKey(kind="strings", required=True, max_chars=128),
    "body": YamlKey(required=True, max_chars=MAX_BODY_CHARS),
    "scope": YamlKey(),
    "agent": YamlKey(),
}


def parse_format(root: Path, path: Path, raw: bytes) -> tuple[Sequence[Draft], Sequence[Fault]]:
    document = read_yaml_document(str(path), raw, KEYS)
    values, faults = document.values, list(document.faults)
    for key in ("scope", "agent"):
        try:
            check_scope(values.get(key, "global"))
        except RecordError as error:
            faults.append(Fault(str(path), document.line(key), f"{key}: {error}"))
    if faults:
        return (), sorted(faults, key=lambda fault: fault.line)
    agent = values.get("agent", "")
    draft = Draft(
        text=values["body"],
        category="format_guide",
        scope=values.get("scope")
        or scope_from_folder(root, path, agent, ("formats", "guides"))
        or agent
        or None,
        metadata={"tag": values["tag"], "keywords": values["keywords"]},
        origin="directive",
        line=document.line("tag"),
    )
    return (draft,), ()


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="format_guide",
            title="Format guide",
            purpose="How an artifact of one kind must look: report, table, diagram",
            origins=frozenset({"directive", "user", "document"}),
            quota=1,
            cap=1,
            gates=(GateUse("evidence"),),
            boosts=("keyword_boost",),
            metadata=FormatGuide,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            render=render,
            keywords=keywords,
        )
    ]


@hookimpl
def olav_register_importers() -> list[ImporterSpec]:
    return [
        ImporterSpec(
            id="format",
            purpose="Format guides: one format_guide a file",
            suffixes=(".format.yaml",),
            parse=parse_format,
            category="format_guide",
            directive=True,
        )
    ]
