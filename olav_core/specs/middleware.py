"""A middleware: what an agent of one framework runs around its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class MiddlewareSpec:
    """What an agent of one framework runs around its model calls and tool calls.

    `framework`: whose agents it fits, as its package is imported ("langchain"; deepagents' agents are
    LangChain's too). `factory(memory, agent, **options)` returns a fresh object of that framework; it is
    called once for every agent and subagent, with the agent's name in the memory.

    - `default`: every agent that olav builds gets it unasked; else only where its id is named.
    - `compiled`: it fits around a graph that is compiled already, too: its `wrap_model_call` is then called
      once with the messages that enter and no model, its `after_agent` once with those that leave.
    - `priority`: low runs first, which is the outermost; 50 is the middle.
    """

    id: str
    framework: str
    purpose: str
    factory: Callable[..., Any]
    default: bool = False
    compiled: bool = False
    priority: int = 50
