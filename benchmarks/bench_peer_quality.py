"""What olav-core and others find, on the same texts with the same e5 vectors, in one run.

    python benchmarks/bench_peer_quality.py --locomo locomo_dev.json --environments ~/.cache/olav-peers

Each peer gets a virtual environment of its own in that folder, made here when it is missing, and runs in a
process of its own. Two questions: which share of the answers stands among the first five (LoCoMo turns, per
conversation, categories 1-4; the test half of benchmarks/golden, by pair of languages), and what it costs at
10,000 rows. Vectors are precomputed, so no figure holds an embedding. LoCoMo is CC BY-NC: bring your own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from environment import RESULTS, save
from generator import drafts, queries
from olav_bench import locomo, native
from olav_bench.asking import scopes_of
from olav_bench.cached_embedder import with_cache
from olav_bench.selection import select_queries
from olav_bench.vector_cache import cache_directory
from peers.quality.corpus import Vectors, write

import olav_core
from olav_core import Memory, Registry, Suite, language_of

HERE = Path(__file__).parent
#: Peer (a module of benchmarks/peers/quality) -> what its environment holds; None: this interpreter.
REQUIREMENTS: dict[str, tuple[str, ...] | None] = {
    "olav_core": None,
    "lancedb": ("lancedb==0.40.0", "pyarrow>=18"),
    "bm25": ("bm25s==0.3.16",),
    "chroma": ("chromadb==1.5.9",),
    "langgraph": ("langgraph==1.2.24",),
    "olav": ("olav==0.27.0",),
    "mem0": ("mem0ai==2.2.1",),
    "memsearch": ("memsearch==0.4.23",),
}
SPEED_ROWS, SPEED_QUERIES = 10_000, 120
#: Seconds for one peer over all corpora; one that takes longer is told as such.
PATIENCE = 900


class Recorder:
    """e5, and a note of every vector that it gave."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.identity = inner.identity
        self.passages: dict[str, np.ndarray] = {}
        self.queries: dict[str, np.ndarray] = {}

    def embed_passages(self, texts: Sequence[str]) -> Any:
        found = self.inner.embed_passages(texts)
        self.passages |= dict(zip(texts, found, strict=True))
        return found

    def embed_queries(self, texts: Sequence[str]) -> Any:
        found = self.inner.embed_queries(texts)
        self.queries |= dict(zip(texts, found, strict=True))
        return found


def prepare(folder: Path, suites: dict[str, Suite], cache: Path) -> None:
    """Write the corpora: texts as the product indexes them, each with its vector: e5's, and for the figures
    of cost the test embedder's, which costs nothing. `cache` keeps e5's between runs."""
    vectors = Vectors({"": np.zeros(1)}, {})
    vectors.passages.clear()
    corpora = {}
    for name, suite in suites.items():
        embedder = "hashing" if name == "speed" else "e5"
        options = {"dimension": 384} if name == "speed" else {}
        with tempfile.TemporaryDirectory() as place:
            registry, made = recorded(embedder, cache)
            with olav_core.init(place, embedder=embedder, options=options, registry=registry) as memory:
                if name != "speed":
                    memory.remember("a first row, so that the space is checked")
                    memory.recall("a first question")
                corpora[name] = corpus(memory, suite, vectors)
        if name != "speed":
            for recorder in made:
                vectors.passages = {**recorder.passages, **vectors.passages}
                vectors.queries = {**recorder.queries, **vectors.queries}
        print(
            f"{name}: {len(corpora[name]['rows'])} rows, {len(corpora[name]['queries'])} queries", flush=True
        )
    write(folder, corpora, vectors)


def recorded(embedder: str, cache: Path) -> tuple[Registry, list[Recorder]]:
    registry, _ = with_cache(olav_core.build_registry(), embedder, cache)
    spec, made = registry.embedder(embedder), []

    def factory(options: Any) -> Recorder:
        made.append(Recorder(spec.factory(options)))
        return made[-1]

    embedders = {**registry.embedders, embedder: attrs.evolve(spec, factory=factory)}
    return attrs.evolve(registry, embedders=embedders), made


def corpus(memory: Memory, suite: Suite, vectors: Vectors) -> dict[str, Any]:
    rows: dict[str, dict[str, Any]] = {}
    same: dict[str, str] = {}  # a memory that a suite holds twice is one row
    for key, draft in suite.memories.items():
        record = memory.prepare(draft)
        same[key] = record.id
        told = {
            name: getattr(draft, name)
            for name in ("text", "category", "scope", "origin", "confidence", "tags")
        }
        rows[record.id] = {
            "id": record.id,
            "text": record.search_text,
            "scope": record.scope,
            "category": record.category,
            "draft": {**told, "metadata": dict(draft.metadata)},
        }
    texts = [row["text"] for row in rows.values()]
    vectors.passages |= dict(zip(texts, memory.embedder.passages(texts), strict=True))
    asked = []
    for query in suite.queries:
        vectors.queries[query.query] = memory.embedder.query(query.query)
        asked.append(
            {
                "query": query.query,
                "scopes": list(query.scopes or scopes_of(memory, query)),
                "relevant": sorted({same[key] for key in query.relevant}),
                "group": group_of(query, suite),
            }
        )
    return {"rows": list(rows.values()), "queries": asked}


def group_of(query: Any, suite: Suite) -> str:
    """Return the language of question and answers, or that they differ."""
    mine = query.lang or language_of(query.query)
    theirs = {suite.languages.get(key) or language_of(suite.memories[key].text) for key in query.relevant}
    return mine if theirs == {mine} else "cross" if len(theirs) == 1 else "mixed"


def suites(path: Path | None) -> dict[str, Suite]:
    golden = native.load([HERE / "golden" / "memories.jsonl", HERE / "golden" / "queries.jsonl"])
    golden = select_queries(golden, split="test")
    found = {"golden": attrs.evolve(golden, queries=tuple(q for q in golden.queries if q.relevant))}
    if path is not None:
        turns = locomo.load([path])
        asked = tuple(q for q in turns.queries if q.kind != "adversarial")
        found["locomo"] = attrs.evolve(turns, queries=asked)
    made = {str(number): draft for number, draft in enumerate(drafts(SPEED_ROWS))}
    scopes = ("netops", "global")
    asked = tuple(
        olav_core.SuiteQuery(qid=str(n), query=text, scopes=scopes)
        for n, text in enumerate(queries(SPEED_QUERIES))
    )
    found["speed"] = Suite(id="speed", memories=made, queries=asked, unit="row", pool="two scopes")
    return found


def interpreter(peer: str, folder: Path) -> str:
    """Return the peer's Python, its environment made when it is missing; raises CalledProcessError."""
    wanted = REQUIREMENTS[peer]
    if wanted is None:
        return sys.executable
    place = folder / peer
    python, mark = place / "bin" / "python", place / "requirements.txt"
    text = "\n".join(["numpy>=1.26", *wanted]) + "\n"
    if not mark.exists() or mark.read_text(encoding="utf-8") != text:
        print(f"{peer}: making {place}")
        venv.create(place, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-q", "numpy>=1.26", *wanted]
        subprocess.run(install, check=True, capture_output=True, text=True)
        mark.write_text(text, encoding="utf-8")
    return str(python)


def run(peer: str, name: str, environments: Path, folder: Path, patience: int) -> dict[str, Any]:
    """Return what a peer reported, and under `failed` why it reported no more."""
    try:
        done = subprocess.run(
            [interpreter(peer, environments), "-m", "quality.run", peer, str(folder), name],
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(HERE / "peers")},
            cwd=folder,
            timeout=patience,
        )
    except subprocess.TimeoutExpired as error:
        return {"peer": peer, **told(error.stdout), "failed": f"{name}: no end after {patience} s"}
    except subprocess.CalledProcessError as error:
        return {"peer": peer, "failed": f"cannot be installed: {last_line(error.stderr)}"}
    result = {"peer": peer, **told(done.stdout)}
    if done.returncode:
        result["failed"] = f"{name}: " + last_line(done.stderr.decode("utf-8", "replace"))
        print(done.stderr.decode("utf-8", "replace")[-3_000:], file=sys.stderr)
    return result


def told(output: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in (output or b"").decode("utf-8", "replace").splitlines():
        if line.startswith("RESULT "):
            found |= json.loads(line.removeprefix("RESULT "))
    return found


def earlier() -> dict[str, dict[str, Any]]:
    """Return the parts that an earlier run measured; what failed is tried again."""
    path = RESULTS / "peer_quality.json"
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else []
    return {peer["module"]: {k: v for k, v in peer.items() if k != "failed"} for peer in figures}


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="a LoCoMo file; without it golden only")
    parser.add_argument(
        "--environments", type=Path, required=True, metavar="DIR", help="outside the repository"
    )
    parser.add_argument("--cache", type=Path, default=cache_directory(), metavar="DIR", help="keeps vectors")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keeps the prepared texts and vectors")
    parser.add_argument("--only", nargs="+", metavar="CORPUS", help="golden, locomo, speed")
    parser.add_argument("--resume", action="store_true", help="keep the parts that the result has already")
    parser.add_argument("--patience", type=int, default=PATIENCE, metavar="S", help="seconds for one peer")
    parser.add_argument("--peers", nargs="+", default=list(REQUIREMENTS), choices=list(REQUIREMENTS))
    arguments = parser.parse_args()
    environments = arguments.environments.expanduser().resolve()
    if environments.is_relative_to(HERE.parent.resolve()):
        parser.error("--environments must lie outside the repository.")
    configuration = {
        "embedder": "e5, for the figures of cost hashing",
        "embedding": "precomputed",
        "depth": 5,
        "golden": "test half",
        "locomo": arguments.locomo is not None,
    }
    with tempfile.TemporaryDirectory(prefix="olav-peers-") as folder:
        corpora = Path(folder) if arguments.corpora is None else arguments.corpora.resolve()
        if not (corpora / "corpora.json").exists():
            corpora.mkdir(parents=True, exist_ok=True)
            prepare(corpora, suites(arguments.locomo), arguments.cache)
        figures = earlier() if arguments.resume else {}
        names = list(json.loads((corpora / "corpora.json").read_text(encoding="utf-8")))
        for name in names if arguments.only is None else arguments.only:
            # All peers on one corpus, then the next: what is compared is measured side by side.
            for peer in arguments.peers:
                if name in figures.get(peer, {}):
                    continue
                load = round(os.getloadavg()[0], 1)
                part = run(peer, name, environments, corpora, arguments.patience)
                part.get(name, {})["load_average"] = load
                known = figures.get(peer, {})
                failed = "; ".join(filter(None, [known.get("failed"), part.pop("failed", "")]))
                figures[peer] = {"module": peer, **known, **part, **({"failed": failed} if failed else {})}
                print(json.dumps({"peer": peer, name: part.get(name), "failed": failed}), flush=True)
                in_order = [figures[id] for id in REQUIREMENTS if id in figures]
                save("peer_quality", configuration, in_order)


if __name__ == "__main__":
    main()
