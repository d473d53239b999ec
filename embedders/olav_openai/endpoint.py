"""One endpoint: a request with bounded retries, and the vectors in its answer."""

from __future__ import annotations

import base64
import os
import random
import threading
import time
from typing import TYPE_CHECKING, Any

from attrs import define, field

from olav_core import ConfigError, EmbedderError, EmbedderUnavailableError, post_json, quoted

if TYPE_CHECKING:
    import httpx

    from olav_core import FloatArray

#: Seconds: first wait, longest wait that is ours, longest `Retry-After` that is honoured.
FIRST_WAIT, LONGEST_WAIT, LONGEST_RETRY_AFTER = 0.5, 8.0, 30.0
#: Seconds until a connection stands. A server that takes none is tried twice: recall waits for it.
CONNECT_TIMEOUT = 5.0
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@define(kw_only=True, eq=False)
class Endpoint:
    """`POST {base_url}/embeddings`. `name` is what messages call it; it holds no user or password.

    The key is read from the environment at each call and appears in no message.
    """

    base_url: str
    name: str
    api_key_env: str
    timeout: float
    retries: int
    _client: httpx.Client | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def embeddings(self, body: dict[str, Any]) -> list[FloatArray]:
        """Post `body` and return a float32 [d] vector per text of `body["input"]`, in its order."""
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        for attempt in range(self.retries + 1):
            answer, trouble, absent = self._try(body, headers)
            if answer is not None and answer.is_success:
                return self._vectors(answer, len(body["input"]))
            wait = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(0.5, 1)
            if answer is not None:
                trouble = f"answered {answer.status_code}: {quoted(answer, key)}"
                self._refused(answer.status_code, trouble)
                wait = _retry_after(answer.headers.get("retry-after"), wait)
            if attempt >= (min(self.retries, 1) if absent else self.retries):
                break
            time.sleep(wait)
        raise EmbedderUnavailableError(
            f"{self.name} {trouble}; tried {attempt + 1} times. "
            "Start the server or check base_url, then try again."
        )

    def _key(self) -> str:
        key = os.environ.get(self.api_key_env, "").strip()
        if not key.isascii() or not key.isprintable():
            raise ConfigError(f"${self.api_key_env} holds characters that no HTTP header may. Set it again.")
        return key

    def _try(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[httpx.Response | None, str, bool]:
        """Return (answer, "", False) or (None, the trouble, whether no server took the connection)."""
        import httpx

        try:
            url = f"{self.base_url}/embeddings"
            return post_json(self._open(), url, body, headers, seconds=self.timeout), "", False
        except httpx.RequestError as error:
            # The kind only: some messages of httpx quote the headers.
            absent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
            return None, f"cannot be reached ({type(error).__name__})", absent

    def _refused(self, status: int, trouble: str) -> None:
        """Raise for a status that a second try does not change."""
        if status in (401, 403):
            raise EmbedderUnavailableError(f"{self.name} {trouble}. Check ${self.api_key_env}.")
        if status == 404:
            raise EmbedderUnavailableError(f"{self.name} {trouble}. Check base_url and model.")
        if status not in _RETRIED:
            raise EmbedderError(f"{self.name} {trouble}. Check the model's options and input limit.")

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                timeout = httpx.Timeout(self.timeout, connect=min(self.timeout, CONNECT_TIMEOUT))
                self._client = httpx.Client(timeout=timeout)
            return self._client

    def _vectors(self, answer: httpx.Response, count: int) -> list[FloatArray]:
        import numpy as np

        try:
            items = sorted(answer.json()["data"], key=lambda item: item.get("index", 0))
            found = [item["embedding"] for item in items]
            vectors = [
                np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
                if isinstance(value, str)
                else np.asarray(value, np.float32).reshape(-1)
                for value in found
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EmbedderError(f"{self.name} answered no list of embeddings. Check base_url.") from error
        if len(vectors) != count:
            raise EmbedderError(
                f"{self.name} gave {len(vectors)} vectors for {count} texts. Lower batch_size."
            )
        return vectors


def _retry_after(value: str | None, wait: float) -> float:
    """Seconds to wait: what the server asks for (bounded), else `wait`."""
    if value and value.strip().isdigit():
        return min(float(value), LONGEST_RETRY_AFTER)
    return wait
