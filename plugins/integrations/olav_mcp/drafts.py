"""The tools propose and commit: the client's user is asked by the server itself, not by the model."""
# Annotations are values here (no __future__ import): Resolve(…) names functions that are local.

from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from olav_core import Confirmation, Drafts, OlavError, Proposal
from olav_mcp.results import CommittedDraft, ProposedDraft
from olav_mcp.service import MemoryService

_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class Answer(BaseModel):
    """What the client's user is asked for."""

    remember: bool = Field(description="Store it exactly as shown. / 照此入库。")


def add_drafts(server: MCPServer[Any], service: MemoryService) -> None:
    """Add propose and commit to a server. A commit asks the client's user through the protocol; a client that
    cannot ask is refused, and the draft waits for `olav drafts commit`."""
    drafts = Drafts(service.memory)
    kinds = ", ".join(drafts.categories)

    @server.tool(
        title="Propose a memory",
        annotations=_WRITES,
        description=f"Draft a memory that the user asked to keep ({kinds}). Nothing is stored. Show its "
        "`preview` to the user word for word; commit then asks the user.",
    )
    def propose(
        intent: Annotated[str, Field(description="A short name for it, such as snapshot_age.")],
        body: Annotated[str, Field(description="All of it, as it should be read later.")],
        keywords: Annotated[list[str] | None, Field(description="Words to find it by.")] = None,
        category: Annotated[str, Field(description="Which kind of memory.")] = "usage_guide",
        chunks: Annotated[list[str] | None, Field(description="Further passages of a document.")] = None,
        replace: Annotated[bool, Field(description="Change the one that is there.")] = False,
    ) -> ProposedDraft:
        try:
            made = drafts.propose(
                intent=intent, body=body, agent=service.agent, keywords=keywords or (), category=category,
                chunks=chunks or (), replace=replace,
            )  # fmt: skip
        except OlavError as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error
        return {
            "intent": made.intent, "preview": made.preview, "hash": made.hash, "expires_at": made.expires_at,
            "next": "Show the preview to the user. When they agree, call commit with this intent.",
        }  # fmt: skip

    def pending(intent: str | None) -> Proposal:
        try:
            draft = drafts.get(intent)
            if not service.any_scope and draft.scope not in service.own:
                raise ToolError(f"There is no draft {draft.intent!r} in {', '.join(service.own)}.")
            return drafts.show(draft)
        except OlavError as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error

    def answer(proposal: Annotated[Proposal, Resolve(pending)], context: Context) -> Elicit[Answer]:
        capable = context.client_capabilities.elicitation if context.client_capabilities else None
        if capable is None or (capable.form is None and capable.url is not None):
            raise ToolError(
                f"This client cannot ask its user, so {proposal.intent!r} is not stored. It waits: a person "
                f"commits it with `olav drafts commit {proposal.intent}`."
            )
        return Elicit(f"{proposal.preview.rstrip()}\n\n{proposal.question}", Answer)

    @server.tool(title="Commit a draft", annotations=_WRITES)
    def commit(
        proposal: Annotated[Proposal, Resolve(pending)],
        said: Annotated[ElicitationResult[Answer], Resolve(answer)],
        intent: Annotated[str | None, Field(description="Which draft; without it the only one.")] = None,
    ) -> CommittedDraft:
        """Store a draft. The server shows it to the user and asks; it takes no text of yours."""
        if not isinstance(said, AcceptedElicitation) or not said.data.remember:
            raise ToolError(
                f"The user did not agree to {proposal.intent!r}. It waits; propose again to change it."
            )
        word = Confirmation(text="accepted in the MCP client", in_person=True)
        try:
            done = drafts.commit(proposal.intent, confirmation=word, hash=proposal.hash)
        except OlavError as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error
        return {"status": "remembered", "intent": done.intent, "ids": list(done.ids), "path": done.path}
