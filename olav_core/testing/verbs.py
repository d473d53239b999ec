"""The contract of a verb matcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar

from olav_core.testing.contract import ODD_TEXTS, PluginContract

#: Tools that only look, whatever word stands further back in their name.
READS = (
    "list_created_users",
    "get_update_status",
    "write_todos",
    "search_deleted_items",
    "read_file",
    "describeTable",
    "查询已创建用户",
    "recall",
    "_",
)
_ODD_NAMES = (
    "",
    " ",
    "_",
    "...",
    "__init__",
    "🙂",
    "a" * 10_000,
    "a_" * 5_000,
    "-",
    "1",
    "\x00",
    "\ud800",
    *ODD_TEXTS,
)
_RESULTS: tuple[Any, ...] = (
    None,
    "",
    "done",
    "x" * 1_000_000,
    b"\xff\x00",
    0,
    True,
    [],
    {},
    ["a", {"b": None}],
    {"status": None, "error": None},
    {"status": "failed"},
    {"ok": False},
    {"error": "permission denied"},
    "Traceback (most recent call last):\n  …\nValueError: no",
    object(),
    {1: 2},
    [[[[[[]]]]]],
)
_RAISES = "Capture looks at every tool call of the agent; an exception would lose the event."


class VerbMatcherContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `calls`: tool name -> the verb it must match. `reads`: tool names it must not match, besides READS.
    `failures`: results that it must call failures. `successes`: results that it must not.
    `new_verb`: a verb that it does not know, and a tool that is named by it, for `extend`.
    """

    kind: ClassVar[str] = "verb_matchers"
    calls: Mapping[str, str] = {}
    reads: Sequence[str] = ()
    failures: Sequence[Any] = ()
    successes: Sequence[Any] = ()
    new_verb: tuple[str, str] = ("frobnicate", "frobnicate_lab")

    def _match(self, name: str) -> str | None:
        with self.calling(f"match({name[:40]!r})", _RAISES, "Take any string and return None."):
            verb = self.spec.match(name)
        ok = verb is None or (isinstance(verb, str) and verb.strip())
        self.require(
            ok,
            f"match({name[:40]!r}) returned {verb!r}.",
            "The verb becomes the event's action.",
            "Return the verb as a string, or None.",
        )
        return verb  # type: ignore[no-any-return]

    def _succeeded(self, result: Any, tool: str = "create_user") -> bool | None:
        what = f"succeeded({str(result)[:40]!r})"
        with self.calling(what, _RAISES, "Take any result; return None for what you do not know."):
            two = len(signature(self.spec.succeeded).parameters) > 1
            verdict = self.spec.succeeded(result, tool) if two else self.spec.succeeded(result)
        self.require(
            verdict is None or isinstance(verdict, bool),
            f"{what} returned {verdict!r}.",
            "False keeps the call out of the memory, None leaves it to the others.",
            "Return True, False or None.",
        )
        return verdict  # type: ignore[no-any-return]

    def test_match_takes_any_name(self) -> None:
        for name in _ODD_NAMES:
            self._match(name)

    def test_match_is_pure(self) -> None:
        for name in (*self.calls, *READS):
            self.require(
                self._match(name) == self._match(name),
                f"match({name!r}) differs between two calls.",
                "The same call would be captured once and not the next time.",
                "Keep no state between calls.",
            )

    def test_tools_that_only_look_are_not_matched(self) -> None:
        for name in (*READS, *self.reads):
            verb = self._match(name)
            self.require(
                verb is None,
                f"match({name!r}) gave {verb!r}, but this tool changes nothing.",
                "Everything that is looked at would become an event, and push out what happened.",
                "Look at where the verb stands: it leads the name, or the part behind the last dot.",
            )

    def test_its_own_verbs_are_matched(self) -> None:
        for name, wanted in self.calls.items():
            verb = self._match(name)
            self.require(
                verb == wanted,
                f"match({name!r}) gave {verb!r}, expected {wanted!r}.",
                "You said so in `calls`.",
                "Mend the matcher or the sample.",
            )

    def test_it_names_its_languages(self) -> None:
        self.require(
            self.spec.languages or not self.calls,
            "it matches names and names no language.",
            "`olav plugins` and the documentation tell teams by it whose verbs they have.",
            'Set languages, such as `("en",)`.',
        )

    def test_succeeded_takes_any_result(self) -> None:
        if self.spec.succeeded is not None:
            for result in _RESULTS:
                self._succeeded(result)

    def test_results_that_say_so_succeeded(self) -> None:
        if self.spec.succeeded is None:
            return
        for result in ("done", {"ok": True}, {"status": "success"}, {"error": None}, *self.successes):
            self.require(
                self._succeeded(result) is not False,
                f"succeeded({result!r}) is False.",
                "One matcher that says False keeps the event out.",
                "Return False only for what is surely a failure.",
            )
        for result in self.failures:
            self.require(
                self._succeeded(result) is False,
                f"succeeded({str(result)[:60]!r}) is not False.",
                "You said so in `failures`: a failed call must not be remembered as done.",
                "Mend the predicate or the sample.",
            )

    def test_writes_takes_any_arguments(self) -> None:
        if self.spec.writes is None:
            return
        for arguments in _RESULTS:
            with self.calling(f"writes('run', {str(arguments)[:40]!r})", _RAISES, "Take anything."):
                verdict = self.spec.writes("run", arguments)
            self.require(
                verdict is None or isinstance(verdict, bool),
                f"writes('run', {str(arguments)[:40]!r}) returned {verdict!r}.",
                "True is a change, False a look, None leaves it to the name.",
                "Return True, False or None.",
            )

    def test_extend_adds_verbs_and_loses_none(self) -> None:
        if self.spec.extend is None:
            return
        verb, tool = self.new_verb
        extended = self.spec.extend([verb])
        for name, wanted in {**self.calls, tool: verb}.items():
            self.require(
                extended(name) == wanted,
                f"extend([{verb!r}]) makes a match that gives {extended(name)!r} for {name!r}.",
                "A team adds its own verbs with `capture.verbs` and keeps the others.",
                "Return a match over your verbs and the given ones.",
            )
