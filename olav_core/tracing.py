"""`OLAV_TRACE=1`: hooks, specs and stages on stderr, one line each, as they happen."""

from __future__ import annotations

import os
import sys

VARIABLE = "OLAV_TRACE"


def switched_on(variable: str) -> bool:
    """Return whether a variable such as OLAV_TRACE or OLAV_STRICT is set, and not to 0, false or no."""
    return os.environ.get(variable, "").strip().lower() not in ("", "0", "false", "no")


def say(what: str, name: str, text: str = "", *, seconds: float | None = None) -> None:
    """Write one line, `[olav] hook  olav_register_gates  …`, when OLAV_TRACE is on; else do nothing."""
    if not switched_on(VARIABLE):
        return
    spent = "" if seconds is None else f"{seconds * 1000:8.2f} ms"
    line = f"[olav] {what:<6} {name:<26} {spent:>11}  {text}".rstrip()
    # In one call: recalls run in several threads, and lines must not mix.
    sys.stderr.write(" ".join(line.splitlines()) + "\n")
