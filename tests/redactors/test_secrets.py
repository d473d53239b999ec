# ruff: noqa: E501 (tables)
"""The redactor `secrets` over labelled texts, structures, and whatever hypothesis comes up with."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fakes import STRONG, TYPED, WORD, case, cases, pem
from hypothesis import given, settings
from hypothesis import strategies as st

from olav_core import Finding, build_registry

MARK = re.compile(r"<redacted:([a-z0-9_]+):[0-9a-f]{4}>")
SECRETS, HARMLESS = cases("secrets.txt"), cases("harmless.txt")
REDACT = build_registry().redactors["secrets"].redact


def text_of(value: Any) -> Any:
    return REDACT(value)[0]


def bare(value: Any) -> Any:
    """The value with every mark as `#`, so that an expected structure can be written down."""
    return json.loads(MARK.sub("#", json.dumps(text_of(value), ensure_ascii=False)))


def test_the_labelled_set_is_as_large_as_it_claims() -> None:
    assert len(SECRETS) + len(HARMLESS) >= 1000
    assert len(HARMLESS) >= (len(SECRETS) + len(HARMLESS)) / 3
    assert len(set(SECRETS)) == len(SECRETS)
    assert len(set(HARMLESS)) == len(HARMLESS)


@pytest.mark.parametrize("line", SECRETS)
def test_the_secret_goes_and_nothing_else(line: str) -> None:
    labelled = case(line)
    clean, findings = REDACT(labelled.text)
    assert MARK.sub("", clean) == labelled.left
    assert sum(finding.count for finding in findings) == len(MARK.findall(clean)) > 0
    assert text_of(clean) == clean


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless_text_stays_as_it_is(line: str) -> None:
    text = case(line).text
    assert REDACT(text) == (text, ())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"password": WORD}, {"password": "#"}),
        ({"密码": WORD, "用户": "bob"}, {"密码": "#", "用户": "bob"}),
        ({"X-Auth-Token": TYPED, "Accept": "*/*"}, {"X-Auth-Token": "#", "Accept": "*/*"}),
        ({"password": 12345678, "port": 5432}, {"password": "#", "port": 5432}),
        ({"password": None, "token": "", "secret": True}, {"password": None, "token": "", "secret": True}),
        ({"user": "bob", "pass": WORD}, {"user": "bob", "pass": "#"}),
        ({"pass": 12, "fail": 3}, {"pass": 12, "fail": 3}),
        ({"passwords": [TYPED, STRONG]}, {"passwords": ["#", "#"]}),
        ({"token": {"value": TYPED, "ttl": 60}}, {"token": {"value": "#", "ttl": 60}}),
        ({"name": "DB_PASSWORD", "value": WORD}, {"name": "DB_PASSWORD", "value": "#"}),
        ({"name": "HOSTNAME", "value": "sw1"}, {"name": "HOSTNAME", "value": "sw1"}),
        (
            {"headers": {"Authorization": "Bearer " + TYPED * 2}},
            {"headers": {"Authorization": "Bearer #"}},
        ),
        ({"argv": ["mysql", "-u", "root", "-p" + WORD]}, {"argv": ["mysql", "-u", "root", "-p#"]}),
        (["login", "--password", WORD, "-v"], ["login", "--password", "#", "-v"]),
        ({"commands": [f"enable secret {WORD}", "ip ssh version 2"]}, {"commands": ["enable secret #", "ip ssh version 2"]}),
        ({"password": "${DB_PASSWORD}"}, {"password": "${DB_PASSWORD}"}),
        ({"password": "must be at least 12 characters"}, {"password": "must be at least 12 characters"}),
        ({"type": "object", "password": {"type": "string"}}, {"type": "object", "password": {"type": "string"}}),
        ({"kty": "oct", "k": TYPED * 3}, {"kty": "oct", "k": "#"}),
        ([1, 2.5, None, False, "x"], [1, 2.5, None, False, "x"]),
        ({"tokens": 512, "max_tokens": 4096}, {"tokens": 512, "max_tokens": 4096}),
        ({"command": "curl", "args": ["-u", "bob:" + TYPED, "h"]}, {"command": "curl", "args": ["-u", "bob:#", "h"]}),
        ({"headers": [["X-Api-Key", TYPED], ["Accept", "*/*"]]}, {"headers": [["X-Api-Key", "#"], ["Accept", "*/*"]]}),
        ([["host", "r1"], ["token", "none"]], [["host", "r1"], ["token", "none"]]),
        ({"auth": ["bob", STRONG]}, {"auth": ["bob", "#"]}),
        ({"auth": ["basic", "digest"]}, {"auth": ["basic", "digest"]}),
        ({"errors": {"password": ["too short"]}}, {"errors": {"password": ["too short"]}}),
        ({"enable_secret": TYPED, "enable_password": True}, {"enable_secret": "#", "enable_password": True}),
        ({"ak": "us-east-1", "sk": 42}, {"ak": "us-east-1", "sk": 42}),
        ({"msg": f'reply: {{"pass": "{TYPED}", "user": "bob"}} ok'}, {"msg": 'reply: {"pass": "#", "user": "bob"} ok'}),
    ],
    ids=repr,
)  # fmt: skip
def test_structures_keep_keys_and_types(value: Any, expected: Any) -> None:
    assert bare(value) == expected


def test_a_secret_inside_json_inside_json() -> None:
    inner = json.dumps({"list": [{"name": "api_key", "value": WORD}]})
    for value in (inner, {"args": inner}, json.dumps({"args": inner})):
        clean = json.dumps(text_of(value))
        assert WORD not in clean
        assert "api_key" in clean
    assert json.loads(text_of(inner))["list"][0]["name"] == "api_key"


def test_a_number_in_json_text_leaves_json_behind() -> None:
    assert json.loads(text_of('{"password": 12345678, "port": 22}'))["port"] == 22


def test_tuples_and_bytes_keep_their_types() -> None:
    clean = text_of(("a", f"password={WORD}".encode()))
    assert isinstance(clean, tuple)
    assert isinstance(clean[1], bytes)
    assert WORD.encode() not in clean[1]
    assert text_of(b"\xff\xfe") == b"\xff\xfe"


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
@pytest.mark.parametrize(
    ("cut", "quoted"),
    [
        ("", "{}"),
        ("end", "{}"),
        ("begin", "{}"),
        *((cut, text) for cut in ("", "end") for text in ('{{"key": "{}"}}', 'key = "{}"')),
    ],
)
def test_private_keys_whole_or_cut_off(kind: str, cut: str, quoted: str) -> None:
    lines = pem(kind).split("\n")
    lines = lines[:-3] if cut == "end" else lines[2:] if cut == "begin" else lines
    body = "\n".join(lines)
    text = quoted.format(body if quoted == "{}" else body.replace("\n", "\\n"))
    clean = text_of(f"see\n{text}\nand more text")
    assert not any(line in clean for line in lines)
    assert clean.startswith("see\n")
    assert clean.endswith("and more text")


def test_equal_secrets_have_equal_marks_whatever_their_kind() -> None:
    first, second, other = (
        MARK.search(text_of(text))[0].split(":")[2]  # type: ignore[index]
        for text in (f"password={WORD}", f"postgres://bob:{WORD}@db/x", f"password={WORD}2")
    )
    assert first == second != other


def test_findings_are_counted_by_kind() -> None:
    assert REDACT(f"password={WORD} pwd={TYPED} token={TYPED}")[1] == (
        Finding("password", 2),
        Finding("token", 1),
    )


def test_marks_survive_and_broken_ones_do_no_harm() -> None:
    text = text_of(f"password={WORD}") + " <redacted:password:zzzz> <redacted:"
    assert text_of(text) == text


def test_a_deep_structure_is_no_limit() -> None:
    value: Any = {"password": WORD}
    for _ in range(5000):
        value = [value]
    clean = text_of(value)
    while isinstance(clean, list):
        clean = clean[0]
    assert MARK.fullmatch(clean["password"])


_PIECES = st.sampled_from(
    [case(line).text for line in [*SECRETS, *HARMLESS]]
    + ["password", "token:", "=", '"', "'", "\\", "{", "}", "://", "@", "-----", "<redacted:password:1f3a>", "密码", "\n", "İ"]
)  # fmt: skip
_TEXTS = st.lists(st.one_of(_PIECES, st.text(max_size=12)), max_size=6).map(" ".join) | st.lists(
    _PIECES, max_size=5
).map("".join)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_PIECES | st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(_TEXTS)
@settings(max_examples=300, deadline=None)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = text_of(text)
    assert text_of(once) == once


def same_shape(value: Any, clean: Any) -> bool:
    if isinstance(value, dict):
        pairs = list(zip(value.items(), clean.items(), strict=True))
        return all(one == other or MARK.search(other) for (one, _), (other, _) in pairs) and all(
            same_shape(one, other) for (_, one), (_, other) in pairs
        )
    if isinstance(value, list):
        return len(value) == len(clean) and all(map(same_shape, value, clean))
    return type(value) is type(clean) or (isinstance(value, (int, float)) and bool(MARK.fullmatch(clean)))


@given(_JSON)
@settings(max_examples=150, deadline=None)
def test_the_shape_of_json_stays(value: Any) -> None:
    clean, findings = REDACT(value)
    assert same_shape(value, clean)
    assert text_of(clean) == clean
    assert bool(findings) == (clean != value)
