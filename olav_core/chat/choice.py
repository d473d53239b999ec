"""Which chat model is asked: an endpoint, or a LangChain chat model that settings name or a host gives."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final

from olav_core.chat.chat import Chat
from olav_core.chat.invoked import InvokedChat
from olav_core.chat.reply import ChatModel
from olav_core.chat.settings import ChatSettings
from olav_core.errors import ConfigError

_PATH: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def open_chat(settings: ChatSettings) -> Chat | InvokedChat:
    """Return the chat model that the settings name; use it in a `with` block, or close it.

    Nothing is asked yet. Raises ConfigError when none or two are set, or the factory makes none.
    """
    if settings.factory is None:
        return Chat(settings)
    if settings.base_url is not None:
        raise ConfigError("chat.factory and chat.base_url name two chat models. Keep one of them.")
    return InvokedChat(
        _made(settings),
        timeout=settings.timeout,
        retries=settings.retries,
        api_key_env=settings.api_key_env,
    )


def as_chat(model: Any) -> ChatModel:
    """Return `model` when it has `complete`, else a LangChain chat model as one; raises ConfigError."""
    if callable(getattr(model, "complete", None)):
        chat: ChatModel = model
        return chat
    return InvokedChat(model)


def _made(settings: ChatSettings) -> Any:
    factory = str(settings.factory)
    if not _PATH.fullmatch(factory):
        raise ConfigError(
            f"chat.factory {factory!r} is not `package.module:name`, as in `langchain_ollama:ChatOllama`."
        )
    module, _, name = factory.partition(":")
    try:
        found: Any = import_module(module)
        for step in name.split("."):
            found = getattr(found, step)
    except ImportError as error:
        raise ConfigError(
            f"chat.factory {factory!r}: {error}. Install the package that holds it, into this environment."
        ) from error
    except AttributeError as error:
        raise ConfigError(f"chat.factory {factory!r}: {error}. Check the name.") from error
    if not isinstance(found, type) and callable(getattr(found, "invoke", None)):
        return found
    options = {**({"model": settings.model} if settings.model else {}), **settings.options}
    try:
        return found(**options)
    except Exception as error:
        said = " ".join(str(error).split())[:300]
        raise ConfigError(
            f"chat.factory {factory!r} made no chat model of {sorted(options)}: {type(error).__name__}: "
            f"{said}. Correct chat.options."
        ) from error
