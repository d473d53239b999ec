"""Spec checks: what must hold for a spec by itself, and for its references to other specs."""

from __future__ import annotations

import inspect
import math
import re
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import attrs

from olav_core.errors import RecordError, did_you_mean
from olav_core.host.plugin import Problem
from olav_core.records import ORIGINS, check_scope
from olav_core.specs import (
    STAGES,
    CategorySpec,
    CommandSpec,
    ConfirmationSpec,
    DirectiveSpec,
    DistanceScale,
    EmbedderSpec,
    GateSpec,
    GateUse,
    ImporterSpec,
    LexiconSpec,
    MiddlewareSpec,
    RankerSpec,
    RedactorSpec,
    SuiteSpec,
    VerbMatcherSpec,
)
from olav_core.succession import Succession

#: Kind, as in the hook's name `olav_register_<kind>` -> the spec that its hook returns.
SPEC_TYPES: Final[Mapping[str, type]] = {
    "categories": CategorySpec,
    "embedders": EmbedderSpec,
    "rankers": RankerSpec,
    "gates": GateSpec,
    "redactors": RedactorSpec,
    "verb_matchers": VerbMatcherSpec,
    "confirmations": ConfirmationSpec,
    "agent_middleware": MiddlewareSpec,
    "importers": ImporterSpec,
    "commands": CommandSpec,
    "suites": SuiteSpec,
    "directives": DirectiveSpec,
    "lexicons": LexiconSpec,
}
#: Ids become parts of row ids (`<category>:<hex>`), configuration keys, variable names and command words.
ID_PATTERN: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")

Problems = Iterator[Problem]


def check_spec(kind: str, spec: Any) -> list[Problem]:
    """Return what is wrong with `spec` by itself: its id, its values, its callables."""
    problems = list(_check_id(spec.id))
    problems += _CHECKS[kind](spec)
    return problems


def check_rules(spec: CategorySpec) -> Problems:
    """Yield what is wrong with a category's quota, cap, lives and gates (a configuration may set them)."""
    quota_ok = _is_int(spec.quota) and spec.quota >= 0
    cap_ok = spec.cap is None or (_is_int(spec.cap) and spec.cap >= 0)
    if not quota_ok:
        yield Problem(f"quota is {spec.quota!r}.", "Give a whole number, 0 or more.")
    if not cap_ok:
        yield Problem(f"cap is {spec.cap!r}.", "Give a whole number, 0 or more, or None for no limit.")
    if quota_ok and cap_ok and spec.cap is not None and spec.quota > spec.cap:
        yield Problem(
            f"quota {spec.quota} is above cap {spec.cap}.", "Raise the cap to the quota, or lower the quota."
        )
    for name in ("ttl", "half_life"):
        life = getattr(spec, name)
        if life is not None and not (isinstance(life, timedelta) and life > timedelta(0)):
            yield Problem(f"{name} is {life!r}.", "Give a timedelta above zero, or None for ever.")
    if isinstance(spec.gates, (str, bytes)) or not isinstance(spec.gates, (list, tuple)):
        yield Problem(f"gates is {spec.gates!r}.", 'Give a tuple: `gates=(GateUse("distance"),)`.')
        return
    for use in spec.gates:
        if (
            not isinstance(use, GateUse)
            or not isinstance(use.id, str)
            or not isinstance(use.options, Mapping)
        ):
            yield Problem(f"gates holds {use!r}.", 'Name each gate as `GateUse("id", {options})`.')
    ids = [use.id for use in spec.gates if isinstance(use, GateUse)]
    for gate in sorted({repr(i) for i in ids if ids.count(i) > 1}):
        yield Problem(f"gate {gate} is named twice.", "Name it once, with all its options.")


def check_references(
    spec: CategorySpec, gates: Collection[str], boosts: Collection[str]
) -> Iterator[tuple[str, Problem]]:
    """Yield (missing id, problem) for each gate and boost ranker that a category names and nobody brought."""
    for use in spec.gates:
        if use.id not in gates:
            yield (
                use.id,
                Problem(
                    f"gate {use.id!r} is not registered.{did_you_mean(use.id, gates)}",
                    "Mend the name, or install the plug-in that brings the gate.",
                ),
            )
    for boost in spec.boosts:
        if boost not in boosts:
            yield (
                boost,
                Problem(
                    f"no boost ranker {boost!r} is registered.{did_you_mean(boost, boosts)}",
                    "Mend the name, or install the plug-in that brings the ranker.",
                ),
            )


def _check_id(value: object) -> Problems:
    if not isinstance(value, str) or not ID_PATTERN.fullmatch(value):
        yield Problem(
            f"the id {value!r} is not usable.",
            "Use lower-case ASCII letters, digits, `_` and `-`, a letter first, at most 64 "
            "(ids are parts of row ids, configuration keys and variable names); the title is free.",
        )


def _check_category(spec: CategorySpec) -> Problems:
    yield from _check_words(spec, "title", "purpose")
    unknown = sorted(str(origin) for origin in spec.origins if origin not in ORIGINS)
    for origin in unknown:
        yield Problem(
            f"origin {origin!r} is unknown.{did_you_mean(origin, ORIGINS)}", "Use the known origins."
        )
    if not spec.origins:
        yield Problem("origins is empty, so nobody may write it.", "Name at least one origin.")
    yield from check_rules(spec)
    yield from _check_strings(spec, "boosts")
    yield from _check_callables(spec, 1, "dedupe_key", "embed_text", "render")
    for name in ("keywords", "questions"):
        if getattr(spec, name) is not None:
            yield from _check_callables(spec, 1, name)
    yield from _check_metadata_class(spec.metadata)
    if spec.claims is not None:
        yield from _check_callables(spec, 1, "claims")
        if not (isinstance(spec.metadata, type) and issubclass(spec.metadata, Succession)):
            yield Problem(
                "claims is given, but its metadata class keeps no succession.",
                "Inherit the class from olav_core.Succession.",
            )
    for name in ("recallable", "append_only", "global_scope"):
        if not isinstance(getattr(spec, name), bool):
            yield Problem(f"{name} is {getattr(spec, name)!r}.", "Give True or False.")
    try:
        check_scope(spec.default_scope)
    except RecordError as error:
        yield Problem(f"default_scope: {error}", "")


def _check_metadata_class(cls: object) -> Problems:
    if cls is None:
        return
    if not isinstance(cls, type) or not attrs.has(cls):
        shown = cls.__name__ if isinstance(cls, type) else repr(cls)
        yield Problem(f"metadata is {shown}, not an attrs class.", "Decorate it with `@attrs.frozen`.")
        return
    try:
        typing.get_type_hints(cls)
    except Exception as error:
        yield Problem(
            f"annotations of {cls.__name__} cannot be resolved ({error}).",
            "Import the types that it names at run time, not under TYPE_CHECKING.",
        )


def _check_embedder(spec: EmbedderSpec) -> Problems:
    yield from _check_words(spec, "title")
    yield from _check_callables(spec, 1, "factory")
    yield from _check_strings(spec, "languages")
    if spec.generic_means is not None:
        yield from _check_callables(spec, 0, "generic_means")
    if spec.place is not None:
        yield from _check_callables(spec, 3, "place")
    if spec.alignment is not None:
        yield from _check_callables(spec, 0, "alignment")
    scale = spec.scale
    if scale is None:
        return
    if not isinstance(scale, DistanceScale):
        yield Problem(f"scale is {scale!r}.", "Give a DistanceScale, or None when it was never measured.")
        return
    anchors = (scale.hit, scale.noise)
    if not all(_is_number(anchor) for anchor in anchors) or not 0 <= scale.hit < scale.noise <= 4:
        yield Problem(
            f"scale has hit {scale.hit!r} and noise {scale.noise!r}.",
            "Give squared L2 distances, 0 <= hit < noise <= 4, as `olav calibrate` prints them.",
        )
    if not _is_int(scale.pool) or scale.pool < 1:
        yield Problem(
            f"scale has pool {scale.pool!r}.", "Give the number of rows that noise was measured among."
        )
    yield from _check_words(scale, "source")


def _check_ranker(spec: RankerSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    if spec.stage not in STAGES:
        hint = did_you_mean(str(spec.stage), STAGES)
        yield Problem(f"stage {spec.stage!r} is unknown.{hint}", "Use a known stage.")
    yield from _check_callables(spec, 1, "factory")
    yield from _check_priority(spec.priority)


def _check_gate(spec: GateSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    yield from _check_callables(spec, 1, "factory")


def _check_redactor(spec: RedactorSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    yield from _check_callables(spec, 1, "redact")
    yield from _check_priority(spec.priority)


def _check_verb_matcher(spec: VerbMatcherSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    yield from _check_strings(spec, "languages")
    yield from _check_callables(spec, 1, "match")
    for name, arity in (("succeeded", 1), ("extend", 1), ("writes", 2)):
        if getattr(spec, name) is not None:
            yield from _check_callables(spec, arity, name)


def _check_confirmation(spec: ConfirmationSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    names = ("languages", "yes", "fillers", "replies", "alone")
    problems = [p for name in names for p in _check_strings(spec, name)]
    yield from problems
    if not problems and not spec.yes:
        yield Problem("yes is empty, so it confirms nothing.", "Name the phrases by which people say yes.")
    if not problems and (stray := [phrase for phrase in spec.alone if phrase not in spec.yes]):
        yield Problem(f"{stray[0]!r} of alone is not in yes.", "Name it in both.")


def _check_middleware(spec: MiddlewareSpec) -> Problems:
    yield from _check_words(spec, "framework", "purpose")
    yield from _check_callables(spec, 2, "factory")
    yield from _check_priority(spec.priority)


def _check_importer(spec: ImporterSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    yield from _check_callables(spec, 3, "parse")
    problems = list(_check_strings(spec, "suffixes"))
    yield from problems
    if not problems:
        if not spec.suffixes:
            yield Problem("suffixes is empty, so it reads no file.", "Name endings such as '.ticket.json'.")
        for suffix in spec.suffixes:
            if "/" in suffix or "\\" in suffix:
                yield Problem(f"suffix {suffix!r} is a path.", "Name the end of the file name only.")
    if not isinstance(spec.category, str):
        yield Problem(f"category is {spec.category!r}.", "Name the category's id.")
    yield from _check_strings(spec, "also")
    if spec.refiner is not None:
        yield from _check_callables(spec, 2, "refiner")
    if spec.draft_file is not None:
        yield from _check_draft_file(spec, spec.draft_file)


def _check_draft_file(spec: ImporterSpec, file: object) -> Problems:
    from olav_core.drafts.draft_file import DraftFile

    if not isinstance(file, DraftFile):
        yield Problem(f"draft_file is {file!r}.", "Give a DraftFile, or leave it out.")
        return
    folder = file.folder
    if not isinstance(folder, str) or not folder.strip(". ") or folder.startswith(".") or "\\" in folder:
        yield Problem(f"draft_file.folder is {folder!r}.", "Name one folder, such as 'tickets'.")
    elif "/" in folder or not folder.isprintable():
        yield Problem(f"draft_file.folder {folder!r} is a path.", "Name one folder, such as 'tickets'.")
    if isinstance(file.suffix, str):
        if file.suffix not in spec.suffixes:
            yield Problem(
                f"draft_file.suffix {file.suffix!r} is none of its suffixes.", "Name one of `suffixes`."
            )
    else:
        yield from _check_callables(file, 1, "suffix")
    if file.write is not None:
        yield from _check_callables(file, 1, "write")


def _check_command(spec: CommandSpec) -> Problems:
    yield from _check_words(spec, "help")
    yield from _check_callables(spec, 0, "load")


def _check_suite(spec: SuiteSpec) -> Problems:
    yield from _check_words(spec, "purpose", "files")
    yield from _check_callables(spec, 1, "load")


def _check_directive(spec: DirectiveSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    if not isinstance(spec.folder, Path) or not spec.folder.is_dir():
        yield Problem(f"folder {str(spec.folder)!r} is none.", "Give the Path of a folder of package data.")


def _check_lexicon(spec: LexiconSpec) -> Problems:
    yield from _check_words(spec, "purpose")
    if not isinstance(spec.folder, Path) or not next(spec.folder.glob("*.tsv"), None):
        yield Problem(
            f"folder {str(spec.folder)!r} holds no *.tsv.", "Give the Path of a folder of package data."
        )


def _check_words(spec: object, *names: str) -> Problems:
    for name in names:
        value = getattr(spec, name)
        if not isinstance(value, str) or not value.strip():
            yield Problem(f"{name} is {value!r}.", "Say it in a few words; it is shown to people.")


def _check_strings(spec: object, name: str) -> Problems:
    value = getattr(spec, name)
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) and v.strip() for v in value):
        yield Problem(f"{name} is {value!r}.", "Give a tuple of strings; a tuple of one ends in a comma.")


def _check_priority(value: object) -> Problems:
    if not _is_int(value):
        yield Problem(f"priority is {value!r}.", "Give a whole number; low runs first, 50 is the middle.")


def _check_callables(spec: object, arity: int, *names: str) -> Problems:
    for name in names:
        value = getattr(spec, name)
        if not callable(value):
            yield Problem(f"{name} is {value!r}, which cannot be called.", "Give a function.")
        elif not _takes(value, arity):
            counted = f"{arity} argument{'' if arity == 1 else 's'}"
            yield Problem(f"{name} cannot be called with {counted}.", f"Let it take exactly {counted}.")


def _takes(function: Callable[..., Any], arity: int) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions do not show theirs
        return True
    try:
        signature.bind(*[None] * arity)
    except TypeError:
        return False
    return True


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_CHECKS: Final[Mapping[str, Callable[[Any], Problems]]] = {
    "categories": _check_category,
    "embedders": _check_embedder,
    "rankers": _check_ranker,
    "gates": _check_gate,
    "redactors": _check_redactor,
    "verb_matchers": _check_verb_matcher,
    "confirmations": _check_confirmation,
    "agent_middleware": _check_middleware,
    "importers": _check_importer,
    "commands": _check_command,
    "suites": _check_suite,
    "directives": _check_directive,
    "lexicons": _check_lexicon,
}
