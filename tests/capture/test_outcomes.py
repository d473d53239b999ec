"""Results that are failures, and those that only sound like one; in every shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import build_registry
from olav_core.testing import VerbMatcherContract

succeeded = build_registry().verb_matchers["outcomes"].succeeded

FAILURES: list[Any] = [
    {"status": "failed"},
    {"ok": False},
    {"error": "no such device"},
    {"error": {"code": 4, "message": "quota"}},
    {"returncode": "2"},
    {"statusCode": 503},
    {"isError": True},
    {"code": "FORBIDDEN"},
    {"result": {"success": False}},
    {"status": "ok", "message": "dry run: nothing sent"},
    {"stdout": "", "stderr": "fatal: not a git repository"},
    [{"ok": False}, {"ok": False}],
    [{"type": "text", "text": "Permission denied"}],
    "{'status': 'failed'}",
    "% Invalid input detected at '^' marker.",
    "line one\nline two\nsyntax error, expecting <data>.",
    "Error: Too many parameters found at '^' position.",
    "sudo: a password is required\nError: command failed",
    "Permission denied (publickey).",
    "curl: (7) Failed to connect to host",
    "502 Bad Gateway",
    "psycopg.errors.UniqueViolation: duplicate key value",
    "Traceback (most recent call last):\n  …\nRuntimeError: x",
    "Rejected by reviewer: too risky",
    "[DRY-RUN] 3 rows would be deleted",
    "ok" * 10 + "\n" * 3 + "Error: it broke",
    "操作失败",
    "执行出错：命令错误",
    "无权限执行该操作",
    "已拒绝",
    "请求超时",
    b"permission denied",
    ValueError("x"),
    False,
]
SUCCESSES: list[Any] = [
    "0 errors",
    "error_rate configured",
    "no failures",
    "错误数 0",
    "Finished with 0 failed, 12 ok",
    "errors: none",
    "Created rule 'deny access from unauthorized hosts'",
    "Updated the failover policy",
    "Deleted 2 failed jobs",
    "Saved note about the login failure",
    "部署成功，失败 0",
    "已更新错误率阈值",
    "没有错误",
    "%LINK-3-UPDOWN: Interface Gi0/1, changed state to up",
    {"status": "ok", "errors": []},
    {"exit_code": 0, "stderr": "warning: something failed over"},
    {"succeeded": 4, "failed": 1},
    {"id": 3, "description": "cannot log in"},
    {"dry_run": False},
    {"status": 201},
    [{"ok": True}, {"ok": False}],
    [{"type": "image", "data": "failed"}],
    None,
    "",
    42,
    True,
]


class TestContract(VerbMatcherContract):
    plugin = "olav_outcomes"
    failures = FAILURES
    successes = SUCCESSES


@pytest.mark.parametrize("result", FAILURES, ids=repr)
def test_failures(result: Any) -> None:
    assert succeeded(result) is False


@pytest.mark.parametrize("result", SUCCESSES, ids=repr)
def test_successes(result: Any) -> None:
    assert succeeded(result) is not False


@pytest.mark.parametrize("result", [r for r in FAILURES if isinstance(r, (dict, list))], ids=repr)
def test_json_in_a_string_is_read(result: Any) -> None:
    assert succeeded(json.dumps(result)) is False


def test_a_tool_that_ends_something_may_end_it() -> None:
    for result in ({"status": "cancelled"}, "Order 3 was cancelled.", {"cancelled": True}):
        assert succeeded(result, "cancel_order") is not False
    for result in ({"status": "cancelled"}, "The call was cancelled by the user"):
        assert succeeded(result, "deploy_lab") is False
    assert succeeded({"status": "已驳回"}, "驳回申请") is not False


def test_an_object_with_status_and_content() -> None:
    class Message:
        def __init__(self, status: str, content: Any) -> None:
            self.status, self.content = status, content

    assert succeeded(Message("error", "fine")) is False
    assert succeeded(Message("success", [{"type": "text", "text": "Access denied"}])) is False
    assert succeeded(Message("success", "stored")) is not False


def test_the_ends_of_a_long_text_are_read() -> None:
    assert succeeded("line\n" * 2_000_000 + "Error: disk full") is False
    assert succeeded("line\n" * 2_000_000) is not False


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_shape_gives_a_verdict(result: Any) -> None:
    assert succeeded(result) in (True, False, None)
