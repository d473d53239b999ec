"""The drafts of a workspace: a proposal, a person's word, and only then a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from olav_core import clock
from olav_core.atomic_write import write_atomically
from olav_core.drafts.commit import Commit, Committed
from olav_core.drafts.draft import MemoryDraft, check_name, name_for, times
from olav_core.drafts.folder import DraftFolder
from olav_core.drafts.place import as_file, file_categories, file_importer
from olav_core.drafts.preview import preview_of
from olav_core.drafts.proposal import Confirmation, Proposal
from olav_core.drafts.rehearsal import rehearse
from olav_core.drafts.target import rows_of, target_of
from olav_core.errors import ConflictError, RecordError
from olav_core.recall.render import strip_block
from olav_core.specs import Draft

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: How long what was learned waits for a person, in hours: the life of a reflection.
REVIEW_HOURS: Final = 30 * 24.0


class Drafts:
    """Proposes, commits and rejects drafts of one workspace. What is proposed is only a file until a person
    confirms it, in a later turn, and a commit takes that file and nothing else.

    `confirms(message)` says what counts as a yes; by default the installed confirmation lexicons do. A commit
    that a killed process left is completed first. Methods raise RecordError (what is wrong), ConflictError
    (what stands there is another) and StoreError (the folder cannot be written).
    """

    def __init__(
        self,
        memory: Memory,
        *,
        confirms: Callable[[str], bool] | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._memory = memory
        self._confirms: Callable[[str], bool] = confirms or memory.registry.confirms
        self._now = now if now is not None else lambda: clock.now()
        self._folder = DraftFolder(memory.workspace.root)
        self._commit = Commit(memory, self._folder, self._now)

    @property
    def categories(self) -> tuple[str, ...]:
        """What a conversation may propose: `learning.draft_categories`, by default all that become files."""
        chosen = self._memory.settings.learning.draft_categories
        return file_categories(self._memory.registry) if chosen is None else chosen

    # --- proposing --------------------------------------------------------------------------------

    def propose(
        self,
        *,
        intent: str,
        body: str,
        agent: str,
        keywords: Sequence[str] = (),
        scope: str | None = None,
        category: str = "usage_guide",
        chunks: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        turn: str = "",
        replace: bool = False,
    ) -> Proposal:
        """Write the draft of a conversation and return what to show; nothing enters the store.

        `category` is one of `categories`. Where an importer says how (`DraftFile`) it becomes a file in the
        agent's folder, else a row with `metadata`, and `keywords` as its tags. `chunks` are
        further passages of a document. `turn` identifies the conversation's turn: a commit needs another one.
        `replace` allows what stands there already to be changed. A new draft of the same intent takes the old
        one's place.
        """
        self._public_name(intent, "intent")
        self._public_name(agent, "agent")
        default = "global" if agent == "core" else agent
        scope = self._memory.registry.public_scope(default if scope is None else scope)
        self._check_category(category)
        for name, given in (("keywords", keywords), ("chunks", chunks)):
            if isinstance(given, str) or not all(isinstance(item, str) for item in given):
                raise RecordError(f"{name} is a list of strings. Put a single one in brackets.")
        text = "\n\n".join([body, *chunks]).replace("\r\n", "\n")
        text = self._redacted(strip_block(text).strip())
        keywords = [self._redacted(word) for word in keywords]
        if metadata and file_importer(self._memory.registry, category) is not None:
            raise RecordError(f"A {category} is a file and takes no metadata. Say it in the body.")
        created, expires = times(self._now(), self._memory.settings.learning.draft_hours)
        draft = MemoryDraft(
            intent=intent, agent=agent, scope=scope, category=category, keywords=tuple(keywords), body=text,
            created_at=created, expires_at=expires, turn=turn,
        )  # fmt: skip
        filed = as_file(self._memory.registry, draft)
        if filed is None:
            row = Draft(text=text, category=category, scope=scope, metadata=metadata or {})
            (made,) = rows = rows_of(self._memory, [evolve(row, tags=tuple(keywords))])
            draft = evolve(draft, rows=rows, scope=made["scope"], body=made["text"])
        else:
            draft = filed
            rehearse(self._memory, draft)
        return self._written(draft, replace=replace)

    def put(
        self,
        name: str,
        drafts: Sequence[Draft],
        *,
        proposer: str,
        reason: str = "",
        agent: str = "core",
        hours: float = REVIEW_HOURS,
    ) -> Proposal | None:
        """Let rows wait for a person's review, and return what is shown; None when a person rejected the very
        same before. They are committed together or not at all.

        `name` may be any text; the same name again takes the older draft's place, unless it says the same.
        `proposer` and `reason` tell the person who wants it and why. To supersede a row, put its closed
        version beside the new one. Raises RecordError and UnknownIdError for what could not be stored.
        """
        if not drafts:
            raise RecordError(f"The draft {name!r} holds no memory. Give at least one.")
        self._public_name(agent, "agent")
        rows = rows_of(self._memory, drafts)
        created, expires = times(self._now(), hours)
        draft = MemoryDraft(
            intent=name_for(self._redacted(name)), agent=agent, scope=rows[0]["scope"],
            category=rows[0]["category"], body=rows[0]["text"], rows=rows, proposer=proposer,
            reason=self._redacted(reason), created_at=created, expires_at=expires,
        )  # fmt: skip
        if draft.essence in self._folder.rejected(draft.intent):
            return None
        return self._written(draft, replace=True, keep=True)

    def _redacted(self, text: str) -> str:
        return str(self._memory.registry.redact(text)[0])

    def _public_name(self, value: str, what: str) -> str:
        """Return a name or raise RecordError, also when it spells a secret: it becomes a file's name."""
        masked = self._redacted(check_name(value, what))
        if masked != value:
            raise RecordError(f"{what} {masked!r} holds what looks like a secret. Choose another name.")
        return value

    def _check_category(self, category: str) -> None:
        allowed = self.categories
        if category not in allowed:
            raise RecordError(
                f"A conversation may not write {category!r}. Use one of: {', '.join(allowed)} "
                "(`learning.draft_categories` in .olav/config.yaml)."
            )
        self._memory.registry.category(category)

    def _written(self, draft: MemoryDraft, *, replace: bool, keep: bool = False) -> Proposal:
        """`keep`: a draft that waits stays if it says the same: a person may have been shown it."""
        target = target_of(self._memory, draft)
        with self._folder.locked():
            self._commit.recover()
            state = target.state()
            waiting = self._waiting(draft.intent) if keep else None
            if waiting and (waiting.essence, waiting.replaces) == (draft.essence, state):
                return self.show(waiting)
            if state and not replace:
                raise ConflictError(
                    f"{draft.path or f'This {draft.category}'} exists. Choose another intent, or propose "
                    "with replace to change it."
                )
            draft = evolve(draft, replaces=state)
            write_atomically(self._folder.draft_path(draft.intent), draft.to_json().encode("utf-8"))
        return self.show(draft)

    def _waiting(self, intent: str) -> MemoryDraft | None:
        with suppress(RecordError):
            draft = self._folder.read(intent)
            return None if draft.expired(self._now()) else draft
        return None

    # --- looking ----------------------------------------------------------------------------------

    def show(self, draft: MemoryDraft) -> Proposal:
        """Return a draft as the person sees it."""
        return Proposal(
            intent=draft.intent,
            preview=preview_of(draft),
            question=self._memory.registry.confirmation_question(),
            hash=draft.hash,
            expires_at=draft.expires_at,
        )

    def confirms(self, message: str) -> bool:
        """Tell whether a person's message is a yes."""
        return self._confirms(message)

    def present(self, intent: str | None = None, *, turn: str) -> Proposal:
        """Show a draft again, in this turn of a conversation: an answer must be of a later one. Its hash is a
        new one, so that an answer to an earlier showing does not count."""
        with self._folder.locked():
            self._commit.recover()
            draft = evolve(self._get(intent), turn=turn)
            write_atomically(self._folder.draft_path(draft.intent), draft.to_json().encode("utf-8"))
        return self.show(draft)

    def list(self) -> list[MemoryDraft]:
        """Return the drafts that are sound, expired ones too, the oldest first."""
        if not self._folder.path.is_dir():  # most workspaces: looking makes no folder
            return []
        with self._folder.locked():
            self._commit.recover()
            found = []
            for intent in self._folder.intents():
                try:
                    found.append(self._folder.read(intent))
                except RecordError:
                    continue
            return found

    def get(self, intent: str | None = None) -> MemoryDraft:
        """Return the draft of an intent, without one the sole pending draft."""
        with self._folder.locked():
            self._commit.recover()
            return self._get(intent)

    # --- answering --------------------------------------------------------------------------------

    def commit(
        self,
        intent: str | None = None,
        *,
        confirmation: Confirmation,
        from_draft: bool = True,
        hash: str | None = None,
    ) -> Committed:
        """Write the draft that a person confirmed: its file, its rows, its archive; all or nothing.

        `hash`: that of the preview that the person saw, where the host knows it. Refused when there is no
        draft, it expired or was changed, the message is no yes, or is of the turn in which it was proposed or
        shown; ConflictError when what stands there changed meanwhile. The draft then stays, and so it does
        when the store or the embedder fails.
        """
        if from_draft is not True:
            raise RecordError(
                "Only a draft that a person has seen can be committed: from_draft must be true."
            )
        with self._folder.locked():
            self._commit.recover()
            draft = self._get(intent)
            if draft.expired(self._now()):
                raise RecordError(
                    f"The draft {draft.intent!r} expired at {draft.expires_at}. Propose it again."
                )
            if hash is not None and hash != draft.hash:
                raise RecordError(f"The draft {draft.intent!r} is not the one that was shown. Show it again.")
            self._check_word(draft, confirmation)
            said = self._redacted(confirmation.text)
            word = {"text": said, "turn": confirmation.turn, "at": self._now().isoformat()}
            return self._commit.run(draft, word)

    def reject(self, intent: str | None = None) -> str:
        """Put a draft away, sound or not, without writing it; return its intent."""
        with self._folder.locked():
            self._commit.recover()
            name = intent if intent is not None else self._sole()
            path = self._folder.draft_path(name)
            if not path.exists():
                raise RecordError(f"No draft found for {name!r}. {self._folder.known()}")
            self._folder.archive(path, "rejected", name, self._now())
            return name

    def _get(self, intent: str | None) -> MemoryDraft:
        return self._folder.read(self._sole() if intent is None else intent)

    def _sole(self) -> str:
        intents = self._folder.intents()
        if len(intents) != 1:
            what = "Several drafts are pending" if intents else "No draft found"
            raise RecordError(f"{what}. {self._folder.known()}{' Name one.' if intents else ''}")
        return intents[0]

    def _check_word(self, draft: MemoryDraft, word: Confirmation) -> None:
        if word.in_person:
            return
        if not draft.turn or not word.turn:
            raise RecordError(
                f"Nobody can tell whether a person answered after {draft.intent!r} was shown: there is no "
                "turn. Show it in the conversation first, or commit it with `olav drafts commit`."
            )
        if word.turn == draft.turn:
            raise RecordError(
                f"{draft.intent!r} was proposed or shown in this very turn. Show the preview and wait."
            )
        if not self._confirms(word.text):
            raise RecordError(
                f"The user's message does not confirm {draft.intent!r}: {self._redacted(word.text)[:80]!r}. "
                "Show the preview and ask; if they want a change, propose again."
            )
