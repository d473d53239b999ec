"""Learn what an embedder ships to bring two languages together, from parallel texts.

    python benchmarks/learn_alignment.py e5 --output embedders/olav_e5/alignment.npz

Texts: benchmarks/texts/parallel.jsonl (own writing), each embedded as a query and as a passage. `axes`: the
two directions in which the languages' means differ, one for passages and one for queries, at right angles, of
which SHARE is taken out: all of it costs a store of one language more than it gives one of two.
`zh`: the rotation R that minimises |X R - Y|^2 + shrinkage * |R - I|^2 over the centred unit vectors X of
the Chinese texts and Y of their English ones, axes taken out (orthogonal Procrustes, drawn towards the
identity). It is a rotation, so what a Chinese question finds among Chinese rows does not change by it.

Held out, five folds: a text asks, all other held-out texts of both languages answer; the mean reciprocal rank
of its translation, by shrinkage and by number of pairs learnt from. Embedding takes minutes: `--vectors FILE`
keeps the vectors in an .npz, or reads them from it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from environment import save

from olav_core.embedding.handle import EmbedderHandle
from olav_core.host.registry import build_registry
from olav_core.index.alignment import Alignment

TEXTS = Path(__file__).parent / "texts" / "parallel.jsonl"
#: Of the values tried, the one with the best held-out rank (benchmarks/results/alignment-e5.json).
SHRINKAGE = 3.0
#: Of a vector's part along an axis, what is taken out (docs/quality.md).
SHARE = 0.5
TRIED = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS = 5
SEED = 20261201

#: Raw vectors float32 [n, d] by (language, role).
Vectors = dict[tuple[str, str], np.ndarray]
ROLES = ("passage", "query")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("embedder")
    parser.add_argument("--output", type=Path, help="write the tables to this .npz")
    parser.add_argument("--shrinkage", type=float, default=SHRINKAGE)
    parser.add_argument("--vectors", type=Path, help="keep the texts' vectors in this .npz")
    arguments = parser.parse_args()

    handle = EmbedderHandle(build_registry().embedder(arguments.embedder))
    pairs = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    vectors: Vectors = {}
    if arguments.vectors and arguments.vectors.exists():
        with np.load(arguments.vectors) as kept:
            vectors = {(name[:2], name[3:]): kept[name] for name in kept.files}
    else:
        for language in ("zh", "en"):
            texts = [pair[language] for pair in pairs]
            vectors[language, "passage"] = handle.passages(texts)
            vectors[language, "query"] = np.stack([handle.query(text) for text in texts])
        if arguments.vectors:
            np.savez(
                arguments.vectors, **{f"{language} {role}": v for (language, role), v in vectors.items()}
            )

    everything = np.arange(len(pairs))
    if arguments.output:
        tables = learn(vectors, everything, arguments.shrinkage)
        np.savez_compressed(arguments.output, axes=tables["axes"], zh=tables["zh"].astype(np.float16))

    counts = [count for count in (50, 100, 200, 400, 800) if count < len(pairs) * (1 - 1 / FOLDS)]
    figures = {
        "pairs": len(pairs),
        "questions": sum(pair["kind"] == "question" for pair in pairs),
        "held_out_mrr": {
            "means only": held_out(vectors, None),
            "axes": held_out(vectors, 0),
            "axes and rotation, by shrinkage": {str(each): held_out(vectors, each) for each in TRIED},
            "axes and rotation, by pairs": {
                str(count): held_out(vectors, arguments.shrinkage, count) for count in counts
            },
        },
    }
    print(json.dumps(figures, indent=2))
    print(
        save(
            f"alignment-{arguments.embedder}",
            {"shrinkage": arguments.shrinkage, "share": SHARE, "seed": SEED},
            figures,
        )
    )


def learn(vectors: Vectors, chosen: np.ndarray, shrinkage: float) -> dict[str, np.ndarray]:
    """Return `axes` [2, d] and, with a shrinkage > 0, the map `zh` [d, d], from the chosen pairs."""
    means = {key: rows[chosen].mean(axis=0, dtype=np.float64) for key, rows in vectors.items()}
    apart = np.stack([means["zh", role] - means["en", role] for role in ROLES])
    axes = np.linalg.qr(apart.T)[0].T * np.sqrt(SHARE)
    if not shrinkage:
        return {"axes": axes.astype(np.float32)}
    sides = {}
    for language in ("zh", "en"):
        centred = [vectors[language, role][chosen] - means[language, role] for role in ROLES]
        rows = unit(np.concatenate(centred))
        sides[language] = rows - (rows @ axes.T) @ axes
    left, _, right = np.linalg.svd(sides["zh"].T @ sides["en"] + shrinkage * np.eye(axes.shape[1]))
    return {"axes": axes.astype(np.float32), "zh": (left @ right).astype(np.float32)}


def held_out(vectors: Vectors, shrinkage: float | None, most: int | None = None) -> float:
    """Return the mean reciprocal rank of the held-out texts' translations; None: centred with means alone."""
    random = np.random.default_rng(SEED)
    order = random.permutation(len(vectors["zh", "query"]))
    ranks = []
    for fold in range(FOLDS):
        tested = order[fold::FOLDS]
        chosen = random.permutation(np.setdiff1d(order, tested))[:most]
        tables: dict[str, Any] = {} if shrinkage is None else learn(vectors, chosen, shrinkage)
        alignment = Alignment(vectors["zh", "query"].shape[1], tables)
        spoken = {}
        for language in ("zh", "en"):
            mean = vectors[language, "passage"][chosen].mean(axis=0)  # as the index: of passages, for both
            for role in ROLES:
                rows = vectors[language, role][tested] - mean
                spoken[language, role] = unit(alignment.rows(rows, [language] * len(rows)))
        for asked, other in (("zh", "en"), ("en", "zh")):
            there = spoken[asked, "query"] @ spoken[other, "passage"].T
            here = spoken[asked, "query"] @ spoken[asked, "passage"].T
            np.fill_diagonal(here, -np.inf)  # itself
            own = np.diag(there)[:, None]
            ranks.append(1 + (there > own).sum(axis=1) + (here > own).sum(axis=1))
    return round(float((1 / np.concatenate(ranks)).mean()), 4)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


if __name__ == "__main__":
    main()
