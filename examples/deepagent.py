"""A deep agent with memory in the main agent and in a subagent, offline: prints what each model saw.

    python examples/deepagent.py

The main agent delegates to `netops`, which recalls netops' own memories and whose write is captured; then it
exports a report to the real disk, where the virtual file system's write tools are hidden.
Needs `pip install 'olav-core[deepagents]'`. `--embedder hashing` runs without the model.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from olav_deepagents import create_agent
from scripted_model import ScriptedModel, call
from transcript import print_calls

import olav_core
from olav_core import Memory


@tool
def push_config(device: str, line: str) -> str:
    """Push one configuration line to a device."""
    return f"{device}: commit complete"


def fill(memory: Memory) -> None:
    memory.remember("Reports about routers are exported as Markdown with H2 headings", scope="core")
    memory.remember("R1 的 loopback 是 10.255.0.1，AS 65010 的边界路由器", scope="netops")
    memory.remember(
        "After a push to a border router, wait for BGP to settle before the next push.",
        category="reflection",
        origin="agent",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="e5")
    embedder = parser.parse_args().embedder
    boss = ScriptedModel(
        script=[
            call(
                "task",
                description="Set the description of loopback0 on R1",
                subagent_type="netops",
            ),
            call("format_and_export", data={"format": "md", "text": "# R1"}, format="md", filename="r1"),
            call("format_and_export", data="## R1\n\nDescription set.", format="md", filename='"r1"'),
            "Done, the report is in r1.md.",
        ]
    )
    worker = ScriptedModel(
        script=[
            call("push_config", device="R1", line="interface lo0 description core"),
            "The description is set.",
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports"
        with olav_core.init(Path(folder) / "workspace", embedder=embedder) as memory:
            fill(memory)
            agent = create_agent(
                memory,
                boss,
                tools=[push_config],
                subagents=[
                    {
                        "name": "netops",
                        "description": "Changes network devices",
                        "system_prompt": "You change network devices.",
                        "model": worker,
                    }
                ],
                recall={"tier": "medium"},
                export_to=reports,
            )
            agent.invoke({"messages": [HumanMessage("Set R1's loopback description and export a report")]})
            print_calls("main agent", boss.seen)
            print_calls("subagent netops", worker.seen)
            memory.captures.drain()
            print()
            for event in memory.list(category="operational_event"):
                print(f"Captured for {event.scope}: {event.metadata['tool']} {event.metadata['args']}")
        for path in sorted(reports.iterdir()):
            print(f"Exported {path.name}: {path.read_text(encoding='utf-8')!r}")
        print(f"Tools that the main agent saw: {', '.join(sorted(boss.offered[0]))}")


if __name__ == "__main__":
    main()
