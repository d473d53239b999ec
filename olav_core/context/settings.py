"""Settings of the context layers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

from attrs import field, frozen

from olav_core.host.structuring import Range
from olav_core.recall.tier import Tier

#: Tokens that all layers together may take, by tier: a quarter of a window of 8k, 16k and 48k.
DEFAULT_CONTEXT_BUDGET: Final[Mapping[Tier, int]] = MappingProxyType(
    {"small": 2_000, "medium": 4_000, "large": 12_000}
)
#: Canonical distance up to which a query means a file without saying a keyword of it (docs/decisions.md).
MEANT: Final = 0.4


def _with_defaults(given: Mapping[Tier, int]) -> Mapping[Tier, int]:
    return {**DEFAULT_CONTEXT_BUDGET, **given}


@frozen(kw_only=True)
class ContextSettings:
    """What the context of a call may hold. `token_budget`: tokens of all layers together, by tier; the
    recalled block keeps within `recall.token_budget`, too. `meant`: the canonical distance up to which an
    on_intent file is loaded without a keyword in the query.
    """

    token_budget: Mapping[Tier, Annotated[int, Range(1)]] = field(factory=dict, converter=_with_defaults)
    meant: Annotated[float, Range(0, 2)] = MEANT
