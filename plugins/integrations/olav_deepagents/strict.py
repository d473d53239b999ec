"""strict_tool: a tool whose arguments are checked strictly, with errors that a small model can repair."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, ValidationError, create_model, model_validator

from olav_deepagents.coercion import coerced, kinds_of

_WORDS = {str: "one string", int: "a whole number", float: "a number", bool: "true or false", list: "a list",
          dict: "an object", type(None): "null"}  # fmt: skip
_GIVEN = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number",
          bool: "true or false", type(None): "null"}  # fmt: skip


def strict_tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    capture: bool | None = None,
) -> Any:
    """Make a tool of a function (async too) with plain type hints; a decorator, with or without arguments.

    Arguments are checked strictly after coercion (olav_deepagents.coercion); what is missing, unknown or of
    another type comes back as one message with status "error" that says what to send instead. A ValueError of
    the function comes back as its message, other exceptions are raised. `capture`: whether calls become
    operational events (default: by the tool's name).
    """
    if function is None:
        return lambda real: strict_tool(real, name=name, description=description, capture=capture)
    own_name = name or function.__name__
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    fields: dict[str, Any] = {
        parameter: (hints[parameter], ... if spec.default is spec.empty else spec.default)
        for parameter, spec in parameters.items()
    }
    schema = create_model(
        own_name,
        __config__=ConfigDict(strict=True, extra="forbid"),
        __validators__={"coerce": model_validator(mode="before")(_coercer(hints))},
        **fields,
    )

    def run(**arguments: Any) -> Any:
        try:
            return function(**arguments)
        except ValueError as error:
            raise ToolException(str(error)) from error

    async def run_async(**arguments: Any) -> Any:
        try:
            return await function(**arguments)
        except ValueError as error:
            raise ToolException(str(error)) from error

    is_async = inspect.iscoroutinefunction(function)
    tool: BaseTool = StructuredTool(
        name=own_name,
        description=description or inspect.getdoc(function) or own_name,
        args_schema=schema,
        func=None if is_async else run,
        coroutine=run_async if is_async else None,
        metadata=None if capture is None else {"olav_capture": capture},
    )
    tool.handle_tool_error = True
    tool.handle_validation_error = lambda error: explain(error, own_name, schema)
    return tool


def _coercer(hints: dict[str, Any]) -> Callable[..., Any]:
    def coerce(cls: type, arguments: Any) -> Any:
        if not isinstance(arguments, dict):
            return arguments
        return {
            key: coerced(value, hints[key]) if key in hints else value for key, value in arguments.items()
        }

    return coerce


def explain(error: ValidationError | Any, name: str, schema: type[BaseModel]) -> str:
    """Return what is wrong with each argument and how the next call must look."""
    lines = []
    for fault in error.errors():
        field = str(fault["loc"][0]) if fault["loc"] else ""
        info = schema.model_fields.get(field)
        if fault["type"] == "missing":
            lines.append(f"- {field} is missing.")
        elif info is None:
            lines.append(f"- there is no argument {field!r}; leave it out.")
        else:
            given = _GIVEN.get(type(fault.get("input")), "something else")
            lines.append(
                f"- {field} must be {wanted(info.annotation)}, but you sent {given}.{_advice(info, given)}"
            )
    arguments = ", ".join(f"{key}: {wanted(info.annotation)}" for key, info in schema.model_fields.items())
    lines.append(f"Nothing was done. Call {name} again with exactly: {arguments}.")
    return "\n".join(dict.fromkeys(lines))


def wanted(annotation: Any) -> str:
    """Return an annotation in words."""
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(annotation))
    kinds = sorted(kinds_of(annotation), key=lambda kind: kind is type(None))
    return " or ".join(
        dict.fromkeys(_WORDS.get(kind, getattr(kind, "__name__", str(kind))) for kind in kinds)
    )


def _advice(info: Any, given: str) -> str:
    if str in kinds_of(info.annotation) and given in ("an object", "a list"):
        return " Send the text itself, as one string; each other argument goes beside it, not inside it."
    return ""
