"""The example distribution, installed by pip into a clean environment, used there, and uninstalled again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from clean_environment import CleanEnvironment

EXAMPLE = Path(__file__).parents[2] / "examples" / "olav-ticket"

FILL = """
import olav_core, sys
with olav_core.init(sys.argv[1], embedder="hashing") as memory:
    report = olav_core.import_directory(memory, sys.argv[2])
    assert report.added == 3 and not report.faults, report
    memory.remember("The mail queue of the relay is watched by Nagios")
"""

LOOK = """
import json, olav_core, sys
with olav_core.open(sys.argv[1]) as memory:
    recall = memory.recall("the mail queue grows and the log says E-1203", tier="large")
    captured = memory.captures.is_write("helpdesk.triage_ticket")
    print(json.dumps({
        "block": recall.block,
        "categories": [item.category for item in recall.items],
        "trace": [f"{t.category} {t.decision} {t.reason}" for t in recall.trace],
        "degraded": recall.degraded,
        "verb": captured.reason,
        "rows": len(memory.list(category="ticket")),
        "orphans": memory.status()["orphans"],
    }))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    folder = tmp_path_factory.mktemp("example")
    # Built from a copy: a build leaves nothing in the checkout.
    shutil.copytree(EXAMPLE, folder / "olav-ticket", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    made = CleanEnvironment(folder / "venv")
    made.install(folder / "olav-ticket")
    return made


def test_it_is_used_under_its_own_rules_and_its_rows_outlive_it(
    environment: CleanEnvironment, tmp_path: Path
) -> None:
    project = environment.folder.parent / "olav-ticket"

    tested = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", project / "tests")
    assert "passed" in tested

    plugins = json.loads(environment.olav("plugins", "--json"))
    mine = {p["name"]: p for p in plugins["plugins"] if p["distribution"] == "olav-ticket"}
    assert set(mine) == {"ticket", "ticket_state", "ticket_files", "ticket_verbs", "ticket_customers"}
    assert {(p["state"], p["version"]) for p in mine.values()} == {("loaded", "1.0.0")}
    assert not plugins["faults"]

    workspace = tmp_path / "shop"
    environment.run("-c", FILL, workspace, project / "tickets")
    seen = look(environment, workspace)
    assert seen["categories"][0] == "ticket"
    assert "[T-101 MailRelay]" in seen["block"]
    assert "CUST-204871" not in json.dumps(seen)
    assert "ticket gate ticket_state: state is open" in seen["trace"]
    assert "ticket_verbs reads 'triage' in its name" in seen["verb"]
    assert (seen["rows"], seen["orphans"], seen["degraded"]) == (3, {}, [])

    environment.uninstall("olav-ticket")
    seen = look(environment, workspace)
    assert (seen["rows"], seen["orphans"]) == (3, {"ticket": 3})
    assert "ticket" not in seen["categories"]
    assert seen["categories"] == ["fact"]
    assert not seen["degraded"]


def look(environment: CleanEnvironment, workspace: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(environment.run("-c", LOOK, workspace))
    return found
