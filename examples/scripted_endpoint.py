"""A chat endpoint on loopback that speaks OpenAI's protocol and answers from a script: it needs no model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Endpoint:
    """`url`: the root for `chat.base_url`. `asked`: the request bodies so far."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []


@contextmanager
def scripted_endpoint(*answers: str) -> Iterator[Endpoint]:
    """Serve the answers one after the other, the last one again and again, at a free port."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            endpoint.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            text = left.pop(0) if len(left) > 1 else left[0]
            words = sum(len(message["content"].split()) for message in endpoint.asked[-1]["messages"])
            answer = {
                "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": words, "completion_tokens": len(text.split())},
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep the output of the example clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    worker = Thread(target=server.serve_forever, daemon=True)
    worker.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        worker.join()
