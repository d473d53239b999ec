"""The contract of agent middleware."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from olav_core.middleware import agent_middleware
from olav_core.testing.contract import PluginContract
from olav_core.testing.workspaces import temporary_workspace

LANGCHAIN = "langchain"
#: LangChain raises on the path whose half is missing.
_PAIRS = tuple(
    (name, f"a{name}")
    for name in (
        "wrap_model_call",
        "wrap_tool_call",
        "before_agent",
        "after_agent",
        "before_model",
        "after_model",
    )
)
_CONTENTS = (
    "我们如何注册 InfluxDB? How?",
    [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ],
)


class MiddlewareContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `options`: what the factory needs besides the memory and the agent's name. The rules about calls look at
    LangChain's middleware only.
    """

    kind: ClassVar[str] = "agent_middleware"
    options: Mapping[str, Any] = {}

    def made(self, agent: str, memory: Any) -> Any:
        """Return the middleware for `agent`."""
        with self.calling(
            f"factory(memory, {agent!r})", "An agent cannot be built without it.", "Mend the factory."
        ):
            return self.spec.factory(memory, agent, **self.options)

    @cached_property
    def _is_langchain(self) -> bool:
        return bool(self.spec.framework == LANGCHAIN)

    def _plugins(self) -> Sequence[Any]:
        return () if self.plugin is None else (self.plugin,)

    def test_each_agent_gets_its_own(self) -> None:
        with temporary_workspace(*self._plugins()) as memory:
            first, second = self.made("netops", memory), self.made("core", memory)
        self.require(
            first is not second,
            "two agents get one object.",
            "What one agent did would count as the other's.",
            "Make a new object in every call of the factory.",
        )
        if self._is_langchain:
            self.require(
                first.name == second.name,
                f"its name changes from agent to agent: {first.name!r}, {second.name!r}.",
                "A host replaces or leaves out a middleware by its name.",
                "Do not override `name`, or make it a constant.",
            )

    def test_it_is_of_its_framework(self) -> None:
        if not self._is_langchain:
            return
        from langchain.agents.middleware import AgentMiddleware

        with temporary_workspace(*self._plugins()) as memory:
            made = self.made("core", memory)
        self.require(
            isinstance(made, AgentMiddleware),
            f"factory returns a {type(made).__name__}, not an AgentMiddleware.",
            "LangChain refuses anything else when the agent is built.",
            "Subclass langchain.agents.middleware.AgentMiddleware, or name another `framework`.",
        )

    def test_it_runs_on_both_paths(self) -> None:
        if not self._is_langchain:
            return
        from langchain.agents.middleware import AgentMiddleware

        with temporary_workspace(*self._plugins()) as memory:
            kind = type(self.made("core", memory))
        for sync, asynchronous in _PAIRS:
            has = [getattr(kind, name) is not getattr(AgentMiddleware, name) for name in (sync, asynchronous)]
            self.require(
                has[0] == has[1],
                f"it has {sync if has[0] else asynchronous} and not {asynchronous if has[0] else sync}.",
                "An agent that is called on the other path would raise, or go without.",
                "Write both; they may share what they do.",
            )

    def test_a_model_call_keeps_the_conversation(self) -> None:
        """What a middleware adds to a request must not get into the state, whose messages these are."""
        if not self._is_langchain:
            return
        from langchain.agents.middleware import ModelResponse
        from langchain_core.messages import HumanMessage

        answer: Any = ModelResponse(result=[])
        asked: list[Any] = []

        def handler(request: Any) -> Any:
            asked.append(request)
            return answer

        with temporary_workspace(*self._plugins()) as memory:
            memory.remember("InfluxDB 注册: register_service port 8086")
            call: Callable[..., Any] = self.made("core", memory).wrap_model_call
            if call.__func__ is _base_wrap():  # type: ignore[attr-defined]
                return
            for content in _CONTENTS:
                messages = [HumanMessage(content=content)]  # type: ignore[arg-type]
                before = copy.deepcopy(messages)
                with self.calling("wrap_model_call", "The agent's run would fail.", "Mend the hook."):
                    call(_request(messages), handler)
                self.require(
                    messages == before,
                    "wrap_model_call changes the messages of the conversation.",
                    "They lie in the agent's state: the change is kept and comes again with every call.",
                    "Copy what you change: request.override(messages=[…]).",
                )
        self.require(
            asked,
            "wrap_model_call never calls the model.",
            "The agent could not answer anything.",
            "Return handler(request).",
        )

    def test_it_is_built_from_the_registry(self) -> None:
        with temporary_workspace(*self._plugins()) as memory:
            wish = dict(self.options) or True
            others = {id: False for id in memory.registry.agent_middleware if id != self.spec.id}
            with self.calling("agent_middleware()", "Agents are built by it.", "Mend the factory."):
                made = agent_middleware(memory, self.spec.framework, use={**others, self.spec.id: wish})
        self.require(
            len(made) == 1,
            f"agent_middleware() gives {len(made)} objects for it.",
            "An agent would go without it.",
            "Return the object from the factory.",
        )


def _base_wrap() -> Any:
    from langchain.agents.middleware import AgentMiddleware

    return AgentMiddleware.wrap_model_call


def _request(messages: list[Any]) -> Any:
    from langchain.agents.middleware import ModelRequest

    return ModelRequest(model=None, messages=messages, state={"messages": messages})  # type: ignore[arg-type]
