"""A LangChain agent with memory, offline: prints what the model saw in each call.

    python examples/langchain_agent.py

A scripted model plays two turns on one thread. Before each call the memories that matter stand beside the
query; the write of the first turn is a memory in the second; the checkpoints hold no block.
Needs `pip install 'olav-core[langchain]'`. `--embedder hashing` runs without the model.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from olav_langchain import AutoRecallMiddleware, OperationalEventCapture, memory_tools
from scripted_model import ScriptedModel, call
from transcript import print_calls

import olav_core
from olav_core import Memory

THREAD: Any = {"configurable": {"thread_id": "demo"}}


@tool
def register_service(name: str, owner: str, password: str = "") -> str:
    """Register a service in the inventory."""
    return f"registered {name} for {owner}"


def fill(memory: Memory) -> None:
    memory.remember(
        "Services are registered as <product>-<site>, owned by a team. Never put a password in the call.",
        category="usage_guide",
        scope="services",
        origin="directive",
        metadata={
            "intent": "register_service_convention",
            "agent": "services",
            "keywords": ["register", "service", "注册"],
        },
    )
    memory.remember("The Amsterdam site is called ams", scope="services")
    memory.remember("Invoices of tenant acme are numbered AC-1000 and up", scope="billing")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="e5")
    embedder = parser.parse_args().embedder
    model = ScriptedModel(
        script=[
            call("register_service", name="grafana-ams", owner="noc", password="hunter2-XyZ9"),
            "grafana-ams is registered for noc.",
            call("olav_recall_memory", query="name of the Amsterdam site"),
            "I registered grafana-ams for the team noc.",
        ]
    )
    with tempfile.TemporaryDirectory() as folder, olav_core.init(Path(folder), embedder=embedder) as memory:
        fill(memory)
        saver = InMemorySaver()
        agent = create_agent(
            model,
            tools=[register_service],
            middleware=[
                AutoRecallMiddleware(
                    memory, agent="services", tier="medium", tools=memory_tools(memory, agent="services")
                ),
                OperationalEventCapture(memory, agent="services"),
            ],
            checkpointer=saver,
        )
        for question in ("Please register Grafana in Amsterdam as a service", "我们注册了哪个 grafana 服务?"):
            agent.invoke({"messages": [HumanMessage(question)]}, THREAD)
            memory.captures.drain()  # the background does this within a second
        print_calls("model", model.seen)
        held = "<relevant-memories>" in repr([saved.checkpoint for saved in saver.list(THREAD)])
        print(f"\nInjected blocks in the checkpoints: {'some' if held else 'none'}")
        for event in memory.list(category="operational_event"):
            print(f"Captured: {event.text}")


if __name__ == "__main__":
    main()
