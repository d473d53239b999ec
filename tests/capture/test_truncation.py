"""A value that is too long is cut before redaction: no half of a secret may survive at the cut."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olav_core import build_registry
from olav_core.capture import payload

sys.path.insert(0, str(Path(__file__).parents[1] / "redactors"))
from fakes import pem

REDACT = build_registry().redact
#: The middle of every fake secret: whoever sees four characters of it has seen too much.
BODY = "Zx9kQ2mW7rTb4nVc" * 2
SHAPES = (
    " token=gh" + "p_{0}Zz9x end of the line",
    ' {{"password": "{0}", "host": "r1"}}',
    " Authorization: Bearer {0}.{0}.{0} ok",
    " https://h.example/a?x=1&access_token={0}&y=2",
    ";Password={0};Timeout=5;",
    "&api_key={0}&page=3&x=4",
    " postgres://app:{0}@db/inventory done",
    " 数据库密码：{0}，端口 5432",
    "\n enable secret 5 {0}\n interface lo0\n",
    "|password={0}|x=1|",
)


def shrinking(room: int) -> str:
    """A text of `room` characters that redaction makes short, so that its end is among what is kept."""
    keys = "\n".join(pem(lines=900) for _ in range(room // 59_000 + 1))
    return keys[: room - 1] + "\n" if len(keys) >= room else keys.ljust(room - 1, "-") + "\n"


LONG = shrinking(payload.READ_LEAF + 200)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 260), st.sampled_from(["", "x" * 400, " ok" * 200]))
def test_no_half_secret_at_the_cut_of_a_string(shape: str, into: int, after: str) -> None:
    told = shape.format(BODY) + after
    room = payload.READ_LEAF - min(into, len(told))
    text = LONG[-room:] + told
    kept = json.dumps(payload.kept(REDACT(payload.readable({"result": text}))[0]), ensure_ascii=False)
    leaked = [BODY[at : at + 4] for at in range(16) if BODY[at : at + 4] in kept]
    assert not leaked, kept[-300:]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 200))
def test_no_half_secret_where_the_room_of_a_call_ends(shape: str, into: int) -> None:
    full = [LONG[: payload.READ_LEAF] for _ in range(payload.READ_TOTAL // payload.READ_LEAF - 1)]
    told = shape.format(BODY)
    last = LONG[-(payload.READ_LEAF - min(into, len(told)) - 3_000) :] + told + " ok" * 50
    kept = json.dumps(payload.kept(REDACT(payload.readable([*full, last, told]))[0]), ensure_ascii=False)
    leaked = [BODY[at : at + 4] for at in range(16) if BODY[at : at + 4] in kept]
    assert not leaked, kept[-300:]


@pytest.mark.parametrize("into", range(0, 60, 3))
def test_a_text_without_a_blank_is_cut_at_a_sign(into: int) -> None:
    told = f"&token=abc&api_key={BODY}&page=3"
    text = "a=b&" * ((payload.READ_LEAF - into) // 4) + told + "&c=d" * 200
    read = payload.readable(text)
    assert len(read) < payload.READ_LEAF + 100
    masked = REDACT(read)[0]
    assert not any(BODY[at : at + 4] in masked for at in range(16)), masked[-200:]
