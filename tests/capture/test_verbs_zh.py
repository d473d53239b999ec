"""Chinese verbs, alone, behind namespaces, between other words."""

from __future__ import annotations

import pytest

from olav_core import build_registry
from olav_core.testing import VerbMatcherContract


def words(text: str) -> list[str]:
    return text.split()


STEMS = words("注册 部署 推送 保存 销毁 写入 记录 导出 导入 停止 创建 更新 删除 执行")
match = build_registry().verb_matchers["verbs_zh"].match


class TestContract(VerbMatcherContract):
    plugin = "olav_verbs_zh"
    calls = {"创建用户": "创建", "netops.推送配置": "推送", "用户_删除": "删除"}  # noqa: RUF012
    reads = ("获取更新状态", "导出格式列表", "是否已注册")
    new_verb = ("割接", "割接链路")


@pytest.mark.parametrize("stem", STEMS)
def test_every_stem_where_it_may_stand(stem: str) -> None:
    for name in (
        f"{stem}用户组",
        f"{stem}_用户组",
        f"批量{stem}用户组",
        f"srv.{stem}用户组",
        f"mcp__服务__{stem}用户组",
    ):
        assert match(name) == stem
    for name in (
        f"查询{stem}用户组",
        f"已{stem}用户组",
        f"是否{stem}",
        f"获取最近{stem}",
        f"get_{stem}用户组",
    ):
        assert match(name) is None


@pytest.mark.parametrize(
    "name",
    words("创建时间 更新日志 部署状态 执行结果 导出进度 操作记录 记录列表 注册人 待执行任务 写入待办"),
)
def test_nouns_are_no_actions(name: str) -> None:
    assert match(name) is None


@pytest.mark.parametrize(
    "name", words("创建文档 更新数量 清空历史 记录日志 导出执行结果 改名 更新用户列表 一键部署 重新部署服务")
)
def test_actions_on_such_nouns_are(name: str) -> None:
    assert match(name)


def test_names_without_chinese_are_left_to_others() -> None:
    for name in ("create_user", "", "_", "délete", "部署.status"):
        assert match(name) is None


def test_a_team_adds_verbs() -> None:
    extended = build_registry().verb_matchers["verbs_zh"].extend(["割接", "frobnicate"])
    assert extended("割接链路") == "割接"
    assert extended("查询割接链路") is None
    assert extended("创建用户") == "创建"
