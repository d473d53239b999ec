"""LangGraph namespaces as scopes, one to one.

A namespace of one label is the scope of that name: `("netops",)` holds what agent netops recalls. Labels of
longer ones are joined with `/`; `%` and `/` inside a label are written `%25` and `%2F`, so two namespaces
never share a scope and a prefix of labels is never mistaken for a prefix of text.
"""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.store.base import MatchCondition

from olav_core import check_scope

Namespace = tuple[str, ...]


def scope_of(namespace: Sequence[str]) -> str:
    """Return the scope that holds a namespace's items.

    Raises RecordError for one that is empty, has blank edges or needs over 256 characters.
    """
    return check_scope("/".join(label.replace("%", "%25").replace("/", "%2F") for label in namespace))


def namespace_of(scope: str) -> Namespace:
    """Return the namespace whose items a scope holds."""
    return tuple(label.replace("%2F", "/").replace("%25", "%") for label in scope.split("/"))


def matches(namespace: Namespace, condition: MatchCondition) -> bool:
    """Tell whether a namespace begins (or ends) with the condition's labels; `*` stands for any one label."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=False)) if path else True
