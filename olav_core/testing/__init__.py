"""For the tests of plug-ins: a contract suite per kind, workspaces, a clock, a corpus, fake distributions.

    from olav_core.testing import GateContract
    import olav_ticket

    class TestSolvedOnly(GateContract):
        plugin = olav_ticket

Each contract is a class whose `test_…` methods are its rules: subclass it in a test file, or call
`GateContract.of(olav_ticket).run()`. A breach tells what happened, why it matters and how to mend it. The
fixtures `olav_memory`, `olav_open`, `olav_clock`, `olav_corpus` and `olav_site` come with the installed
package as a pytest plug-in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olav_core.testing.breach import ContractBreach as ContractBreach
    from olav_core.testing.category import CategoryContract as CategoryContract
    from olav_core.testing.confirmation import ConfirmationContract as ConfirmationContract
    from olav_core.testing.contract import PluginContract as PluginContract
    from olav_core.testing.contracts import CONTRACTS as CONTRACTS
    from olav_core.testing.corpus import TOPICS as TOPICS
    from olav_core.testing.corpus import Topic as Topic
    from olav_core.testing.corpus import tiny_corpus as tiny_corpus
    from olav_core.testing.directive import DirectiveContract as DirectiveContract
    from olav_core.testing.embedder import EmbedderContract as EmbedderContract
    from olav_core.testing.fake_clock import FakeClock as FakeClock
    from olav_core.testing.fake_distributions import FakeDistributions as FakeDistributions
    from olav_core.testing.gate import GateContract as GateContract
    from olav_core.testing.importer import ImporterContract as ImporterContract
    from olav_core.testing.lexicon import LexiconContract as LexiconContract
    from olav_core.testing.middleware import MiddlewareContract as MiddlewareContract
    from olav_core.testing.ranker import RankerContract as RankerContract
    from olav_core.testing.redactor import RedactorContract as RedactorContract
    from olav_core.testing.verbs import VerbMatcherContract as VerbMatcherContract
    from olav_core.testing.workspaces import RecallState as RecallState
    from olav_core.testing.workspaces import make_candidate as make_candidate
    from olav_core.testing.workspaces import make_query as make_query
    from olav_core.testing.workspaces import open_workspace as open_workspace
    from olav_core.testing.workspaces import recall_state as recall_state
    from olav_core.testing.workspaces import temporary_workspace as temporary_workspace

#: Public name -> its module: pytest loads this package in every session, so it must cost nothing.
_PUBLIC = {
    "ContractBreach": "breach",
    "CategoryContract": "category",
    "ConfirmationContract": "confirmation",
    "PluginContract": "contract",
    "CONTRACTS": "contracts",
    "TOPICS": "corpus",
    "Topic": "corpus",
    "tiny_corpus": "corpus",
    "DirectiveContract": "directive",
    "EmbedderContract": "embedder",
    "FakeClock": "fake_clock",
    "FakeDistributions": "fake_distributions",
    "GateContract": "gate",
    "ImporterContract": "importer",
    "LexiconContract": "lexicon",
    "MiddlewareContract": "middleware",
    "RankerContract": "ranker",
    "RedactorContract": "redactor",
    "VerbMatcherContract": "verbs",
    "RecallState": "workspaces",
    "make_candidate": "workspaces",
    "make_query": "workspaces",
    "open_workspace": "workspaces",
    "recall_state": "workspaces",
    "temporary_workspace": "workspaces",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'olav_core.testing' has no attribute {name!r}")
    value = getattr(import_module(f"olav_core.testing.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
