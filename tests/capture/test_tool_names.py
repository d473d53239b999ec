"""Names of tools, of one action and of several, in both languages: a change or a look?"""

from __future__ import annotations

from pathlib import Path

import pytest

from olav_core import build_registry

MATCHERS = [spec.match for spec in build_registry().verb_matchers.values()]
NAMES = [
    (name, label == "w")
    for label, _, name in (
        line.partition(" ")
        for line in (Path(__file__).parent / "tool_names.txt").read_text("utf-8").splitlines()
        if line[:1] in {"w", "r"}
    )
]


def writes(name: str) -> bool:
    return any(match(name) is not None for match in MATCHERS)


def test_the_names_tell_a_change_from_a_look() -> None:
    wrong = [name for name, change in NAMES if writes(name) is not change]
    assert len(NAMES) >= 650
    assert len(wrong) <= 0.01 * len(NAMES), wrong


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("format_and_export", True),
        ("validate_config_and_push", True),
        ("check_then_restart", True),
        ("get_or_create_device", True),
        ("read_modify_write", True),
        ("list_created_and_updated", False),
        ("list_read_and_write_permissions", False),
        ("get_status_and_history", False),
        ("fetch_and_parse", False),
        ("校验并推送配置", True),
        ("查找或创建站点", True),
        ("先备份再升级", True),
        ("查看创建和更新时间", False),
        ("列出已创建和已更新的设备", False),
        ("查询并统计", False),
    ],
)
def test_case_24_a_name_of_several_actions_changes_something_when_one_of_them_does(
    name: str, change: bool
) -> None:
    assert writes(name) is change
