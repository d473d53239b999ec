"""Where the arguments tell a change from a look."""

from __future__ import annotations

from typing import Any

import pytest

from olav_core import build_registry
from olav_core.testing import VerbMatcherContract

writes = build_registry().verb_matchers["call_arguments"].writes


class TestContract(VerbMatcherContract):
    plugin = "olav_call_arguments"


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("exec_command", {"command": "show version"}, False),
        ("exec_command", {"command": "show run | include vlan"}, False),
        ("exec_command", {"command": "display current-configuration"}, False),
        ("exec_command", {"commands": ["show version", "reload"]}, None),
        ("exec_command", {"command": "configure terminal"}, None),
        ("bash", {"command": "ls -la 2>/dev/null | wc -l"}, False),
        ("bash", {"command": "cat a > b"}, True),
        ("bash", {"command": "cat $(rm x)"}, True),
        ("bash", {"command": "ls; rm x"}, True),
        ("shell", {"cmd": "git status"}, False),
        ("shell", {"cmd": "git branch -D old"}, True),
        ("shell", {"cmd": "ip route add 10.0.0.0/8 via 1.1.1.1"}, True),
        ("shell", {"cmd": "kubectl get pods"}, False),
        ("execute_sql", {"sql": "-- all\nSELECT 1"}, False),
        ("execute_sql", {"sql": "select 'delete from x'"}, False),
        ("execute_sql", {"sql": "SELECT 1; DROP TABLE x"}, True),
        ("run_query", {"query": "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d"}, True),
        ("run_query", {"query": "how many users are there"}, None),
        ("db.query", {"query": "SELECT * INTO backup FROM t"}, True),
        ("http_request", {"method": "get"}, False),
        ("http_request", {"method": "PATCH"}, True),
        ("echo", {"content": "x"}, False),
        ("echo", {"content": "x", "file_name": ""}, False),
        ("echo", {"content": "x", "file_name": "a.txt"}, True),
        ("add", {"a": 1, "b": 2.5}, False),
        ("add", {"item": "milk"}, None),
        ("create_user", {"query": "SELECT 1", "command": "ls"}, None),
        ("bash", "ls", None),
        ("bash", None, None),
    ],
)
def test_arguments(tool: str, args: Any, expected: bool | None) -> None:
    assert writes(tool, args) is expected
