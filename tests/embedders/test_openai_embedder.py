from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import olav_openai
import pytest

from olav_core import ConfigError, EmbedderError, EmbedderUnavailableError

KEY = "sk-very-secret-0123456789"
Answer = tuple[int, dict[str, str], bytes]


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("a")), 1.0]


def normal(body: dict[str, Any]) -> Answer:
    data = [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
    return 200, {}, json.dumps({"object": "list", "data": data[::-1]}).encode()


class Server:
    """A loopback endpoint: answers with the queued answers first, then normally."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.queue: list[Answer | Callable[[dict[str, Any]], Answer]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                outer.headers.append({"path": self.path, **{k.lower(): v for k, v in self.headers.items()}})
                step = outer.queue.pop(0) if outer.queue else normal
                status, headers, content = step(body) if callable(step) else step
                self.send_response(status)
                for name, value in {"content-length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                with suppress(BrokenPipeError, ConnectionResetError):  # a client that timed out is gone
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


def make(server: Server, **options: object) -> Any:
    return olav_openai.make({"base_url": server.url, "model": "house-embed", **options})


def unit(values: list[float]) -> np.ndarray:
    return np.array(values) / np.linalg.norm(values)


def test_the_index_orders_the_vectors_and_batches_are_bounded(server: Server) -> None:
    texts = ["a" * i for i in range(1, 8)]
    vectors = make(server, batch_size=3, dimensions=3, passage_prefix="p: ").embed_passages(texts)
    np.testing.assert_allclose(vectors, [unit(vector("p: " + text)) for text in texts], rtol=1e-5)
    assert [len(request["input"]) for request in server.requests] == [3, 3, 1]
    assert server.requests[0]["model"] == "house-embed"
    assert server.requests[0]["dimensions"] == 3
    assert server.headers[0]["path"] == "/v1/embeddings"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_base64_vectors_are_read_too(server: Server) -> None:
    raw = base64.b64encode(np.array([3, 0, 4], "<f4").tobytes()).decode()
    server.queue.append((200, {}, json.dumps({"data": [{"embedding": raw}]}).encode()))
    np.testing.assert_allclose(make(server).embed_queries(["x"]), [[0.6, 0, 0.8]], rtol=1e-6)


def test_no_key_no_header(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    make(server).embed_queries(["x"])
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_and_gets_its_pause(server: Server, status: int) -> None:
    server.queue += [(status, {"retry-after": "0"}, b"busy")] * 2
    assert make(server).embed_queries(["x"]).shape == (1, 3)
    assert len(server.requests) == 3


def test_retries_are_bounded(server: Server) -> None:
    server.queue += [(503, {"retry-after": "0"}, b"busy")] * 9
    with pytest.raises(EmbedderUnavailableError, match=r"503: busy; tried 3 times"):
        make(server, retries=2).embed_queries(["x"])
    assert len(server.requests) == 3


def test_a_timeout_is_unavailable(server: Server) -> None:
    release = threading.Event()

    def stall(body: dict[str, Any]) -> Answer:
        release.wait(30)
        return normal(body)

    server.queue.append(stall)
    try:
        with pytest.raises(EmbedderUnavailableError, match="ReadTimeout"):
            make(server, timeout=0.05, retries=0).embed_queries(["x"])
    finally:
        release.set()


def test_nobody_listening_is_unavailable_and_names_the_address(server: Server) -> None:
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(EmbedderUnavailableError, match=r"house-embed at http://127.*cannot be reached"):
        make(server).embed_queries(["x"])


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (401, EmbedderUnavailableError, r"\$OPENAI_API_KEY"),
        (404, EmbedderUnavailableError, "base_url and model"),
        (400, EmbedderError, "input limit"),
    ],
)
def test_refusals_are_not_repeated_and_never_show_the_key(
    server: Server, status: int, error: type[Exception], hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.queue.append((status, {}, f"Incorrect API key provided: {KEY}".encode()))
    with pytest.raises(error, match=hint) as caught:
        make(server).embed_queries(["x"])
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text
    assert len(server.requests) == 1


def test_a_key_that_fits_no_header_is_not_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX-Evil: 1")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        make(server).embed_queries(["x"])
    assert KEY not in str(caught.value)
    assert not server.requests


def test_a_password_in_the_url_stays_out_of_identity_and_messages(server: Server) -> None:
    url = server.url.replace("//", "//user:hunter2@")
    server.queue.append((404, {}, b"no"))
    embedder = olav_openai.make({"base_url": url, "model": "m"})
    assert "hunter2" not in repr(embedder.identity)
    with pytest.raises(EmbedderUnavailableError) as caught:
        embedder.embed_queries(["x"])
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": [{}]}',
        b'{"data": [{"embedding": "?"}]}',
        b'{"data": []}',
        b'{"data": 3}',
    ],
)
def test_an_answer_that_is_no_list_of_embeddings_is_an_error(server: Server, content: bytes) -> None:
    server.queue.append((200, {}, content))
    with pytest.raises(EmbedderError, match="house-embed"):
        make(server).embed_queries(["x"])


@pytest.mark.parametrize(("text", "most"), [("配" * 250, 100), ("word " * 160, 300)])
def test_long_texts_are_cut_by_characters_and_averaged(server: Server, text: str, most: int) -> None:
    vectors = make(server, max_tokens=100, batch_size=2).embed_passages(["short", text])
    assert vectors.shape == (2, 3)
    sent = [part for request in server.requests for part in request["input"]]
    assert sent[0] == "short"
    assert "".join(sent[1:]) == text
    assert max(len(part) for part in sent) <= most
    mean = np.mean([unit(vector(part)) for part in sent[1:]], axis=0)
    np.testing.assert_allclose(vectors[1], unit(mean), rtol=1e-5)


def test_options_are_checked() -> None:
    with pytest.raises(ConfigError, match="base_url and model"):
        olav_openai.make({})
    with pytest.raises(ConfigError, match="http"):
        olav_openai.make({"base_url": "ftp://x", "model": "m"})
    with pytest.raises(ConfigError, match="batch_size"):
        olav_openai.make({"base_url": "http://x", "model": "m", "batch_size": 0})
