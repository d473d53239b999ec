"""OLAV core: long-term memory for agents that run on small local models.

Everything public is importable from here; names load on first use, so `import olav_core` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names as _PUBLIC, for type checkers and editors
    from olav_core import clock as clock
    from olav_core.arrays import FloatArray as FloatArray
    from olav_core.atomic_write import write_atomically as write_atomically
    from olav_core.capture.capture import Capture as Capture
    from olav_core.capture.capture import Captured as Captured
    from olav_core.capture.decision import Decision as Decision
    from olav_core.chat.chat import Chat as Chat
    from olav_core.chat.choice import as_chat as as_chat
    from olav_core.chat.choice import open_chat as open_chat
    from olav_core.chat.invoked import InvokedChat as InvokedChat
    from olav_core.chat.reply import ChatModel as ChatModel
    from olav_core.chat.reply import ChatReply as ChatReply
    from olav_core.chat.reply import ToolCall as ToolCall
    from olav_core.chat.settings import ChatSettings as ChatSettings
    from olav_core.cli.options import FiniteFloat as FiniteFloat
    from olav_core.cli.options import embedder_options as embedder_options
    from olav_core.cli.options import json_option as json_option
    from olav_core.cli.options import workspace_option as workspace_option
    from olav_core.cli.terminal import Terminal as Terminal
    from olav_core.cli.view import recall_view as recall_view
    from olav_core.config import Settings as Settings
    from olav_core.context.context import Context as Context
    from olav_core.context.context import ContextPart as ContextPart
    from olav_core.drafts.commit import Committed as Committed
    from olav_core.drafts.draft import MemoryDraft as MemoryDraft
    from olav_core.drafts.draft_file import DraftFile as DraftFile
    from olav_core.drafts.drafts import Drafts as Drafts
    from olav_core.drafts.preview import to_yaml as to_yaml
    from olav_core.drafts.proposal import Confirmation as Confirmation
    from olav_core.drafts.proposal import Proposal as Proposal
    from olav_core.embedding.distance import canonical as canonical
    from olav_core.embedding.distance import canonical_array as canonical_array
    from olav_core.embedding.encoder import OnnxEncoder as OnnxEncoder
    from olav_core.embedding.placing import place_path as place_path
    from olav_core.errors import CaptureError as CaptureError
    from olav_core.errors import ChatError as ChatError
    from olav_core.errors import ChatUnavailableError as ChatUnavailableError
    from olav_core.errors import ConfigError as ConfigError
    from olav_core.errors import ConflictError as ConflictError
    from olav_core.errors import EmbedderError as EmbedderError
    from olav_core.errors import EmbedderUnavailableError as EmbedderUnavailableError
    from olav_core.errors import EmbeddingDimMismatchError as EmbeddingDimMismatchError
    from olav_core.errors import EmbeddingSpaceMismatchError as EmbeddingSpaceMismatchError
    from olav_core.errors import ErasedTextError as ErasedTextError
    from olav_core.errors import ImportFaultsError as ImportFaultsError
    from olav_core.errors import OlavError as OlavError
    from olav_core.errors import PackageError as PackageError
    from olav_core.errors import PluginError as PluginError
    from olav_core.errors import RecordError as RecordError
    from olav_core.errors import StoreError as StoreError
    from olav_core.errors import UnknownIdError as UnknownIdError
    from olav_core.errors import WorkspaceError as WorkspaceError
    from olav_core.errors import did_you_mean as did_you_mean
    from olav_core.history import History as History
    from olav_core.hookspecs import hookimpl as hookimpl
    from olav_core.host.http import post_json as post_json
    from olav_core.host.http import quoted as quoted
    from olav_core.host.plugin import PluginFault as PluginFault
    from olav_core.host.plugin import PluginInfo as PluginInfo
    from olav_core.host.registry import Registry as Registry
    from olav_core.host.registry import build_registry as build_registry
    from olav_core.importing.directory import import_directory as import_directory
    from olav_core.importing.export import export_memories as export_memories
    from olav_core.importing.folder_scope import scope_from_folder as scope_from_folder
    from olav_core.importing.jsonl import read_jsonl as read_jsonl
    from olav_core.importing.report import ImportItem as ImportItem
    from olav_core.importing.report import ImportReport as ImportReport
    from olav_core.importing.restore import import_jsonl as import_jsonl
    from olav_core.importing.yaml_document import YamlDocument as YamlDocument
    from olav_core.importing.yaml_document import YamlKey as YamlKey
    from olav_core.importing.yaml_document import read_yaml_document as read_yaml_document
    from olav_core.index.candidates import Candidates as Candidates
    from olav_core.index.means import load_means as load_means
    from olav_core.index.pool import Candidate as Candidate
    from olav_core.index.pool import Pool as Pool
    from olav_core.lazy_package import lazy_names as lazy_names
    from olav_core.memory import Memory as Memory
    from olav_core.middleware import agent_middleware as agent_middleware
    from olav_core.opening import init as init
    from olav_core.opening import open as open
    from olav_core.recall.messages import last_user_text as last_user_text
    from olav_core.recall.messages import with_block as with_block
    from olav_core.recall.query import Query as Query
    from olav_core.recall.recall import CandidateTrace as CandidateTrace
    from olav_core.recall.recall import Recall as Recall
    from olav_core.recall.recall import RecalledMemory as RecalledMemory
    from olav_core.recall.render import estimate_tokens as estimate_tokens
    from olav_core.recall.render import fit_budget as fit_budget
    from olav_core.recall.render import render_block as render_block
    from olav_core.recall.render import strip_block as strip_block
    from olav_core.recall.tier import check_tier as check_tier
    from olav_core.records import MemoryRecord as MemoryRecord
    from olav_core.records import check_scope as check_scope
    from olav_core.specs import ArrayGate as ArrayGate
    from olav_core.specs import Booster as Booster
    from olav_core.specs import CategorySpec as CategorySpec
    from olav_core.specs import CommandSpec as CommandSpec
    from olav_core.specs import ConfirmationSpec as ConfirmationSpec
    from olav_core.specs import DirectiveSpec as DirectiveSpec
    from olav_core.specs import DistanceScale as DistanceScale
    from olav_core.specs import Diversifier as Diversifier
    from olav_core.specs import Draft as Draft
    from olav_core.specs import Embedder as Embedder
    from olav_core.specs import EmbedderSpec as EmbedderSpec
    from olav_core.specs import Fault as Fault
    from olav_core.specs import Finding as Finding
    from olav_core.specs import Fuser as Fuser
    from olav_core.specs import Gate as Gate
    from olav_core.specs import GateSpec as GateSpec
    from olav_core.specs import GateUse as GateUse
    from olav_core.specs import ImporterSpec as ImporterSpec
    from olav_core.specs import LexiconSpec as LexiconSpec
    from olav_core.specs import MeasuringGate as MeasuringGate
    from olav_core.specs import MiddlewareSpec as MiddlewareSpec
    from olav_core.specs import ModelIdentity as ModelIdentity
    from olav_core.specs import Options as Options
    from olav_core.specs import RankerSpec as RankerSpec
    from olav_core.specs import RedactorSpec as RedactorSpec
    from olav_core.specs import Reranker as Reranker
    from olav_core.specs import Retriever as Retriever
    from olav_core.specs import SuiteSpec as SuiteSpec
    from olav_core.specs import VerbMatcherSpec as VerbMatcherSpec
    from olav_core.specs import Verdict as Verdict
    from olav_core.specs import Verdicts as Verdicts
    from olav_core.store.query_log import Feedback as Feedback
    from olav_core.store.query_log import LoggedQuery as LoggedQuery
    from olav_core.succession import Conflict as Conflict
    from olav_core.succession import Succession as Succession
    from olav_core.suite import Suite as Suite
    from olav_core.suite import SuiteQuery as SuiteQuery
    from olav_core.text.analyzer import analyze as analyze
    from olav_core.text.analyzer import query_terms as query_terms
    from olav_core.text.claim import Claim as Claim
    from olav_core.text.claim import claim_of as claim_of
    from olav_core.text.language import language_of as language_of
    from olav_core.writer import Remembered as Remembered

__version__ = "0.1.0"

#: Public name -> the private module that holds it; "" for a module that is public itself.
_PUBLIC = {
    "clock": "",
    "agent_middleware": "middleware",
    "ImportItem": "importing.report",
    "ImportReport": "importing.report",
    "YamlDocument": "importing.yaml_document",
    "YamlKey": "importing.yaml_document",
    "build_registry": "host.registry",
    "write_atomically": "atomic_write",
    "lazy_names": "lazy_package",
    "post_json": "host.http",
    "quoted": "host.http",
    "Registry": "host.registry",
    "PluginInfo": "host.plugin",
    "PluginFault": "host.plugin",
    "check_scope": "records",
    "scope_from_folder": "importing.folder_scope",
    "import_directory": "importing.directory",
    "read_yaml_document": "importing.yaml_document",
    "read_jsonl": "importing.jsonl",
    "export_memories": "importing.export",
    "import_jsonl": "importing.restore",
    "Chat": "chat.chat",
    "as_chat": "chat.choice",
    "open_chat": "chat.choice",
    "InvokedChat": "chat.invoked",
    "ChatModel": "chat.reply",
    "ChatReply": "chat.reply",
    "ToolCall": "chat.reply",
    "ChatSettings": "chat.settings",
    "Terminal": "cli.terminal",
    "recall_view": "cli.view",
    "FiniteFloat": "cli.options",
    "embedder_options": "cli.options",
    "json_option": "cli.options",
    "workspace_option": "cli.options",
    "Committed": "drafts.commit",
    "MemoryDraft": "drafts.draft",
    "DraftFile": "drafts.draft_file",
    "to_yaml": "drafts.preview",
    "Drafts": "drafts.drafts",
    "Confirmation": "drafts.proposal",
    "Proposal": "drafts.proposal",
    "hookimpl": "hookspecs",
    "canonical": "embedding.distance",
    "canonical_array": "embedding.distance",
    "language_of": "text.language",
    "load_means": "index.means",
    "Claim": "text.claim",
    "claim_of": "text.claim",
    "Conflict": "succession",
    "Remembered": "writer",
    "Succession": "succession",
    "analyze": "text.analyzer",
    "query_terms": "text.analyzer",
    "open": "opening",
    "init": "opening",
    "Memory": "memory",
    "MemoryRecord": "records",
    "OnnxEncoder": "embedding.encoder",
    "place_path": "embedding.placing",
    "Candidate": "index.pool",
    "Candidates": "index.candidates",
    "Pool": "index.pool",
    "last_user_text": "recall.messages",
    "with_block": "recall.messages",
    "estimate_tokens": "recall.render",
    "fit_budget": "recall.render",
    "render_block": "recall.render",
    "strip_block": "recall.render",
    "check_tier": "recall.tier",
    "Query": "recall.query",
    "Recall": "recall.recall",
    "RecalledMemory": "recall.recall",
    "CandidateTrace": "recall.recall",
    "Settings": "config",
    "Context": "context.context",
    "ContextPart": "context.context",
    "History": "history",
    "LoggedQuery": "store.query_log",
    "Feedback": "store.query_log",
    "FloatArray": "arrays",
    "Capture": "capture.capture",
    "Captured": "capture.capture",
    "Decision": "capture.decision",
    "Suite": "suite",
    "SuiteQuery": "suite",
    **dict.fromkeys(
        [
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
            "SuiteSpec",
            "Verdict",
            "Verdicts",
            "VerbMatcherSpec",
        ],
        "specs",
    ),
    **dict.fromkeys(
        [
            "CaptureError",
            "ChatError",
            "ChatUnavailableError",
            "ConfigError",
            "ConflictError",
            "EmbedderError",
            "EmbedderUnavailableError",
            "EmbeddingDimMismatchError",
            "EmbeddingSpaceMismatchError",
            "ErasedTextError",
            "ImportFaultsError",
            "OlavError",
            "PackageError",
            "PluginError",
            "RecordError",
            "StoreError",
            "UnknownIdError",
            "WorkspaceError",
            "did_you_mean",
        ],
        "errors",
    ),
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'olav_core' has no attribute {name!r}")
    found = import_module(f"olav_core.{module or name}")
    value = getattr(found, name) if module else found
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
