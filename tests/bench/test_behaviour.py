"""`olav bench behaviour` against a loopback endpoint with scripted answers: the protocol, never quality."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from bench_suite import Run, Write

from olav_core import RecordError, build_registry

Answer = dict[str, Any]
Answering = Callable[[dict[str, Any]], Answer]


def call(name: str, **arguments: str) -> Answer:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


def says(text: str) -> Answer:
    return {"content": text}


@contextmanager
def serving(answer: Answering) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An endpoint that answers each request with the message that `answer` makes of its body."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            message = {"role": "assistant", **answer(body)}
            usage = {"prompt_tokens": 100, "completion_tokens": 10}
            raw = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SCENARIO: dict[str, Any] = {
    "id": "snapshot", "lang": "zh", "agent": "netops", "turns": ["R1 现在的状态正常吗？"],
    "tools": [{"name": "show_config"}, {"name": "take_snapshot", "description": "Take a snapshot"}],
    "results": {"take_snapshot": "全部正常"},
    "memories": [{"id": "g", "text": "R1 状态：先调用 take_snapshot", "scope": "netops"}], "needs": ["g"],
    "expect": {"tool": "take_snapshot", "args": {"device": "^R1$"}, "never_says": ["sorry"]},
}  # fmt: skip


def obedient(body: dict[str, Any]) -> Answer:
    """Calls what the block tells it to; without a block it only announces."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return says(f"结果：{last['content']}")
    return (
        call("take_snapshot", device="R1")
        if "<relevant-memories>" in last["content"]
        else says("我来看一下。")
    )


def run(olav: Run, file: Path, url: str, *words: object, code: int = 0) -> dict[str, Any]:
    where = ("--base-url", url, "--model", "scripted", "--embedder", "hashing")
    return olav("bench", "behaviour", file, *where, *words, code=code)


def test_rates_without_and_with_memory(olav: Run, write: Write, tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", [SCENARIO])
    with serving(obedient) as (url, asked):
        found = run(olav, file, url, "--runs", "2", "--output", tmp_path / "out.json")
    rates = {
        name: [arms[arm]["mean"] for arm in ("without", "with")] for name, arms in found["measures"].items()
    }
    assert rates["right_tool"] == [0.0, 1.0]
    assert rates["stalled"] == [1.0, 0.0]
    assert rates["convention_kept"] == [0.0, 1.0]
    assert rates["prompt_tokens"] == [100.0, 200.0]
    assert rates["reply_tokens"] == [10.0, 20.0]
    (told,) = found["scenarios"]
    assert [len(runs) for runs in told["arms"].values()] == [2, 2]
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == found
    assert len(asked) == 2 + 2 * 2
    assert [tool["function"]["name"] for tool in asked[0]["tools"]] == ["show_config", "take_snapshot"]
    assert asked[0]["model"] == "scripted"


def test_memory_stands_in_the_request_only_and_tool_results_go_back(
    olav: Run, write: Write, tmp_path: Path
) -> None:
    turns = {**SCENARIO, "turns": ["R1 现在的状态正常吗？", "R1 状态再看一次"]}
    with serving(obedient) as (url, asked):
        run(olav, write(tmp_path / "s.jsonl", [turns]), url, "--runs", "1")
    last = asked[-1]["messages"]
    assert [message["role"] for message in last] == [
        "system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip
    assert sum("<relevant-memories>" in str(message["content"]) for message in last) == 1
    assert last[3] == {"role": "tool", "tool_call_id": "c1", "content": "全部正常"}
    assert last[2]["tool_calls"][0]["function"]["name"] == "take_snapshot"


def test_a_model_that_calls_without_end_is_cut(olav: Run, write: Write, tmp_path: Path) -> None:
    with serving(lambda body: call("show_config", device="R1")) as (url, asked):
        found = run(olav, write(tmp_path / "s.jsonl", [SCENARIO]), url, "--runs", "1")
    assert len(asked) == 12
    assert found["measures"]["right_tool"]["with"]["mean"] == 0.0
    assert found["measures"]["stalled"]["with"]["mean"] == 0.0


@pytest.mark.parametrize(
    ("expect", "answer", "right", "kept"),
    [
        ({"no_tool": True, "says": ["change number|变更单"]}, says("变更单号是多少？"), True, True),
        ({"no_tool": True, "says": ["变更单"]}, call("show_config"), False, False),
        ({"says": ["noc-shift"]}, says("sent to NOC-shift"), None, True),
        ({"tool": "show_config", "args": {"device": "^R1$"}}, call("show_config", device="R11"), True, False),
        ({"tool": "show_config"}, call("show_config"), True, None),
    ],
)
def test_what_is_judged(
    expect: dict[str, Any], answer: Answer, right: bool | None, kept: bool | None,
    olav: Run, write: Write, tmp_path: Path,
) -> None:  # fmt: skip
    def once(body: dict[str, Any]) -> Answer:
        return says("done") if body["messages"][-1]["role"] == "tool" else answer

    with serving(once) as (url, _):
        found = run(olav, write(tmp_path / "s.jsonl", [{**SCENARIO, "expect": expect}]), url, "--runs", "1")
    judged = found["scenarios"][0]["arms"]["with"][0]
    assert (judged["right_tool"], judged["convention_kept"]) == (right, kept)


def test_arguments_that_are_no_json_break_nothing(olav: Run, write: Write, tmp_path: Path) -> None:
    def broken(body: dict[str, Any]) -> Answer:
        if body["messages"][-1]["role"] == "tool":
            return says("ok")
        answer = call("take_snapshot")
        answer["tool_calls"][0]["function"]["arguments"] = "{device: R1"
        return answer

    with serving(broken) as (url, _):
        found = run(olav, write(tmp_path / "s.jsonl", [SCENARIO]), url, "--runs", "1")
    judged = found["scenarios"][0]["arms"]["with"][0]
    assert (judged["right_tool"], judged["convention_kept"]) == (True, False)


def test_no_endpoint_is_an_error_that_says_what_to_set(olav: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = olav("bench", "behaviour", "--embedder", "hashing", code=1)
    assert "chat.base_url" in found["error"]["message"]
    monkeypatch.setenv("OLAV_CHAT_RETRIES", "0")
    gone = ("--base-url", "http://127.0.0.1:9/v1", "--model", "none", "--embedder", "hashing", "--limit", "1")
    assert olav("bench", "behaviour", *gone, code=1)["error"]["type"] == "ChatUnavailableError"


@pytest.mark.parametrize(
    ("change", "says_"),
    [
        ({"turns": []}, "'turns' needs at least one turn"),
        ({"needs": ["x"]}, "'needs' names 'x'"),
        ({"tools": ["a"]}, "'tools' is not a list of objects"),
        ({"tools": [{"description": "x"}]}, "tools[0]: there is no 'name'"),
        ({"memories": [{"id": "g", "text": ""}]}, "memories[0]: 'text' is ''"),
        ({"expect": {"tool": "reboot"}}, "expect: 'tool' is 'reboot', which is not in 'tools'"),
        ({"expect": {"says": ["("]}}, "is no regular expression"),
        ({"expect": {}}, "nothing is expected"),
    ],
)
def test_a_wrong_scenario_is_named(change: dict[str, Any], says_: str, write: Write, tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", [{**SCENARIO, **change}])
    with pytest.raises(RecordError) as caught:
        build_registry().suite("behaviour").load([file])
    assert "s.jsonl:1: " in str(caught.value)
    assert says_ in str(caught.value)


def test_the_shipped_scenarios_are_sound_and_in_both_languages(olav: Run) -> None:
    suite = build_registry().suite("behaviour").load([])
    languages = [query.lang for query in suite.queries]
    assert len(languages) >= 20
    assert min(languages.count(name) for name in ("zh", "en", "mixed")) >= 5
    assert all(query.relevant for query in suite.queries)
    (report,) = olav("bench", "run", "behaviour", "--embedder", "hashing", "--tier", "small")["runs"]
    assert report["leaks"] == 0
