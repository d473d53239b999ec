"""English capture verbs: which tool names say that something is changed.

The first verb of a name decides, by where it stands: `createUser`, `netops.push_config` and `user-delete`
change something; `list_created_users`, `get_update_status`, `export_formats_list` and `is_registered` do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from olav_core import VerbMatcherSpec, hookimpl
from olav_verbs import words
from olav_verbs.actions import actions
from olav_verbs.names import segments
from olav_verbs.vocabulary import Verb, Vocabulary

#: What `_judge` says of a name that only reads; None says that it holds no verb at all.
_READ = ""
#: How many words before the verb may be the name of a service: `slack_post_message`.
_SERVICE_WORDS = 2


def match(tool_name: str) -> str | None:
    """Return the verb (its base form) of a tool name that changes something, else None."""
    return _match(_vocabulary(()), tool_name)


def extend(verbs: Sequence[str]) -> Callable[[str], str | None]:
    """Return a `match` that also knows a team's own verbs, with their inflections."""
    latin = tuple(verb for verb in verbs if verb.isascii())
    return partial(_match, _vocabulary(latin))


@cache
def _vocabulary(verbs: tuple[str, ...]) -> Vocabulary:
    return Vocabulary(verbs)


def _match(vocabulary: Vocabulary, name: str) -> str | None:
    parts = segments(name)
    for n, part in enumerate(reversed(parts)):
        tokens = vocabulary.joined(part)
        if n:  # a namespace before an operation without a verb: `kubectl.apply.deployment`
            verb = vocabulary.verb(tokens[0]) if len(tokens) == 1 else None
            known = verb is not None and verb.form == "base" and (verb.firm or verb.lemma in words.STEMS)
            if verb is not None and known and verb.lemma != "record":
                return verb.lemma
            if tokens[0] in words.READS:
                return None
            continue
        verdict = _judge(vocabulary, tokens)
        if verdict is not None:
            return verdict or None
    return None


def _judge(vocabulary: Vocabulary, tokens: list[str]) -> str | None:
    """Judge a name; one of several actions (`format_and_export`) changes something when any of them does."""
    verdicts = [_judge_one(vocabulary, part) for part in actions(vocabulary, tokens)]
    return next((verdict for verdict in verdicts if verdict), verdicts[0])


def _judge_one(vocabulary: Vocabulary, tokens: list[str]) -> str | None:
    while (
        len(tokens) > 1 and tokens[0] in words.ASIDES and (tokens[0] != "sync" or vocabulary.verb(tokens[1]))
    ):
        tokens = tokens[1:]
    if len(tokens) == 1 and tokens[0] in words.COMMANDS:
        return tokens[0]
    if (
        not tokens
        or tokens[0] in words.OPENERS
        or words.QUESTIONS & set(tokens)
        or tokens[-1] in words.PROPERTIES
    ):
        return _READ
    for n, token in enumerate(tokens):
        before, rest = tokens[:n], tokens[n + 1 :]
        if token in words.READS:
            if before and token in words.THINGS and len(rest) == 1 and _is_final(vocabulary, rest[0]):
                continue
            return _READ
        verb = vocabulary.verb(token)
        if verb is None or verb.form == "participle":
            continue
        if _is_scaffolding(tokens, before, rest):
            return _READ
        if _changes(verb, before, rest):
            return verb.lemma
        if not before:
            return _READ
    return _READ if all(token in words.INFO for token in tokens) else None


def _is_final(vocabulary: Vocabulary, word: str) -> bool:
    verb = vocabulary.verb(word)
    return verb is not None and verb.firm and verb.form == "base"


def _is_scaffolding(tokens: list[str], before: list[str], rest: list[str]) -> bool:
    """`write_todos`, `TodoWrite`, `update_plan`; `create_todo` may be a real to-do list's."""
    if tokens[-1] in ("answer",) and len(rest) == 1:
        return True
    around = [word for word in [*before, *rest] if word != "list"]
    lone = len(around) == 1 and around[0] in words.SCAFFOLDING
    return lone and bool({"write", "update", "save", "set", "record", "manage"} & set(tokens))


def _changes(verb: Verb, before: list[str], rest: list[str]) -> bool:
    """Whether the verb says what the tool does, or only what it is about."""
    needed = words.OBJECTS.get(verb.lemma)
    if needed is not None:
        return bool(needed & set(rest))
    if verb.firm:
        if not rest:
            return True
        if verb.lemma == "resolve" and words.LOOKED_UP & set(rest):
            return False
        if verb.lemma == "set" and len(before) > 1:  # a set is a thing too: `result_data_set_list`
            return False
        noun = rest[0] in words.FIRM_INFO.get(verb.lemma, ())
        noun = noun or (len(rest) == 1 and rest[0] in words.TOLD and verb.lemma not in words.EDITS)
        noun = noun or (len(rest) > 1 and rest[-1] in words.LOOKING_ENDS)  # `register_map_show`
        noun = noun or rest == ["reason"] or rest[-2:] in (["permission", "check"], ["access", "check"])
        noun = noun or (rest == ["status"] and verb.lemma in words.STATUS_NOUNS)
        plural = verb.form == "third" and verb.lemma in ("update", "register", "write", "set", "reset")
        return not noun and not (plural and _is_noun_phrase(rest))
    if not rest:
        return verb.form != "third" and (not before or verb.lemma in words.FINAL)
    if len(before) > _SERVICE_WORDS:
        return False
    return (verb.lemma == "mark" and rest[-1] == "read") or not _is_noun_phrase(rest)


def _is_noun_phrase(rest: list[str]) -> bool:
    if (
        rest[0] in words.INFO
        or rest[-1] in words.INFO
        or rest[-1] in words.READS - {"group", "profile", "report"}
    ):
        return True
    return rest[-1] in ("list", "lists", "listing") and len(rest) > 1


@hookimpl
def olav_register_verb_matchers() -> list[VerbMatcherSpec]:
    return [
        VerbMatcherSpec(
            id="verbs",
            purpose="English verbs in tool names: snake, camel, kebab, dotted and namespaced",
            languages=("en",),
            match=match,
            extend=extend,
        )
    ]
