from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from olav_core import (
    ConfigError,
    EmbedderError,
    EmbedderSpec,
    EmbedderUnavailableError,
    ModelIdentity,
)
from olav_core.embedding.handle import MAX_QUERY_CHARS, EmbedderHandle


class Fake:
    """Letters counted; misbehaves on demand."""

    identity = ModelIdentity(name="fake", revision="1")

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.answer: object = None
        self.down = False

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(tuple(texts))
        if self.down:
            raise EmbedderUnavailableError("the server is down. Start it.")
        if any("boom" in text for text in texts):
            raise RuntimeError("no such token")
        if self.answer is not None:
            return self.answer  # type: ignore[return-value]
        rows = np.array([[text.lower().count(c) for c in "abcdefgh"] for text in texts], np.float32)
        rows[:, 0] += 1
        rows[["nan" in text for text in texts]] = np.nan
        rows[["zero" in text for text in texts]] = 0
        return rows


def spec(embedder: object, **changes: object) -> EmbedderSpec:
    return EmbedderSpec(id="fake", title="Fake", factory=lambda options: embedder, **changes)  # type: ignore[arg-type]


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def handle(fake: Fake) -> EmbedderHandle:
    return EmbedderHandle(spec(fake), cache_size=3)


def test_the_dimension_is_probed_once(handle: EmbedderHandle, fake: Fake) -> None:
    assert not fake.calls
    assert handle.dimension == handle.dimension == 8
    assert len(fake.calls) == 1


@pytest.mark.parametrize("answer", [[], [[]], np.zeros((1, 0)), [1.0, 2.0], "text", [["a"]], [[[1.0]]], None])
def test_a_failed_probe_is_an_error_never_a_guess(answer: object) -> None:
    fake = Fake()
    fake.embed_passages = lambda texts: answer  # type: ignore[method-assign,assignment,return-value]
    handle = EmbedderHandle(spec(fake))
    for _ in range(2):
        with pytest.raises(EmbedderError, match="'fake'"):
            _ = handle.dimension


def test_vectors_are_float32_of_unit_length(handle: EmbedderHandle) -> None:
    vectors = handle.passages(["abba", "deaf bed"])
    assert vectors.shape == (2, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert handle.passages([]).shape == (0, 8)


def test_queries_are_kept_until_newer_ones_push_them_out(handle: EmbedderHandle, fake: Fake) -> None:
    handle.query("one")
    calls = len(fake.calls)
    first = handle.query("one")
    assert len(fake.calls) == calls
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 2
    for text in ("two", "three", "four", "one"):
        handle.query(text)
    assert len(fake.calls) == calls + 4


def test_one_bad_text_spoils_no_other(handle: EmbedderHandle, fake: Fake) -> None:
    """CASES 21 and 45."""
    texts = ["a", "boom", "bed", "nan", " \n", "cab", "zero", "b" * 1_000_001, "face"]
    seen: list[tuple[int, int]] = []
    results = handle.passages_each(texts, on_progress=lambda done, total: seen.append((done, total)))
    assert [isinstance(result, EmbedderError) for result in results] == [
        False, True, False, True, True, False, True, True, False,
    ]  # fmt: skip
    np.testing.assert_array_equal(results[8], handle.passages(["face"])[0])
    for place, word in ((1, "RuntimeError"), (3, "finite"), (4, "blank"), (6, "zero vector"), (7, "limit")):
        assert f"text {place + 1}: " in str(results[place])
        assert word in str(results[place])
    assert seen == [(9, 9)]
    with pytest.raises(EmbedderError, match="text 2: "):
        handle.passages(texts)


def test_control_characters_and_lone_surrogates_do_not_reach_the_embedder(
    handle: EmbedderHandle, fake: Fake
) -> None:
    handle.query("a\ud800b\x00c")
    handle.passages(["a\ud800b\x00c", "\u202eabc", "👩‍👩‍👧 hug"])
    assert "".join(text for call in fake.calls for text in call).encode()
    assert fake.calls[-1][1:] == ("\u202eabc", "👩‍👩‍👧 hug")


def test_a_blank_query_is_an_error_and_a_huge_one_keeps_both_ends(handle: EmbedderHandle, fake: Fake) -> None:
    for blank in ("", " \n\t", "\x00"):
        with pytest.raises(EmbedderError, match="blank"):
            handle.query(blank)
    handle.query("what is this: " + "x" * 10_000_000 + " and why")
    (sent,) = fake.calls[-1]
    assert len(sent) <= MAX_QUERY_CHARS + 1
    assert sent.startswith("what is this")
    assert sent.endswith("and why")


def test_an_unreachable_embedder_raises_instead_of_blaming_texts(handle: EmbedderHandle, fake: Fake) -> None:
    handle.query("warm")
    fake.down = True
    calls = len(fake.calls)
    for ask in (handle.passages, handle.passages_each):
        with pytest.raises(EmbedderUnavailableError, match="Start it"):
            ask(["a", "b", "c"])
    assert len(fake.calls) == calls + 2
    fake.down = False
    assert handle.passages(["a"]).shape == (1, 8)


def test_unreachable_at_first_use_is_no_lasting_failure(handle: EmbedderHandle, fake: Fake) -> None:
    fake.down = True
    with pytest.raises(EmbedderUnavailableError):
        handle.fingerprint()
    fake.down = False
    assert handle.fingerprint().dimension == 8


def test_another_number_of_rows_or_dimensions_is_refused(handle: EmbedderHandle, fake: Fake) -> None:
    assert handle.dimension == 8
    fake.answer = np.ones((1, 9), np.float32)
    with pytest.raises(EmbedderError, match=r"shape \(1, 9\)"):
        handle.query("a")
    fake.answer = np.ones((3, 8), np.float32)
    with pytest.raises(EmbedderError, match=r"shape \(3, 8\)"):
        handle.passages(["a"])


def test_options_that_the_factory_refuses_are_a_config_error() -> None:
    def factory(options: object) -> Fake:
        raise TypeError("unexpected keyword argument 'modle'")

    handle = EmbedderHandle(EmbedderSpec(id="strict", title="Strict", factory=factory), {"modle": 1})
    with pytest.raises(ConfigError, match=r"'strict'.*modle.*config\.yaml"):
        handle.query("a")


def test_handles_of_one_configuration_share_one_embedder_under_threads_and_event_loops() -> None:
    """CASES 48."""
    made: list[Fake] = []
    gate = threading.Barrier(8)

    def factory(options: object) -> Fake:
        made.append(Fake())
        return made[-1]

    shared = EmbedderSpec(id="fake", title="Fake", factory=factory)
    handles = [EmbedderHandle(shared, {"size": i % 2}) for i in range(8)]
    done: list[np.ndarray] = []

    def run(handle: EmbedderHandle, loop: bool) -> None:
        gate.wait()

        async def ask() -> np.ndarray:
            return await asyncio.to_thread(handle.query, "bed")

        done.append(asyncio.run(ask()) if loop else handle.query("bed"))

    threads = [threading.Thread(target=run, args=(handle, i > 3)) for i, handle in enumerate(handles)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(done) == 8
    assert len(made) == 2


def test_fingerprint_says_what_the_embedder_says(handle: EmbedderHandle) -> None:
    fingerprint = handle.fingerprint()
    assert (fingerprint.embedder, fingerprint.name, fingerprint.revision) == ("fake", "fake", "1")
    assert fingerprint.canaries.shape == (4, 8)
    assert handle.fingerprint() is fingerprint
    assert handle.scale is None
    assert handle.generic_means() == {}


def test_token_vectors_are_passed_on_or_absent(handle: EmbedderHandle, fake: Fake) -> None:
    assert handle.token_vectors(["a"]) is None
    fake.token_vectors = lambda texts, query=False: [np.full((2, 8), float(query))]  # type: ignore[attr-defined]
    assert handle.token_vectors(["a"], query=True)[0][0, 0] == 1  # type: ignore[index]
