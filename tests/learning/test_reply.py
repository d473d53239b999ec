"""CASES 20: what models wrap their bullets in, and what is no answer at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from olav_learn.claims import examine
from olav_learn.evidence import Evidence
from olav_learn.reply import bullets_of

TWO = ["Names are svc-<site>.", "Ports start at 8001."]
PLAIN = "- Names are svc-<site>.\n- Ports start at 8001."


@pytest.mark.parametrize(
    "reply",
    [
        PLAIN,
        f"Sure! Here is what I found:\n\n{PLAIN}\n\nLet me know if you need more.",
        f"```markdown\n{PLAIN}\n```",
        f"<think>\n- maybe this\n- or that one\n</think>\n{PLAIN}",
        f"- a thought that never began\n</think>\n{PLAIN}",
        f"{PLAIN}\n<think>and then I ran out of",
        "1. **Names** are svc-<site>.\n2) Ports start at 8001.",
        "* Names are\n  svc-<site>.\n• Ports start at 8001.\n* Names are svc-<site>.",
        f"```json\n{json.dumps(TWO)}\n```",
        json.dumps({"patterns": TWO}),
        f"<relevant-memories>\n- an old rule\n</relevant-memories>\n{PLAIN}",
    ],
)
def test_the_bullets_are_recovered(reply: str) -> None:
    assert bullets_of(reply) == TWO


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "I'm sorry, but I cannot help with that.",
        "- I'm sorry, but I cannot help with that.",
        "- 抱歉，我无法完成这个请求。",
        "The names are lower case and the ports start at 8001.",
        "<think>- Names are svc-<site>.",
        "- 名称使用 \\u4f6 前缀",
        "---\n***\n- - -",
        '{"patterns": 3}',
        "- Naming conventions:",
    ],
)
def test_what_is_no_answer_gives_nothing(reply: str) -> None:
    assert bullets_of(reply) == []


def test_escapes_are_read() -> None:
    assert bullets_of("- \\u7aef\\u53e3从 8001 开始") == ["端口从 8001 开始"]


@given(st.text(max_size=400))
def test_any_reply_gives_clean_single_lines(reply: str) -> None:
    for bullet in bullets_of(reply) + bullets_of(f"- {reply}"):
        assert "\n" not in bullet
        bullet.encode("utf-8")
        assert 0 < len(bullet) <= 400


EVIDENCE = Evidence(
    (
        'register_service {"args": {"name": "svc-billing-muc", "address": "10.20.1.11", "port": 8001, '
        '"auth": "oauth2"}}',
        'register_service {"args": {"name": "svc-search-ber", "address": "10.20.3.12", "port": 8002, '
        '"auth": "oauth2"}}',
        'register_service {"args": {"name": "svc-mail-muc", "address": "10.20.7.13", "port": 8006, '
        '"auth": "mtls"}, "负责人": "网络组"}',
    )
)


@pytest.mark.parametrize(
    "bullet",
    [
        "Name services svc-<name>-<site>, in lower-case.",
        "Addresses lie in 10.20.0.0/16.",
        "Use 10.20.x.x for addresses.",
        "Ports are 8001-8006.",
        'Set auth to "oauth2"; mtls is used for svc-mail-muc.',
        "All 3 samples name a port.",
        "端口使用 8001 到 8006，负责人是“网络组”。",
        "名称使用 svc-<name>-<site> 格式。",
        "The name has a site.",
    ],
)
def test_a_bullet_that_the_samples_bear_out(bullet: str) -> None:
    assert examine(bullet, EVIDENCE).fault == ""


@pytest.mark.parametrize(
    ("bullet", "claim"),
    [
        ("Ports are 8001-9000.", "8001-9000"),
        ("Addresses lie in 10.0.0.0/8.", "10.0.0.0/8"),
        ("Addresses lie in 10.30.0.0/16.", "10.30.0.0/16"),
        ("Authenticate against Keycloak with oauth2.", "Keycloak"),
        ("Authenticate with LDAP or oauth2.", "LDAP"),
        ("Name services app-<name>-<site>.", "app-<name>-<site>"),
        ("The port 800 is taken.", "800"),
        ("All 4 samples name a port.", "4"),
        ('Set auth to "saml".', "saml"),
        ("使用 kerberos 认证。", "kerberos"),
        ("负责人是“安全组”，端口 8001。", "安全组"),
        ("Be careful.", ""),
    ],
)
def test_a_bullet_that_they_do_not(bullet: str, claim: str) -> None:
    fault = examine(bullet, EVIDENCE).fault
    assert fault
    assert claim in fault


@given(st.text(max_size=200))
def test_any_bullet_can_be_examined(text: str) -> None:
    examine(text, EVIDENCE)
