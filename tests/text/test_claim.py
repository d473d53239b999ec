"""What contradicts what, by fixed rules: zh, en and mixed; and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processor_time import growth

from olav_core import claim_of

CONTRADICT = [
    ("R1's loopback is 10.0.0.1", "R1 的 loopback 改为 10.0.0.2"),
    ("The loopback of R1 is 1.1.1.1", "R1 loopback: 2.2.2.2"),
    ("R1 的环回地址：1.1.1.1", "R1 的环回地址是 2.2.2.2"),
    ("The border router of site A is R1", "The border router of site A is R7"),
    ("R1 is in rack 12", "R1 is now in rack 13"),
    ("Change windows are on Tuesday night", "Change windows are on Wednesday night"),
    ("R1 is in production", "R1 is not in production"),
    ("R1 is in production", "R1 isn't in production"),
    ("值班人是张三", "值班人是李四"),
    ("网络组组长是张三", "网络组组长是王小明"),
    ("R1 有冗余电源", "R1 没有冗余电源"),
    ("R1 supports MPLS", "R1 does not support MPLS"),
    ("R1 的角色是边界路由器", "R1 的角色是核心路由器"),
    ("核心交换机的管理地址是 10.1.1.1", "核心交换机的管理地址是 10.1.1.2"),
    ("接口 eth0 是关闭的", "接口 eth0 是开启的"),
    ("telnet is disabled on R1", "telnet is enabled on R1"),
    ("R1 在 12 号机架", "R1 在 13 号机架"),
    ("The owner of svc-x is team red", "The owner of svc-x is team blue"),
    ("不允许在白天变更", "允许在白天变更"),
    ("Never restart R1 on Fridays", "Restart R1 on Fridays"),
    ("Open ports are 22 and 80", "Open ports are 22, 80 and 443"),
    ("The MTU of the backbone is 9000 bytes", "The MTU of the backbone is 1500 bytes"),
]
AGREE_OR_UNRELATED = [
    ("R1's loopback is 1.1.1.1", "the loopback of R1 is 1.1.1.1"),
    ("R1's loopback is 1.1.1.1", "R2's loopback is 2.2.2.2"),
    ("VLAN 100 is for users", "VLAN 200 is for users"),
    ("R1 is a border router", "R1 is a core router"),
    ("R1 是一台边界路由器", "R1 是一台核心路由器"),
    ("R1 is connected to R2", "R1 is connected to R3"),
    ("R1 is a neighbour of 10.0.0.1", "R1 is a neighbour of 10.0.0.2"),
    ("R1 的邻居是 R2", "R1 的邻居是 R3"),
    ("R1 runs BGP", "R1 runs OSPF"),
    ("R1 支持 MPLS", "R1 支持 VXLAN"),
    ("Port 22 of R1 is open", "Port 23 of R1 is closed"),
    ("R1 is in rack 12", "R1 is a router"),
    ("张三是网络组的", "李四是网络组的"),
    ("SW1 连接 R1", "SW1 连接 R2"),
    ("但是 R1 很慢", "但是 R2 很慢"),
]


def contradict(one: str, other: str) -> bool:
    a, b = claim_of(one), claim_of(other)
    assert a is not None
    assert b is not None
    return a.topic == b.topic and a.value != b.value


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_these_contradict_both_ways(one: str, other: str) -> None:
    assert contradict(one, other)
    assert contradict(other, one)


@pytest.mark.parametrize(("one", "other"), AGREE_OR_UNRELATED)
def test_these_do_not(one: str, other: str) -> None:
    assert not contradict(one, other)


@given(st.text(max_size=450))
def test_any_text_has_one_claim_or_none_and_never_contradicts_itself(text: str) -> None:
    assert claim_of(text) == claim_of(text)
    if claim_of(text) is not None:
        assert not contradict(text, f"  {text} ".strip())


def test_what_is_no_single_statement_claims_nothing() -> None:
    assert claim_of("") is claim_of("a\nb") is claim_of("x" * 401) is None


@pytest.mark.parametrize("unit", ["是", "is ", "不", ":", "a.", "'s", "没有"])
def test_it_takes_linear_time(unit: str) -> None:
    def claims(size: int) -> None:
        for _ in range(50):
            claim_of(unit * (size // len(unit)))

    assert growth(claims, 50, 400, most=40) < 40  # 8 times the text; quadratic would be 64


@pytest.mark.parametrize("said", ["The MTU of R1 is {}", "R1 的 MTU 是 {}", "R1 的 MTU 为{}。"])
def test_grouping_changes_no_number(said: str) -> None:
    assert claim_of(said.format("9,000")) == claim_of(said.format("9000"))
    assert claim_of(said.format("9,000")) != claim_of(said.format("9,100"))
    assert claim_of(said.format("1,2")) != claim_of(said.format("12"))
