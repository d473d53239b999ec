"""What a chat model tells of itself."""

from __future__ import annotations

from typing import Any


def model_name(model: Any) -> str | None:
    """Return the name that a chat model goes by at its provider, None when it tells none."""
    for attribute in ("model_name", "model", "model_id", "deployment_name"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return None
