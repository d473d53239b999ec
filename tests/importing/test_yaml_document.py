"""YAML files with a fixed set of keys: every fault, with its line; nothing raises."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olav_core import YamlDocument, YamlKey, read_yaml_document

KEYS = {
    "name": YamlKey(required=True, max_chars=20),
    "words": YamlKey(kind="strings", max_items=3, max_chars=10),
    "colour": YamlKey(choices=("red", "green")),
    "size": YamlKey(kind="integer"),
    "until": YamlKey(kind="time"),
}
GOOD = "schema_version: 1\nname: x\n"


def read(text: str | bytes) -> YamlDocument:
    raw = text if isinstance(text, bytes) else text.encode()
    return read_yaml_document("a.yaml", raw, KEYS)


def faults(text: str | bytes) -> list[tuple[int, str]]:
    return [(fault.line, fault.message) for fault in read(text).faults]


def test_reads_every_kind_and_its_line() -> None:
    document = read(
        "schema_version: 1\nname: 名字\nwords: [a, 179, no]\n" + "colour: red\nsize: 4\nuntil: 2026-12-31\n"
    )
    assert not document.faults
    assert document.values["name"] == "名字"
    assert document.values["words"] == ["a", "179", "no"]
    assert document.values["size"] == 4
    assert document.values["until"] == datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert (document.line("colour"), document.line("absent")) == (4, 1)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (GOOD + "colur: red", 3, "Did you mean 'colour'?"),
        (GOOD + "colour: blue", 3, "Known: green, red"),
        (GOOD + "words: hello", 3, "words must be a list of strings, not a string"),
        (GOOD + "words:\n - a\n - [b]", 5, "words must hold strings, not a list"),
        (GOOD + "words:\n - a\n - ", 5, "words must hold strings, not empty"),
        (GOOD + "words: [a, b, c, d]", 3, "4 entries, the limit is 3"),
        (GOOD + "words: [aaaaaaaaaaaa]", 3, "the limit is 10"),
        (GOOD + "size: big", 3, "size must be an integer, not a string"),
        (GOOD + "size: 1.5", 3, "size must be an integer, not a number"),
        (GOOD + "until: soon", 3, "not an ISO date"),
        (GOOD + "name: y", 3, "'name' is given twice, first in line 2"),
        (GOOD + "[a]: y", 3, "a key must be a name, not a list"),
        (GOOD + "<<: {a: b}", 3, "unknown key '<<'"),
        ("schema_version: 1\nname: 12", 2, "name must be a string, not an integer. Put it in quotes"),
        ("schema_version: 1\nname: {a: b}", 2, "name must be a string, not a mapping"),
        ("schema_version: 1\nname:", 2, "name is empty"),
        ("schema_version: 1\nname: '  '", 2, "name is empty"),
        ("schema_version: 1\nname: " + "x" * 21, 2, "21 characters, the limit is 20"),
        ("# c\n\nschema_version: 1\n", 3, "key 'name' is missing"),
        ("name: x", 1, "key 'schema_version' is missing"),
        ("name: x\nschema_version: 2", 2, "schema_version 2 is not supported, this release reads 1"),
        ("name: x\nschema_version: '1'", 2, "schema_version must be an integer"),
        ("name: x\nschema_version: true", 2, "schema_version must be an integer, not true or false"),
        ("name: x\n  bad: [", 2, "bad YAML"),
        ("name: 'x\n", 2, "bad YAML"),
        (
            "name: !!python/object:os.system x\nschema_version: 1",
            1,
            "name must be a string, not a value tagged",
        ),
        ("a\x00b: 1", 1, "bad YAML: the character U+0000"),
        ('name: "\\UFFFFFFFF"', 0, "bad YAML"),
        ("- a\n- b", 1, "must be `key: value` lines, not a list"),
        ("schema_version: 1\n---\nname: x", 2, "bad YAML"),
        ("", 0, "the file is empty"),
        ("# only a comment\n", 0, "the file is empty"),
        ("[" * 20_000, 0, "nested too deep"),
        ("x" * 300_000, 0, "the limit is 262,144"),
    ],
)
def test_a_fault_names_its_line(text: str, line: int, message: str) -> None:
    found = faults(text)
    assert any(at == line and message in said for at, said in found), found


def test_every_fault_of_a_file_is_told_in_order() -> None:
    found = faults("colur: red\nsize: x\nwords: {}\n")
    assert [line for line, _ in found] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("raw", "line", "guess"),
    [
        ("schema_version: 1\nname: 设备接口".encode("gb18030"), 2, "GB18030"),
        ("name: x".encode("utf-16"), 1, "UTF-16"),
        ("name: x".encode("utf-16-be") + b"\xff", 1, "UTF-16"),
        ("a: b\nname: Gerät für".encode("cp1252"), 2, "Windows-1252"),
    ],
)
def test_other_encodings_are_named(raw: bytes, line: int, guess: str) -> None:
    ((at, message),) = faults(raw)
    assert at == line
    assert f"looks like {guess}" in message


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    document = read(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert not document.faults
    assert document.values["name"] == "x"


def test_aliases_are_never_expanded() -> None:
    levels = "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * 9)}]\n" for i in range(1, 30))
    found = faults(f"b0: &b0 [x, x]\n{levels}words: *b29\n{GOOD}")
    assert any("words has 9 entries" in message for _, message in found)
    assert len(found) == 31


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_give_a_document_or_faults(raw: bytes) -> None:
    document = read(raw)
    assert document.faults or document.values["name"]


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\\\t設", max_size=120))
def test_any_yaml_like_text_gives_a_document_or_faults(text: str) -> None:
    document = read(GOOD + text)
    assert all(fault.message and 0 <= fault.line <= text.count("\n") + 3 for fault in document.faults)


def test_a_file_of_another_kind_gets_a_bounded_report() -> None:
    found = faults("".join(f"key{i}: x\n" for i in range(5_000)))
    assert len(found) == 51
    assert found[-1] == (0, "4,952 more faults. Correct the first ones.")
