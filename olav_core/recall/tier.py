"""The tier of a model: how many memories one of its calls gets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

from olav_core.errors import ConfigError

Tier = Literal["small", "medium", "large"]
TIERS: tuple[Tier, ...] = get_args(Tier)
#: K of each tier, as the system's description gives them.
TIER_LIMITS: dict[Tier, int] = {"small": 1, "medium": 2, "large": 13}
DEFAULT_TIER: Tier = "medium"

#: Families whose names carry no size; sizes are read by `_SIZE` first.
_FAMILIES: tuple[tuple[str, Tier], ...] = (
    (r"nano|tiny|smol|gemma-?3n|phi-?\d.*mini", "small"),
    (r"mini|flash|haiku|lite|small|air", "medium"),
    (r"gpt|claude|gemini|deepseek|kimi|glm|qwen.*(max|plus)|grok|opus|sonnet|mistral-large|o\d\b", "large"),
)
#: `8x7b` (experts x size) or `30b`; `a3b` (active parameters of a mixture) is not the size.
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
_SMALL_BELOW, _MEDIUM_BELOW = 10.0, 40.0  # billions of parameters


def tier_of_model(model: str, rules: Iterable[tuple[str, Tier]] = ()) -> Tier:
    """Return the tier of a model by its name.

    `rules` (regular expression, tier) come first; then the size in the name (under 10B small, under 40B
    medium, else large); then known families; then DEFAULT_TIER.
    """
    for pattern, tier in rules:
        if re.search(pattern, model, re.IGNORECASE):
            return tier
    sizes = [float(size) * int(experts or 1) for experts, size in _SIZE.findall(model)]
    if sizes:
        billions = max(sizes)
        return "small" if billions < _SMALL_BELOW else "medium" if billions < _MEDIUM_BELOW else "large"
    for pattern, tier in _FAMILIES:
        if re.search(pattern, model, re.IGNORECASE):
            return tier
    return DEFAULT_TIER


def check_tier(name: str) -> Tier:
    """Return the name as a Tier or raise ConfigError."""
    for tier in TIERS:
        if name == tier:
            return tier
    raise ConfigError(f"There is no tier {name!r}. Use one of: {', '.join(TIERS)}.")
