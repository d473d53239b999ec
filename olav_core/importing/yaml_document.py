"""A YAML file with a fixed set of keys: read whole, every fault with its line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen

from olav_core.errors import did_you_mean
from olav_core.records import clean_text
from olav_core.specs import Fault

if TYPE_CHECKING:
    import yaml

#: A hand-written file is a few kB; the bound keeps a hostile one from costing seconds of parsing.
MAX_BYTES = 256 * 1024
#: A file of another kind has a fault in every line; the first ones tell that.
MAX_FAULTS = 50
#: The name of the key that says which version of a file's own format it follows.
VERSION_KEY = "schema_version"

_TAG = "tag:yaml.org,2002:"
_NAMES = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false"}
_NAMES |= {"null": "empty", "timestamp": "a date", "seq": "a list", "map": "a mapping"}


@frozen(kw_only=True)
class YamlKey:
    """What one key may hold: `string`, `strings` (a list; numbers and dates in it are taken as written),
    `integer`, or `time` (an ISO date or time, UTC when it names no zone; a date lasts to its end)."""

    kind: Literal["string", "strings", "integer", "time"] = "string"
    required: bool = False
    choices: tuple[str, ...] = ()
    max_chars: int = 256
    max_items: int = 64


@frozen(kw_only=True)
class YamlDocument:
    """A file as read: `values` holds the keys that were sound, `lines` the line of every key (from 1)."""

    path: str
    values: Mapping[str, Any] = field(factory=dict)
    lines: Mapping[str, int] = field(factory=dict)
    faults: tuple[Fault, ...] = ()

    def line(self, key: str) -> int:
        """Return the line of `key`, 1 when the file does not have it."""
        return self.lines.get(key, 1)


def read_yaml_document(
    path: str, raw: bytes, keys: Mapping[str, YamlKey], *, version: int = 1, max_bytes: int = MAX_BYTES
) -> YamlDocument:
    """Return what `raw` holds of `keys` (plus `schema_version`, which must equal `version`) and every fault.

    Never raises for bad content, and never expands aliases: only scalars and flat lists are taken.
    """
    reader = _Reader(path)
    if len(raw) > max_bytes:
        reader.fault(0, f"{len(raw):,} bytes, the limit is {max_bytes:,}. Split the file.")
        return reader.document()
    text = reader.decode(raw)
    root = reader.compose(text) if text is not None else None
    if root is not None:
        version_key = YamlKey(kind="integer", required=True)
        reader.read(root, {VERSION_KEY: version_key, **keys})
        found = reader.values.get(VERSION_KEY, version)
        if found != version:
            reader.fault(
                reader.lines[VERSION_KEY],
                f"{VERSION_KEY} {found} is not supported, this release reads {version}. "
                "Write the file in that format, or upgrade the package that reads it.",
            )
    return reader.document()


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.values: dict[str, Any] = {}
        self.lines: dict[str, int] = {}
        self.faults: list[Fault] = []

    def fault(self, line: int, message: str) -> None:
        self.faults.append(Fault(self.path, line, message))

    def document(self) -> YamlDocument:
        faults = sorted(self.faults, key=lambda fault: fault.line)
        if len(faults) > MAX_FAULTS:
            more = Fault(self.path, 0, f"{len(faults) - MAX_FAULTS:,} more faults. Correct the first ones.")
            faults = [*faults[:MAX_FAULTS], more]
        return YamlDocument(path=self.path, values=self.values, lines=self.lines, faults=tuple(faults))

    def decode(self, raw: bytes) -> str | None:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            self.fault(line, f"not UTF-8 (it looks like {guess_encoding(raw)}). Save the file as UTF-8.")
            return None

    def compose(self, text: str) -> yaml.MappingNode | None:
        import yaml

        try:
            # The Python loader on purpose: nested too deep it raises, where the C one can crash.
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.fault(mark.line + 1 if mark else 0, f"bad YAML: {error.problem or error.context}.")
            return None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self.fault(line, f"bad YAML: the character U+{ord(text[error.position]):04X} is not allowed.")
            return None
        except RecursionError:
            self.fault(0, "bad YAML: nested too deep. Only plain values and flat lists are read.")
            return None
        except (ValueError, OverflowError):  # an escape beyond Unicode, as in "\\UFFFFFFFF"
            self.fault(0, "bad YAML: an escape in a quoted string names no character.")
            return None
        if root is None:
            self.fault(0, "the file is empty.")
            return None
        if not isinstance(root, yaml.MappingNode):
            self.fault(root.start_mark.line + 1, f"must be `key: value` lines, not {_name(root)}.")
            return None
        return root

    def read(self, root: yaml.MappingNode, keys: Mapping[str, YamlKey]) -> None:
        for key_node, node in root.value:
            name, line = str(key_node.value) if _is_scalar(key_node) else "", key_node.start_mark.line + 1
            if not name:
                self.fault(line, f"a key must be a name, not {_name(key_node)}.")
            elif name not in keys:
                self.fault(line, f"unknown key '{name[:80]}'.{did_you_mean(name[:80], keys)}")
            elif name in self.lines:
                self.fault(line, f"key '{name}' is given twice, first in line {self.lines[name]}.")
            else:
                self.lines[name] = line
                value = self.value(name, node, keys[name])
                if value is not None:
                    self.values[name] = value
        first = root.start_mark.line + 1
        for name, key in keys.items():
            if key.required and name not in self.lines:
                self.fault(first, f"key '{name}' is missing.")

    def value(self, name: str, node: yaml.Node, key: YamlKey) -> Any:
        line = node.start_mark.line + 1
        if node.tag == _TAG + "null":
            self.fault(line, f"{name} is empty. Give it a value or leave the line out.")
            return None
        if key.kind == "strings":
            return self.strings(name, node, key)
        if not _is_scalar(node):
            self.fault(line, f"{name} must be {_wanted(key)}, not {_name(node)}.")
            return None
        text = str(node.value)
        if key.kind == "integer":
            if node.tag == _TAG + "int" and text.lstrip("+-").isdigit() and len(text) < 19:
                return int(text)
            self.fault(line, f"{name} must be an integer, not {_name(node)}.")
            return None
        if key.kind == "time":
            return self.time(name, text, line)
        if node.tag != _TAG + "str":
            self.fault(line, f"{name} must be a string, not {_name(node)}. Put it in quotes.")
            return None
        return self.string(name, text, line, key)

    def string(self, name: str, text: str, line: int, key: YamlKey) -> str | None:
        text = clean_text(text).strip()
        if not text:
            self.fault(line, f"{name} is empty. Give at least one visible character.")
        elif len(text) > key.max_chars:
            self.fault(
                line, f"{name} has {len(text):,} characters, the limit is {key.max_chars:,}. Shorten it."
            )
        elif key.choices and text not in key.choices:
            self.fault(
                line, f"{name} '{text[:80]}' is not one of its values.{did_you_mean(text[:80], key.choices)}"
            )
        else:
            return text
        return None

    def strings(self, name: str, node: yaml.Node, key: YamlKey) -> list[str] | None:
        line = node.start_mark.line + 1
        if node.tag != _TAG + "seq" or not isinstance(node.value, list):
            self.fault(line, f"{name} must be a list of strings, not {_name(node)}. Write [first, second].")
            return None
        if len(node.value) > key.max_items:
            self.fault(
                line, f"{name} has {len(node.value)} entries, the limit is {key.max_items}. Keep the best."
            )
            return None
        items: list[str] = []
        sound = True
        for item in node.value:
            item_line = item.start_mark.line + 1
            if not _is_scalar(item) or item.tag == _TAG + "null":
                self.fault(item_line, f"{name} must hold strings, not {_name(item)}.")
                text = None
            else:
                text = self.string(name, str(item.value), item_line, key)
            sound = sound and text is not None
            if text is not None and text not in items:
                items.append(text)
        return items if sound else None

    def time(self, name: str, text: str, line: int) -> datetime | None:
        try:
            moment = datetime.fromisoformat(text.strip())
            if len(text.strip()) <= len("2026-12-31"):
                moment = datetime.combine(moment.date(), time.max)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fault(line, f"{name} '{text[:80]}' is not an ISO date or time such as 2026-12-31.")
            return None


def guess_encoding(raw: bytes) -> str:
    """Return the likely name of an encoding that is not UTF-8, for a message to a person."""
    sample = raw[:4096]
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")) or sample.count(0) * 4 > len(sample):
        return "UTF-16"
    # Legacy double-byte text is told by high bytes that come in runs of pairs; Latin accents stand alone.
    high = [byte >= 0x80 for byte in sample]
    runs = sum(a and b for a, b in pairwise(high))
    if runs * 2 >= sum(high):
        for encoding, name in (("gb18030", "GB18030"), ("big5", "Big5"), ("shift_jis", "Shift JIS")):
            try:
                raw.decode(encoding)
            except UnicodeDecodeError:
                continue
            return name
    return "Windows-1252"


def _is_scalar(node: yaml.Node) -> bool:
    return isinstance(node.value, str)


def _name(node: yaml.Node) -> str:
    tag = str(node.tag)
    return _NAMES.get(tag.removeprefix(_TAG), f"a value tagged {tag[:80]}")


def _wanted(key: YamlKey) -> str:
    return {"string": "a string", "integer": "an integer", "time": "an ISO date or time"}[key.kind]
