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

from olav_core.testing.breach import ContractBreach
from olav_core.testing.category import CategoryContract
from olav_core.testing.contract import PluginContract
from olav_core.testing.corpus import TOPICS, Topic, tiny_corpus
from olav_core.testing.embedder import EmbedderContract
from olav_core.testing.fake_clock import FakeClock
from olav_core.testing.fake_distributions import FakeDistributions
from olav_core.testing.gate import GateContract
from olav_core.testing.importer import ImporterContract
from olav_core.testing.ranker import RankerContract
from olav_core.testing.redactor import RedactorContract
from olav_core.testing.verbs import VerbMatcherContract
from olav_core.testing.workspaces import (
    RecallState,
    make_candidate,
    make_query,
    open_workspace,
    recall_state,
    temporary_workspace,
)

#: Kind of spec -> its contract.
CONTRACTS: dict[str, type[PluginContract]] = {
    contract.kind: contract
    for contract in (
        CategoryContract,
        EmbedderContract,
        RankerContract,
        GateContract,
        RedactorContract,
        VerbMatcherContract,
        ImporterContract,
    )
}

__all__ = [
    "CONTRACTS",
    "TOPICS",
    "CategoryContract",
    "ContractBreach",
    "EmbedderContract",
    "FakeClock",
    "FakeDistributions",
    "GateContract",
    "ImporterContract",
    "PluginContract",
    "RankerContract",
    "RecallState",
    "RedactorContract",
    "Topic",
    "VerbMatcherContract",
    "make_candidate",
    "make_query",
    "open_workspace",
    "recall_state",
    "temporary_workspace",
    "tiny_corpus",
]
