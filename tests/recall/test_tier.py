from __future__ import annotations

import pytest

from olav_core import ConfigError
from olav_core.recall.tier import TIER_LIMITS, check_tier, tier_of_model


@pytest.mark.parametrize(
    ("model", "tier"),
    [
        ("qwen3-8b", "small"),
        ("qwen2.5:7b-instruct-q4_K_M", "small"),
        ("Llama-3.2-3B", "small"),
        ("gemma3:27b", "medium"),
        ("qwen3.6-27b-dense", "medium"),
        ("Qwen3-30B-A3B", "medium"),
        ("gpt-oss-20b", "medium"),
        ("mixtral-8x7b", "large"),
        ("llama-3.3-70b", "large"),
        ("gpt-oss:120b", "large"),
        ("gpt-5-mini", "medium"),
        ("gpt-5", "large"),
        ("claude-opus-4", "large"),
        ("deepseek-chat", "large"),
        ("our-own-model", "medium"),
        ("", "medium"),
    ],
)
def test_the_tier_follows_the_size_or_the_family(model: str, tier: str) -> None:
    assert tier_of_model(model) == tier


def test_own_rules_come_first() -> None:
    assert tier_of_model("qwen3-8b", [("^qwen3", "large")]) == "large"


def test_limits_are_those_of_the_description() -> None:
    assert TIER_LIMITS == {"small": 1, "medium": 2, "large": 13}


def test_an_unknown_tier_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="small, medium, large"):
        check_tier("tiny")
