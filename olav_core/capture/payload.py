"""Arguments and results as bounded JSON values, without the blocks that recall put into a prompt."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Set
from typing import Any, Final

from attrs import define

from olav_core.recall.render import strip_block
from olav_core.records import clean_text

#: Before redaction: what redactors read of one string and of one call; this bounds their time.
READ_LEAF: Final = 65_536
READ_TOTAL: Final = 262_144
#: Afterwards: what is kept. A model's precedent is the shape of a call, not the file it wrote.
KEPT_LEAF: Final = 4_000
KEPT_TOTAL: Final = 16_000
MAX_DEPTH: Final = 12
MAX_ITEMS: Final = 1_000
#: Types of content blocks whose payload is not text.
_MEDIA: Final = frozenset(
    ("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "media")
)


def readable(value: Any) -> Any:
    """Return `value` as a JSON value small enough to redact; strings without recalled blocks."""
    return _bounded(value, _Budget(READ_LEAF, READ_TOTAL), 0)


def kept(value: Any) -> Any:
    """Return a redacted JSON value small enough to store, cut at whole values; a cut string tells its length
    and a hash of itself, so that two long texts stay two."""
    return _bounded(value, _Budget(KEPT_LEAF, KEPT_TOTAL), 0)


@define
class _Budget:
    leaf: int
    left: int


def _bounded(value: Any, budget: _Budget, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int)):
        budget.left -= 8
        return value if not isinstance(value, int) or abs(value) < 2**63 else str(value)[:64]
    if isinstance(value, float):
        budget.left -= 8
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _text(value, budget)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text(f"({len(value)} bytes)", budget)
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return _mapping(value, budget, depth)
    if isinstance(value, (list, tuple, Set)):
        items = sorted(value, key=repr) if isinstance(value, Set) else value
        return _list(items, budget, depth)
    return _object(value, budget, depth)


def _text(value: str, budget: _Budget) -> str:
    limit = min(budget.leaf, max(budget.left, 0))
    text = clean_text(strip_block(value[: 2 * budget.leaf]))
    if len(text) > limit or len(value) > 2 * budget.leaf:
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        text = f"{_cut(text, limit)}… ({len(value)} characters, sha256 {digest})"
    budget.left -= len(text)
    return text


def _cut(text: str, limit: int) -> str:
    """Cut at a blank: half a token is no secret's shape any more, and redactors would let it pass."""
    head = text[:limit]
    blank = max(head.rfind(" "), head.rfind("\n"), head.rfind(","))
    return head[: blank if blank > limit // 2 else max(limit - 256, limit // 2)]


def _mapping(value: Mapping[Any, Any], budget: _Budget, depth: int) -> dict[str, Any]:
    if value.get("type") in _MEDIA:
        return {"type": str(value["type"]), "omitted": "media"}
    out: dict[str, Any] = {}
    for n, (key, item) in enumerate(value.items()):
        if budget.left <= 0 or n >= MAX_ITEMS:
            out["…"] = f"{len(value) - n} more"
            break
        name = clean_text(str(key)[:256])
        budget.left -= len(name)
        out[name] = _bounded(item, budget, depth + 1)
    return out


def _list(items: Any, budget: _Budget, depth: int) -> list[Any]:
    out = []
    for n, item in enumerate(items):
        if budget.left <= 0 or n >= MAX_ITEMS:
            out.append(f"… {len(items) - n} more")
            break
        out.append(_bounded(item, budget, depth + 1))
    return out


def _object(value: Any, budget: _Budget, depth: int) -> Any:
    """What a framework's object says of itself as data, else its type: a repr may hold anything."""
    for name in ("model_dump", "to_dict", "dict"):
        dump = getattr(value, name, None)
        if callable(dump) and not isinstance(value, type):
            try:
                data = dump()
            except Exception:
                continue
            if isinstance(data, (Mapping, list, str)):
                return _bounded(data, budget, depth + 1)
    for name in ("content", "value"):  # a message, an enum
        held = getattr(value, name, None)
        if isinstance(held, (str, int, list, Mapping)):
            return _bounded(held, budget, depth + 1)
    if hasattr(value, "isoformat"):
        return _text(value.isoformat(), budget)
    if hasattr(value, "__fspath__"):
        return _text(str(value), budget)
    return f"({type(value).__name__})"
