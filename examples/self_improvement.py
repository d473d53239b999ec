"""A memory that grows, offline, step by step: from events, a failure, a conversation, documents.

    python examples/self_improvement.py

The chat model is a real HTTP endpoint on loopback with scripted answers. `--embedder hashing` runs without
the embedding model; distances mean nothing then, so what is recalled and what is not holds for e5 only.
Needs `pip install 'olav-core[documents]'`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec

from handbook import NODES, PAGES, write_handbook, write_network
from olav_learn import calls_of, learn_patterns, learn_reflections
from scripted_endpoint import scripted_endpoint

import olav_core
from olav_core import Chat, ChatSettings, Confirmation, Drafts, ImportReport, Memory, import_directory

SERVICES = ("billing", "search", "mail", "ledger", "report", "invoice")
CONVENTIONS = """<think>Six registrations, all alike.</think>
Here is what they share:
- Name services svc-<name>-<site>.
- Take the address from 10.20.0.0/16.
- Ports are 8001 to 8006, one per service.
- Set auth to oauth2.
"""
MISTAKE = "push the config of vlan 20 to core-sw-2"
OTHER_TASKS = (
    "register a new service called payments",
    "show the BGP neighbours of br-12",
    "take a snapshot of the lab",
    "本周的值班表在哪里？",
)
RULE = "VLAN 名称一律大写，例如 USERS_MUC"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="e5")
    embedder = parser.parse_args().embedder
    if not find_spec("pypdf"):
        sys.exit("Part 4 reads a PDF. Install what that needs: pip install 'olav-core[documents]'")
    with (
        tempfile.TemporaryDirectory(prefix="olav-example-") as folder,
        olav_core.init(folder, embedder=embedder) as memory,
    ):
        from_events(memory)
        from_a_failure(memory)
        from_a_conversation(memory)
        from_documents(memory)


def from_events(memory: Memory) -> None:
    print("== 1. Six registrations become conventions ==")
    for n, name in enumerate(SERVICES, start=1):
        memory.capture(
            tool="register_service",
            args={
                "name": f"svc-{name}-muc",
                "address": f"10.20.{n}.1{n}",
                "port": 8000 + n,
                "auth": "oauth2",
            },
            result={"ok": True},
            agent="services",
        )
    memory.captures.drain()
    with scripted_endpoint(CONVENTIONS) as endpoint:
        with Chat(ChatSettings(base_url=endpoint.url, model="scripted")) as chat:
            (learnt,) = learn_patterns(memory, chat).items
            again = learn_patterns(memory, chat).items[0].outcome
        print(f"chat calls: {len(endpoint.asked)} · {learnt.outcome}, the second time {again}")
    print(learnt.text)
    for query in ("register a new service called payments", "注册一个新服务 payments"):
        first = memory.recall(query, agent="services", tier="small").items[0]
        print(f"{query!r} -> first: {first.category}, the pattern: {first.id == learnt.id}")


def from_a_failure(memory: Memory) -> None:
    print("\n== 2. A failed run becomes a lesson ==")
    state = {
        "thread_id": "t1",
        "messages": [
            {"type": "human", "content": MISTAKE},
            *called("c1", {"device": "core-sw-2", "mode": "exec"}, "configuration mode is required", "error"),
            *called("c2", {"device": "core-sw-2", "mode": "config"}, "commit complete", "success"),
        ],
    }
    (lesson,) = learn_reflections(memory, calls_of(memory, state)).items
    print(f"{lesson.outcome}: {lesson.text}")
    print(f"{MISTAKE!r} -> {injected(memory, MISTAKE)} lesson(s)")
    for task in OTHER_TASKS:
        print(f"{task!r} -> {injected(memory, task)} lesson(s)")
    if memory.scale is None:
        print(f"({memory.embedder.id} has no measured scale, so the gate keeps every lesson out; take e5)")


def from_a_conversation(memory: Memory) -> None:
    print("\n== 3. A person says remember, and confirms ==")
    drafts = Drafts(memory)
    proposal = drafts.propose(
        intent="vlan_names", keywords=["vlan", "命名"], body=RULE, agent="netops", turn="turn 1"
    )
    print(f"user: remember: {RULE}\nagent shows:\n{proposal.preview}{proposal.question}")
    print(f"rows before the answer: {len(memory.list(category='usage_guide'))}")
    word = Confirmation(text="可以", turn="turn 2")
    done = drafts.commit(proposal.intent, confirmation=word, hash=proposal.hash)
    print(f"user: 可以 -> {done.path}")
    root = str(memory.workspace.root)
    program = "from olav_core.cli.main import main; main()"
    ask = ["recall", "新的 VLAN 应该怎么命名？", "--agent", "netops", "--json"]
    command = [sys.executable, "-c", program, "-w", root, *ask]
    found = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    first = json.loads(found.stdout)["items"][0]
    print(f"another process recalls: {first['text']}")


def from_documents(memory: Memory) -> None:
    print("\n== 4. A handbook and a network plan ==")
    folder = memory.workspace.root / "netops" / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    write_handbook(folder / "handbook.pdf")
    write_network(folder / "network.mmd")
    print(f"{PAGES} pages, {NODES} devices")
    for name in ("imported", "imported again, unchanged"):
        report = import_directory(memory, folder, scope="netops", workspace=memory.workspace.root)
        print(f"{name}: {told(report)}")
    for query in ("When is maintenance at site 37?", "What is sw-4-7 connected to?"):
        item = memory.recall(query, agent="netops", tier="large", limit=1).items[0]
        place = f"page {item.record.metadata['page']}, " if item.record.metadata.get("page") else ""
        print(f"{query!r} -> {item.category}, {place}{' '.join(item.text.split())[:150]}")


def called(id: str, args: dict[str, str], answer: str, status: str) -> list[dict[str, object]]:
    """The two messages of a tool call, as LangGraph keeps them in an agent's state."""
    return [
        {"type": "ai", "content": "", "tool_calls": [{"name": "push_config", "args": args, "id": id}]},
        {"type": "tool", "tool_call_id": id, "content": answer, "status": status},
    ]


def injected(memory: Memory, query: str) -> int:
    found = memory.recall(query, agent="netops", tier="large")
    return sum(item.category == "reflection" for item in found.items)


def told(report: ImportReport) -> str:
    report.raise_for_faults()
    return f"{report.added} memories added, {report.unchanged} unchanged, {report.embedded} embedded"


if __name__ == "__main__":
    main()
