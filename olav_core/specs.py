"""What a plug-in returns: frozen specs, checked when registered, called as plain values afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from attrs import Factory, field, frozen, validators

from olav_core.records import GLOBAL_SCOPE, ORIGINS, MemoryRecord

if TYPE_CHECKING:
    import click
    import numpy as np
    from numpy.typing import NDArray

    from olav_core.arrays import FloatArray
    from olav_core.drafts.draft_file import DraftFile
    from olav_core.host.registry import Registry
    from olav_core.index.candidates import Candidates
    from olav_core.index.pool import Candidate, Pool
    from olav_core.memory import Memory
    from olav_core.recall.query import Query
    from olav_core.suite import Suite

Options = Mapping[str, Any]
Stage = Literal["retrieve", "fuse", "boost", "rerank", "diversify"]
STAGES: tuple[Stage, ...] = ("retrieve", "fuse", "boost", "rerank", "diversify")


# --- categories ---------------------------------------------------------------------------------


@frozen
class GateUse:
    """A gate that a category asks for, with the gate's options: `GateUse("distance", {"max": 0.65})`."""

    id: str
    options: Options = Factory(dict)


def _text_of(record: MemoryRecord) -> str:
    return record.text


def _frozen_set(values: Iterable[str]) -> frozenset[str]:
    return frozenset(values)


@frozen(kw_only=True)
class CategorySpec:
    """A kind of memory and its rules.

    - `origins`: who may write it. `quota`: slots reserved for it when K >= 3. `cap`: the most that one
      recall injects (None: no limit). `gates`: what may drop a candidate.
    - `boosts`: ids of boost rankers that may lift it. `ttl`: life of a row; `half_life`: age at which
      recency counts half (both None: for ever).
    - `metadata`: an attrs class that `record.metadata` must structure into (None: any JSON object).
    - `dedupe_key(record)`: two writes with one key are one row. `embed_text(record)`: what is embedded and
      indexed. `render(record)`: what the model reads. `keywords(record)`: words that `keyword_boost` and
      the `on_intent` gate look for in the query. `questions(record)`: what a person would ask that it
      answers, for `olav calibrate`; without it the keywords are asked.
    - `claims(record)`: what it claims, topic -> value. A later memory of the same category and scope that
      gives a topic another value supersedes it; the metadata class then inherits from `Succession`.
    - `append_only=True`: a row that exists is never changed, and erased only with `purge`.
    - `recallable=False` keeps rows out of automatic injection. `global_scope=True` puts every row in scope
      `global` whatever the caller says, and leaves the scope out of its id.
    """

    id: str
    title: str
    purpose: str
    origins: frozenset[str] = field(default=frozenset(ORIGINS), converter=_frozen_set)
    quota: int = 0
    cap: int | None = None
    gates: tuple[GateUse, ...] = ()
    boosts: tuple[str, ...] = ()
    ttl: timedelta | None = None
    half_life: timedelta | None = None
    metadata: type | None = None
    dedupe_key: Callable[[MemoryRecord], str] = _text_of
    embed_text: Callable[[MemoryRecord], str] = _text_of
    render: Callable[[MemoryRecord], str] = _text_of
    keywords: Callable[[MemoryRecord], Sequence[str]] | None = None
    questions: Callable[[MemoryRecord], Sequence[str]] | None = None
    claims: Callable[[MemoryRecord], Mapping[str, str]] | None = None
    recallable: bool = True
    append_only: bool = False
    default_scope: str = GLOBAL_SCOPE
    global_scope: bool = False


# --- embedders ----------------------------------------------------------------------------------


@frozen(kw_only=True)
class ModelIdentity:
    """What makes two embedders one space. `revision` is the sha256 of the source weights, or, for a
    remote model that shows none, its name and base URL."""

    name: str
    revision: str
    pooling: str = ""
    normalize: bool = True
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int | None = None


@frozen(kw_only=True)
class DistanceScale:
    """Measured anchors of the canonical distance, as squared L2 in the centred space.

    `hit`: median distance of true pairs. `noise`: 5th percentile, over unrelated queries, of the distance
    to the nearest of `pool` rows. `source`: the script or command that measured it.
    """

    hit: float
    noise: float
    pool: int
    source: str


@runtime_checkable
class Embedder(Protocol):
    """What an embedder's factory returns. Rows are float32 [n, d]; the core checks and normalises them.

    May also offer `token_vectors(texts, *, query=False) -> list of float32 [tokens, d]` for late interaction,
    `embed_passages_with_tokens(texts) -> (vectors, token vectors)`, so that a write runs the model once, and
    `embed_queries_with_tokens(texts)`, so that a recall does; both raise ConfigError if there are none.
    Must be safe to call from several threads. Raises EmbedderUnavailableError when it cannot be reached.
    """

    identity: ModelIdentity

    def embed_queries(self, texts: Sequence[str]) -> FloatArray: ...

    def embed_passages(self, texts: Sequence[str]) -> FloatArray: ...


@frozen(kw_only=True)
class EmbedderSpec:
    """A way to make vectors. `languages`: ISO 639-1 codes it is good at, empty when unknown.

    `generic_means()` gives, per language, the mean raw passage vector float32 [d] of general text: used
    while a store holds few rows of that language. `alignment()` gives `axes` float32 [k, d], directions
    that tell languages apart, at right angles and no longer than 1 (of a vector's part along one, the square
    of its length is taken out), and for a language a map float32 [d, d] of its vectors (`vector @ map`), best
    a rotation; any entry may be missing. `token_space()` gives the `basis` float32 [d, k] that token vectors
    are kept on (none: all d), and per language the mean of unit token vectors float32 [d].
    `factory(options)` must be cheap until first use. `place(options, root, registry)` returns options that
    no longer hang on the workspace in `root`: a path made absolute, another embedder looked up in its
    registry. It is called before the factory, where there is a workspace.
    """

    id: str
    title: str
    factory: Callable[[Options], Embedder]
    languages: tuple[str, ...] = ()
    generic_means: Callable[[], Mapping[str, FloatArray]] | None = None
    alignment: Callable[[], Mapping[str, FloatArray]] | None = None
    token_space: Callable[[], Mapping[str, FloatArray]] | None = None
    scale: DistanceScale | None = None
    place: Callable[[Options, Path, Registry], Options] | None = None


# --- rankers ------------------------------------------------------------------------------------


class Retriever(Protocol):
    """Stage `retrieve`: a score for every row of the pool, float32 [n]; 0 where the leg knows nothing."""

    def scores(self, query: Query, pool: Pool) -> FloatArray: ...


class Fuser(Protocol):
    """Stage `fuse`: one score per row, float32 [n], from the legs' scores by ranker id (>= 1 leg)."""

    def fuse(self, query: Query, pool: Pool, legs: Mapping[str, FloatArray]) -> FloatArray: ...


class Booster(Protocol):
    """Stage `boost`: bounded additions to the fused score, as (rows int64 [m], amounts float32 [m])."""

    def boosts(self, query: Query, pool: Pool) -> tuple[NDArray[np.int64], FloatArray]: ...


class Reranker(Protocol):
    """Stage `rerank`: new scores for the given candidates, one finite float each, in their order."""

    def rerank(self, query: Query, candidates: Sequence[Candidate]) -> Sequence[float]: ...


class Diversifier(Protocol):
    """Stage `diversify`: what a candidate loses beside those chosen; `math.inf` passes it over."""

    def penalty(self, candidate: Candidate, chosen: Sequence[Candidate]) -> float: ...


@frozen(kw_only=True)
class RankerSpec:
    """A stage that orders candidates. Stages run in the order of STAGES, within one by `priority`
    (low first), then distribution, then id. `factory(options)` returns the stage's protocol.

    Of a reranker: `depth` is how many of the best candidates it sees; with `needs_record=False` their records
    are not read for it; `uses_tokens` says that it calls `query.compare_tokens`, so that they are kept.
    """

    id: str
    stage: Stage
    purpose: str
    factory: Callable[[Options], Any]
    priority: int = 50
    depth: int = field(default=20, validator=validators.ge(2))
    needs_record: bool = True
    uses_tokens: bool = False


# --- gates, redactors, verbs --------------------------------------------------------------------


@frozen
class Verdict:
    """A gate's decision on one candidate, with its reason for the trace."""

    keep: bool
    reason: str


class Gate(Protocol):
    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...


@runtime_checkable
class MeasuringGate(Protocol):
    """A gate that keeps what measures at most its option `max`: `olav calibrate` can find the `max` for it.

    `measure` returns a distance on the canonical scale, or None where the gate has nothing to compare.
    """

    max: float

    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...

    def measure(self, query: Query, candidate: Candidate) -> float | None: ...


@frozen
class Verdicts:
    """A gate's decisions on many candidates: `keep` bool [m], and `reason(i)`, which is called for what was
    dropped if the trace is read. It must not need the candidates any more: hold the values it tells of."""

    keep: NDArray[np.bool_]
    reason: Callable[[int], str]


@runtime_checkable
class ArrayGate(Protocol):
    """A gate that decides on all candidates of its categories in one call, as `decide` would on each."""

    def decide(self, query: Query, candidate: Candidate) -> Verdict: ...

    def decide_all(self, query: Query, candidates: Candidates) -> Verdicts: ...


@frozen(kw_only=True)
class GateSpec:
    """Drops candidates. `factory(options)` gets the options of the category's GateUse.

    `needs_record=False` for a gate that never looks at `candidate.record`: it runs before records are read.
    A gate that also offers `decide_all` (ArrayGate) is asked once per recall, not once per candidate.
    """

    id: str
    purpose: str
    factory: Callable[[Options], Gate]
    needs_record: bool = True


@frozen
class Finding:
    """One secret that was masked: its kind and how often."""

    kind: str
    count: int = 1


@frozen(kw_only=True)
class RedactorSpec:
    """Masks secrets. `redact(value)` takes a string or a JSON value and returns (value, findings), in linear
    time."""

    id: str
    purpose: str
    redact: Callable[[Any], tuple[Any, Sequence[Finding]]]
    priority: int = 50


def _no_verb(_: str) -> str | None:
    return None


@frozen(kw_only=True)
class VerbMatcherSpec:
    """Tells write-class tool calls, and failed ones. A matcher gives what it knows, the rest stays None.

    - `match(tool_name)`: the verb of a tool that changes something, or None.
    - `extend(verbs)`: a `match` that also knows these verbs of a team (`capture.verbs`).
    - `writes(tool_name, args)`: for tools whose arguments decide (a shell, SQL, an HTTP client): True for a
      change, False for a look, None when the name decides. `args` may hold anything.
    - `succeeded(result)`, or `succeeded(result, tool_name="")`: False for a result that is a failure whatever
      its status says, True for one that says it succeeded, None when it cannot tell. `result` may be
      anything.
    """

    id: str
    purpose: str
    languages: tuple[str, ...]
    match: Callable[[str], str | None] = _no_verb
    succeeded: Callable[..., bool | None] | None = None
    extend: Callable[[Sequence[str]], Callable[[str], str | None]] | None = None
    writes: Callable[[str, Any], bool | None] | None = None


@frozen(kw_only=True)
class ConfirmationSpec:
    """Words by which people say yes to a draft, in one language. A message confirms when it consists of the
    phrases of all installed lexicons and nothing else, and one of them is in `yes`.

    `yes`: phrases that confirm by themselves ("go ahead", "入库"). `fillers`: what may stand beside one and
    says nothing alone ("please", "谢谢"). `alone`: those of `yes` that ask for something when a filler stands
    with them ("correct" against "correct it", "确认" against "请确认"): no filler in their clause. `replies`:
    what the question offers as answers, each of them a yes. Case, width and most punctuation are ignored; no
    phrase reaches across a comma. Never list what may be a question, a doubt or a negation.
    """

    id: str
    purpose: str
    languages: tuple[str, ...]
    yes: tuple[str, ...]
    fillers: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


# --- agents -------------------------------------------------------------------------------------


@frozen(kw_only=True)
class MiddlewareSpec:
    """What an agent of one framework runs around its model calls and tool calls.

    `framework`: whose agents it fits, as its package is imported ("langchain"; deepagents' agents are
    LangChain's too). `factory(memory, agent, **options)` returns a fresh object of that framework; it is
    called once for every agent and subagent, with the agent's name in the memory.

    - `default`: every agent that olav builds gets it unasked; else only where its id is named.
    - `compiled`: it fits around a graph that is compiled already, too: its `wrap_model_call` is then called
      once with the messages that enter and no model, its `after_agent` once with those that leave.
    - `priority`: low runs first, which is the outermost; 50 is the middle.
    """

    id: str
    framework: str
    purpose: str
    factory: Callable[..., Any]
    default: bool = False
    compiled: bool = False
    priority: int = 50


# --- importers, commands ------------------------------------------------------------------------


@frozen
class Fault:
    """What is wrong with a file: `line` counts from 1, 0 means the whole file.

    A fault keeps the file out. One that does not block (a broken diagram in a document, an unreadable page)
    leaves out what it is about: the rest is imported, and no row that the file brought before is retired.
    """

    path: str
    line: int
    message: str
    blocks: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


@frozen(kw_only=True)
class Draft:
    """A memory that is about to be written; the core gives it id, times, vector and validation."""

    text: str
    category: str
    scope: str | None = None
    metadata: Mapping[str, Any] = field(factory=dict)
    origin: str = "user"
    confidence: float = 1.0
    tags: tuple[str, ...] = ()
    timestamp: Any = None
    expires_at: Any = None
    line: int = 0


@frozen(kw_only=True)
class ImporterSpec:
    """Reads files into drafts. `parse(root, path, raw)` returns (drafts, faults) for one file's bytes and
    never raises for bad content. `suffixes` are matched against the end of the file name.

    `also` names the other categories that its files bring; where one is not installed, its drafts are left
    out. With `opens_path`, `parse` gets no bytes and opens `path` itself, for files too large to hold; it may
    raise OSError. A draft without a scope gets that of the import. `directive`: its files tell agents what to
    do, so `olav init` and the installation of agents and bundles bring them.

    `refiner(memory, ask)`, called once for an import, returns a function from the drafts of one file, which
    know their place, to better ones, such as a summary by the configured chat model. With `ask` false (a dry
    run) it asks nobody. The same files again must give the same drafts, or every import would write.

    `draft_file`: how a draft of a conversation becomes such a file, once a person has said yes to it; without
    it a draft of this category is a row.
    """

    id: str
    purpose: str
    suffixes: tuple[str, ...]
    parse: Callable[[Path, Path, bytes], tuple[Sequence[Draft], Sequence[Fault]]]
    category: str
    also: tuple[str, ...] = ()
    opens_path: bool = False
    directive: bool = False
    refiner: Callable[[Memory, bool], Callable[[Sequence[Draft]], Sequence[Draft]]] | None = None
    draft_file: DraftFile | None = None


@frozen(kw_only=True)
class SuiteSpec:
    """A kind of benchmark data for `olav bench`. `files` says which paths it reads; `load(paths)` returns a
    Suite and raises RecordError for data that is not of that kind."""

    id: str
    purpose: str
    files: str
    load: Callable[[Sequence[Path]], Suite]


@frozen(kw_only=True)
class DirectiveSpec:
    """Files that a distribution ships for every workspace: guides and formats below `folder`, read by their
    importers. `core/guides/` below it is `global`, `<name>/guides/` is that agent's, as in a workspace."""

    id: str
    purpose: str
    folder: Path


@frozen(kw_only=True)
class LexiconSpec:
    """Words and what they are called in other languages: the `*.tsv` of a folder, read when a query first
    asks (docs/howto-lexicon.md)."""

    id: str
    purpose: str
    folder: Path


@frozen(kw_only=True)
class CommandSpec:
    """A click command for `olav`. `load()` imports and returns it, so that `olav --help` stays cheap."""

    id: str
    help: str
    load: Callable[[], click.Command]
