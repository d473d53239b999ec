"""OLAV core: long-term memory for agents that run on small local models.

Everything public is importable from here; names load on first use, so `import olav_core` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Public name -> the private module that holds it.
_PUBLIC = {
    "ImportItem": "import_report",
    "ImportReport": "import_report",
    "YamlDocument": "yaml_document",
    "YamlKey": "yaml_document",
    "build_registry": "registry",
    "check_scope": "records",
    "scope_from_folder": "folder_scope",
    "import_directory": "importing",
    "read_yaml_document": "yaml_document",
    "read_jsonl": "jsonl",
    "Terminal": "cli.terminal",
    "recall_view": "cli.view",
    "json_option": "cli.options",
    "workspace_option": "cli.options",
    "hookimpl": "hookspecs",
    "language_of": "language",
    "analyze": "analyzer",
    "query_terms": "analyzer",
    "open": "memory",
    "init": "memory",
    "Memory": "memory",
    "MemoryRecord": "records",
    "OnnxEncoder": "encoder",
    "Candidate": "pool",
    "Pool": "pool",
    "Query": "query",
    "Recall": "recall",
    "RecalledMemory": "recall",
    "CandidateTrace": "recall",
    "Settings": "config",
    **dict.fromkeys(
        (
            "CategorySpec CommandSpec DistanceScale Draft Embedder EmbedderSpec Fault Finding Gate GateSpec GateUse "
            "ImporterSpec ModelIdentity Options RankerSpec RedactorSpec Verdict VerbMatcherSpec"
        ).split(),
        "specs",
    ),
    **dict.fromkeys(
        (
            "ConfigError ConflictError EmbedderError EmbedderUnavailableError EmbeddingDimMismatchError "
            "EmbeddingSpaceMismatchError ErasedTextError ImportFaultsError OlavError PluginError RecordError "
            "StoreError UnknownIdError WorkspaceError"
        ).split(),
        "errors",
    ),
}

__all__ = sorted(_PUBLIC)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'olav_core' has no attribute {name!r}")
    value = getattr(import_module(f"olav_core.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
