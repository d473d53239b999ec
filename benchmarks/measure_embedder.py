"""Measure what an embedder ships with: its generic means per language and its distance scale.

    python benchmarks/measure_embedder.py e5 --means embedders/olav_e5/means.npz
        (and --tokens embedders/olav_e5/tokens.npz for its token space)
    python benchmarks/measure_embedder.py house --plugin-dir lab/.olav/plugins --option path=models/house

Texts: benchmarks/texts (own writing). Means: the mean raw passage vector of the generic passages of a
language. Scale, as the canonical distance defines it: `hit` is the median distance of true pairs, `noise`
the 5th percentile, over unrelated queries, of the distance to the nearest of 50 rows; both as squared L2
between vectors aligned and centred as the recall index does it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from environment import save

from olav_core.embedding.distance import canonical
from olav_core.embedding.handle import EmbedderHandle
from olav_core.host.registry import build_registry
from olav_core.index.alignment import Alignment
from olav_core.index.means import LanguageMeans
from olav_core.specs import DistanceScale
from olav_core.text.language import language_of

TEXTS = Path(__file__).parent / "texts"
POOL = 50
SEED = 20261201


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TEXTS / name).read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("embedder")
    parser.add_argument("--means", type=Path, help="write the generic means to this .npz")
    parser.add_argument("--plugin-dir", type=Path, help="a workspace's .olav/plugins, where the embedder is")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the embedder")
    parser.add_argument("--tokens", type=Path, help="write the token space to this .npz")
    parser.add_argument("--token-dimension", type=int, default=128, help="dimensions that tokens are kept on")
    arguments = parser.parse_args()

    registry = build_registry(plugin_dir=arguments.plugin_dir)
    options = dict(option.split("=", 1) for option in arguments.option)
    handle = EmbedderHandle(registry.embedder(arguments.embedder), options)
    languages = handle.spec.languages or ("en",)
    generic: dict[str, np.ndarray] = {}
    for language in ("zh", "en"):
        texts = [row["text"] for row in read(f"generic_{language}.jsonl") if row["role"] == "passage"]
        generic[language] = handle.passages(texts).mean(axis=0)
    if arguments.means:
        np.savez_compressed(arguments.means, **generic)

    if arguments.tokens:
        np.savez_compressed(arguments.tokens, **token_space(handle, arguments.token_dimension))

    pairs = [row for row in read("pairs.jsonl") if {row["query_lang"], row["passage_lang"]} <= set(languages)]
    unrelated = [row for row in read("unrelated.jsonl") if row["lang"] in languages]
    raw = handle.passages([row["passage"] for row in pairs])
    alignment = Alignment(handle.dimension, handle.alignment())
    means = LanguageMeans(
        handle.dimension, {code: alignment.vector(mean, code) for code, mean in generic.items()}
    )
    spoken = [language_of(row["passage"]) for row in pairs]
    raw = alignment.rows(raw, spoken)
    means.add(raw, [means.code(language) for language in spoken])
    means.applied = means.current()
    rows = np.stack([means.center_query(row, language) for row, language in zip(raw, spoken, strict=True)])

    def centred(text: str) -> np.ndarray:
        language = language_of(text)
        return means.center_query(alignment.vector(handle.query(text), language), language)

    hits = np.array([2 - 2 * float(centred(row["query"]) @ rows[i]) for i, row in enumerate(pairs)])
    random = np.random.default_rng(SEED)
    nearest = []
    for row in unrelated:
        query = centred(row["query"])
        pool = random.choice(len(rows), size=POOL, replace=False)
        nearest.append(float((2 - 2 * (rows[pool] @ query)).min()))
    noise = np.array(nearest)
    scale = DistanceScale(
        hit=round(float(np.median(hits)), 4),
        noise=round(float(np.percentile(noise, 5)), 4),
        pool=POOL,
        source="benchmarks/measure_embedder.py",
    )
    gate = 0.65
    figures = {
        "scale": {"hit": scale.hit, "noise": scale.noise, "pool": POOL},
        "pairs": len(pairs),
        "unrelated_queries": len(unrelated),
        "hit_percentiles_10_50_90": [round(float(x), 4) for x in np.percentile(hits, [10, 50, 90])],
        "noise_percentiles_5_50_95": [round(float(x), 4) for x in np.percentile(noise, [5, 50, 95])],
        "kept_true_at_canonical_0.65": round(float(np.mean([canonical(d, scale) <= gate for d in hits])), 3),
        "kept_unrelated_at_canonical_0.65": round(
            float(np.mean([canonical(d, scale) <= gate for d in noise])), 3
        ),
        "kept_true_by_direction": {
            f"{a}->{b}": round(
                float(
                    np.mean(
                        [
                            canonical(d, scale) <= gate
                            for d, row in zip(hits, pairs, strict=True)
                            if (row["query_lang"], row["passage_lang"]) == (a, b)
                        ]
                    )
                ),
                3,
            )
            for a, b in sorted({(row["query_lang"], row["passage_lang"]) for row in pairs})
        },
    }
    print(json.dumps(figures, indent=2))
    print(save(f"scale-{arguments.embedder}", {"embedder": arguments.embedder, "seed": SEED}, figures))


def token_space(handle: EmbedderHandle, dimension: int) -> dict[str, np.ndarray]:
    """Return the mean of unit token vectors per language, and as `basis` the directions in which the generic
    texts' token vectors vary most once their language's mean is gone (principal components)."""
    means, rest = {}, []
    for language in ("zh", "en"):
        texts = [row["text"] for row in read(f"generic_{language}.jsonl")]
        tokens = np.concatenate(handle.token_vectors(texts) or [])
        tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
        means[language] = tokens.mean(axis=0)
        centred = tokens - means[language]
        rest.append(centred / np.linalg.norm(centred, axis=1, keepdims=True))
    stacked = np.concatenate(rest)
    basis = np.linalg.eigh(stacked.T @ stacked)[1][:, ::-1][:, :dimension]
    return {**means, "basis": np.ascontiguousarray(basis)}


if __name__ == "__main__":
    main()
