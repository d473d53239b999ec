"""The contract of an embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

from olav_core.embedding.handle import EmbedderHandle
from olav_core.errors import ConfigError, EmbedderError
from olav_core.specs import Embedder, ModelIdentity
from olav_core.testing.contract import ODD_TEXTS, PluginContract

if TYPE_CHECKING:
    from olav_core.arrays import FloatArray

#: Cosine from which two vectors of one text count as the same (int8 models round by batch).
SAME = 0.999
_SPACE = "Stored vectors and queries must lie in one space, whoever computed them and in which batch."


class EmbedderContract(PluginContract):
    """Subclass it in a test file and set `plugin`.

    `options`: for the factory. `texts`: at least four different ones that it can tell apart. `related`: a
    query, a passage that answers it, one that does not. `filler` and `endings`: a sentence to make a long
    text of, and two ends that it can tell apart.
    """

    kind: ClassVar[str] = "embedders"
    options: Mapping[str, Any] = {}
    texts: Sequence[str] = (
        "Router R1 is the border router in Shanghai",
        "backup of the billing database",
        "打印机报错 E-42 时清洁进纸轮",
        "def connect(host, port): ...",
        "Alarms about fan speed may be silenced",
    )
    related: tuple[str, str, str] = (
        "how is the mail server restarted?",
        "The mail server is restarted with systemctl restart postfix",
        "Apple pie is baked for forty minutes",
    )
    filler: str = "The maintenance log goes on with routine entries. "
    endings: tuple[str, str] = ("The password wheel is purple.", "Bananas were shipped to Norway.")

    _made: ClassVar[dict[Any, Embedder]] = {}

    @property
    def embedder(self) -> Embedder:
        """The embedder, made once for all rules."""
        key = (
            type(self).__module__,
            type(self).__qualname__,
            self.spec.id,
            repr(sorted(self.options.items())),
        )
        if key not in self._made:
            self._made[key] = self._make()
        return self._made[key]

    def _make(self) -> Embedder:
        with self.calling(
            f"the factory with {dict(self.options)}",
            "It is called with `embedder.options` of the configuration.",
            "Take these options, or set other `options` on your EmbedderContract.",
        ):
            embedder: Embedder = self.spec.factory(self.options)
        return embedder

    @property
    def _handle(self) -> EmbedderHandle:
        embedder = self.embedder
        import attrs

        return EmbedderHandle(attrs.evolve(self.spec, factory=lambda options: embedder), self.options)

    def _embed(self, texts: Sequence[str], method: str = "embed_passages") -> FloatArray:
        import numpy as np

        with self.calling(
            f"{method} of {len(texts)} text(s), the first {str(texts[:1])[:60]}",
            "Writes and recalls call it with the texts of people and tools.",
            "Raise EmbedderUnavailableError only when the model or endpoint cannot be reached.",
        ):
            vectors = getattr(self.embedder, method)(list(texts))
        what = f"{method} of {len(texts)} text(s) gave {getattr(vectors, 'dtype', type(vectors).__name__)}"
        shape = getattr(vectors, "shape", None)
        self.require(
            isinstance(vectors, np.ndarray) and vectors.dtype == np.float32 and vectors.ndim == 2,
            f"{what} of shape {shape}.",
            "float32 is what is stored; float64 doubles memory, a list is converted at every call.",
            "Return a numpy array float32 [n, d]: `np.asarray(rows, np.float32)`.",
        )
        self.require(
            len(vectors) == len(texts),
            f"{what} of shape {shape}.",
            "Row i belongs to text i.",
            "Return one row per text, in order, for duplicates and odd texts too.",
        )
        return vectors  # type: ignore[no-any-return]

    # --- rules -----------------------------------------------------------------------------------

    def test_vectors_are_finite_and_not_zero(self) -> None:
        import numpy as np

        for method in ("embed_queries", "embed_passages"):
            vectors = self._embed(self.texts, method)
            norms = np.linalg.norm(vectors, axis=1)
            self.require(
                np.isfinite(vectors).all() and (norms > 0).all(),
                f"{method} gave a zero vector or one that is not finite.",
                "Such a row is never found again; the core refuses it.",
                "Look at empty token lists and divisions by a mask's sum.",
            )
            if self.embedder.identity.normalize:
                self.require(
                    np.allclose(norms, 1.0, atol=1e-3),
                    f"{method} gave norms {norms.min():.4f} to {norms.max():.4f}; its identity says 1.",
                    "The identity is part of the store's fingerprint.",
                    "Divide each row by its norm, or say `normalize=False` in ModelIdentity.",
                )

    def test_the_dimension_is_one(self) -> None:
        widths = {self._embed(self.texts, m).shape[1] for m in ("embed_queries", "embed_passages")}
        widths |= {self._embed([text]).shape[1] for text in self.texts} | {self._handle.dimension}
        self.require(
            len(widths) == 1,
            f"it gives vectors of dimensions {sorted(widths)}.",
            "A store has one dimension; it is probed once, with a fixed string.",
            "Give vectors of one length for queries, passages and every text.",
        )

    def test_it_is_deterministic(self) -> None:
        self._same(self._embed(self.texts), self._embed(self.texts), "twice the same texts", _SPACE)

    def test_a_batch_gives_what_single_texts_give(self) -> None:
        import numpy as np

        for method in ("embed_queries", "embed_passages"):
            alone = np.vstack([self._embed([text], method) for text in self.texts])
            self._same(self._embed(self.texts, method), alone, f"{method} in a batch and one by one", _SPACE)

    def test_the_order_is_kept(self) -> None:
        texts = [*self.texts, self.texts[0], self.filler * 20]
        forward, backward = self._embed(texts), self._embed(texts[::-1])[::-1]
        why = "Row i belongs to text i: a memory would get another one's vector, silently."
        self._same(forward, backward, "a batch and the same batch reversed", why)

    def _same(self, one: FloatArray, other: FloatArray, what: str, why: str) -> None:
        import numpy as np

        norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        cosine = (one * other).sum(axis=1) / np.maximum(norms, 1e-12)
        worst = int(cosine.argmin())
        self.require(
            cosine[worst] >= SAME,
            f"{what} agree only to cosine {cosine[worst]:.4f} (row {worst}).",
            why,
            "Mask the padding when pooling; sort back what you sorted by length; no dropout, no random seed.",
        )

    def test_different_texts_differ(self) -> None:
        import numpy as np

        vectors = self._embed(self.texts)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        highest = float((unit @ unit.T - 2 * np.eye(len(unit))).max())
        self.require(
            highest < SAME,
            f"two different texts have cosine {highest:.4f}.",
            "Everything would be equally near to every query.",
            "Look at the pooling and at what the tokenizer makes of the texts.",
        )

    def test_what_belongs_together_is_nearer(self) -> None:
        query, passage, other = self.related
        asked = self._embed([query], "embed_queries")[0]
        right, wrong = self._embed([passage, other]) @ asked
        self.require(
            right > wrong,
            f"{query!r} is nearer to {other!r} ({wrong:.3f}) than to {passage!r} ({right:.3f}).",
            "A wrong pooling, prefix or tokenizer gives vectors that look sound and mean nothing.",
            "Compare with the model's own reference code; or set `related` for its languages.",
        )

    def test_no_texts_give_no_rows(self) -> None:
        for method in ("embed_queries", "embed_passages"):
            vectors = self._embed([], method)
            self.require(
                len(vectors) == 0, f"{method}([]) gave {len(vectors)} rows.", "0 in, 0 out.", "See above."
            )

    def test_odd_texts_have_vectors(self) -> None:
        for text, result in zip(ODD_TEXTS, self._handle.passages_each(ODD_TEXTS), strict=True):
            self.require(
                not isinstance(result, EmbedderError),
                f"{text[:40]!r} has no vector: {result}",
                "Memories with such a text could not be stored.",
                "Give every text that is not blank a vector; punctuation alone too.",
            )

    def test_one_bad_text_spoils_no_other(self) -> None:
        good, bad, also = self._handle.passages_each([self.texts[0], " ", self.texts[1]])
        self.require(
            isinstance(bad, EmbedderError)
            and not isinstance(good, EmbedderError)
            and not isinstance(also, EmbedderError),
            "a blank text in a batch takes the others with it.",
            "A bulk import must not fail for one line.",
            "Raise EmbedderError for the batch; the core halves it until the bad text stands alone.",
        )

    def test_the_end_of_a_long_text_matters(self) -> None:
        limit = self.embedder.identity.max_tokens or 512
        body = self.filler * (2 * limit // max(1, len(self.filler.split())) + 1)
        one, other = self._embed([f"{body} {ending}" for ending in self.endings])
        self.require(
            float(abs(one - other).max()) > 1e-6,
            f"texts of about {2 * limit} tokens that differ at the end have the same vector.",
            "What is cut off cannot be recalled, and nobody is told.",
            "Embed windows over the whole text and average them; OnnxEncoder does.",
        )

    def test_threads_do_not_disturb_each_other(self) -> None:
        texts = list(self.texts)
        alone = [self._embed([text]) for text in texts]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda text: self._embed([text]), texts * 4))
        for vector, other in zip(together, alone * 4, strict=True):
            self._same(vector, other, "a text embedded by four threads at once, and alone", _SPACE)

    def test_its_identity_is_stable(self) -> None:
        first, twin = self.embedder.identity, self._make().identity
        self.require(
            isinstance(first, ModelIdentity) and first.name.strip() and first.revision.strip(),
            f"its identity is {first!r}.",
            "Name and revision of the weights are how a store knows its embedder again.",
            "Give ModelIdentity(name=…, revision=<sha256 of the weights>).",
        )
        self._embed(self.texts)
        self.require(
            first == twin == self.embedder.identity,
            f"its identity is {first!r}, then {twin!r}.",
            "A store refuses an embedder whose identity changed.",
            "Derive it from the weights and options only: no time, no path, no counter.",
        )

    def test_prefixes_are_used(self) -> None:
        identity = self.embedder.identity
        text = [self.texts[0]]
        query, passage = self._embed(text, "embed_queries"), self._embed(text, "embed_passages")
        differ = float(abs(query - passage).max()) > 1e-6
        expected = identity.query_prefix != identity.passage_prefix
        self.require(
            differ or not expected,
            f"its identity names the prefixes {identity.query_prefix!r} and {identity.passage_prefix!r}, but "
            "a text has the same vector as query and as passage.",
            "Models trained with prefixes lose much of their quality without them.",
            "Put the prefix before each text in embed_queries and embed_passages.",
        )

    def test_its_means_have_its_dimension(self) -> None:
        import numpy as np

        means = self.spec.generic_means() if self.spec.generic_means else {}
        for language, mean in means.items():
            self.require(
                np.shape(mean) == (self._handle.dimension,) and np.isfinite(mean).all(),
                f"the generic mean of {language!r} has shape {np.shape(mean)}.",
                "It is taken from every vector of that language.",
                "Measure the means again with this model.",
            )

    def test_its_alignment_has_its_dimension(self) -> None:
        import numpy as np

        dimension = self._handle.dimension
        for name, table in self._handle.alignment().items():
            wanted = (len(table) if name == "axes" else dimension, dimension)
            self.require(
                np.shape(table) == wanted and np.isfinite(table).all(),
                f"the alignment table {name!r} has shape {np.shape(table)}.",
                "Vectors are multiplied with it; tables of another dimension are not used.",
                f"Give `axes` as [k, {dimension}] and the map of a language as [{dimension}, {dimension}].",
            )

    def test_token_vectors_have_its_dimension(self) -> None:
        embed = getattr(self.embedder, "token_vectors", None)
        if embed is None:
            return
        import numpy as np

        try:
            rows = list(embed(list(self.texts)))
        except ConfigError:  # the word of an embedder whose model has none
            return
        self.require(
            len(rows) == len(self.texts)
            and all(np.ndim(row) == 2 and len(row) and np.isfinite(row).all() for row in rows),
            f"token_vectors gave shapes {[np.shape(row) for row in rows]}.",
            "Late interaction compares token by token.",
            "Return one float32 [tokens, d] per text.",
        )
