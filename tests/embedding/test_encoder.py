from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tiny_model import states, unit, write_tiny_model

from olav_core import ConfigError, EmbedderUnavailableError, OnnxEncoder

POOLED = {
    "mean": lambda rows: rows.mean(axis=0),
    "cls": lambda rows: rows[0],
    "last": lambda rows: rows[-1],
    "max": lambda rows: rows.max(axis=0),
}


def encoder(directory: Path, **options: object) -> OnnxEncoder:
    return OnnxEncoder(directory / "model.onnx", directory / "tokenizer.json", **options)  # type: ignore[arg-type]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "tiny")


@pytest.mark.parametrize("pooling", sorted(POOLED))
def test_pooling_sees_the_tokens_and_never_the_padding(tiny: Path, pooling: str) -> None:
    texts = ["alpha", "alpha beta gamma beta alpha", "gamma beta"]
    vectors = encoder(tiny, pooling=pooling).encode(texts)
    expected = np.stack([unit(POOLED[pooling](states(text))) for text in texts])
    np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)
    assert vectors.dtype == np.float32


def test_the_prefix_goes_before_every_text_and_normalising_can_be_off(tiny: Path) -> None:
    vector = encoder(tiny, normalize=False).encode(["beta"], prefix="query: ")[0]
    np.testing.assert_allclose(vector, states("query: beta").mean(axis=0), rtol=1e-5)


def test_a_model_that_pools_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    model = encoder(write_tiny_model(tmp_path, pooled=True))
    np.testing.assert_allclose(model.encode(["beta"])[0], unit(states("beta")[0]), rtol=1e-5)
    assert model.pooling == "model"
    with pytest.raises(ConfigError, match="no token vectors"):
        model.token_vectors(["beta"])
    with pytest.raises(ConfigError, match="does not fit"):
        encoder(tmp_path, pooling="mean").encode(["beta"])


def test_a_long_text_counts_to_its_last_word(tiny: Path) -> None:
    """CASES 47."""
    model = encoder(tiny, max_tokens=16)
    body = "alpha " * 100
    without, with_ = model.encode([body, body + "gamma"], prefix="query: ")
    assert not np.allclose(without, with_)
    # Every window is full and carries the prefix, so a uniform text has the vector of one window.
    np.testing.assert_allclose(without, unit(states("query: " + "alpha " * 13).mean(axis=0)), rtol=1e-5)


@pytest.mark.parametrize("length", [13, 14, 15, 27, 100, 257])
def test_windows_cover_each_token_once_in_token_vectors(tiny: Path, length: int) -> None:
    words = [("alpha", "beta", "gamma")[i % 3] for i in range(length)]
    (vectors,) = encoder(tiny, max_tokens=16).token_vectors([" ".join(words)], prefix="query: ")
    np.testing.assert_array_equal(vectors, states(" ".join(words), special=False))


def test_order_and_values_do_not_depend_on_the_batch(tiny: Path) -> None:
    texts = [" ".join(["beta"] * (i * 7 % 40 + 1) + ["gamma"] * (i % 3)) for i in range(300)]
    together = encoder(tiny, max_tokens=16, batch_tokens=64).encode(texts)
    apart = np.vstack([encoder(tiny, max_tokens=16).encode([text]) for text in texts])
    np.testing.assert_allclose(together, apart, rtol=1e-5, atol=1e-6)


def test_special_tokens_written_in_a_text_are_text(tiny: Path) -> None:
    (vectors,) = encoder(tiny).token_vectors(["alpha [SEP]beta"])
    assert len(vectors) == 2


def test_no_texts_and_empty_texts_have_a_shape(tiny: Path, tmp_path: Path) -> None:
    assert encoder(tiny).encode([]).shape == (0, 6)
    assert encoder(tiny).encode([""]).shape == (1, 6)
    bare = encoder(write_tiny_model(tmp_path / "bare", special=False))
    assert np.isfinite(bare.encode(["", "alpha"])).all()
    assert [part.shape for part in bare.token_vectors([])] == []


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_or_cut_file_is_named_with_the_mend(tiny: Path, name: str) -> None:
    file = tiny / name
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(EmbedderUnavailableError, match=rf"{name} is cut or damaged .*Fetch it\."):
        encoder(tiny, mend="Fetch it.").encode(["alpha"])
    file.unlink()
    with pytest.raises(EmbedderUnavailableError, match=rf"{name} cannot be read .*Fetch it\."):
        encoder(tiny, mend="Fetch it.").encode(["alpha"])


def test_nonsense_options_are_refused(tiny: Path) -> None:
    with pytest.raises(ConfigError, match="pooling 'median' is unknown"):
        encoder(tiny, pooling="median")
    with pytest.raises(ConfigError, match="max_tokens"):
        encoder(tiny, max_tokens=4)
    with pytest.raises(ConfigError, match="prefix"):
        encoder(tiny, max_tokens=16).encode(["alpha " * 30], prefix="query: " * 12)


def test_encoders_of_one_file_share_the_session_even_at_first_use(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES 48."""
    import onnxruntime

    made: list[object] = []
    real = onnxruntime.InferenceSession
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda *a, **k: (made.append(a), real(*a, **k))[1])
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = []

    def run() -> None:
        barrier.wait()
        results.append(encoder(tiny).encode(["alpha beta"]))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 8
    assert len(made) == 1


def test_memory_does_not_grow_with_the_size_of_the_call() -> None:
    """CASES 46, smaller: 12 texts of 2,000 tokens in one batch would add over 500 MB to the model's 220."""
    code = (
        "import olav_minilm\n"
        "embedder = olav_minilm.make({})\n"
        "embedder.embed_passages(['the quick brown fox jumps over it ' * 290 + str(i) for i in range(12)])\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    # VmHWM, not ru_maxrss: the latter begins at the size of the process that forked this one.
    assert int(done.stdout) * 1024 < 600 * 1024**2
