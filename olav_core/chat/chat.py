"""One chat model behind an HTTP endpoint: a prompt in, a text out, with bounded retries."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NoReturn

from olav_core.chat.reply import CUT, ChatReply, text_of, tool_calls_of
from olav_core.chat.settings import ChatSettings
from olav_core.errors import ChatError, ChatUnavailableError, ConfigError
from olav_core.host.http import post_json, quoted

if TYPE_CHECKING:
    import httpx

#: Seconds: first wait, longest wait that is ours, longest `Retry-After` that is honoured.
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 8.0
LONGEST_RETRY_AFTER: Final = 30.0
#: Seconds until a connection stands.
CONNECT_TIMEOUT: Final = 5.0
#: Tokens of context that Ollama is asked for: its own default cuts a longer prompt at the front, silently.
OLLAMA_CONTEXT: Final = 8192
#: An answer that is longer is no answer to anything that is asked here.
MAX_ANSWER_BYTES: Final = 4_000_000
#: Statuses after which the same request may go through.
BUSY: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Chat:
    """Asks `settings.model` at `settings.base_url`. Thread-safe; close it, or use it in a `with` block.

    The key is read from the environment at each call and appears in no message. Raises ConfigError at once
    when the settings name no endpoint or no model.
    """

    def __init__(self, settings: ChatSettings) -> None:
        missing = [name for name in ("base_url", "model") if not getattr(settings, name)]
        if missing:
            raise ConfigError(
                f"No chat model is set: {' and '.join(f'chat.{name}' for name in missing)} missing. Add to "
                ".olav/config.yaml, as in `chat: {base_url: http://localhost:11434/v1, model: qwen3:8b}`, or "
                "chat.factory for a LangChain chat model."
            )
        self.settings = settings
        self._url = str(settings.base_url).rstrip("/")
        shown = re.sub(r"//[^/@]*@", "//", self._url)
        if not self._url.startswith(("http://", "https://")):
            raise ConfigError(f"chat.base_url {shown!r} is no http(s) URL.")
        self._ollama = self._url.endswith("/api")
        #: What messages call it; it holds no user or password.
        self.name = f"the chat model {settings.model} at {shown}"
        self.calls = 0
        self._lock = Lock()
        self._client: httpx.Client | None = None

    def complete(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> ChatReply:
        """Return the model's answer to role/content messages. `tools`: OpenAI-style function definitions that
        it may call.

        Raises ChatUnavailableError when it cannot be reached, refuses the key, does not know the model or
        stays busy; ChatError when it refuses the request or answers something that is no chat answer.
        """
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        path, body = self._request(messages, tools)
        with self._lock:
            self.calls += 1
        trouble, tried = "", 0
        for attempt in range(self.settings.retries + 1):
            tried = attempt + 1
            wait = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.5, 1)
            answer, trouble, absent = self._post(path, body, headers)
            if answer is not None:
                if answer.is_success:
                    return self._read(answer)
                trouble = f"answered {answer.status_code}: {quoted(answer, key)}"
                if answer.status_code not in BUSY:
                    self._refused(answer.status_code, trouble)
                asked = answer.headers.get("retry-after", "").strip()
                wait = min(float(asked), LONGEST_RETRY_AFTER) if asked.isdigit() else wait
            if attempt >= (min(self.settings.retries, 1) if absent else self.settings.retries):
                break
            time.sleep(wait)
        raise ChatUnavailableError(
            f"{self.name} {trouble}; tried {tried} times. Start the server or check chat.base_url, try again."
        )

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> tuple[str, dict[str, Any]]:
        options = self.settings
        body: dict[str, Any] = {
            "model": options.model,
            "messages": [dict(message) for message in messages],
            "stream": False,
            "tools": [dict(tool) for tool in tools] or None,
        }
        if self._ollama:
            body["options"] = {
                "temperature": options.temperature,
                "num_predict": options.max_tokens,
                "num_ctx": OLLAMA_CONTEXT,
                **(options.options.get("options") or {}),
            }
        else:
            body |= {"temperature": options.temperature, "max_tokens": options.max_tokens}
        further = {n: v for n, v in options.options.items() if not (self._ollama and n == "options")}
        body = {name: value for name, value in {**body, **further}.items() if value is not None}
        return "chat" if self._ollama else "chat/completions", body

    def _key(self) -> str:
        key = os.environ.get(self.settings.api_key_env, "").strip()
        if not key.isascii() or not key.isprintable():
            raise ConfigError(
                f"${self.settings.api_key_env} holds characters that no HTTP header may. Set it again."
            )
        return key

    def _post(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[httpx.Response | None, str, bool]:
        """Return (answer, "", False) or (None, the trouble, whether no server took the connection)."""
        import httpx

        try:
            url, seconds = f"{self._url}/{path}", self.settings.timeout
            return post_json(self._open(), url, body, headers, seconds=seconds), "", False
        except httpx.InvalidURL as error:
            raise ConfigError(f"chat.base_url is no URL: {error}. Correct it.") from error
        except UnicodeEncodeError as error:
            raise ChatError(f"A message to {self.name} holds a broken character: {error.reason}.") from error
        except httpx.RequestError as error:
            # The kind only: some messages of httpx quote the headers.
            absent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            return None, f"cannot be reached ({type(error).__name__})", absent

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                seconds = self.settings.timeout
                self._client = httpx.Client(
                    timeout=httpx.Timeout(seconds, connect=min(seconds, CONNECT_TIMEOUT))
                )
            return self._client

    def _refused(self, status: int, trouble: str) -> NoReturn:
        if status in (401, 403):
            raise ChatUnavailableError(f"{self.name} {trouble}. Check ${self.settings.api_key_env}.")
        if status == 404:
            raise ChatUnavailableError(
                f"{self.name} {trouble}. Check chat.model, and chat.base_url: an OpenAI-style root ends in "
                "/v1, Ollama's own in /api."
            )
        raise ChatError(f"{self.name} {trouble}. Check chat.options and the model's input limit.")

    def _read(self, answer: httpx.Response) -> ChatReply:
        try:
            if len(answer.content) > MAX_ANSWER_BYTES:
                raise ValueError("too long")
            data = answer.json()
            choice = data if self._ollama else data["choices"][0]
            text = text_of(choice["message"].get("content"))
            text.encode()  # half a character can be stored nowhere
            calls = tool_calls_of(choice["message"])
            cut = choice.get("done_reason" if self._ollama else "finish_reason") in CUT
            usage = data if self._ollama else data.get("usage") or {}
            names = (
                ("prompt_eval_count", "eval_count")
                if self._ollama
                else ("prompt_tokens", "completion_tokens")
            )
            counts = [usage.get(name) if isinstance(usage.get(name), int) else None for name in names]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ChatError(f"{self.name} gave no chat answer. Check chat.base_url.") from error
        return ChatReply(
            text=text, prompt_tokens=counts[0], reply_tokens=counts[1], cut=cut, tool_calls=calls
        )
