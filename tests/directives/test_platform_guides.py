"""The shipped guides under e5: each on top for its own questions, in both languages, silent otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import olav_core
from olav_core import Memory
from olav_core.packages.shipped import prime_directives

SNAPSHOT = "take_snapshot_when_db_stale"
LAYERS = "troubleshoot_layered_l1_to_l4"
SCHEMA = "schema_introspection_via_describe_table"
DRAFTS = "check_pending_drafts_first"
QUESTIONS = [
    (SNAPSHOT, "How do I know whether the topology data is still fresh before I answer?"),
    (SNAPSHOT, "Is the BGP table in the database up to date?"),
    (SNAPSHOT, "the rows were collected yesterday, should I refresh them?"),
    (SNAPSHOT, "数据库里的接口状态是不是旧的，要不要重新采集？"),
    (SNAPSHOT, "现在 R3 的邻居状态是什么？库里的数据可能过期了"),
    (SNAPSHOT, "快照太旧了怎么办"),
    (LAYERS, "BGP neighbor is Idle, where do I start looking?"),
    (LAYERS, "Host A cannot reach host B, how should I troubleshoot this?"),
    (LAYERS, "users report packet loss between two sites"),
    (LAYERS, "PC1 ping 不通服务器，从哪里查起？"),
    (LAYERS, "OSPF 邻居一直起不来，怎么排查"),
    (LAYERS, "接口 down 了但 BGP 也断了，先看什么"),
    (SCHEMA, 'Binder Error: Referenced column "peer_asn" not found'),
    (SCHEMA, "Which columns does v_bgp_neighbors have?"),
    (SCHEMA, "the SQL failed because the table does not exist"),
    (SCHEMA, "查询报错说列不存在，怎么办？"),
    (SCHEMA, "这个视图有哪些字段？"),
    (SCHEMA, "no such column: hostname"),
    (DRAFTS, "Is there a memory draft waiting for my confirmation?"),
    (DRAFTS, "yes, save it to memory"),
    (DRAFTS, "commit the draft you showed me"),
    (DRAFTS, "可以，入库吧"),
    (DRAFTS, "记住：所有 loopback 用 /32，并写入记忆"),
    (DRAFTS, "还有没有待确认的草稿？"),
]
OFF_TOPIC = [
    "What is the capital of Peru?",
    "Write a haiku about the autumn moon",
    "What does the acronym DHCP stand for?",
    "who is on call this weekend?",
    "Register an InfluxDB service for the Lyon site",
    "translate this letter into French",
    "今天上海天气怎么样？",
    "推荐一部好看的电影",
    "帮我写一个排序算法",
    "把会议改到下午三点",
    "新建一个 VLAN 30 给访客",
    "帮我把这封信翻译成法语",
]


@pytest.fixture(scope="module")
def primed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with olav_core.init(tmp_path_factory.mktemp("ws"), embedder="e5") as memory:
        (report,) = prime_directives(memory)
        assert report.added == 8
        yield memory


@pytest.mark.parametrize(("intent", "question"), QUESTIONS)
def test_its_guide_is_the_one_that_a_small_model_gets(primed: Memory, intent: str, question: str) -> None:
    (item,) = primed.recall(question, tier="small", log=False).items
    assert item.record.metadata["intent"].removesuffix("_zh") == intent


@pytest.mark.parametrize("question", OFF_TOPIC)
def test_none_is_injected_off_topic(primed: Memory, question: str) -> None:
    assert [item.text for item in primed.recall(question, tier="large", log=False).items] == []
