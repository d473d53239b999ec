"""The contract of a redactor."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from olav_core.specs import Finding
from olav_core.testing.contract import ODD_TEXTS, PluginContract

#: Texts with no secret in them that look a little like one.
HARMLESS = (
    "No API key in the build",
    "apiKey: import.meta.env.API_KEY",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "job 123e4567-e89b-12d3-a456-426614174000 finished",
    "rotate the token every ninety days",
    "密码每九十天更换一次",
)
#: What quadratic patterns choke on; each is repeated to any length.
_SOUP = (
    "A",
    "a.",
    "{",
    "key=",
    "-----BEGIN PRIVATE KEY-----\nMIIE",
    "password: ",
    " ",
    "\n",
    "://",
    '"',
    "1 2-",
)
#: Four times the text may take this many times as long; quadratic work takes 16 times.
_GROWTH = 9.0
_CHARS = 20_000
_RAISES = "The core holds a value back when a redactor raises: nothing with it can be stored."


class RedactorContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `secrets`: (text, the part that must go). `kept`: texts that must stay as they are, besides HARMLESS.
    """

    kind: ClassVar[str] = "redactors"
    secrets: Sequence[tuple[str, str]] = ()
    kept: Sequence[str] = ()

    def _redact(self, value: Any, what: str) -> tuple[Any, list[Finding]]:
        with self.calling(
            f"redact() of {what}", _RAISES, "Take any JSON value; pass on what you do not know."
        ):
            answer = self.spec.redact(value)
        ok = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Sequence)
        ok = ok and all(isinstance(finding, Finding) and finding.count > 0 for finding in answer[1])
        self.require(
            ok,
            f"redact() of {what} returned {type(answer).__name__} {str(answer)[:80]!r}.",
            "The core unpacks (value, findings) and counts the findings.",
            "Return (value, [Finding(kind, count), …]), the list empty when nothing was masked.",
        )
        return answer[0], list(answer[1])

    def _values(self) -> list[Any]:
        values: list[Any] = [None, True, 0, -1.5, 10**30, "", [], {}, *ODD_TEXTS, "\ud800", "\x00"]
        values += [text for text, _ in self.secrets]
        values += [{"note": text, "steps": [text, {"deep": text}]} for text, _ in self.secrets]
        values += [json_value(random.Random(seed)) for seed in range(60)]
        return values

    def test_it_takes_any_json_and_keeps_its_structure(self) -> None:
        for value in self._values():
            masked, _ = self._redact(value, f"{str(value)[:60]!r}")
            difference = _difference(value, masked)
            self.require(
                not difference,
                f"redact() of {str(value)[:60]!r} changed its structure: {difference}.",
                "Metadata is checked against its category's class after redaction, and capture reads it.",
                "Replace strings and numbers only; keep keys, lists and their lengths.",
            )

    def test_it_leaves_its_argument_alone(self) -> None:
        for value in self._values():
            before = copy.deepcopy(value)
            self._redact(value, f"{str(value)[:60]!r}")
            self.require(
                value == before or value != value,
                f"redact() changed its argument {str(before)[:60]!r}.",
                "The tool's own arguments are passed in: masking them in place would change what it does.",
                "Build a new value.",
            )

    def test_findings_tell_whether_something_was_masked(self) -> None:
        for value in self._values():
            masked, findings = self._redact(value, f"{str(value)[:60]!r}")
            self.require(
                bool(findings) == (masked != value),
                f"{str(value)[:60]!r} {'changed' if masked != value else 'did not change'}, but redact() "
                f"reports {len(findings)} finding(s).",
                "Counts and audits rest on the findings.",
                "Report each thing you mask, and only that.",
            )

    def test_it_is_idempotent(self) -> None:
        for value in self._values():
            once, _ = self._redact(value, f"{str(value)[:60]!r}")
            twice, again = self._redact(once, f"its own result {str(once)[:60]!r}")
            self.require(
                twice == once and not again,
                f"its own result {str(once)[:80]!r} is masked again, to {str(twice)[:80]!r}.",
                "Stored rows are scanned again, and redactors run on one another's results.",
                "Choose a mask that your own patterns do not match.",
            )

    def test_its_secrets_go_wherever_they_stand(self) -> None:
        for text, secret in self.secrets:
            for value in (text, [text], {"note": text}, {"a": [{"b": text}]}):
                masked, findings = self._redact(value, "a secret")
                told = json.dumps(masked, ensure_ascii=False, default=str)
                self.require(
                    secret not in told and all(secret not in finding.kind for finding in findings),
                    f"the secret of {text!r} is still in the {type(value).__name__}, or in a finding.",
                    "What is not masked here is embedded, stored, shown and exported.",
                    "Walk through lists and mappings, and name the kind of a finding, never its text.",
                )

    def test_harmless_texts_survive(self) -> None:
        for text in (*HARMLESS, *self.kept):
            masked, _ = self._redact(text, repr(text))
            self.require(
                masked == text,
                f"{text!r} became {masked!r}.",
                "A mask over harmless text destroys the memory, and nobody sees it.",
                "Ask for more than a word: a value behind it, a length, a shape.",
            )

    def test_its_time_grows_with_the_length(self) -> None:
        for piece in (*_SOUP, *(text for text, _ in self.secrets)):
            short, long = (piece * (count // len(piece) + 1) for count in (_CHARS, 4 * _CHARS))
            for _ in range(3):  # a busy machine may disturb one measurement, not three
                base, spent = _cpu(self.spec.redact, short), _cpu(self.spec.redact, long)
                if spent < 0.02 or spent <= _GROWTH * base:
                    break
            else:
                self.require(
                    False,
                    f"four times as long a text of {piece[:20]!r} takes {spent / base:.0f} times as long.",
                    "Tool results are megabytes long; redaction stands in every write.",
                    "Bound the repeats in your patterns: `{1,200}` for `+`, no two that match the same.",
                )


def json_value(source: random.Random, depth: int = 0) -> Any:
    """Return a random JSON value, up to four levels deep; the same for the same seed."""
    kinds = ["text", "number", "bool", "null"] + (["list", "object"] * 2 if depth < 4 else [])
    kind = source.choice(kinds)
    if kind == "text":
        letters = "ab 01:=/@.-_\"'{}中文🙂\n"
        return "".join(source.choice(letters) for _ in range(source.randrange(30)))
    if kind == "number":
        return source.choice([0, -1, 3.5, 10**12, 1e-9])
    if kind == "bool":
        return source.random() < 0.5
    if kind == "list":
        return [json_value(source, depth + 1) for _ in range(source.randrange(4))]
    if kind == "object":
        return {f"key{n}": json_value(source, depth + 1) for n in range(source.randrange(4))}
    return None


def _difference(before: Any, after: Any, path: str = "value") -> str:
    """Return where `after` is not built like `before`, else nothing; strings and numbers may be masked."""
    if isinstance(before, dict):
        if not isinstance(after, dict) or list(before) != list(after):
            return f"{path} was a mapping with the keys {list(before)}"
        found = (_difference(before[key], after[key], f"{path}.{key}") for key in before)
        return next(filter(None, found), "")
    if isinstance(before, list):
        if not isinstance(after, list) or len(before) != len(after):
            return f"{path} was a list of {len(before)}"
        pairs = enumerate(zip(before, after, strict=True))
        return next(filter(None, (_difference(b, a, f"{path}[{i}]") for i, (b, a) in pairs)), "")
    if isinstance(before, str) and not isinstance(after, str):
        return f"{path} was a string and is {type(after).__name__}"
    if before is None and after is not None:
        return f"{path} was null"
    return ""


def _cpu(redact: Callable[[Any], Any], text: str) -> float:
    start = time.thread_time()
    redact(text)
    return time.thread_time() - start
