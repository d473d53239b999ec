"""Diagrams: the source is one memory, each node is one that lists its links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk import Desk, counts

from olav_core import MemoryRecord

MERMAID = """---
title: Backbone
---
%% the core
flowchart LR
  subgraph core ["Core site"]
    R1["Border router 1"] -->|eBGP 10G| R2
    R2 -- trunk --> SW1 & SW2
  end
  SW1 --- R3((R3)); R3 -.-> R1
  R3 == "backup <b>link</b>" ==> core-sw-1
  R2 <--> R4:::hot --o R5
  R5 ~~~ R6
  style R1 fill:#f9f
  click R1 "https://example.invalid"
  e1@{ shape: rect, label: "Edge one" }
"""

DOT = """// the same network
digraph net {
  label="Backbone"; node [shape=box];
  subgraph cluster_core { label="Core site"; R1 [label="Border router 1"]; R2; }
  R1 -> R2 [label="eBGP 10G"];
  R2:p1 -> {SW1 SW2} [label=trunk];
  SW1 -> R3 [dir=both];
  "core sw 1" -> R3 [label=<backup <b>link</b>>];
}
"""

GRAPHVIZ_SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
<g id="graph0" class="graph"><title>Backbone</title>
<g id="n1" class="node"><title>R1</title>
<ellipse cx="1" cy="1" rx="5" ry="5"/><text>Border router 1</text></g>
<g id="n2" class="node"><title>R3</title>
<ellipse cx="9" cy="9" rx="5" ry="5"/><text>R3</text></g>
<g id="e1" class="edge"><title>R1&#45;&gt;R3</title><path d="M1,1C2,2 3,3 9,9"/>
<text>eBGP</text></g></g></svg>
"""

DRAWN_SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200">
<g transform="translate(10 10)"><rect x="0" y="0" width="80" height="40"/><text x="40" y="20">R1</text></g>
<rect x="200" y="10" width="80" height="40"/><text x="240" y="30"><tspan>R3</tspan></text>
<circle cx="240" cy="150" r="20"/><text x="240" y="150">SW1</text>
<line x1="92" y1="30" x2="199" y2="30" marker-end="url(#a)"/><text x="145" y="28">eBGP</text>
<path d="M 240 52 L 240 128"/>
<line x1="0" y1="199" x2="400" y2="199"/>
</svg>
"""


def nodes(desk: Desk) -> dict[str, MemoryRecord]:
    return {row.metadata["node"]: row for row in desk.rows("topology") if row.metadata["node"]}


def links(row: MemoryRecord) -> dict[str, str]:
    return dict(zip(row.metadata["links"], row.metadata["labels"], strict=True))


def test_a_mermaid_flowchart(desk: Desk) -> None:
    assert not desk.bring(desk.write("net.mmd", MERMAID)).faults
    found = nodes(desk)
    assert set(found) == {"R1", "R2", "SW1", "SW2", "R3", "core-sw-1", "R4", "R5", "R6", "e1"}
    assert links(found["R3"]) == {"SW1": "", "Border router 1": "", "core-sw-1": "backup link"}
    assert found["R1"].metadata["group"] == found["SW2"].metadata["group"] == "Core site"
    assert found["R3"].metadata["group"] == ""
    assert found["R1"].text == (
        "Backbone: Border router 1 (R1, Core site) is connected to → R2 (eBGP 10G); ← R3"
    )
    assert "↔ R4" in found["R2"].text
    assert links(found["R6"]) == {}
    assert found["e1"].metadata["label"] == "Edge one"
    (whole,) = [row for row in desk.rows("topology") if not row.metadata["node"]]
    assert whole.text == MERMAID.strip()
    assert counts(desk.bring(desk.root)) == {"unchanged": 11}


def test_a_dot_graph(desk: Desk) -> None:
    assert not desk.bring(desk.write("net.gv", DOT)).faults
    found = nodes(desk)
    assert set(found) == {"R1", "R2", "SW1", "SW2", "R3", "core sw 1"}
    assert links(found["R2"]) == {"Border router 1": "eBGP 10G", "SW1": "trunk", "SW2": "trunk"}
    assert links(found["R3"]) == {"SW1": "", "core sw 1": "backup link"}
    assert (found["R1"].metadata["title"], found["R1"].metadata["group"]) == ("Backbone", "Core site")


@pytest.mark.parametrize(("name", "source"), [("graphviz.svg", GRAPHVIZ_SVG), ("drawn.svg", DRAWN_SVG)])
def test_an_svg_by_its_marks_or_by_its_geometry(desk: Desk, name: str, source: str) -> None:
    assert not desk.bring(desk.write(name, source)).faults
    found = nodes(desk)
    first = "Border router 1" if name.startswith("graphviz") else "R1"
    assert links(found["R3"])[first] == "eBGP"
    assert f"← {first} (eBGP)" in found["R3"].text
    if name == "drawn.svg":
        assert set(found) == {"R1", "R3", "SW1"}
        assert "— SW1" in found["R3"].text
    (whole,) = [row for row in desk.rows("topology") if not row.metadata["node"]]
    assert f"{first} → R3 (eBGP)" in whole.text
    assert "<svg" not in whole.text


@pytest.mark.parametrize(
    ("name", "source", "line", "said"),
    [
        ("a.mmd", "flowchart LR\n  A --> B\n  A -->\n", 3, "the name of a node"),
        ("a.mmd", "graph TD\nA[never closed\nB\n", 2, "']' after the caption"),
        ("a.mmd", "graph TD\nA => B\n", 2, "a link such as -->"),
        ("a.mmd", "graph TD\nsubgraph x\nA\n", 4, "no 'end'"),
        ("a.mmd", "flowchrat TD\nA-->B\n", 1, "'flowchart' or 'graph'"),
        ("a.mmd", "sequenceDiagram\n A->>B: hi\n", 1, "without topology"),
        ("a.mmd", "graph TD\n", 2, "holds no node"),
        ("a.dot", "digraph {\n a -> b;\n a -> -> c\n}\n", 3, "DOT"),
        ("a.dot", "digraph {\n a -> b;\n", 0, "DOT"),
        ("a.svg", '<svg xmlns="x">\n<g>\n</svg>', 3, "mismatched tag"),
        ("a.svg", "<html/>", 1, "not <svg>"),
        ("a.svg", "<svg/>", 0, "no text"),
        (
            "a.svg",
            '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<svg><text>&b;</text></svg>',
            0,
            "entities",
        ),
    ],
)
def test_an_invalid_source_is_a_fault_with_its_line(
    desk: Desk, name: str, source: str, line: int, said: str
) -> None:
    path = desk.write(name, source)
    (fault,) = desk.bring(path).faults
    assert said in fault.message
    assert fault.line == line or (not line and name == "a.dot")
    assert not desk.rows("topology")


def test_what_a_node_is_connected_to_is_its_row_first(desk: Desk) -> None:
    for site, neighbour in (("fra", "R1"), ("muc", "R9")):
        desk.write(
            f"{site}.mmd",
            f"graph TD\n{neighbour} -->|eBGP| R3{site}\nR3{site} --- SW1{site}\nSW1{site} --- H\n",
        )
    desk.bring(desk.root)
    for query in ("what is connected to R3fra?", "R3fra 连接了哪些设备？"):
        (item,) = desk.memory.recall(query, category="topology", tier="small").items
        assert item.record.metadata["node"] == "R3fra"
        assert set(item.record.metadata["links"]) == {"R1", "SW1fra"}


def test_a_chinese_diagram_is_told_in_chinese(desk: Desk) -> None:
    desk.bring(desk.write("net.mmd", "graph TD\n核心[核心交换机] -->|万兆上联| 出口[出口路由器]\n"))
    assert nodes(desk)["出口"].text == "net：出口路由器 连接到 ← 核心交换机（万兆上联）"


def test_diagrams_in_markdown_stand_beside_its_passages(desk: Desk) -> None:
    source = (
        "# Site\n\nHow the site is wired.\n\n## Core\n\n```mermaid\ngraph TD\nR1 -->|eBGP| R3\n```\n\n"
        "## Edge\n\n```dot\ngraph { R3 -- CE1 }\n```\n\n```mermaid\nsequenceDiagram\nA->>B: hi\n```\n"
    )
    path = desk.write("site.md", source)
    assert not desk.bring(path).faults
    rows = {(row.metadata["diagram"], row.metadata["node"]) for row in desk.rows("topology")}
    assert {("Core", "R3"), ("Core", ""), ("Edge", "R3"), ("Edge", "CE1")} <= rows
    text = "\n".join(row.text for row in desk.rows())
    assert "sequenceDiagram" in text
    assert "eBGP" not in text
    # A diagram that breaks is told with its line; the text is imported, and the rows that it had stay.
    desk.write("site.md", source.replace("R1 -->|eBGP| R3", "R1 -->|eBGP|").replace("is wired", "is built"))
    (fault,) = desk.bring(path).faults
    assert (fault.line, fault.blocks) == (9, False)
    assert ("Core", "R3") in {
        (row.metadata["diagram"], row.metadata["node"]) for row in desk.rows("topology")
    }
    assert any("is built" in row.text for row in desk.rows())


def test_200_nodes_are_imported_queried_and_left_alone(desk: Desk) -> None:
    edges = [f"  R{n} -->|link {n}| R{(n * 7 + 3) % 200}" for n in range(200)]
    path = desk.write("net.mmd", "\n".join(["flowchart TD", *edges]))
    assert counts(desk.bring(path))["added"] == 201
    (item,) = desk.memory.recall("what is connected to R57?", category="topology", tier="small").items
    assert item.record.metadata["node"] == "R57"
    assert {"R2", "R122"} <= set(item.record.metadata["links"])
    assert counts(desk.bring(path)) == {"unchanged": 201}
    path.write_text(path.read_text().replace("link 57|", "link fifty-seven|"))
    report = desk.bring(path)
    assert counts(report) == {"changed": 3, "unchanged": 198, "embedded": 3}


def test_the_same_dot_with_graphviz_names_of_ports(desk: Desk) -> None:
    desk.bring(desk.write("a.dot", 'graph { "10.0.0.1":eth0:n -- R1:p; R1 -- "a:b" }'))
    assert set(nodes(desk)) == {"10.0.0.1", "R1", "a:b"}


def test_no_mermaid_source_crashes_or_hangs(desk: Desk) -> None:
    import random

    random.seed(7)
    alphabet = [
        "A",
        "B",
        "-->",
        "---",
        "-.",
        ".->",
        "==",
        "|",
        "[",
        "]",
        "((",
        "))",
        "{",
        "}",
        "&",
        ";",
        "\n",
    ]
    alphabet += ['"', "subgraph ", "end", ":::", "@{", "~~~", "%%", "x", "o", "<", ">", " ", "-- "]
    for number in range(150):
        source = "graph TD\n" + "".join(random.choice(alphabet) for _ in range(60))
        (desk.root / f"f{number}.mmd").write_text(source)
    (desk.root / "long.mmd").write_text("graph TD\nA -- " + "a-" * 50_000)
    report = desk.bring(desk.root, dry_run=True)
    assert all(fault.line for fault in report.faults)
    assert len({Path(fault.path).name for fault in report.faults}) > 50
    assert json.dumps(report.to_dict())
