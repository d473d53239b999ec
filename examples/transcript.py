"""Printing what a model saw."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any


def print_calls(name: str, calls: Sequence[Sequence[Any]]) -> None:
    """Print the messages of every call of a model."""
    for number, messages in enumerate(calls, start=1):
        print(f"\n=== {name}, call {number} " + "=" * 40)
        for message in messages:
            print(f"[{message.type}]")
            text = message.content if isinstance(message.content, str) else str(message.content)
            wanted = [f"calls {call['name']}({call['args']})" for call in getattr(message, "tool_calls", ())]
            for line in [*text.splitlines(), *wanted]:
                print(textwrap.indent(textwrap.fill(line, 110), "    "))
