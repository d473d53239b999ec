"""A table of contents names what a document says; the passage that says it comes first."""

from __future__ import annotations

import pytest
from desk import Desk
from olav_documents.contents import is_contents, names_of

HEADINGS = names_of(["Overview", "2. Neighbour flaps", "3 Timers", "第四章 邻居抖动", "Optics"])


@pytest.mark.parametrize(
    "text",
    [
        "- [Overview](#overview)\n- [Neighbour flaps](#flaps)\n- [Timers](#t)\n- [邻居抖动](#x)",
        "Contents\n\nOverview\nNeighbour flaps\nTimers\n邻居抖动\nOptics",
        "1. Overview 3\n2. Neighbour flaps 7\n3. Timers 9\n第四章 邻居抖动 12",
        "Overview ........ 3\nAnything ....... 4\nOther things …… 5\n附录 .......... 17",
        "Overview ........ 3 Anything ....... 4 Other things ...... 5 More ...... 6",
    ],
)
def test_a_table_of_contents(text: str) -> None:
    assert is_contents(text, HEADINGS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Overview\nTimers",
        "- Overview: what it is for\n- Timers: set hold to 90\n- Optics: clean them\n- Neighbour flaps: wait",
        "- [Grafana](https://grafana.lab)\n- [Wiki](https://wiki.lab)\n- [CMDB](https://c.lab)\n- [NMS](https://n)",
        "Optics 1 is clean\nOptics 2 is dark\nOptics 3 is clean\nOptics 4 is clean",
        "R1 10.0.0.1\nR2 10.0.0.2\nR3 10.0.0.3\nR4 10.0.0.4",
        "先看接口。\n再看邻居。\n然后看日志。\n最后联系供应商。",
        "| port | vlan |\n| --- | --- |\n| 1 | 10 |\n| 2 | 20 |\n| 3 | 30 |",
    ],
)
def test_what_says_something_is_none(text: str) -> None:
    assert not is_contents(text, HEADINGS)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("邻居抖动", "先查光功率"),
        ("neighbour flaps", "look at the optics"),
        ("hold timer defaults", "ninety"),
    ],
)
def test_the_passage_comes_before_the_contents(desk: Desk, query: str, says: str) -> None:
    names = ["邻居抖动", "Neighbour flaps", "Hold timer defaults", "Area borders", "Rollback"]
    bodies = {
        "邻居抖动": "先查光功率，再查对端日志。",
        "Neighbour flaps": "First look at the optics, then at the peer's log.",
        "Hold timer defaults": "It is ninety seconds unless somebody changed it.",
    }
    filler = " It is described in full by the vendor's manual, which see." * 40
    contents = "\n".join(f"{number}. {name} {number * 3}" for number, name in enumerate(names, 1))
    sections = "\n\n".join(f"## {name}\n\n{bodies.get(name, 'Ask first.')}{filler}" for name in names)
    path = desk.write("ospf.md", f"# OSPF\n\n## Contents\n\n{contents}\n\n{sections}\n")
    desk.bring(path)
    marked = [row for row in desk.rows() if row.metadata["contents"]]
    assert [row.text.count("Rollback") for row in marked] == [1]
    found = [item for item in desk.memory.recall(query, tier="large").items if item.category == "document"]
    assert says in found[0].text
    again = desk.bring(path)
    assert (again.added, again.changed, again.embedded) == (0, 0, 0)
