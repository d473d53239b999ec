"""Names of several actions: `validate_config_and_push` is two, `list_read_and_write_permissions` is one."""

from __future__ import annotations

from olav_verbs import words
from olav_verbs.vocabulary import Vocabulary

_JOINTS = frozenset(("and", "then", "or"))


def actions(vocabulary: Vocabulary, tokens: list[str]) -> list[list[str]]:
    """Return the words of each action of a name."""
    parts: list[list[str]] = [[]]
    for n, token in enumerate(tokens):
        if token in _JOINTS and _joins(vocabulary, parts[-1], token, tokens[n + 1 :]):
            parts.append([])
        elif parts[-1] or token not in _JOINTS:
            parts[-1].append(token)
    if len(parts) == 1 and len(tokens) >= 3 and all(_acts(vocabulary, token) for token in tokens):
        last = vocabulary.verb(tokens[-1])
        if last is not None and last.firm and not words.INFO & set(tokens):
            return [[token] for token in tokens]  # read_modify_write
    return parts


def _joins(vocabulary: Vocabulary, left: list[str], joint: str, right: list[str]) -> bool:
    """Whether two actions meet here, not two nouns: before it stands a verb, or a verb and its object."""
    if not left or not right:
        return False
    right = right[1:] if right[0] in _JOINTS else right  # and then
    if not right or not _acts(vocabulary, right[0]):
        return False
    if joint == "then":
        return True
    return len(left) == 1 or (_acts(vocabulary, left[0]) and not _acts(vocabulary, left[-1]))


def _acts(vocabulary: Vocabulary, word: str) -> bool:
    """Whether the word is a verb in its base form."""
    verb = vocabulary.verb(word)
    return word in words.READS or word in words.OBJECTS or (verb is not None and verb.form == "base")
