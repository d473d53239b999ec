"""Small models' quirks in tool arguments, undone where the meaning is plain."""

from __future__ import annotations

import json
import types
from typing import Any, Union, get_args, get_origin

#: Longer strings are content, where quotes may belong.
SHORT = 200
_PAIRS = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}


def strip_quote_leak(text: str) -> str:
    """Return a short string without the literal quotes that a model put round all of it."""
    short = text.strip()
    if len(short) > SHORT:
        return text
    while len(short) >= 2 and _PAIRS.get(short[0]) == short[-1] and short[0] not in short[1:-1]:
        text = short = short[1:-1].strip()
    return text


def coerced(value: Any, annotation: Any) -> Any:
    """Return `value` as `annotation` wants it when that is plain, else unchanged for the schema to refuse.

    Strings lose leaked quotes; JSON in a string becomes the list, mapping, number or truth value that is
    asked for; a number where text is asked for becomes its digits; "null" becomes None where that is allowed.
    """
    kinds = kinds_of(annotation)
    if isinstance(value, str):
        bare = strip_quote_leak(value)
        if type(None) in kinds and bare.strip().lower() in ("null", "none", ""):
            return None
        if str in kinds:
            return bare
        return _from_json(bare, kinds)
    if (
        str in kinds
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and type(value) not in kinds
    ):
        return str(value)
    if list in kinds and isinstance(value, tuple):
        return list(value)
    return value


def kinds_of(annotation: Any) -> set[Any]:
    """Return the plain types that an annotation allows: `list[str] | None` gives list and NoneType."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return {kind for part in get_args(annotation) for kind in kinds_of(part)}
    if origin is not None and hasattr(annotation, "__metadata__"):
        return kinds_of(get_args(annotation)[0])
    if str(origin) == "typing.Literal":
        return {type(choice) for choice in get_args(annotation)}
    return {origin or annotation}


def _from_json(text: str, kinds: set[Any]) -> Any:
    try:
        held = json.loads(text.strip().lower() if bool in kinds else text)
    except (ValueError, RecursionError):
        return text
    if isinstance(held, bool):
        return held if bool in kinds else text
    if isinstance(held, int) and float in kinds and int not in kinds:
        return float(held)
    return held if type(held) in kinds else text
