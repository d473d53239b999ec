"""`http_rerank` against a real server on the loopback: each shape, each way it can fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import olav_http_rerank
import pytest

from olav_core import ConfigError, OlavError
from olav_core.config import DEFAULT_RANKERS
from olav_core.testing import make_candidate, make_query, open_workspace

Answer = Callable[[dict[str, Any]], Any]


class Server:
    """Answers with what `answer` makes of a request's body, and remembers bodies and keys."""

    def __init__(self) -> None:
        self.answer: Answer = cohere
        self.status = 200
        self.drips = False
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.go = Event()
        self.go.set()
        outer = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.bodies.append(body)
                outer.keys.append(self.headers.get("authorization"))
                outer.go.wait(20)
                answer = outer.answer(body)
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                try:
                    self.send_response(outer.status)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    for _ in range(400 if outer.drips else 0):
                        self.wfile.write(b" ")
                        time.sleep(0.05)
                    self.wfile.write(content)
                except OSError:
                    pass  # who asked has gone

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/rerank"


def worth(text: str) -> float:
    return float(text.count("路由器") + text.count("router"))


def cohere(body: dict[str, Any]) -> Any:
    rows = [{"index": i, "relevance_score": worth(text)} for i, text in enumerate(body["documents"])]
    return {"results": sorted(rows, key=lambda row: -row["relevance_score"])}


def tei(body: dict[str, Any]) -> Any:
    return [{"index": i, "score": worth(text)} for i, text in enumerate(body["texts"])]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    Thread(target=server.http.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.go.set()
    server.http.shutdown()
    server.http.server_close()


CANDIDATES = [make_candidate(text) for text in ("a cake", "router router", "路由器")]


def rerank(server: Server, **options: Any) -> list[float]:
    return olav_http_rerank.HttpRerank({"url": server.url, **options}).rerank(
        make_query("哪个 router"), CANDIDATES
    )


def test_scores_come_back_in_the_candidates_order(server: Server) -> None:
    assert rerank(server, model="jina-m0") == [0.0, 2.0, 1.0]
    (body,) = server.bodies
    assert body == {
        "query": "哪个 router",
        "documents": ["a cake", "router router", "路由器"],
        "top_n": 3,
        "model": "jina-m0",
    }
    assert server.keys == [None]


def test_text_embeddings_inference_has_its_own_shape(server: Server) -> None:
    server.answer = tei
    assert rerank(server, shape="texts") == [0.0, 2.0, 1.0]
    assert set(server.bodies[0]) == {"query", "texts"}


def test_the_key_comes_from_the_environment_and_is_in_no_message(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OlavError, match="HOUSE_KEY is not set"):
        rerank(server, api_key_env="HOUSE_KEY")
    monkeypatch.setenv("HOUSE_KEY", "very-secret-value")
    assert rerank(server, api_key_env="HOUSE_KEY")
    assert server.keys == ["Bearer very-secret-value"]
    server.status = 401
    with pytest.raises(OlavError) as caught:
        rerank(server, api_key_env="HOUSE_KEY")
    assert "401" in str(caught.value)
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        {"results": []},
        {"results": [{"index": 0}]},
        {"error": "x"},
        [],
        7,
        {"results": [{"index": 9}]},
    ],
)
def test_an_answer_without_a_score_for_each_is_an_error(server: Server, answer: Any) -> None:
    server.answer = lambda body: answer
    with pytest.raises(OlavError, match="no score for each of 3"):
        rerank(server)


def test_a_server_that_does_not_answer_degrades_the_recall_and_keeps_the_order(
    server: Server, tmp_path: Path
) -> None:
    server.go.clear()
    options = {"http_rerank": {"url": server.url, "timeout": 0.2}}
    config = {"recall": {"rankers": [*DEFAULT_RANKERS, "http_rerank"], "ranker_options": options}}
    with open_workspace(tmp_path / "space", config=config) as memory:
        memory.remember("the router in Shanghai")
        memory.remember("the cake in the canteen, says the router")
        recall = memory.recall("router in Shanghai", tier="large")
        assert recall.items[0].text == "the router in Shanghai"
        assert len(recall.degraded) == 1
        assert "did not rerank within 0.2 s" in recall.degraded[0]
        server.go.set()
        server.answer = lambda body: {
            "results": [
                {"index": i, "relevance_score": float("cake" in text)}
                for i, text in enumerate(body["documents"])
            ]
        }
        again = memory.recall("router in Shanghai", tier="large")
        assert again.degraded == ()
        assert "cake" in again.items[0].text


def test_an_answer_that_drips_has_one_time_for_all_of_it(server: Server) -> None:
    server.drips = True
    began = time.monotonic()
    with pytest.raises(OlavError, match=r"did not rerank within 0\.3 s"):
        rerank(server, timeout=0.3)
    assert time.monotonic() - began < 3


def test_what_a_server_says_is_quoted_without_secrets(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", "very plain key")
    server.status = 500
    server.answer = lambda body: b"upstream: password=Hunter2Hunter2! for very plain key"
    with pytest.raises(OlavError, match="answered 500: upstream") as caught:
        rerank(server, api_key_env="HOUSE_KEY")
    assert "Hunter2" not in str(caught.value)
    assert "very plain key" not in str(caught.value)


def test_a_server_that_is_away_is_an_error_without_the_password() -> None:
    ranker = olav_http_rerank.HttpRerank({"url": "http://user:hunter2@127.0.0.1:1/rerank", "timeout": 1})
    with pytest.raises(OlavError) as caught:
        ranker.rerank(make_query("x"), CANDIDATES)
    assert "127.0.0.1:1" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert ranker.rerank(make_query("x"), []) == []


@pytest.mark.parametrize("options", [{}, {"url": "ftp://x"}, {"url": "http://x", "shape": "cohere"}])
def test_wrong_options_are_told_when_the_chain_is_built(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        olav_http_rerank.HttpRerank(options)
