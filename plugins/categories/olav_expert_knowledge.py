"""Category `expert_knowledge`: patterns distilled from many events, and what curators know."""

from __future__ import annotations

import json
import re

from attrs import field, frozen, validators

from olav_core import CategorySpec, GateUse, MemoryRecord, hookimpl

#: Words of tool names -> what a Chinese question calls them; tools are named in English everywhere.
_CHINESE = {
    "add": "添加 新增", "backup": "备份", "build": "构建", "cluster": "集群", "config": "配置",
    "configure": "配置", "create": "创建 新建", "delete": "删除", "deploy": "部署",
    "destroy": "销毁", "device": "设备", "export": "导出", "host": "主机", "import": "导入",
    "ingest": "导入", "interface": "接口", "move": "迁移", "network": "网络", "port": "端口",
    "provision": "开通", "publish": "发布", "push": "下发 推送", "register": "注册 登记",
    "release": "发布", "remove": "移除 删除", "restart": "重启", "restore": "恢复",
    "rollback": "回滚", "route": "路由", "save": "保存", "schedule": "计划 排期", "service": "服务",
    "snapshot": "快照", "start": "启动", "stop": "停止", "ticket": "工单", "update": "更新",
    "upgrade": "升级", "user": "用户", "write": "写入",
}  # fmt: skip
_WORD_BREAK = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")


@frozen(kw_only=True)
class ExpertKnowledge:
    """`samples`: how many events it was drawn from. `sources`: their ids. `group`: the group of events that
    this row tells of, as one row whatever it says; `history`: what it said before, oldest first. `terms`:
    words that most of the events share; a question that has them means this row."""

    topic: str = ""
    samples: int = field(default=0, validator=validators.ge(0))
    sources: list[str] = field(factory=list)
    group: str = ""
    history: list[str] = field(factory=list)
    terms: list[str] = field(factory=list)


def dedupe_key(record: MemoryRecord) -> str:
    if record.metadata.get("group"):
        return json.dumps(["group", record.metadata["group"]])
    # Not the topic alone: one extraction writes several findings about one tool.
    return json.dumps([record.metadata.get("topic", ""), " ".join(record.text.split())])


def embed_text(record: MemoryRecord) -> str:
    topic = str(record.metadata.get("topic", ""))
    terms = [term for term in record.metadata.get("terms", ()) if term not in record.text]
    return "\n".join(filter(None, ["" if topic in record.text else topic, record.text, " ".join(terms)]))


def keywords(record: MemoryRecord) -> list[str]:
    """The words of the tool that the row tells of: a question with them means it before the single events."""
    group = str(record.metadata.get("group", ""))
    words = [word for word in _WORD_BREAK.sub(" ", group).split() if len(word) > 2]
    chinese = [name for word in words for name in _CHINESE.get(word.lower(), "").split()]
    return list(dict.fromkeys([group, *words, *chinese])) if group else []


@hookimpl
def olav_register_categories() -> list[CategorySpec]:
    return [
        CategorySpec(
            id="expert_knowledge",
            title="Expert knowledge",
            purpose="Conventions and patterns distilled from what worked before",
            origins=frozenset({"agent", "user", "directive", "document"}),
            quota=3,
            cap=3,
            boosts=("keyword_boost",),
            gates=(GateUse("evidence"),),
            metadata=ExpertKnowledge,
            dedupe_key=dedupe_key,
            embed_text=embed_text,
            keywords=keywords,
        )
    ]
