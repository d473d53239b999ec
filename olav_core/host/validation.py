"""Spec checks: what must hold for a spec by itself, and for its references to other specs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from olav_core.errors import did_you_mean
from olav_core.host.category_checks import check_category
from olav_core.host.field_checks import (
    Problems,
    check_callables,
    check_priority,
    check_strings,
    check_words,
    is_int,
    is_number,
)
from olav_core.host.plugin import Problem
from olav_core.specs import (
    STAGES,
    CategorySpec,
    CommandSpec,
    ConfirmationSpec,
    DirectiveSpec,
    DistanceScale,
    EmbedderSpec,
    GateSpec,
    ImporterSpec,
    LexiconSpec,
    MiddlewareSpec,
    RankerSpec,
    RedactorSpec,
    SuiteSpec,
    VerbMatcherSpec,
)

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


def check_spec(kind: str, spec: Any) -> list[Problem]:
    """Return what is wrong with `spec` by itself: its id, its values, its callables."""
    problems = list(_check_id(spec.id))
    problems += _CHECKS[kind](spec)
    return problems


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


def _check_embedder(spec: EmbedderSpec) -> Problems:
    yield from check_words(spec, "title")
    yield from check_callables(spec, 1, "factory")
    yield from check_strings(spec, "languages")
    if spec.generic_means is not None:
        yield from check_callables(spec, 0, "generic_means")
    if spec.place is not None:
        yield from check_callables(spec, 3, "place")
    if spec.alignment is not None:
        yield from check_callables(spec, 0, "alignment")
    scale = spec.scale
    if scale is None:
        return
    if not isinstance(scale, DistanceScale):
        yield Problem(f"scale is {scale!r}.", "Give a DistanceScale, or None when it was never measured.")
        return
    anchors = (scale.hit, scale.noise)
    if not all(is_number(anchor) for anchor in anchors) or not 0 <= scale.hit < scale.noise <= 4:
        yield Problem(
            f"scale has hit {scale.hit!r} and noise {scale.noise!r}.",
            "Give squared L2 distances, 0 <= hit < noise <= 4, as `olav calibrate` prints them.",
        )
    if not is_int(scale.pool) or scale.pool < 1:
        yield Problem(
            f"scale has pool {scale.pool!r}.", "Give the number of rows that noise was measured among."
        )
    yield from check_words(scale, "source")


def _check_ranker(spec: RankerSpec) -> Problems:
    yield from check_words(spec, "purpose")
    if spec.stage not in STAGES:
        hint = did_you_mean(str(spec.stage), STAGES)
        yield Problem(f"stage {spec.stage!r} is unknown.{hint}", "Use a known stage.")
    yield from check_callables(spec, 1, "factory")
    yield from check_priority(spec.priority)


def _check_gate(spec: GateSpec) -> Problems:
    yield from check_words(spec, "purpose")
    yield from check_callables(spec, 1, "factory")


def _check_redactor(spec: RedactorSpec) -> Problems:
    yield from check_words(spec, "purpose")
    yield from check_callables(spec, 1, "redact")
    yield from check_priority(spec.priority)


def _check_verb_matcher(spec: VerbMatcherSpec) -> Problems:
    yield from check_words(spec, "purpose")
    yield from check_strings(spec, "languages")
    yield from check_callables(spec, 1, "match")
    for name, arity in (("succeeded", 1), ("extend", 1), ("writes", 2)):
        if getattr(spec, name) is not None:
            yield from check_callables(spec, arity, name)


def _check_confirmation(spec: ConfirmationSpec) -> Problems:
    yield from check_words(spec, "purpose")
    names = ("languages", "yes", "fillers", "replies", "alone")
    problems = [p for name in names for p in check_strings(spec, name)]
    yield from problems
    if not problems and not spec.yes:
        yield Problem("yes is empty, so it confirms nothing.", "Name the phrases by which people say yes.")
    if not problems and (stray := [phrase for phrase in spec.alone if phrase not in spec.yes]):
        yield Problem(f"{stray[0]!r} of alone is not in yes.", "Name it in both.")


def _check_middleware(spec: MiddlewareSpec) -> Problems:
    yield from check_words(spec, "framework", "purpose")
    yield from check_callables(spec, 2, "factory")
    yield from check_priority(spec.priority)


def _check_importer(spec: ImporterSpec) -> Problems:
    yield from check_words(spec, "purpose")
    yield from check_callables(spec, 3, "parse")
    problems = list(check_strings(spec, "suffixes"))
    yield from problems
    if not problems:
        if not spec.suffixes:
            yield Problem("suffixes is empty, so it reads no file.", "Name endings such as '.ticket.json'.")
        for suffix in spec.suffixes:
            if "/" in suffix or "\\" in suffix:
                yield Problem(f"suffix {suffix!r} is a path.", "Name the end of the file name only.")
    if not isinstance(spec.category, str):
        yield Problem(f"category is {spec.category!r}.", "Name the category's id.")
    yield from check_strings(spec, "also")
    if spec.refiner is not None:
        yield from check_callables(spec, 2, "refiner")
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
        yield from check_callables(file, 1, "suffix")
    if file.write is not None:
        yield from check_callables(file, 1, "write")


def _check_command(spec: CommandSpec) -> Problems:
    yield from check_words(spec, "help")
    yield from check_callables(spec, 0, "load")


def _check_suite(spec: SuiteSpec) -> Problems:
    yield from check_words(spec, "purpose", "files")
    yield from check_callables(spec, 1, "load")


def _check_directive(spec: DirectiveSpec) -> Problems:
    yield from check_words(spec, "purpose")
    if not isinstance(spec.folder, Path) or not spec.folder.is_dir():
        yield Problem(f"folder {str(spec.folder)!r} is none.", "Give the Path of a folder of package data.")


def _check_lexicon(spec: LexiconSpec) -> Problems:
    yield from check_words(spec, "purpose")
    if not isinstance(spec.folder, Path) or not next(spec.folder.glob("*.tsv"), None):
        yield Problem(
            f"folder {str(spec.folder)!r} holds no *.tsv.", "Give the Path of a folder of package data."
        )


_CHECKS: Final[Mapping[str, Callable[[Any], Problems]]] = {
    "categories": check_category,
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
