"""The hooks of a plug-in. Their docstrings are the reference: `olav hooks` and docs/reference-hooks.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

from olav_core.records import MemoryRecord
from olav_core.specs import (
    CategorySpec,
    CommandSpec,
    ConfirmationSpec,
    DirectiveSpec,
    EmbedderSpec,
    GateSpec,
    ImporterSpec,
    LexiconSpec,
    MiddlewareSpec,
    RankerSpec,
    RedactorSpec,
    SuiteSpec,
    VerbMatcherSpec,
)

if TYPE_CHECKING:
    from olav_core.recall.recall import Recall

PROJECT = "olav"
#: The entry-point group that every plug-in, built in or not, is found by.
ENTRY_POINT_GROUP = "olav.plugins"

hookspec = pluggy.HookspecMarker(PROJECT)
#: Marks a plug-in's implementations: `from olav_core import hookimpl`.
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def olav_register_categories() -> Sequence[CategorySpec]:  # type: ignore[empty-body]
    """Register categories of memory.

    Called once, when the registry is built. Return a list of CategorySpec. Two categories with one id
    are an error that names both distributions; gates and boosts that a category names must exist.

    Example: `return [CategorySpec(id="ticket", title="Ticket", purpose="Solved tickets", quota=1, cap=2)]`
    """


@hookspec
def olav_register_embedders() -> Sequence[EmbedderSpec]:  # type: ignore[empty-body]
    """Register embedders.

    Called once, when the registry is built. Return a list of EmbedderSpec. The factory runs only for the
    embedder that the workspace's configuration names, and its dimension is probed, never declared.

    Example: `return [EmbedderSpec(id="house", title="Our model", factory=HouseEmbedder)]`
    """


@hookspec
def olav_register_rankers() -> Sequence[RankerSpec]:  # type: ignore[empty-body]
    """Register rankers: stages that order candidates.

    Called once, when the registry is built. Return a list of RankerSpec. A ranker takes part when
    `recall.rankers` in the configuration lists its id; stages run in the order retrieve, fuse, boost,
    rerank, diversify, and within a stage by priority, distribution, id.

    Example: `return [RankerSpec(id="newest", stage="boost", purpose="Lift news", factory=Newest)]`
    """


@hookspec
def olav_register_gates() -> Sequence[GateSpec]:  # type: ignore[empty-body]
    """Register gates: they drop candidates of the categories that ask for them.

    Called once, when the registry is built. Return a list of GateSpec. A gate runs once per candidate and
    recall, returns a Verdict with a reason, and sees the canonical distance.

    Example: `return [GateSpec(id="open_only", purpose="Drop closed tickets", factory=OpenOnly)]`
    """


@hookspec
def olav_register_redactors() -> Sequence[RedactorSpec]:  # type: ignore[empty-body]
    """Register redactors: they mask secrets before anything is stored or embedded.

    Called once, when the registry is built. Return a list of RedactorSpec; they run by priority,
    distribution, id, each on the result of the one before.

    Example: `return [RedactorSpec(id="badge", purpose="Mask badge numbers", redact=mask_badges)]`
    """


@hookspec
def olav_register_verb_matchers() -> Sequence[VerbMatcherSpec]:  # type: ignore[empty-body]
    """Register capture-verb matchers: they tell which tool calls change something.

    Called once, when the registry is built. Return a list of VerbMatcherSpec. The first matcher that names a
    verb wins; a result that any matcher calls a failure is not captured.

    Example: `return [VerbMatcherSpec(id="de", purpose="German", languages=("de",), match=german_verb)]`
    """


@hookspec
def olav_register_confirmations() -> Sequence[ConfirmationSpec]:  # type: ignore[empty-body]
    """Register confirmation lexicons: the words by which people say yes to a draft of a memory.

    Called once, when the registry is built. Return a list of ConfirmationSpec. All lexicons are read as one,
    so that a message may mix languages; what no lexicon knows is never a yes.

    Example: `return [ConfirmationSpec(id="de", purpose="German", languages=("de",), yes=("ja", "speichern"),
    fillers=("bitte",), replies=("ja",))]`
    """


@hookspec
def olav_register_agent_middleware() -> Sequence[MiddlewareSpec]:  # type: ignore[empty-body]
    """Register agent middleware: what agents of a framework run around their model and tool calls.

    Called once, when the registry is built. Return a list of MiddlewareSpec. `agent_middleware(memory,
    "langchain", agent=…)` builds those that an agent gets, in the order priority, distribution, id; an agent
    of `olav_deepagents` and each of its subagents get them unasked. Import the framework in the factory.

    Example: `return [MiddlewareSpec(id="badge", framework="langchain", purpose="Stop calls without a badge",
    factory=make_badge_check, default=True)]`
    """


@hookspec
def olav_register_importers() -> Sequence[ImporterSpec]:  # type: ignore[empty-body]
    """Register importers: they turn files into memories.

    Called once, when the registry is built. Return a list of ImporterSpec. The longest matching suffix wins;
    two importers with one suffix are an error.

    Example: `return [ImporterSpec(id="tickets", purpose="Ticket dumps", suffixes=(".ticket.json",),
    parse=parse_ticket, category="ticket")]`
    """


@hookspec
def olav_register_commands() -> Sequence[CommandSpec]:  # type: ignore[empty-body]
    """Register commands of the `olav` command line.

    Called when the command line starts. Return a list of CommandSpec; `load` is called only for the command
    that is run. An id that exists already is an error.

    Example: `return [CommandSpec(id="tickets", help="Count tickets.", load=load_tickets)]`
    """


@hookspec
def olav_register_suites() -> Sequence[SuiteSpec]:  # type: ignore[empty-body]
    """Register benchmark suites: kinds of data that `olav bench run` can read.

    Called once, when the registry is built. Return a list of SuiteSpec. `load` gets the paths of the command
    line and returns a Suite: memories to store and queries with the ids that answer them.

    Example: `return [SuiteSpec(id="tickets", purpose="Solved tickets", files="CSV", load=load_tickets)]`
    """


@hookspec
def olav_register_directives() -> Sequence[DirectiveSpec]:  # type: ignore[empty-body]
    """Register directives: guides and formats that a distribution ships, primed by `olav init`.

    Called once, when the registry is built. Return a list of DirectiveSpec. Its files are package data; they
    become rows, and are not copied into the workspace. `olav kb prime` brings those of a newer version.

    Example: `return [DirectiveSpec(id="ticket_rules", purpose="How we work tickets",
    folder=Path(__file__).with_name("directives"))]`
    """


@hookspec
def olav_register_lexicons() -> Sequence[LexiconSpec]:  # type: ignore[empty-body]
    """Register lexicons: what words are called in other languages, so that a query finds memories in them.

    Called once, when the registry is built. Return a list of LexiconSpec. All lexicons are read as one, and
    with them the workspace's own, `.olav/lexicons/*.tsv`; the ranker `translated` asks them.

    Example: `return [LexiconSpec(id="plant", purpose="Words of the plant, German and English",
    folder=Path(__file__).with_name("plant"))]`
    """


@hookspec
def olav_memory_written(record: MemoryRecord) -> None:
    """Observe a memory that was written (inserted or changed).

    Called after the commit, in the writing thread, once per record. Return nothing. An observer that raises
    is reported and isolated; the write stands.

    Example: `def olav_memory_written(record): counter.add(1, {"category": record.category})`
    """


@hookspec
def olav_memories_recalled(recall: Recall) -> None:
    """Observe a recall: its items, trace and timings.

    Called after the result is complete, in the recalling thread, once per recall. Return nothing. An
    observer that raises is reported and isolated; the recall stands.

    Example: `def olav_memories_recalled(recall): histogram.record(recall.timings_ms["total"])`
    """
