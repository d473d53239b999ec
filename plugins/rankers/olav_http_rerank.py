"""Reranker `http_rerank`: an endpoint `/rerank`, as Cohere, Jina, vLLM, llama.cpp and TEI have it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from olav_core import ConfigError, OlavError, RankerSpec, hookimpl, post_json, quoted

if TYPE_CHECKING:
    import httpx

    from olav_core import Candidate, Options, Query

#: Seconds without an answer: a recall stands before every call of the agent's model.
TIMEOUT = 2.0
#: Characters of a memory that are sent.
MAX_CHARS = 8_000


class HttpRerank:
    """Options: `url`, the whole address (`http://127.0.0.1:8080/rerank`); `model`, where the endpoint serves
    several; `shape`, `documents` (default) or `texts` for text-embeddings-inference; `api_key_env`, the
    variable that holds the key; `timeout`, the seconds for the whole request.

    Whatever goes wrong is an error that leaves the recall in the order it had.
    """

    def __init__(self, options: Options) -> None:
        url = options.get("url")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise ConfigError(
                "ranker 'http_rerank' needs `recall.ranker_options.http_rerank.url`, such as "
                "http://127.0.0.1:8080/rerank."
            )
        self.url, self.model = url, options.get("model")
        self.shown_url = re.sub(r"//[^/@]*@", "//", url)  # no password in a message
        self.shape = options.get("shape", "documents")
        if self.shape not in ("documents", "texts"):
            raise ConfigError(f"ranker 'http_rerank': shape is {self.shape!r}. Use documents or texts.")
        self.key_variable = options.get("api_key_env")
        self.timeout = float(options.get("timeout", TIMEOUT))
        self._lock = threading.Lock()
        self._opened: tuple[int, httpx.Client] | None = None

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> list[float]:
        import httpx

        if not candidates:
            return []
        texts = [candidate.record.search_text[:MAX_CHARS] for candidate in candidates]
        body: dict[str, Any] = {"query": query.text[:MAX_CHARS], self.shape: texts}
        if self.shape == "documents":
            body["top_n"] = len(texts)
        if self.model:
            body["model"] = self.model
        try:
            headers = self._headers()
            reply = post_json(self._client(), self.url, body, headers, seconds=self.timeout)
        except httpx.HTTPError as error:
            raise OlavError(
                f"{self.shown_url} did not rerank within {self.timeout:g} s ({type(error).__name__}). Start "
                "it, or take http_rerank out of recall.rankers."
            ) from None
        if reply.status_code != 200:
            raise OlavError(f"{self.shown_url} answered {reply.status_code}: {quoted(reply, self._key())}")
        return _scores(reply, len(texts), self.shown_url)

    def _headers(self) -> Mapping[str, str]:
        if not self.key_variable:
            return {}
        key = self._key()
        if not key:
            raise OlavError(
                f"{self.key_variable} is not set; it holds the key for {self.shown_url}. Export it."
            )
        return {"Authorization": f"Bearer {key}"}

    def _key(self) -> str:
        return os.environ.get(str(self.key_variable), "") if self.key_variable else ""

    def _client(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), httpx.Client(timeout=self.timeout)
            return self._opened[1]


def _scores(reply: httpx.Response, count: int, url: str) -> list[float]:
    """Return the scores by index, of `{"results": [{"index", "relevance_score"}]}` or of TEI's plain list."""
    try:
        answer = reply.json()
        rows = answer["results"] if isinstance(answer, dict) else answer
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
        return [found[index] for index in range(count)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OlavError(
            f"{url} gave no score for each of {count} texts ({type(error).__name__}: {error}). "
            "It must answer as /rerank of Cohere, Jina, llama.cpp or TEI does; for TEI set `shape: texts`."
        ) from error


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="http_rerank",
            stage="rerank",
            purpose="An endpoint /rerank orders the best candidates",
            factory=HttpRerank,
            priority=60,
        )
    ]
