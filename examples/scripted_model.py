"""A chat model that answers from a script: agents run offline, and what the model saw can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

#: A step: an answer, a text, an exception to raise, or a function of the messages that gives one of these.
Step = Any


def call(name: str, /, **args: Any) -> AIMessage:
    """Return an answer that calls one tool."""
    return calls((name, args))


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    """Return an answer that calls several tools at once."""
    return AIMessage(
        content="",
        tool_calls=[
            {"name": name, "args": args, "id": f"call_{number}_{name}", "type": "tool_call"}
            for number, (name, args) in enumerate(wanted)
        ],
    )


class ScriptedModel(BaseChatModel):
    """Plays `script` from the start, one step a call; after the last step it answers "done".

    `seen` holds the messages of every call, `offered` the tool names that it was given.
    """

    script: list[Step] = Field(default_factory=list)
    model_name: str = "scripted-8b"
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[list[str]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        names = [
            tool["name"] if isinstance(tool, dict) else getattr(tool, "name", str(tool)) for tool in tools
        ]
        return self.bind(offered=names)

    def _answer(self, messages: list[BaseMessage], offered: Sequence[str]) -> AIMessage:
        step = self.script[len(self.seen)] if len(self.seen) < len(self.script) else "done"
        self.seen.append(list(messages))
        self.offered.append(list(offered))
        if isinstance(step, Callable):  # type: ignore[arg-type]
            step = step(messages)
        if isinstance(step, BaseException):
            raise step
        answer = AIMessage(content=step) if isinstance(step, str) else step
        ids = [{**wanted, "id": f"{wanted['id']}_{len(self.seen)}"} for wanted in answer.tool_calls]
        return answer.model_copy(update={"tool_calls": ids, "id": f"answer_{id(self)}_{len(self.seen)}"})

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        answer = self._answer(messages, kwargs.get("offered", ()))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages, kwargs.get("offered", ()))
        chunk = AIMessageChunk(content=answer.content, tool_calls=answer.tool_calls, id=answer.id)
        yield ChatGenerationChunk(message=chunk)
