"""The analyzer: what a query must find by words alone, and what may never break it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import growth

from olav_core import analyze, query_terms
from olav_core.text.analyzer import MAX_QUERY_TERMS, MAX_TERM_CHARS


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("Never call take_snapshot on a stale device", "take_snapshot"),
        ("Never call take_snapshot on a stale device", "snapshot"),
        ("the createUserAccount helper", "user account"),
        ("use netops.push_config to roll out", "push_config"),
        ("plug the usb-c cable", "usb-c"),
        ("loopback is 10.20.30.40/32", "10.20.30.40"),
        ("loopback is 10.20.30.40/32.", "10.20.30.40/32"),
        ("see /etc/ssh/sshd_config first", "sshd_config"),
        (
            "see https://wiki.example/runbooks/bgp-flap?id=7 first",
            "https://wiki.example/runbooks/bgp-flap?id=7",
        ),
        (
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
            "9fceb02d0ae598e95dc970b74767f19372d61af8",
        ),
        (
            "key user:550e8400-e29b-41d4-a716-446655440000:cart",
            "user:550e8400-e29b-41d4-a716-446655440000:cart",
        ),
        ("mac aa:bb:cc:dd:ee:ff", "AA:BB:CC:DD:EE:FF"),
        ("neighbor 2001:db8::1 is down", "2001:db8::1"),
        ("the interfaces were configured", "configuring interface"),
        ("the router's uplink", "router"),
        ("变更必须走审批流程，不能跳过", "审批流程"),
        ("请先确认用户身份再操作", "用户身份"),
        ("在核心设备上查看接口状态", "设备"),
        ("在核心设备上查看接口状态", "接口状态"),
        ("把密钥放进环境变量里", "环境变量"),
        ("ＶＬＡＮ １００", "vlan 100"),
        ("snap\u200bshot", "snapshot"),
        ("STRASSE", "straße"),
        ("네트워크 장비를 재시작", "장비"),
    ],
)
def test_a_query_shares_a_term_with_the_text_that_holds_it(stored: str, query: str) -> None:
    assert set(query_terms(query)) & set(analyze(stored))


@pytest.mark.parametrize(
    "exact",
    [
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "order:550e8400-e29b-41d4-a716-446655440000:eu",
        "https://h.example/" + "very/long/path/" * 20 + "file.txt?token=abc",
        "GigabitEthernet0/0/1.100",
        "A" * 5_000,
    ],
)
def test_a_long_identifier_is_one_term_that_matches_exactly(exact: str) -> None:
    (whole, *_) = analyze(exact)
    assert len(whole) <= MAX_TERM_CHARS
    assert whole in analyze(f"prefix text ({exact}), more text")
    assert whole not in analyze(exact[:-1] + "Q")


def test_octets_of_an_address_are_no_terms() -> None:
    assert "10" not in analyze("10.0.0.1")


@pytest.mark.parametrize(
    "text", ["", "   ", "\t\n", "😀🚀", "?!…", "***", '""', "\x00\x00", "\ud800", "-", "。，、"]
)
def test_text_without_words_has_no_terms(text: str) -> None:
    assert analyze(text) == []
    assert query_terms(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'who is "waldo"?',
        "fish days:",
        "Message: {0}",
        ">>> x",
        "a AND b",
        "(python",
        "x*",
        "x^2",
        "x~",
        "\\x",
        "+w",
        "-w",
    ],
)
def test_query_syntax_is_only_text(text: str) -> None:
    assert query_terms(text)


def test_a_nul_or_a_lone_surrogate_is_a_gap() -> None:
    assert analyze("bgp\x00ospf") == ["bgp", "ospf"]
    assert analyze("bgp\ud800ospf") == ["bgp", "ospf"]


def test_a_pasted_log_keeps_its_identifiers() -> None:
    log = (
        " ".join(f"word{chr(97 + i % 26)}{i}" for i in range(2_000))
        + " 9fceb02d0ae598e95dc970b74767f19372d61af8"
    )
    terms = query_terms(log)
    assert len(terms) == len(set(terms)) == MAX_QUERY_TERMS
    assert "9fceb02d0ae598e95dc970b74767f19372d61af8" in terms


@given(st.text())
def test_it_never_raises_and_every_term_is_one_token(text: str) -> None:
    terms = analyze(text)
    assert terms == analyze(text)
    assert all(term and len(term.split()) == 1 and len(term) <= MAX_TERM_CHARS for term in terms)
    assert set(query_terms(text)) <= set(terms)


@given(st.lists(st.sampled_from(["bgp", "take_snapshot", "R1", "审批", "10.0.0.1"]), max_size=8))
@settings(max_examples=50)
def test_text_between_spaces_is_analysed_by_itself(words: list[str]) -> None:
    assert analyze(" ".join(words)) == [term for word in words for term in analyze(word)]


@pytest.mark.parametrize(
    "unit", ["A", "a.", "a.a_", "{[(", "...", "a'", "网", "aB", "a" + "/" * 9, "\u0301", "1."]
)
def test_time_grows_with_the_text_and_not_faster(unit: str) -> None:
    # 8 times the text; quadratic would be 64
    assert growth(lambda repeats: analyze(unit * repeats), 20_000, 160_000, most=40) < 40
