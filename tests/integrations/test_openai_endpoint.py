"""An agent on a real OpenAI-style HTTP server: what goes over the wire has one block, once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture

from olav_core import Memory


class Endpoint(ThreadingHTTPServer):
    """Answers chat completions: first a tool call, then text; `asked` holds the requests."""

    asked: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(request)
        message: dict[str, Any] = {"role": "assistant", "content": "Registered."}
        if request["messages"][-1]["role"] == "user":
            function = {"name": "register_service", "arguments": '{"name": "grafana-ams"}'}
            wanted = [{"id": f"call_{len(server.asked)}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": wanted}
        body = json.dumps(
            {
                "id": "1", "object": "chat.completion", "created": 1, "model": request["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint(("127.0.0.1", 0), Handler)
    server.asked = []
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@tool
def register_service(name: str) -> str:
    """Register a service."""
    return f"registered {name}"


def test_the_block_goes_over_the_wire_once_and_the_write_is_captured(
    memory: Memory, endpoint: Endpoint
) -> None:
    url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    model = ChatOpenAI(model="qwen3-8b", base_url=url, api_key="none", max_retries=0)
    middleware = [
        AutoRecallMiddleware(memory, agent="netops"),
        OperationalEventCapture(memory, agent="netops"),
    ]
    agent = create_agent(model, tools=[register_service], middleware=middleware)
    (first, *_) = agent.stream(
        {"messages": [HumanMessage("How do we name a service that we register?")]}, stream_mode="custom"
    )
    assert first["tier"] == "small"  # read from the model's name
    assert len(endpoint.asked) == 2
    for request in endpoint.asked:
        assert json.dumps(request["messages"]).count("<relevant-memories>") == 1
        (user,) = [message for message in request["messages"] if message["role"] == "user"]
        assert "grafana-&lt;site>" in user["content"]
    memory.captures.drain()
    (event,) = memory.list(category="operational_event")
    assert event.metadata["args"] == {"name": "grafana-ams"}
