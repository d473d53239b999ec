"""Every kind's contract."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from olav_core.testing.category import CategoryContract
from olav_core.testing.confirmation import ConfirmationContract
from olav_core.testing.contract import PluginContract
from olav_core.testing.directive import DirectiveContract
from olav_core.testing.embedder import EmbedderContract
from olav_core.testing.gate import GateContract
from olav_core.testing.importer import ImporterContract
from olav_core.testing.lexicon import LexiconContract
from olav_core.testing.middleware import MiddlewareContract
from olav_core.testing.ranker import RankerContract
from olav_core.testing.redactor import RedactorContract
from olav_core.testing.verbs import VerbMatcherContract

#: Kind of spec, as in the hook's name `olav_register_<kind>` -> its contract.
CONTRACTS: Mapping[str, type[PluginContract]] = MappingProxyType(
    {
        contract.kind: contract
        for contract in (
            CategoryContract,
            EmbedderContract,
            RankerContract,
            GateContract,
            RedactorContract,
            VerbMatcherContract,
            ConfirmationContract,
            MiddlewareContract,
            ImporterContract,
            DirectiveContract,
            LexiconContract,
        )
    }
)
