"""Calls whose arguments decide: a shell, a device's command line, SQL, an HTTP client, `echo` into a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from olav_core import VerbMatcherSpec, hookimpl


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Tools that run what they are given; a word of the name.
_RUNNERS: Final = _words(
    "bash cli cmd command commands console exec execute powershell run sh shell ssh terminal"
)
_QUERIERS: Final = _words("sql query database db statement statements exec execute run")
_REQUESTERS: Final = _words("http https request requests api rest curl url webhook call")
_PRINTERS: Final = frozenset(("echo", "print", "printf"))
_COMMAND_KEYS: Final = ("command", "commands", "cmd", "cmds", "cli", "command_line", "script")
_SQL_KEYS: Final = ("sql", "query", "statement", "statements")
_FILE_KEYS: Final = (
    "file_name",
    "filename",
    "file",
    "path",
    "file_path",
    "output_file",
    "outfile",
    "output",
    "destination",
)

#: Commands of shells and of routers that only look. Everything else may change something.
_LOOKING: Final = _words(
    "cat df diff dig dir du date dmesg echo egrep env file free get-content get-process grep head history"
    " host hostname id ifstat ipconfig journalctl jq last less ls lsblk lscpu lsof man more netstat"
    " nslookup pgrep ping ping6 printenv printf ps pwd select-string show display sort ss stat tail"
    " tcpdump test-connection top traceroute tracert tree type uname uniq uptime vmstat wc where whereis"
    " which who whoami cd cut tr awk true"
)
#: What routers filter a listing with: `show run | include vlan`.
_FILTERS: Final = _words("begin count except exclude include last match no-more section")
#: Of these the second word tells.
_LOOKING_SECOND: Final = {
    "docker": "images inspect logs ps stats version",
    "git": "blame branch diff log remote rev-parse show status",
    "ip": "a addr address link neigh route r",
    "kubectl": "api-resources describe explain get logs top version",
    "systemctl": "cat is-active is-enabled list-units status",
    "terraform": "output plan show validate version",
}
#: Second words after which a looking subcommand changes something after all: `ip route add`, `git branch -D`.
_CHANGING: Final = _words("add append change del delete flush rm remove replace set -d -D -m")
_QUIET_REDIRECT = re.compile(r"\d?>&\d|[\d&]?>+\s*/dev/null")
_SPLIT = re.compile(r"\|\||&&|[|;\n]")
_SQL_COMMENT = re.compile(r"\A(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)+", re.DOTALL)
_SQL_LOOKING: Final = _words("select show describe desc explain with pragma values use")
_SQL_STATEMENTS: Final = _words(
    "insert update delete merge create drop alter truncate replace grant revoke begin call vacuum"
)
_SQL_CHANGING = re.compile(
    r"\b(?:insert|update|delete|merge|into|create|drop|alter|truncate)\b", re.IGNORECASE
)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"")
MAX_CHARS = 20_000


def writes(tool_name: str, args: Any) -> bool | None:
    """Return True or False where the arguments tell a change from a look, None where the name decides."""
    if not isinstance(args, Mapping):
        return None
    words = {word.lower() for word in _WORD.findall(tool_name[:256])}
    given = {str(key).lower(): value for key, value in args.items()}
    if words and words <= _PRINTERS:
        return any(given.get(key) not in (None, "", [], {}) for key in _FILE_KEYS)
    if words == {"add"} and given and all(isinstance(value, (int, float)) for value in given.values()):
        return False  # arithmetic
    if words & _REQUESTERS and isinstance(method := given.get("method", given.get("verb")), str):
        return method.strip().upper() not in ("GET", "HEAD", "OPTIONS", "TRACE", "")
    if words & _QUERIERS:
        statements = list(_texts(given, _SQL_KEYS))
        if statements and all(map(_is_sql, statements)):
            return not all(map(_sql_looks, statements))
    if words & _RUNNERS:
        commands = list(_texts(given, _COMMAND_KEYS))
        if commands and all(map(_command_looks, commands)):
            return False
        if commands and words & {"bash", "shell", "sh", "powershell", "terminal"}:
            return True
    return None


def _texts(given: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        value = given.get(key)
        items = value if isinstance(value, (list, tuple)) else [value]
        yield from (item[:MAX_CHARS] for item in items if isinstance(item, str) and item.strip())


def _command_looks(command: str) -> bool:
    text = _QUIET_REDIRECT.sub(" ", _QUOTED.sub("''", command))
    if ">" in text or "`" in text or "$(" in text:
        return False
    parts = [part.split() for part in _SPLIT.split(text) if part.strip()]
    return (
        bool(parts) and _part_looks(parts[0]) and all(p[0] in _FILTERS or _part_looks(p) for p in parts[1:])
    )


def _part_looks(words: list[str]) -> bool:
    if (
        words[0] in ("sudo", "do", "run", "command", "time", "watch") and len(words) > 1
    ):  # `do show` of a router
        words = words[1:]
    first = words[0].lower()
    seconds = _LOOKING_SECOND.get(first)
    if seconds is not None:
        named = [word for word in words[1:] if not word.startswith("-")]
        return bool(named) and named[0] in seconds.split() and not _CHANGING & set(words[2:])
    return first in _LOOKING


def _is_sql(text: str) -> bool:
    first = _SQL_COMMENT.sub("", text).split(None, 1)
    return bool(first) and first[0].lower().strip("(;") in _SQL_LOOKING | _SQL_STATEMENTS


def _sql_looks(text: str) -> bool:
    parts = [part for part in _QUOTED.sub("''", text).split(";") if part.strip()]
    return all(_is_sql(part) and _first_looks(part) and not _SQL_CHANGING.search(part) for part in parts)


def _first_looks(text: str) -> bool:
    return _SQL_COMMENT.sub("", text).split(None, 1)[0].lower().strip("(") in _SQL_LOOKING


@hookimpl
def olav_register_verb_matchers() -> list[VerbMatcherSpec]:
    return [
        VerbMatcherSpec(
            id="call_arguments",
            purpose="Shells, SQL and HTTP clients: the command, statement or method tells",
            languages=(),
            writes=writes,
        )
    ]
