"""The curator: a proposal, a person's word, and only then a memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, frozen

from olav_core import ConflictError, Memory, RecordError, import_directory, strip_block
from olav_curator.commit import Commit, Committed, file_hash, read_file, target_of
from olav_curator.confirmation import confirms as default_confirms
from olav_curator.draft import MemoryDraft, checked, content_of, place_of, preview_of, times
from olav_curator.draft_folder import DraftFolder, write_atomically

QUESTION = "Confirm? Reply 可以 / OK / yes / 入库 / 确认"


@frozen(kw_only=True)
class Proposal:
    """A draft as the person sees it. `preview` is to be shown word for word, `question` after it."""

    intent: str
    preview: str
    question: str
    hash: str
    expires_at: str


@frozen(kw_only=True)
class Confirmation:
    """A person's word: the whole message, and the turn of the conversation in which it was said.

    `in_person`: given at a terminal, where the draft was just shown; there are no turns then.
    """

    text: str
    turn: str = ""
    in_person: bool = False


class Curator:
    """Proposes, commits and rejects drafts of one workspace. What an agent proposes is only a file until a
    person confirms it, in a later turn, and a commit takes that file and nothing else.

    `confirms(message)` says what counts as a yes. A commit that a killed process left is completed first.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        confirms: Callable[[str], bool] = default_confirms,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._memory = memory
        self._confirms = confirms
        self._now = now
        self._folder = DraftFolder(memory.workspace.root)
        self._commit = Commit(memory, self._folder, now)

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
        turn: str = "",
        replace: bool = False,
    ) -> Proposal:
        """Write a draft and return what to show; nothing enters the store.

        `chunks` are further passages of a document. `turn` identifies the conversation's turn: a commit needs
        another one. `replace` allows a file that stands there already to be changed. A new draft of the same
        intent takes the old one's place. Raises RecordError (what is wrong) and ConflictError (the file).
        """
        scope = checked(intent, agent, scope)
        if isinstance(keywords, str) or isinstance(chunks, str):
            raise RecordError("keywords and chunks are lists of strings. Put a single one in brackets.")
        text = "\n\n".join([body, *chunks]).replace("\r\n", "\n")
        text = str(self._memory.registry.redact(strip_block(text).strip())[0])
        content = content_of(category, intent=intent, agent=agent, scope=scope, keywords=keywords, body=text)
        created, expires = times(self._now(), self._memory.settings.learning.draft_hours)
        draft = MemoryDraft(
            intent=intent, agent=agent, scope=scope, category=category, keywords=tuple(keywords), body=text,
            path=place_of(category, agent, intent, text).as_posix(), content=content,
            created_at=created, expires_at=expires, turn=turn,
        )  # fmt: skip
        self._check(draft)
        target = target_of(self._memory.workspace.root, draft)
        with self._folder.locked():
            self._commit.recover()
            before = read_file(target)
            if before is not None and not replace:
                raise ConflictError(
                    f"{draft.path} exists. Choose another intent, or propose with replace to change it."
                )
            draft = evolve(draft, replaces=file_hash(before))
            write_atomically(self._folder.draft_path(intent), draft.to_json().encode("utf-8"))
        return self.show(draft)

    def show(self, draft: MemoryDraft) -> Proposal:
        """Return a draft as the person sees it."""
        return Proposal(
            intent=draft.intent,
            preview=preview_of(draft),
            question=QUESTION,
            hash=draft.hash,
            expires_at=draft.expires_at,
        )

    def drafts(self) -> list[MemoryDraft]:
        """Return the drafts that are sound, expired ones too, the oldest first."""
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
        """Return the draft of an intent, without one the sole pending draft; raises RecordError."""
        with self._folder.locked():
            self._commit.recover()
            return self._get(intent)

    def commit(
        self,
        intent: str | None = None,
        *,
        confirmation: Confirmation,
        from_draft: bool = True,
        hash: str | None = None,
    ) -> Committed:
        """Write the draft that a person confirmed: its file, its rows, its archive; all three or none.

        `hash`: that of the preview that the person saw, where the host knows it. Raises RecordError when
        there is no draft, it expired or was changed, the message is no yes, or is of the proposal's own turn;
        ConflictError when the file changed meanwhile; the store's and embedder's errors. The draft stays.
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
            word = {"text": confirmation.text, "turn": confirmation.turn, "at": self._now().isoformat()}
            return self._commit.run(draft, word)

    def reject(self, intent: str | None = None) -> str:
        """Put a draft away, sound or not, without writing it; return its intent."""
        with self._folder.locked():
            self._commit.recover()
            name = intent if intent is not None else self._sole()
            path = self._folder.draft_path(name)
            if not path.exists():
                raise RecordError(f"no draft found for {name!r}. {self._folder.known()}")
            self._folder.archive(path, "rejected", name, self._now())
            return name

    def _get(self, intent: str | None) -> MemoryDraft:
        return self._folder.read(self._sole() if intent is None else intent)

    def _sole(self) -> str:
        intents = self._folder.intents()
        if len(intents) != 1:
            what = "several drafts are pending" if intents else "no draft found"
            raise RecordError(f"{what}. {self._folder.known()}{' Name one.' if intents else ''}")
        return intents[0]

    def _check_word(self, draft: MemoryDraft, word: Confirmation) -> None:
        if not word.in_person:
            if not draft.turn or not word.turn:
                raise RecordError(
                    f"Nobody can tell whether a person answered after {draft.intent!r} was proposed: the "
                    "host gave no turn. Commit it with `olav drafts commit`."
                )
            if word.turn == draft.turn:
                raise RecordError(
                    f"{draft.intent!r} was proposed in this very turn. Show the preview and wait."
                )
        if not self._confirms(word.text):
            raise RecordError(
                f"The user's message does not confirm {draft.intent!r}: {word.text[:80]!r}. Show the "
                "preview and ask; if they want a change, propose again."
            )

    def _check(self, draft: MemoryDraft) -> None:
        """Raise RecordError unless the file, as its importer reads it, makes the memory that is previewed."""
        name = Path(draft.path).name
        importer = self._memory.registry.importer_for(name)
        if importer is None:
            raise RecordError(f"No installed plug-in imports {draft.path}: {draft.category} is not possible.")
        with tempfile.TemporaryDirectory(prefix="olav-draft-") as folder:
            path = Path(folder, name)
            path.write_bytes(draft.content.encode("utf-8", "surrogatepass"))
            report = import_directory(self._memory, path, dry_run=True)
            drafts, _ = importer.parse(Path(folder), path, path.read_bytes())
        if report.faults or not report.items:
            said = "; ".join(fault.message for fault in report.faults) or "it holds nothing"
            raise RecordError(f"This {draft.category} cannot be stored: {said}")
        if draft.category == "usage_guide" and self._memory.prepare(drafts[0]).text != draft.body:
            raise RecordError("The body would not be stored as it is shown. Leave out control characters.")
