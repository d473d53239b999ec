"""Checks of a category: its rules, its metadata class, its callables."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from datetime import timedelta

import attrs

from olav_core.errors import RecordError, did_you_mean
from olav_core.host.field_checks import (
    Problems,
    check_callables,
    check_strings,
    check_words,
    is_int,
)
from olav_core.host.plugin import Problem
from olav_core.records import ORIGINS, check_scope
from olav_core.specs import CategorySpec, GateUse
from olav_core.succession import Succession


def check_category(spec: CategorySpec) -> Problems:
    yield from check_words(spec, "title", "purpose")
    unknown = sorted(str(origin) for origin in spec.origins if origin not in ORIGINS)
    for origin in unknown:
        yield Problem(
            f"origin {origin!r} is unknown.{did_you_mean(origin, ORIGINS)}", "Use the known origins."
        )
    if not spec.origins:
        yield Problem("origins is empty, so nobody may write it.", "Name at least one origin.")
    yield from check_rules(spec)
    yield from check_strings(spec, "boosts")
    yield from check_callables(spec, 1, "dedupe_key", "embed_text", "render")
    for name in ("keywords", "questions"):
        if getattr(spec, name) is not None:
            yield from check_callables(spec, 1, name)
    yield from _check_metadata_class(spec.metadata)
    if spec.claims is not None:
        yield from check_callables(spec, 1, "claims")
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


def check_rules(spec: CategorySpec) -> Problems:
    """Yield what is wrong with a category's quota, cap, lives and gates (a configuration may set them)."""
    quota_ok = is_int(spec.quota) and spec.quota >= 0
    cap_ok = spec.cap is None or (is_int(spec.cap) and spec.cap >= 0)
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
