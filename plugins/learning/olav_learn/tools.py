"""Learning as tools of an agent, such as a curator: plain callables with a JSON schema, of no framework."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from olav_core import ChatModel, Memory, OlavError, open_chat
from olav_learn.patterns import learn_patterns
from olav_learn.single_flight import single_flight
from olav_learn.status import learning_status

_GROUP: Final = {
    "tool": {"type": "string", "description": "Only operations of this tool, such as register_service."},
    "scope": {"type": "string", "description": "Only operations of this scope, such as an agent's name."},
}
_RUN: Final = {
    **_GROUP,
    "dry_run": {"type": "boolean", "description": "Show what would be kept; write nothing."},
}


@frozen(kw_only=True)
class LearningTool:
    """One tool. `run` it with its arguments as keywords; it answers JSON text, errors too.

    LangChain: `StructuredTool.from_function(tool.run, name=tool.name, description=tool.description,
    args_schema=dict(tool.parameters))`. `openai` is its entry in a request's `tools`.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[..., Mapping[str, Any]]

    def __call__(self, **arguments: Any) -> str:
        return self.run(**arguments)

    def run(self, **arguments: Any) -> str:
        """Do it and return the answer for the model."""
        try:
            unknown = sorted(set(arguments) - set(self.parameters["properties"]))
            if unknown:
                given = f"{self.name} has no argument {', '.join(unknown)}."
                return json.dumps({"error": f"{given} Use {', '.join(self.parameters['properties'])}."})
            return json.dumps(self.call(**arguments), ensure_ascii=False)
        except OlavError as error:
            return json.dumps({"error": str(error)}, ensure_ascii=False)

    @property
    def openai(self) -> dict[str, Any]:
        function = {
            "name": self.name, "description": self.description, "parameters": dict(self.parameters)
        }  # fmt: skip
        return {"type": "function", "function": function}


def learning_tools(memory: Memory, chat: ChatModel | Any | None = None) -> list[LearningTool]:
    """Return `extract_patterns` and `learning_status`.

    `chat` learns, whatever model the agent itself has; default: that of the settings.
    """

    def extract(tool: str | None = None, scope: str | None = None, dry_run: bool = False) -> dict[str, Any]:
        with single_flight(memory):
            if chat is not None:
                report = learn_patterns(memory, chat, tool=tool, scope=scope, dry_run=dry_run)
            else:
                with open_chat(memory.settings.chat) as model:
                    report = learn_patterns(memory, model, tool=tool, scope=scope, dry_run=dry_run)
        return report.to_dict(prompts=False)

    def status() -> dict[str, Any]:
        return learning_status(memory).to_dict()

    return [
        LearningTool(
            name="extract_patterns",
            description="Learn the conventions behind operations that succeeded: naming, addresses, ports, "
            "authentication. Each line is checked against the operations before it is kept.",
            parameters={"type": "object", "properties": _RUN, "additionalProperties": False},
            call=extract,
        ),
        LearningTool(
            name="learning_status",
            description="Show per tool and scope what there is to learn, what was learnt, and what failed.",
            parameters={"type": "object", "properties": {}, "additionalProperties": False},
            call=status,
        ),
    ]
