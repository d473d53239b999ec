"""A request to somebody else's server: one time for all of it, and its words without secrets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from olav_core.errors import PluginError
from olav_core.host.registry import Registry, build_registry

if TYPE_CHECKING:
    import httpx

#: Characters of a server's words that a message quotes.
QUOTED: Final = 300


def post_json(
    client: httpx.Client, url: str, body: Mapping[str, Any], headers: Mapping[str, str], *, seconds: float
) -> httpx.Response:
    """Post `body` and return the whole answer. httpx's own timeouts are for a read; `seconds` is for all.

    Raises what httpx raises, ReadTimeout too when the answer has not ended by then.
    """
    import httpx

    end = time.monotonic() + seconds
    done: list[httpx.Response | BaseException] = []

    def read() -> httpx.Response:
        with client.stream("POST", url, json=body, headers=headers) as answer:
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("the answer goes on and on", request=answer.request)
        named = {
            name: answer.headers[name] for name in ("content-type", "retry-after") if name in answer.headers
        }
        return httpx.Response(answer.status_code, headers=named, content=bytes(content))

    def work() -> None:
        try:
            done.append(read())
        except BaseException as error:
            done.append(error)

    # A daemon: headers that drip are left behind, and hold up neither the caller nor the exit.
    worker = Thread(target=work, name="olav-http", daemon=True)
    worker.start()
    worker.join(seconds)
    result = done[0] if done else httpx.ReadTimeout(f"no answer within {seconds:g} s")
    if isinstance(result, BaseException):
        raise result
    return result


def quoted(answer: httpx.Response, key: str = "") -> str:
    """Return what a server said, in a line that a message may hold: without `key` and any secret."""
    said = " ".join(answer.text.split()) or answer.reason_phrase
    said = said.replace(key, "***") if key else said
    try:
        return str(_registry().redact(said)[0])[:QUOTED]
    except PluginError:
        return "(held back: a redactor failed)"


@lru_cache(maxsize=1)
def _registry() -> Registry:
    return build_registry()
