"""Groups of queries that figures are given for: all, by kind, by pair of languages, by category."""

from __future__ import annotations

from collections.abc import Mapping

from olav_core import Suite, SuiteQuery, language_of


def groups(suite: Suite, texts: Mapping[str, str], categories: Mapping[str, str]) -> dict[str, list[str]]:
    """Return group -> qids of queries with relevant memories, `all` first.

    `kind:K`; `lang:Q->M`, the query's language and that of its memories (`zh+en` for several; by script where
    the data does not say); `category:C` of the relevant memories where they are of one and the suite has
    several. `texts` and `categories` are those of the suite's memories by id.
    """
    asked = [query for query in suite.queries if query.relevant]
    found: dict[str, list[str]] = {"all": [query.qid for query in asked]} if asked else {}
    several = len(set(categories.values())) > 1
    for name_of in (
        _kind,
        lambda query: _languages(query, suite.languages, texts),
        lambda query: _category(query, categories) if several else "",
    ):
        names: dict[str, list[str]] = {}
        for query in asked:
            if name := name_of(query):
                names.setdefault(name, []).append(query.qid)
        found |= dict(sorted(names.items()))
    return found


def negatives(suite: Suite) -> dict[str, list[str]]:
    """Return group -> qids of queries that nothing answers: all, and by kind."""
    asked = [query for query in suite.queries if not query.relevant]
    found: dict[str, list[str]] = {"all": [query.qid for query in asked]} if asked else {}
    for query in asked:
        if query.kind:
            found.setdefault(_kind(query), []).append(query.qid)
    return found


def _kind(query: SuiteQuery) -> str:
    return f"kind:{query.kind}" if query.kind else ""


def _languages(query: SuiteQuery, languages: Mapping[str, str], texts: Mapping[str, str]) -> str:
    spoken = {languages.get(key) or language_of(texts[key]) for key in query.relevant if key in texts}
    return f"lang:{query.lang or language_of(query.query)}->{'+'.join(sorted(spoken))}" if spoken else ""


def _category(query: SuiteQuery, categories: Mapping[str, str]) -> str:
    found = {categories[key] for key in query.relevant if key in categories}
    return f"category:{found.pop()}" if len(found) == 1 else ""
