"""What the LangChain middleware adds: per model call, per captured event, and in tokens over ten turns.

    python benchmarks/bench_middleware.py --rows 10000 --embedder hashing

The hooks are called as the agent calls them, with a handler that does nothing, so what is measured is what
they add. `new_query` includes the embedding; `same_query` is every further call of a tool loop, `async` the
other hook. Embedder `hashing` at 384 dimensions shows what is beyond the model, `--embedder e5` all of it.
The turns run in a real agent with a checkpointer and a scripted model.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from environment import save
from generator import drafts, queries
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture

import olav_core

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from scripted_model import ScriptedModel

DIMENSION = 384
WARM = 20
TURNS = 10
BATCH, BATCHES = 31, 20  # 32 would seal the segment and wake the background
ANSWER = ModelResponse(result=[AIMessage("ok")])


def percentiles(seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(np.array(seconds) * 1e3, [50, 95])
    return {"p50_ms": round(float(p50), 3), "p95_ms": round(float(p95), 3)}


def timed(calls: list[Callable[[], Any]]) -> dict[str, float]:
    taken = []
    for call in calls:
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return percentiles(taken)


def request(model: Any, query: str) -> ModelRequest[Any]:
    return ModelRequest(model=model, messages=[HumanMessage(query)])


def model_calls(memory: Any, asked: list[str], tier: str) -> dict[str, Any]:
    model = ScriptedModel()
    recall = AutoRecallMiddleware(memory, agent="netops", tier=tier)

    async def answer(_: Any) -> ModelResponse[Any]:
        return ANSWER

    def call(query: str) -> Callable[[], Any]:
        return lambda: recall.wrap_model_call(request(model, query), lambda _: ANSWER)

    async def each() -> dict[str, float]:
        taken = []
        for query in asked[WARM:]:
            began = time.perf_counter()
            await recall.awrap_model_call(request(model, query), answer)
            taken.append(time.perf_counter() - began)
        return percentiles(taken)

    timed([call(query) for query in asked[:WARM]])
    figures = {
        "new_query": timed([call(query) for query in asked[WARM:]]),
        "same_query": timed([call(asked[-1])] * len(asked)),
        "async_seen_queries": asyncio.run(each()),
    }
    assert recall.failures == 0, recall.last_error
    return figures


def captured_events(memory: Any, count: int) -> dict[str, Any]:
    capture = OperationalEventCapture(memory, agent="netops")

    def call(number: int) -> Callable[[], Any]:
        args = {"device": f"R{number}", "line": f"interface lo{number} description core", "dry_run": False}
        wanted = {"name": "push_config", "args": args, "id": f"call_{number}", "type": "tool_call"}
        done = ToolMessage(f"R{number}: commit complete", tool_call_id=f"call_{number}")
        asked = ToolCallRequest(tool_call=wanted, tool=None, state={}, runtime=None)  # type: ignore[arg-type]
        return lambda: capture.wrap_tool_call(asked, lambda _: done)

    timed([call(-number) for number in range(1, WARM)])
    figures: dict[str, Any] = {"acknowledged": timed([call(number) for number in range(count)])}
    assert capture.failures == 0, capture.last_error
    memory.captures.drain()
    return figures | {"stored": stored_events(memory, capture)}


def stored_events(memory: Any, capture: Any) -> dict[str, Any]:
    """Milliseconds per event of batches of BATCH new events, the embedding included and its share apart."""
    embedder, embedded = memory.embedder, [0.0]
    plain = embedder.passages_each

    def passages_each(texts: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = plain(texts, **options)
        embedded[0] += time.perf_counter() - began
        return result

    embedder.passages_each = passages_each
    each, shares = [], []
    for batch in range(BATCHES):
        for number in range(BATCH):
            name = f"B{batch}-{number}"
            memory.capture(
                tool="push_config",
                args={"device": name, "line": f"interface lo{number} description core", "dry_run": False},
                result=f"{name}: commit complete",
                agent="netops",
            )
        embedded[0], began = 0.0, time.perf_counter()
        report = memory.captures.drain()
        taken = time.perf_counter() - began
        if report.stored == BATCH:  # else the background was there first
            each.append(taken / BATCH)
            shares.append(embedded[0] / BATCH)
    del embedder.passages_each
    return {"batch": BATCH, "batches": len(each), **percentiles(each), "of_it_embedding": percentiles(shares)}


def tokens_per_turn(memory: Any, asked: list[str]) -> dict[str, Any]:
    """Tokens of the block in each of ten turns of one thread, and the blocks that each call saw."""
    model = ScriptedModel()
    recall = AutoRecallMiddleware(memory, agent="netops", tier="large")
    agent = create_agent(model, middleware=[recall], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "bench"}}
    tokens = []
    for query in [asked[0]] * TURNS:
        events = agent.stream({"messages": [HumanMessage(query)]}, config, stream_mode="custom")
        tokens += [event["tokens"] for event in events]
    blocks = ["\n".join(str(m.content) for m in seen).count("<relevant-memories>") for seen in model.seen]
    return {"tokens_of_the_block": tokens, "blocks_in_the_call": blocks}


def measure(folder: Path, rows: int, count: int, embedder: str) -> dict[str, Any]:
    options = {"dimension": DIMENSION} if embedder == "hashing" else {}
    half = count + WARM
    asked = queries(2 * half)
    own = {"small": asked[:half], "large": asked[half:]}  # none is in the cache of the other's run
    with olav_core.init(folder, embedder=embedder, options=options) as memory:
        memory.remember_many(drafts(rows))
        memory.recall("build the index", agent="netops")
        memory.optimize()
    with olav_core.open(folder) as memory:
        return {
            "rows": rows,
            "model_call": {tier: model_calls(memory, some, tier) for tier, some in own.items()},
            "ten_turns": tokens_per_turn(memory, asked),
            "captured_event": captured_events(memory, count),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--embedder", default="hashing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.rows, arguments.calls, arguments.embedder)
    print(figures)
    suffix = "" if arguments.embedder == "hashing" else f"-{arguments.embedder}"
    configuration = {"embedder": arguments.embedder, "calls": arguments.calls, "agent": "netops"}
    print(save(f"middleware{suffix}", configuration, figures))


if __name__ == "__main__":
    main()
