"""What a plug-in returns: frozen specs, checked when registered, called as plain values afterwards."""

from __future__ import annotations

from olav_core.specs.category import CategorySpec
from olav_core.specs.command import CommandSpec
from olav_core.specs.confirmation import ConfirmationSpec
from olav_core.specs.directive import DirectiveSpec
from olav_core.specs.draft import Draft
from olav_core.specs.embedder import DistanceScale, Embedder, EmbedderSpec, ModelIdentity
from olav_core.specs.fault import Fault
from olav_core.specs.gate import ArrayGate, Gate, GateSpec, GateUse, MeasuringGate, Verdict, Verdicts
from olav_core.specs.importer import ImporterSpec
from olav_core.specs.lexicon import LexiconSpec
from olav_core.specs.middleware import MiddlewareSpec
from olav_core.specs.options import Options
from olav_core.specs.ranker import STAGES, Booster, Diversifier, Fuser, RankerSpec, Reranker, Retriever, Stage
from olav_core.specs.redactor import Finding, RedactorSpec
from olav_core.specs.suite import SuiteSpec
from olav_core.specs.verb_matcher import VerbMatcherSpec

__all__ = [
    "STAGES",
    "ArrayGate",
    "Booster",
    "CategorySpec",
    "CommandSpec",
    "ConfirmationSpec",
    "DirectiveSpec",
    "DistanceScale",
    "Diversifier",
    "Draft",
    "Embedder",
    "EmbedderSpec",
    "Fault",
    "Finding",
    "Fuser",
    "Gate",
    "GateSpec",
    "GateUse",
    "ImporterSpec",
    "LexiconSpec",
    "MeasuringGate",
    "MiddlewareSpec",
    "ModelIdentity",
    "Options",
    "RankerSpec",
    "RedactorSpec",
    "Reranker",
    "Retriever",
    "Stage",
    "SuiteSpec",
    "VerbMatcherSpec",
    "Verdict",
    "Verdicts",
]
