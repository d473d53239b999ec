"""A chat endpoint on loopback whose answers are scripted: it shows the protocol, never quality."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Script:
    """`answers`: texts, or (status, body, headers); the last is repeated. `asked`: (path, headers, body)."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.url = ""

    @property
    def prompts(self) -> list[str]:
        return ["\n".join(m["content"] for m in body["messages"]) for _, _, body in self.asked]

    def next(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Any) -> Iterator[Script]:
    script = Script(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.asked.append((self.path, dict(self.headers), body))
            answer = script.next()
            status, raw, headers = answer if isinstance(answer, tuple) else (200, None, {})
            if raw is None:
                message = {"role": "assistant", "content": answer}
                if self.path.endswith("/api/chat"):
                    value = {"message": message, "prompt_eval_count": 11, "eval_count": 7}
                else:
                    usage = {"prompt_tokens": 11, "completion_tokens": 7}
                    value = {"choices": [{"message": message}], "usage": usage}
                raw = json.dumps(value)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
