"""Options: what the settings, or a category's rules, pass to a factory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Options = Mapping[str, Any]
