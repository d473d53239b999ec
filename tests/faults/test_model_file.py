"""A cut or missing model file: recall goes on by words and says so, writes are refused."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_model import write_tiny_model

import olav_core
from olav_core import EmbedderUnavailableError
from olav_core.doctor.examination import examine


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("damage", [cut, Path.unlink])
def test_a_store_goes_on_by_words_until_its_model_is_back(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    model = write_tiny_model(tmp_path / "model")
    with olav_core.init(tmp_path / "w", embedder="onnx", options={"path": str(model)}) as memory:
        memory.remember("alpha beta")
    del memory  # its loaded model too, as if the process had ended
    gc.collect()
    whole = (model / name).read_bytes()
    damage(model / name)
    with olav_core.open(tmp_path / "w") as memory:
        found = memory.recall("beta")
        assert [item.text for item in found.items] == ["alpha beta"]
        assert any(name in line for line in found.degraded)
        with pytest.raises(EmbedderUnavailableError, match=name):
            memory.remember("gamma")
        assert memory.store.count() == 1
    (finding,) = [item for item in examine(tmp_path / "w").findings if item.check == "embedder"]
    assert (finding.level, name in finding.what) == ("error", True)
    (model / name).write_bytes(whole)
    del memory
    gc.collect()
    with olav_core.open(tmp_path / "w") as memory:
        assert memory.recall("beta").degraded == ()
        memory.remember("gamma")
