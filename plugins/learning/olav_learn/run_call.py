"""One call of a past run, and what makes two causes one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import field, frozen

from olav_core import clock

_VARYING = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\d+|\"[^\"]*\"|'[^']*'"
)


@frozen(kw_only=True)
class RunCall:
    """`uid` is the same whenever the call is told again; `failed` None: it went through. `said`: the whole
    answer. `args` None: they are not known."""

    uid: str
    tool: str
    args: Mapping[str, Any] | None = field(factory=dict)
    failed: str | None = None
    said: str = ""
    run: str = ""
    time: datetime = field(factory=lambda: clock.now())

    @property
    def args_key(self) -> str:
        """A digest of the arguments; empty when they are not known, so that they equal no others."""
        return digest(canonical(self.args))[:12] if self.args is not None else ""

    @property
    def source(self) -> str:
        """What a reflection remembers of it: which arguments, which call."""
        return f"{self.args_key}:{self.uid}"


def cause_key(cause: str) -> str:
    """Return a cause without what differs from call to call: numbers, ids, quoted values."""
    return " ".join(_VARYING.sub("*", cause.casefold()).split())


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
