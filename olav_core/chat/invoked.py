"""A chat model that lives in this process: whatever has LangChain's `invoke(messages)`."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import Any, Final

from olav_core.chat.chat import BUSY, FIRST_WAIT, LONGEST_WAIT
from olav_core.chat.reply import CUT, ChatReply, text_of
from olav_core.errors import ChatError, ChatUnavailableError, ConfigError

#: Kinds of error, by a part of their name, after which the same request may go through.
_PASSING: Final = ("timeout", "connect", "ratelimit", "unavailable", "overloaded", "internalserver")


class InvokedChat:
    """Asks `model.invoke(messages)`, a LangChain chat model or anything that answers alike.

    `timeout`: seconds a request; one that takes longer is left behind. `retries`: further tries after a
    connection that failed, a timeout or a busy server, beyond the model's own. `api_key_env`: the variable
    whose value no message may show. Raises ConfigError when `model` has no `invoke`.
    """

    def __init__(
        self, model: Any, *, timeout: float = 120.0, retries: int = 3, api_key_env: str = "OPENAI_API_KEY"
    ) -> None:
        if isinstance(model, type) or not callable(getattr(model, "invoke", None)):
            raise ConfigError(
                f"{model!r:.80} is no chat model: it has no invoke(messages). Give a LangChain chat model, "
                "made and ready, or an olav_core.Chat."
            )
        self._model = model
        self._timeout, self._retries, self._key_env = timeout, retries, api_key_env
        named = getattr(model, "model_name", None) or getattr(model, "model", None)
        #: What messages call it.
        self.name = f"the chat model {type(model).__name__}" + (f" {named}" if isinstance(named, str) else "")
        self.calls = 0

    def complete(self, messages: Sequence[Mapping[str, str]]) -> ChatReply:
        """Return the model's answer to role/content messages.

        Raises ChatUnavailableError when it stays busy, silent or absent; ChatError when it fails otherwise or
        answers something that is no message.
        """
        self.calls += 1
        trouble = ""
        for attempt in range(self._retries + 1):
            try:
                return self._read(self._invoke([dict(message) for message in messages]))
            except ChatError:
                raise
            except Exception as error:
                trouble = self._told(error)
                if not _passes(error):
                    raise ChatError(f"{self.name} failed: {trouble}. Check its own settings.") from error
            if attempt < self._retries:
                time.sleep(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.5, 1))
        raise ChatUnavailableError(
            f"{self.name} failed: {trouble}; tried {self._retries + 1} times. Start its server, try again."
        )

    def close(self) -> None:
        """Nothing is held open here; the model belongs to who made it."""

    def __enter__(self) -> InvokedChat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _invoke(self, messages: list[dict[str, str]]) -> Any:
        done: list[tuple[Any, BaseException | None]] = []

        def work() -> None:
            try:
                done.append((self._model.invoke(messages), None))
            except BaseException as error:
                done.append((None, error))

        # A thread of its own, and a daemon: a model that hangs must hold up neither learning nor exit.
        worker = Thread(target=work, name="olav-chat", daemon=True)
        worker.start()
        worker.join(self._timeout)
        if not done:
            raise TimeoutError(f"no answer within {self._timeout:g} s")
        answer, error = done[0]
        if error is not None:
            raise error
        return answer

    def _read(self, answer: Any) -> ChatReply:
        try:
            text = text_of(answer if isinstance(answer, str) else answer.content)
        except (AttributeError, TypeError) as error:
            raise ChatError(f"{self.name} gave no message but {type(answer).__name__}.") from error
        usage = getattr(answer, "usage_metadata", None)
        usage = usage if isinstance(usage, Mapping) else {}
        about = getattr(answer, "response_metadata", None)
        about = about if isinstance(about, Mapping) else {}
        ends = {str(about.get(name)) for name in ("finish_reason", "done_reason", "stop_reason")}
        counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
        prompt, reply = (count if isinstance(count, int) else None for count in counts)
        return ChatReply(text=text, prompt_tokens=prompt, reply_tokens=reply, cut=bool(ends & CUT))

    def _told(self, error: BaseException) -> str:
        key = os.environ.get(self._key_env, "").strip()
        said = " ".join(str(error).split())
        said = said.replace(key, "***") if key else said
        return f"{type(error).__name__}: {said[:300]}".rstrip(": ")


def _passes(error: BaseException) -> bool:
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in BUSY
    names = " ".join(kind.__name__.casefold() for kind in type(error).__mro__)
    return any(part in names for part in _PASSING)
